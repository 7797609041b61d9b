"""What Nsight Compute printed of somebody's own kernels (``ncu --csv``, with ``--page raw`` or without), as measurements.

Beside the printed file stand the kernels: ``NAME.json`` describes a launch, ``NAME.cubin`` or ``NAME.cu`` is its code. A printed
launch belongs to the description that names its kernel and its shape.
"""

from __future__ import annotations

import csv
import json
import math
import re
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from warploom.base.errors import WarploomError
from warploom.studies.validate.recorded import OWN_SIZE, MeasuredLaunch
from warploom.studies.validate.split import HELD_OUT

CYCLES = "sm__cycles_active.max"
COUNTERS = {  # what a record calls them, and Nsight Compute
    "instructions": "smsp__inst_executed.sum",
    "thread_instructions": "smsp__thread_inst_executed.sum",
    "registers": "launch__registers_per_thread",
    "l1_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1_load_hits": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    "l2_sectors": "lts__t_sectors_srcunit_tex.sum",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
}
METRICS = (CYCLES, *COUNTERS.values())
_PREFIXES = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}  # of units, unless ncu was told --print-units base
Shape = tuple[str, str, str]  # a kernel's name, grid and block


def read_profile(file: Path, kernels: Path) -> tuple[dict[str, Any], list[MeasuredLaunch]]:
    """What is known of the device, and a launch for each described kernel; of several alike the median counts."""
    printed, facts = _launches(file)
    described = _descriptions(kernels)
    measured = []
    for name, shape in described.items():
        rows = printed.get(shape, ())
        if rows:
            measured.append(_measured(name, shape, rows))
    if not measured:
        names = ", ".join(sorted({kernel for kernel, _, _ in printed})) or "none"
        raise WarploomError(
            f"{file}: none of its kernels ({names}) is described, with its grid and block, by a JSON file in {kernels}."
        )
    return facts, measured


def _descriptions(folder: Path) -> dict[str, Shape]:
    """The kernel, grid and block of each description in a folder, by its name."""
    found = {}
    for file in sorted(folder.glob("*.json")):
        try:
            about = json.loads(file.read_text(encoding="utf-8"))
            shapes = (_joined(about["grid"]), _joined(about["block"]))
            found[file.stem] = (str(about["kernel"]), *shapes)
        except (OSError, ValueError, TypeError, KeyError) as problem:
            raise WarploomError(f"{file}: this does not describe a launch (kernel, grid, block, args): {problem}") from None
    return found


def _joined(numbers: Sequence[int]) -> str:
    x, y, z = (*map(int, numbers), 1, 1)[:3]
    return f"{x}x{y}x{z}"


def _launches(file: Path) -> tuple[dict[Shape, list[Mapping[str, float]]], dict[str, Any]]:
    """The counters of all launches of each kernel and shape, and what is known of the device."""
    try:
        lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith('"')]
    except (OSError, ValueError) as problem:
        raise WarploomError(f"{file}: it cannot be read: {problem}") from None
    rows = list(csv.DictReader(lines))
    if not rows or "Kernel Name" not in rows[0]:
        raise WarploomError(f"{file}: this is not what ncu --csv prints: no line has a column 'Kernel Name'.")
    counted = _by_rows(file, rows) if "Metric Name" in rows[0] else _by_columns(file, rows)
    found: dict[Shape, list[Mapping[str, float]]] = {}
    for row, counters in counted:
        if CYCLES not in counters:
            raise WarploomError(f"{file}: {row['Kernel Name']} has no {CYCLES}; give ncu --metrics {','.join(METRICS)}.")
        kernel = re.split(r"[(<]", row["Kernel Name"].removeprefix("void "))[0]
        shape = (kernel, _printed_shape(row["Grid Size"]), _printed_shape(row["Block Size"]))
        found.setdefault(shape, []).append(counters)
    return found, {"name": f"a device of compute capability {rows[-1].get('CC', 'unknown')} ({file.name})"}


def _printed_shape(text: str) -> str:
    return _joined([int(word) for word in re.findall(r"\d+", text)])


def _by_columns(file: Path, rows: Sequence[dict[str, str]]) -> list[tuple[dict[str, str], dict[str, float]]]:
    """The page `raw`: a line for each launch below one with units."""
    units, *launches = rows
    return [
        (row, {name: _number(file, row[name], units[name]) for name in METRICS if row.get(name)}) for row in launches
    ]  # fmt: skip


def _by_rows(file: Path, rows: Sequence[dict[str, str]]) -> list[tuple[dict[str, str], dict[str, float]]]:
    """The usual page: a line for each counter of each launch."""
    found: dict[str, tuple[dict[str, str], dict[str, float]]] = {}
    for row in rows:
        _, counters = found.setdefault(row["ID"], (row, {}))
        if row["Metric Name"] in METRICS:
            counters[row["Metric Name"]] = _number(file, row["Metric Value"], row["Metric Unit"])
    return list(found.values())


def _number(file: Path, text: str, unit: str) -> float:
    """A printed number in the unit without prefix."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        raise WarploomError(f"{file}: {text!r} is not a number.") from None
    return value * _PREFIXES.get(unit[:1], 1.0)


def _measured(name: str, shape: Shape, rows: Sequence[Mapping[str, float]]) -> MeasuredLaunch:
    """One launch of the model's table. It counts as held out: nobody adjusted the model on it."""
    cycles = [row[CYCLES] for row in rows]
    median = statistics.median(cycles)
    counters = {field: round(rows[0][metric]) if metric in rows[0] else None for field, metric in COUNTERS.items()}
    return MeasuredLaunch(
        part=HELD_OUT,
        program=name,
        size=OWN_SIZE,
        kernel=shape[0],
        launch=0,
        launches=1,
        grid=shape[1],
        block=shape[2],
        cycles=median,
        measurements=len(rows),
        spread=(max(cycles) - min(cycles)) / median,
        cycles_as_is=math.nan,
        **counters,
    )
