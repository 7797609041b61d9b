"""What a sweep costs beside its simulations, and how long ten thousand stored runs take: ``warploom-lab sweep-overhead``.

Prints, for a sweep of many short runs in one process, the milliseconds a run beyond the simulation (compilation comes before the
clock starts); then how long it takes to see that all runs of a plan are stored and to load them as its table. The machine
should be idle. Exit code 1 above 50 ms a run, or above 2 s for either.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import warploom as wl
from warploom.runs.keys import keys_of
from warploom.runs.result import encode
from warploom.runs.store import FOLD_AT
from warploom.runs.workers import Here
from warploom.studies.sweep.sweep import make, prepare

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
    return 1000 * (whole - planned.table()[["wall_seconds", "compile_seconds"]].sum().sum()) / runs


def stored(number: int, folder: Path) -> tuple[float, float]:
    """Seconds to find out what is missing of a plan of so many stored runs, and to load them as its table."""
    made = wl.sweep(PLAN, folder / "first", jobs=1)
    (key,) = made.store.keys()
    result = made.store.load(key) or {}
    plan = {**PLAN, "replicates": number}
    planned = prepare(plan, folder / "stored")
    for place, own in enumerate(keys_of(planned.specs)):
        planned.store.save(own, encode({**result, "cycles": result["cycles"] + place}))
        if place % FOLD_AT == 0:
            planned.store.fold_if_many()
    planned.store.fold()
    again = prepare(plan, folder / "stored")
    began = time.perf_counter()
    assert not again.missing()
    listed = time.perf_counter()
    assert again.table()["cycles"].nunique() == number
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
        print(f"{asked.stored} stored runs: known to be there in {listing:.2f} s, loaded as a table in {loading:.2f} s")
    return 0 if milliseconds <= MOST_MILLISECONDS and max(listing, loading) <= MOST_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
