"""What a sweep costs beside its simulations, and how long ten thousand stored runs take: ``python scripts/sweep_overhead.py``.

Prints, for a sweep of many short runs in one process, the milliseconds a run beyond the simulation (compilation comes before the
clock starts); then how long it takes to list the keys of stored runs and to load them as a table. The machine
should be idle. Exit code 1 above 50 ms a run, or above 2 s for either.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import warploom as wl
from warploom.simulation.workers import Here
from warploom.sweeps.store import Store
from warploom.sweeps.sweep import Sweep, make, prepare

MOST_MILLISECONDS = 50
MOST_SECONDS = 2
PLAN = {"workloads": "vectoradd", "sizes": "tiny", "sms": 1}


def overhead(runs: int, folder: Path) -> float:
    """Milliseconds of a run that are not simulation: the sweep from plan to tables, less what each run says it took."""
    wl.sweep(PLAN, folder / "first", jobs=1)
    began = time.perf_counter()
    planned = prepare({**PLAN, "replicates": runs}, folder / "many")
    make(planned, Here())
    whole = time.perf_counter() - began
    return 1000 * (whole - planned.table()["wall_seconds"].sum()) / runs


def stored(number: int, folder: Path) -> tuple[float, float]:
    """Seconds to list so many stored runs, and to load them as a table."""
    planned: Sweep = wl.sweep(PLAN, folder / "one", jobs=1)
    (key,) = planned.store.keys()
    result = planned.store.load(key) or {}
    store = Store(folder / "stored")
    for place in range(number):
        store.save(f"{place:032x}", result)
        store.fold_if_many()
    again = Store(folder / "stored")
    began = time.perf_counter()
    assert len(again.keys()) == number
    listed = time.perf_counter()
    assert len(again.rows().to_pandas()) == number
    return listed - began, time.perf_counter() - listed


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--stored", type=int, default=10_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        milliseconds = overhead(asked.runs, Path(name))
        print(f"{asked.runs} runs: {milliseconds:.1f} ms each beside the simulation")
        listing, loading = stored(asked.stored, Path(name))
        print(f"{asked.stored} stored runs: listed in {listing:.2f} s, loaded as a table in {loading:.2f} s")
    return 0 if milliseconds <= MOST_MILLISECONDS and max(listing, loading) <= MOST_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
