"""Turn what `measure.py` brought back from a GPU into the recorded tables of a device.

    warploom-lab record RAW [RAW ...] --out lab/src/warploom_lab/devices/h200

RAW are folders with ``kernels-*.tsv``, ``micro.npz`` with ``micro.json``, ``counted.npz`` with ``counted.json``, ``stalls.tsv``
and ``energy.tsv``, as far as they are there. Of launches that were measured several times, the median is recorded. What was
recorded before and was not measured again stays.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

import numpy as np

from warploom.studies.validate.ncu import COUNTERS, CYCLES
from warploom.studies.validate.recorded import KERNELS, LAUNCH_COLUMNS, MICROBENCHMARKS, OWN_SIZE, read_table, write_table
from warploom.studies.validate.split import part_of
from warploom_lab.microbenchmarks import all_microbenchmarks

ENERGY, STALLS = "energy.tsv", "stalls.tsv"
SETTING = {
    "caches": "all flushed and invalidated before every launch (ncu --cache-control all), but for cycles_as_is",
    "clocks": "as they are (ncu --clock-control none)",
    "code": "sm_90, the cubins that warploom --code sm_90 simulates; single kernels: nvcc 13.0",
    "launches": "of each kernel all up to three, else the first, the middle and the last",
}


def identity(row: dict[str, str]) -> tuple[str, str, str, int]:
    """Which launch a row is of; the first raw tables left the size of single kernels empty."""
    return row["workload"], row["size"] or OWN_SIZE, row["kernel"], int(row["launch"])


def launch_row(measured: list[dict[str, str]]) -> dict[str, Any]:
    """All measurements of one launch under the columns of the record."""
    last = measured[-1]
    program, size, kernel, launch = identity(last)
    cycles = [float(row[name]) for row in measured for name in (CYCLES, "cycles_again") if row[name]]
    as_is = [float(row["cycles_caches_as_is"]) for row in measured if row["cycles_caches_as_is"]]
    middle = statistics.median(cycles)
    made: dict[str, Any] = {
        "part": part_of(program),
        "program": program,
        "size": size,
        "kernel": kernel,
        "launch": launch,
        "launches": last["of"],
        "grid": last["grid"],
        "block": last["block"],
        "cycles": f"{middle:.1f}",
        "measurements": len(cycles),
        "spread": f"{(max(cycles) - min(cycles)) / middle:.4f}",
        "cycles_as_is": f"{statistics.median(as_is):.1f}" if as_is else "nan",
    }
    return made | {name: str(round(float(last[metric]))) for name, metric in COUNTERS.items()}


def recorded(table: Path) -> list[dict[str, str]]:
    """The rows that a table has already."""
    return read_table(table)[1] if table.is_file() else []


def _of_record(row: dict[str, Any]) -> tuple[str, str, str, int]:
    return row["program"], row["size"], row["kernel"], int(row["launch"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("raw", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    facts: dict[str, Any] = {}
    measured: dict[tuple[str, str, str, int], list[dict[str, str]]] = {}
    for file in [file for raw in asked.raw for file in sorted(raw.glob("kernels-*.tsv"))]:
        facts, table = read_table(file)
        for row in table:
            if row[CYCLES]:
                measured.setdefault(identity(row), []).append(row)
    if measured:
        rows = [launch_row(some) for some in measured.values()]
        rows += [row for row in recorded(asked.out / KERNELS) if _of_record(row) not in measured]
        rows.sort(key=_of_record)
        write_table(
            asked.out / KERNELS, facts | SETTING, LAUNCH_COLUMNS, ([row[name] for name in LAUNCH_COLUMNS] for row in rows)
        )
        print(f"{len(measured)} launches measured, {len(rows)} recorded")
    for raw in asked.raw:
        if (raw / STALLS).is_file():
            record_stalls(raw, asked.out)
        if (raw / ENERGY).is_file():
            record_energy(raw, asked.out)
        for kind in ("micro", "counted"):
            if (raw / f"{kind}.npz").is_file():
                record_microbenchmarks(raw, kind, asked.out)


def record_stalls(raw: Path, out: Path) -> None:
    """Where warps waited, launch by launch, beside what is recorded of other launches."""
    facts, rows = read_table(raw / STALLS)
    made: dict[Any, list[Any]] = {identity(row): [*identity(row), *list(row.values())[4:]] for row in rows}
    before = recorded(out / STALLS)
    columns = list(before[0]) if before else ["program", "size", "kernel", "launch", "launches", *list(rows[0])[5:]]
    made = {_of_record(row): list(row.values()) for row in before} | made
    write_table(out / STALLS, facts, columns, (made[launch] for launch in sorted(made)))


def record_energy(raw: Path, out: Path) -> None:
    """Add windows of the power counter to those of other days; what is compared is compared within a day."""
    facts, rows = read_table(raw / ENERGY)
    date = facts["date"].split()[0]
    made = [{"date": date} | row for row in rows]
    if (out / ENERGY).is_file():
        made = [row for row in read_table(out / ENERGY)[1] if row["date"] != date] + made
    write_table(out / ENERGY, facts, list(made[0]), (list(row.values()) for row in made))


def record_microbenchmarks(raw: Path, kind: str, out: Path) -> None:
    """Read every microbenchmark's number from what its launches wrote, or from what was counted of them."""
    facts = json.loads((raw / f"{kind}.json").read_text())
    with np.load(raw / f"{kind}.npz") as outputs:
        found = dict(outputs)
    readings, missing = [], 0
    for benchmark in all_microbenchmarks():
        try:
            readings += benchmark.read(found)
        except KeyError:
            missing += 1
    columns = ("name", "value", "unit", "what")
    rows = {row["name"]: tuple(row[name] for name in columns) for row in recorded(out / MICROBENCHMARKS)}
    if rows.keys() - {one.name for one in readings}:
        facts["date"] = f"{read_table(out / MICROBENCHMARKS)[0]['date']}; some on {facts['date']}"
    rows |= {one.name: (one.name, f"{one.value:.6g}", one.unit, one.what) for one in readings}
    write_table(out / MICROBENCHMARKS, facts, columns, rows.values())
    print(f"{len(readings)} numbers of microbenchmarks measured, {len(rows)} recorded; {missing} microbenchmarks not among them")


if __name__ == "__main__":
    main()
