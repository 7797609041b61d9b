"""What each instruction of a run cost: the rows of the hot-spots observer, summed by instruction, source line, block and loop."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from warploom.chip.observers.hot_spots import COLUMNS
from warploom.designs.energy.account import READS, WIRES, WRITES
from warploom.programs.program import Program, WorkloadOrigin
from warploom.programs.workloads.registry import workload_source
from warploom.runs.result import Result

Row = dict[str, Any]
TABLES = ("stalls", "waits")  # columns that are tables, cycles by reason
# What rows can be ordered by, and what that means.
ORDERS: dict[str, tuple[Callable[[Row], float], str]] = {
    "time": (lambda row: warp_cycles(row), "cycles that warps spend at it, waiting to issue it and issuing it"),
    "stalls": (lambda row: sum(row["stalls"].values()), "cycles in which a scheduler issued nothing because of it"),
    "issues": (lambda row: row["issues"], "times a warp issued it"),
    "reads": (lambda row: row["main_file_reads"], "reads of the main register file"),
    "writes": (lambda row: row["main_file_writes"], "writes of the main register file"),
    "conflicts": (lambda row: row["bank_conflicts"], "cycles that an access waited for its bank"),
    "upper": (lambda row: row["upper_reads"], "operands found in the upper level"),
    "wakeups": (lambda row: row["wakeup_wait_cycles"], "cycles that a read waited for its entry to wake up"),
    "encoded": (lambda row: row["encoded_reads"] + row["encoded_writes"], "accesses to compressed registers"),
    "energy": (lambda row: row["energy_pj"], "energy of the main register file's accesses"),
    "pc": (lambda row: -row["pc"] if row["pc"] >= 0 else -1e9, "place in the code"),
}


def warp_cycles(row: Row) -> int:
    """Cycles that resident warps spent at an instruction."""
    return row["issue_cycles"] + sum(row["waits"].values())


@dataclass(frozen=True)
class KernelProfile:
    """One kernel under one design, all its launches together."""

    kernel: str
    launches: int
    cycles: int
    resident_cycles: int  # of all warps
    rows: list[Row]  # by pc; the last, -1, is of what belongs to no instruction

    def total(self) -> Row:
        """The sum of all rows."""
        return _sum(self.rows)

    def by_line(self) -> list[Row]:
        """Sums by line of the source; line 0 is of what has none: made by a pass, or of no instruction."""
        return _grouped(self.rows, "line", lambda row: [row["line"]])

    def by_block(self) -> list[Row]:
        """Sums by basic block; block -1 is of what belongs to no instruction."""
        return _grouped(self.rows, "block", lambda row: [row["block"]])

    def by_loop(self) -> list[Row]:
        """Sums by loop, named by its first block, those of inner loops included."""
        return _grouped(self.rows, "loop", lambda row: row["loops"])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them."""
        about = {"kernel": self.kernel, "launches": self.launches, "cycles": self.cycles, "resident_cycles": self.resident_cycles}
        sums = {"by_line": self.by_line(), "by_block": self.by_block(), "by_loop": self.by_loop()}
        return about | {"total": self.total(), "instructions": self.rows, **sums}


def profile(result: Result) -> list[KernelProfile]:
    """The profile of a run that hot-spots watched, kernel by kernel.

    Energy: the account's terms for reads, writes and wires of the main register file are shared out by the lanes that each
    instruction switched. What a design's own structures take belongs to no instruction and stands in that row, by the cycles
    of each kernel. All rows together have the run's dynamic energy and overhead; leakage is left out.
    """
    grouped: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for launch in result.observed["hot-spots"]:
        texts = tuple(row["instruction"] for row in launch["report"])
        grouped.setdefault((launch["kernel"], *texts), []).append(launch)
    per_read, per_write = _energy_of_lanes(result)
    everything = sum(launch["cycles"] for launch in result.observed["hot-spots"])
    added = _energy_of_structures(result) / max(1, everything)
    kernels = []
    for launches in grouped.values():
        rows = [_added(same) for same in zip(*(launch["report"] for launch in launches), strict=True)]
        for row in rows:
            row["energy_pj"] = row["read_lanes"] * per_read + row["write_lanes"] * per_write
        name, cycles = launches[0]["kernel"], sum(launch["cycles"] for launch in launches)
        rows[-1]["energy_pj"] += added * cycles
        kernels.append(KernelProfile(name, len(launches), cycles, rows[-1].pop("resident_cycles"), rows))
    return kernels


