"""Recorded measurements: plain tables, each with a first line that says on what and when it was measured."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.files import replace_file
from warploom.studies.validate.laboratory import INSTALL, devices
from warploom.studies.validate.split import part_of

KERNELS, MICROBENCHMARKS = "kernels.tsv", "microbenchmarks.tsv"
OWN_SIZE, FRESH_SIZE = "own", "fresh"
SINGLE_SIZES = (OWN_SIZE, FRESH_SIZE)  # of kernels that a JSON file describes, in place of a workload's sizes


@dataclass(frozen=True)
class MeasuredLaunch:
    """One launch of a kernel on a real chip, all caches empty before it unless `with_caches_as_left` made it."""

    part: str
    program: str
    size: str
    kernel: str
    launch: int  # which launch of the kernel, from 0
    launches: int  # of the kernel in the program
    grid: str
    block: str
    cycles: float  # of the SM that was active longest: the median of the measurements
    measurements: int
    spread: float | None  # from the least to the most of them, as a share of the median; None: not known
    cycles_as_is: float  # with caches as the program left them
    instructions: int | None  # executed by warps; None, of this and all that follows: not measured
    thread_instructions: int | None
    registers: int | None
    l1_load_sectors: int | None  # of global loads, each 32 bytes
    l1_load_hits: int | None
    l2_sectors: int | None  # that the SMs asked for: loads, stores, atomics, textures
    dram_read_bytes: int | None
    dram_write_bytes: int | None

    @property
    def ctas(self) -> int:
        """How many CTAs the grid has."""
        return math.prod(map(int, self.grid.split("x")))

    @property
    def name(self) -> str:
        """What a table calls it."""
        return f"{self.program} {self.kernel}" if self.kernel != self.program else self.program


@dataclass(frozen=True)
class MeasuredNumber:
    """What a microbenchmark gave."""

    name: str
    value: float
    unit: str
    what: str


def folder_of(device: str) -> Path:
    """The folder with a device's measurements: by the device's name among those of the laboratory, or a path."""
    laboratory = devices()
    for place in (Path(device), *([laboratory / device] if laboratory else ())):
        if (place / KERNELS).is_file():
            return place
    if laboratory is None:
        raise WarploomError(
            f"measurements {device!r}: there is no {KERNELS}; those of chips come with the laboratory: {INSTALL}."
        )
    known = sorted(file.parent.name for file in laboratory.glob(f"*/{KERNELS}"))
    raise WarploomError(f"measurements {device!r}: there is no {KERNELS}; recorded are {', '.join(known) or 'none'}.")


def read_table(file: Path) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """What the first line says, and the rows."""
    try:
        first, *lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as problem:
        raise WarploomError(f"{file}: it cannot be read: {problem}") from None
    if not first.startswith("# "):
        raise WarploomError(f"{file}: the first line does not say what was measured on; it must begin with '# {{'.")
    try:
        facts = json.loads(first[2:])
    except ValueError:
        raise WarploomError(f"{file}: the first line is not JSON after '# '.") from None
    rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    for number, row in enumerate(rows, 3):
        if None in row or None in row.values():
            raise WarploomError(f"{file}: line {number} has not as many columns as the head.")
    return facts, rows


def write_table(file: Path, facts: Mapping[str, Any], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table whole or not at all."""
    lines = [f"# {json.dumps(facts)}", "\t".join(columns), *("\t".join(map(str, row)) for row in rows)]
    with replace_file(file) as draft:
        draft.write_text("\n".join(lines) + "\n", encoding="utf-8")


LAUNCH_COLUMNS = tuple(MeasuredLaunch.__dataclass_fields__)


def read_launches(folder: Path) -> tuple[dict[str, Any], list[MeasuredLaunch]]:
    """What was measured of kernels; the part of each program is checked against the rule."""
    facts, rows = read_table(folder / KERNELS)
    launches = []
    for number, row in enumerate(rows, 3):
        try:
            kinds = {name: str(item.type).partition(" ")[0] for name, item in MeasuredLaunch.__dataclass_fields__.items()}
            made = {
                name: row[name] if kind == "str" else int(row[name]) if kind == "int" else float(row[name])
                for name, kind in kinds.items()
            }
            launch = MeasuredLaunch(**made)  # type: ignore[arg-type]
        except (KeyError, ValueError) as problem:
            raise WarploomError(f"{folder / KERNELS}: line {number} has no good value: {problem}.") from None
        if launch.part != part_of(launch.program):
            raise WarploomError(
                f"{folder / KERNELS}: line {number}: {launch.program} belongs to the part {part_of(launch.program)}."
            )
        launches.append(launch)
    return facts, launches


def with_caches_as_left(launches: Iterable[MeasuredLaunch]) -> list[MeasuredLaunch]:
    """The same launches with caches as the program had left them, of which cycles alone were measured."""
    return [
        replace(
            launch,
            cycles=launch.cycles_as_is,
            spread=None,
            l1_load_sectors=None,
            l1_load_hits=None,
            l2_sectors=None,
            dram_read_bytes=None,
            dram_write_bytes=None,
        )
        for launch in launches
    ]


def read_numbers(folder: Path) -> tuple[dict[str, Any], list[MeasuredNumber]]:
    """What the microbenchmarks gave."""
    facts, rows = read_table(folder / MICROBENCHMARKS)
    try:
        return facts, [MeasuredNumber(row["name"], float(row["value"]), row["unit"], row["what"]) for row in rows]
    except (KeyError, ValueError) as problem:
        raise WarploomError(f"{folder / MICROBENCHMARKS}: a row has no good value: {problem}.") from None
