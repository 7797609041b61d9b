"""What designs of a sweep give on the workloads that a search saw, and on those that it never saw.

    python scripts/seen_and_unseen.py docs/plans/energy-gtx480-parameters.toml results/causes

Reads `results.parquet` of the sweep's folder and prints a row for each design, relative to the plan's first, in the measures of
`warploom search`: time is a geometric mean, energy a mean over workloads. What a design could not run is left out of
its row, and named.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pandas

from warploom.designs import parse_design
from warploom.sweeps.goal import make_goal
from warploom.sweeps.measures import measure

COLUMNS = ["workload", "plan.design", "cycles", "energy_pj.total", "register_file_bytes", "storage_bits"]


def runs_of(table: pandas.DataFrame, design: str, workloads: tuple[str, ...]) -> list[dict[str, Any]]:
    """The stored numbers of a design, in the order of the workloads."""
    rows = table[table["plan.design"] == design].set_index("workload").loc[list(workloads)]
    return [{**row, "energy_pj": {"total": row["energy_pj.total"]}} for row in rows.to_dict("records")]


def main() -> None:
    """Print the table as Markdown."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("goal", type=Path)
    options.add_argument("folder", type=Path, help="of the sweep")
    asked = options.parse_args()
    goal = make_goal(asked.goal)
    table = pandas.read_parquet(asked.folder / "results.parquet", columns=COLUMNS)
    designs = list(dict.fromkeys(table["plan.design"]))
    print("| design | seen: time | energy | unseen: time | energy | slowest of all |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for design in designs:
        made = set(table[table["plan.design"] == design]["workload"])
        parts = [tuple(name for name in part if name in made) for part in (goal.workloads, goal.test)]
        runs = ((runs_of(table, design, part), runs_of(table, designs[0], part)) for part in parts)
        seen, unseen = (measure(*both, parse_design(design), goal.chip, goal.energy_table) for both in runs)
        missing = sorted({*goal.workloads, *goal.test} - made)
        numbers = [f"{part['time']:.3f} | {part['energy']:.1%}" for part in (seen, unseen)]
        note = f" without {', '.join(missing)}" if missing else ""
        print(f"| `{design}`{note} | {' | '.join(numbers)} | {max(seen['slowest'], unseen['slowest']):.2f} |")


if __name__ == "__main__":
    main()
