"""Sort how far a machine is off by kinds of runs, from what `warploom validate --json` printed.

The launches become a table, and their summary the lines of a machine's file in `chip/machines/compared/`.

warploom validate --machine hopper --part held-out --size own,fresh,small --json > errors.json
warploom-lab errors-by-kind errors.json --table lab/src/warploom_lab/devices/h200/errors.tsv
"""

from __future__ import annotations

import argparse
import csv
import json
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path

from warploom.runs.kinds import KINDS

COLUMNS = ("program", "size", "kernel", "launch", "kind", "measured_cycles", "cycles")


def errors_by_kind(rows: Iterable[dict[str, str]]) -> dict[str, list[float]]:
    """The absolute errors of cycles, as shares, from the rows of the table."""
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for row in rows:
        found[row["kind"]].append(abs(int(row["cycles"]) / float(row["measured_cycles"]) - 1))
    return found


def summary(errors: Sequence[float]) -> dict[str, float]:
    """What a machine's file says of one kind: the median, and what nine of ten keep to."""
    nine_of_ten = statistics.quantiles(errors, n=10, method="inclusive")[-1] if len(errors) > 1 else errors[0]
    return {"launches": len(errors), "median": round(statistics.median(errors), 3), "nine_of_ten": round(nine_of_ten, 3)}


def read_errors(table: Path) -> list[dict[str, str]]:
    """The rows of the table."""
    with table.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened, delimiter="\t"))


def main() -> None:
    """Write the table, and print the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("printed", type=Path, nargs="+", help="what `warploom validate --json` printed")
    parser.add_argument("--table", type=Path, required=True, help="the table to write")
    asked = parser.parse_args()
    launches = [launch for file in asked.printed for launch in json.loads(file.read_text())["launches"]]
    with asked.table.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, COLUMNS, delimiter="\t", lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(sorted(launches, key=lambda one: [one[name] for name in COLUMNS[:4]]))
    for kind, errors in errors_by_kind(read_errors(asked.table)).items():
        if errors:
            print(f'\n[[kind]]\nname = "{kind}"', *(f"{name} = {value}" for name, value in summary(errors).items()), sep="\n")


if __name__ == "__main__":
    main()
