"""Where in the code the time, the instructions and the register accesses go."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from warploom.errors import WarploomError
from warploom.records import Array, Lanes, Record, field_names, i8
from warploom.register_file.bits import count
from warploom.register_file.context import Context
from warploom.register_file.layout import STALLS

MOST_INSTRUCTIONS = 4096
OTHER = MOST_INSTRUCTIONS  # the row of what belongs to no instruction
ROWS = MOST_INSTRUCTIONS + 1


class Rows(Record):
    """Sums of each instruction, and of what belongs to none."""

    issues: Annotated[Array[i8], ROWS]
    threads: Annotated[Array[i8], ROWS]
    stalls: Annotated[Array[i8], ROWS, len(STALLS)]
    register_reads: Annotated[Array[i8], ROWS]
    register_writes: Annotated[Array[i8], ROWS]
    main_file_reads: Annotated[Array[i8], ROWS]
    main_file_writes: Annotated[Array[i8], ROWS]
    bank_conflicts: Annotated[Array[i8], ROWS]


class HotSpots(NamedTuple):
    """For each instruction of the code: issues, threads, stalls by reason, register accesses, conflicts of banks.

    The rows add up to the run's counters; what belongs to no instruction has a row of its own, under pc -1.
    """

    NAME = "hot-spots"
    STATE = Rows

    def check(observer, code: Any) -> None:
        """Refuse code that is too long to count."""
        if len(code) > MOST_INSTRUCTIONS:
            raise WarploomError(
                f"kernel {code.name}: its {len(code)} instructions are more than hot-spots holds, {MOST_INSTRUCTIONS}"
            )

    def on_issued(observer, own: Rows, ctx: Context, cycle: int, warp: int, pc: int, mask: Lanes) -> None:
        own.issues[pc] += 1
        own.threads[pc] += count(np.uint64(mask))
        own.register_reads[pc] += ctx.code[pc].n_reads
        own.register_writes[pc] += ctx.code[pc].n_writes

    def on_stalled(observer, own: Rows, ctx: Context, cycle: int, scheduler: int, reason: int, pc: int, cycles: int) -> None:
        own.stalls[pc if pc >= 0 else OTHER, reason] += cycles

    def on_accessed(observer, own: Rows, ctx: Context, cycle: int, pc: int, write: bool) -> None:
        row = pc if pc >= 0 else OTHER
        if write:
            own.main_file_writes[row] += 1
        else:
            own.main_file_reads[row] += 1

    def on_conflict(observer, own: Rows, ctx: Context, cycle: int, pc: int) -> None:
        own.bank_conflicts[pc if pc >= 0 else OTHER] += 1

    def report(observer, states: Any, run: Any) -> list[dict[str, Any]]:
        """One row for each instruction at which something happened, in order of pc; -1 is last."""
        sums = {name: states[name].sum(axis=0) for name in field_names(Rows)}
        code = [str(instruction) for instruction in run.code.instructions()]
        rows = []
        for row in (*range(len(code)), OTHER):
            values = {name: int(column[row]) for name, column in sums.items() if name != "stalls"}
            stalls = {name: int(cycles) for name, cycles in zip(STALLS, sums["stalls"][row], strict=True) if cycles}
            if any(values.values()) or stalls:
                text = code[row] if row < OTHER else ""
                rows.append({"pc": row if row < OTHER else -1, "instruction": text, **values, "stalls": stalls})
        return rows
