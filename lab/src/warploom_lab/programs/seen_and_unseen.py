"""What designs of a sweep give on the workloads that a search saw, and on those that it never saw.

    warploom-lab seen-and-unseen lab/plans/energy-gtx480-parameters.toml results/causes

Reads `results.parquet` of the sweep's folder and prints a row for each design, relative to the plan's first, in the measures of
`warploom search`: time is a geometric mean, energy a mean over workloads; file, storage and area are shares of the whole file of
the goal's machine. What a design could not run is left out of its row, and named; a part that was not run at all stays empty.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas

from warploom.designs import parse_design
from warploom.studies.search.goal import make_goal
from warploom.studies.search.measures import measure

COLUMNS = ["workload", "plan.design", "cycles", "energy_pj.total", "register_file_bytes", "storage_bits"]


def runs_of(table: pandas.DataFrame, design: str, workloads: tuple[str, ...]) -> list[Any]:
    """The stored numbers of a design, in the order of the workloads."""
    rows = table[table["plan.design"] == design].set_index("workload").loc[list(workloads)]
    return [SimpleNamespace(**row, energy_pj={"total": row["energy_pj.total"]}) for row in rows.to_dict("records")]


def main() -> None:
    """Print the table as Markdown."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("goal", type=Path)
    options.add_argument("folder", type=Path, help="of the sweep")
    asked = options.parse_args()
    goal = make_goal(asked.goal)
    table = pandas.read_parquet(asked.folder / "results.parquet", columns=COLUMNS)
    designs = list(dict.fromkeys(table["plan.design"]))
    print("| design | seen: time | energy | unseen: time | energy | slowest of all | file | storage | area |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for design in designs:
        made = set(table[table["plan.design"] == design]["workload"])
        parts = [tuple(name for name in part if name in made) for part in (goal.workloads, goal.test)]
        runs = [(runs_of(table, design, part), runs_of(table, designs[0], part)) for part in parts]
        measured = [measure(*both, parse_design(design), goal.chip, goal.energy_table) if both[0] else {} for both in runs]
        numbers = [f"{part['time']:.3f} | {part['energy']:.1%}" if part else " | " for part in measured]
        worst = {name: max(part[name] for part in measured if part) for name in ("slowest", "file", "storage", "area")}
        wanted = {name for part, of in zip(measured, (goal.workloads, goal.test), strict=True) if part for name in of}
        missing = sorted(wanted - made)
        note = f" without {', '.join(missing)}" if missing else ""
        size = f"{worst['slowest']:.2f} | {worst['file']:.0%} | {worst['storage']:.2f} | {worst['area']:.2f}"
        print(f"| `{design}`{note} | {' | '.join(numbers)} | {size} |")


if __name__ == "__main__":
    main()
