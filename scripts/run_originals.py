"""Runs recordings of original programs under the designs of RegMutex and RFV, and prints what comes out as JSON.

warploom exec --emulate-only --record originals/hotspot3d.wlr -- ./3D 256 8 1 power temp out   # each named after a workload
python scripts/run_originals.py originals > originals.json
python scripts/write_scorecard.py own.json ptx.json sass.json originals.json
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from warploom.papers.experiment import Run
from warploom.papers.regmutex.figures import FREE, LIMITED, OTHERS, SUFFIX, WIDE
from warploom.papers.regmutex.figures import MACHINE as REGMUTEX
from warploom.papers.reproduce import recordings_in
from warploom.papers.rfv.figures import BASELINE, HALF, SPILL, WHOLE
from warploom.papers.rfv.figures import MACHINE as RFV
from warploom.papers.runs import tasks_of
from warploom.simulation.workers import local_workers
from warploom.sweeps.engine import load_results, perform
from warploom.sweeps.store import Store
from warploom.workloads.registry import workload_set

Results = Mapping[Run, dict[str, Any]]
Row = dict[str, Any]


def regmutex_run(file: str, design: str, machine: str = REGMUTEX) -> Run:
    """A run as RegMutex's figures have it, with NVIDIA's compiler and as many registers as it takes."""
    return Run(file, design, machine, "small", sms=3, code="sm_75")


def rfv_run(file: str, design: str) -> Run:
    """A run as RFV's figures have it."""
    return Run(file, design, RFV, "small", sms=2, code="ptx")


def runs_of_originals(recordings: Mapping[str, str]) -> list[Run]:
    """What is run of each recording."""
    runs = []
    for name, file in recordings.items():
        if name in (*LIMITED, *OTHERS):
            file_share = "" if name in LIMITED else SUFFIX
            designs = dict.fromkeys(("baseline", f"baseline{file_share}", f"regmutex{file_share}"))
            runs += [regmutex_run(file, design, machine) for design in designs for machine in (REGMUTEX, FREE)]
            runs.append(regmutex_run(file, "baseline", WIDE))
        if name in workload_set(RFV):
            runs += [rfv_run(file, design) for design in (BASELINE, WHOLE, HALF, SPILL)]
    return runs


def _added(results: Results, run: Run, reference: Run) -> float:
    return 100 * (results[run]["cycles"] / results[reference]["cycles"] - 1)


def rows_of_originals(recordings: Mapping[str, str], results: Results) -> list[Row]:
    """Per program and paper: registers, CTAs, and cycles that designs add, in percent."""
    rows: list[Row] = []
    for name, file in recordings.items():
        for machine in (REGMUTEX, FREE):
            if name in (*LIMITED, *OTHERS):
                whole, share = regmutex_run(file, "baseline", machine), "" if name in LIMITED else SUFFIX
                row: Row = {"program": name, "paper": "regmutex", "machine": machine, **_launch(results[whole])}
                row["half the file"] = _added(results, regmutex_run(file, f"baseline{share}", machine), whole) if share else None
                row["regmutex"] = _added(results, regmutex_run(file, f"regmutex{share}", machine), whole)
                row["twice the file"] = (
                    _added(results, regmutex_run(file, "baseline", WIDE), whole) if machine == REGMUTEX else None
                )
                rows.append(row)
        if name in workload_set(RFV):
            row = {"program": name, "paper": "rfv", "machine": RFV, **_launch(results[rfv_run(file, BASELINE)])}
            row["GPU-shrink"] = _added(results, rfv_run(file, HALF), rfv_run(file, WHOLE))
            row["compiler spill"] = _added(results, rfv_run(file, SPILL), rfv_run(file, BASELINE))
            rows.append(row)
    return rows


def _launch(result: dict[str, Any]) -> Row:
    return {
        "registers": result["registers_per_thread"],
        "ctas_per_sm": result["ctas_per_sm"],
        "instructions": result["counters"]["warp_instructions"],
    }


def main() -> None:
    """Run what is not stored, and print the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="recordings, named after workloads")
    parser.add_argument("--out", type=Path, default=Path("results"), help="the folder of stored runs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    recordings = recordings_in(options.folder)
    runs = runs_of_originals(recordings)
    tasks, store = tasks_of(runs), Store(options.out / "runs")
    with local_workers(min(options.jobs, len(tasks))) as workers:
        perform(tasks, store, workers, lambda task: None)
    print(json.dumps(rows_of_originals(recordings, dict(zip(runs, load_results(tasks, store), strict=True))), indent=1))


if __name__ == "__main__":
    main()