def source_lines(program: Program) -> list[str]:
    """The text whose lines instructions name: the user's file, the workload's CUDA C++, or PTX; none for a cubin."""
    match program.origin:
        case WorkloadOrigin(workload=name):
            return workload_source(name).splitlines()
    return program.source.lines(program.code)


def paired(first: Sequence[Row], second: Sequence[Row]) -> list[tuple[Row | None, Row | None]]:
    """The rows of one kernel under two designs beside each other; a design that compiles otherwise has rows of its own."""
    if [row["instruction"] for row in first] == [row["instruction"] for row in second]:
        return list(zip(first, second, strict=True))
    old, new = ([(row["line"], row["instruction"].partition(" ")[0]) for row in rows[:-1]] for rows in (first, second))
    pairs: list[tuple[Row | None, Row | None]] = []
    for what, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            pairs += zip(first[a:b], second[c:d], strict=True)
        else:
            pairs += [(row, None) for row in first[a:b]] + [(None, row) for row in second[c:d]]
    return [*pairs, (first[-1], second[-1])]


def lost_cycles(pairs: Sequence[tuple[Row | None, Row | None]]) -> list[tuple[Row, int, int, str]]:
    """For each pair its row, idle scheduler cycles before and after, and the reason that changed most; most lost first."""
    found = []
    for before, after in pairs:
        old, new = (row["stalls"] if row else {} for row in (before, after))
        changes = {reason: new.get(reason, 0) - old.get(reason, 0) for reason in (*old, *new)}
        reason = max(changes, key=lambda name: abs(changes[name]), default="")
        shown = after or before
        assert shown is not None
        found.append((shown, sum(old.values()), sum(new.values()), reason))
    return sorted(found, key=lambda item: item[1] - item[2])


def scheduler_count(result: Result) -> int:
    """All schedulers of the chip."""
    machine = result.spec.machine
    return machine.chip.sms * machine.sm.schedulers


def mostly(row: Row) -> str:
    """What warps do at an instruction most of the time, and what share of it."""
    spent = row["waits"] | {"issuing": row["issue_cycles"]}
    reason = max(spent, key=lambda name: spent[name])
    return f"{reason} {spent[reason] / max(1, sum(spent.values())):.0%}"


def _energy_of_lanes(result: Result) -> tuple[float, float]:
    """Picojoules of one lane read and of one written, wires included."""
    joules = {term.what: term.joules for term in result.energy_terms}
    reads, writes = result.counters["rf_read_lanes"], result.counters["rf_write_lanes"]
    wires = joules.get(WIRES, 0.0) / max(1, reads + writes)
    return (joules[READS] / max(1, reads) + wires) * 1e12, (joules[WRITES] / max(1, writes) + wires) * 1e12


def _energy_of_structures(result: Result) -> float:
    """Picojoules that a design's own structures take: all terms but those of accesses to the main file, and leakage."""
    of_accesses = (READS, WRITES, WIRES)
    return 1e12 * math.fsum(t.joules for t in result.energy_terms if t.part != "leakage" and t.what not in of_accesses)


def _added(rows: Iterable[Row]) -> Row:
    """The same instruction in several launches as one row."""
    first, *others = rows
    out = {name: dict(value) if name in TABLES else value for name, value in first.items()}
    for row in others:
        for name in (*COLUMNS, *({"resident_cycles"} & row.keys())):
            out[name] += row[name]
        _add_tables(out, row)
    return out


def _add_tables(out: Row, row: Row) -> None:
    for table in TABLES:
        for reason, cycles in row[table].items():
            out[table][reason] = out[table].get(reason, 0) + cycles


def _sum(rows: Iterable[Row]) -> Row:
    out: Row = dict.fromkeys(COLUMNS, 0) | {"energy_pj": 0.0} | {table: {} for table in TABLES}
    for row in rows:
        for name in (*COLUMNS, "energy_pj"):
            out[name] += row[name]
        _add_tables(out, row)
    return out


def _grouped(rows: Sequence[Row], name: str, keys: Callable[[Row], Sequence[int]]) -> list[Row]:
    groups: dict[int, list[Row]] = {}
    for row in rows:
        for key in keys(row):
            groups.setdefault(key, []).append(row)
    return [{name: key, "instructions": len(groups[key])} | _sum(groups[key]) for key in sorted(groups)]
