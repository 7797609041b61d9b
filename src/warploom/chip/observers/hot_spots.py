"""Where in the code the time, the instructions, the register accesses and their energy go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np

from warploom.base.records import Array, Lanes, Record, field_names, i4, i8, with_length
from warploom.chip.machines.limits import MAX_WARPS
from warploom.chip.sm.bits import count
from warploom.chip.sm.context import Context
from warploom.chip.sm.counter import CounterMeaning
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.chip.sm.layout import STALLS, WAITS
from warploom.chip.sm.observing import FORWARDED, HIT
from warploom.chip.sm.services import inlined
from warploom.compiler.code.graph import flow_graph
from warploom.compiler.code.instruction import Code
from warploom.compiler.code.liveness import thread_liveness
from warploom.compiler.code.loops import find_loops

ROWS = 1 + 4096  # row 0 is of what belongs to no instruction, and row pc + 1 of an instruction
LONG_ROWS = 1 + 65536  # of code as long as a trace can name; 20 MB for each SM, so only where it is needed


class Sums(Record):
    """The columns of a row that are one number, each for all instructions and for what belongs to none."""

    issues: Annotated[Array[i8], ROWS]
    threads: Annotated[Array[i8], ROWS]
    issue_cycles: Annotated[Array[i8], ROWS]  # in which a warp was issued; fewer than issues where one is issued twice in a cycle
    register_reads: Annotated[Array[i8], ROWS]
    register_writes: Annotated[Array[i8], ROWS]
    main_file_reads: Annotated[Array[i8], ROWS]
    main_file_writes: Annotated[Array[i8], ROWS]
    read_lanes: Annotated[Array[i8], ROWS]
    write_lanes: Annotated[Array[i8], ROWS]
    bank_reads: Annotated[Array[i8], ROWS]
    bank_writes: Annotated[Array[i8], ROWS]
    encoded_reads: Annotated[Array[i8], ROWS]  # of the main file's, those of compressed registers
    encoded_writes: Annotated[Array[i8], ROWS]
    bank_conflicts: Annotated[Array[i8], ROWS]
    upper_reads: Annotated[Array[i8], ROWS]
    upper_writes: Annotated[Array[i8], ROWS]
    forwarded_reads: Annotated[Array[i8], ROWS]
    wakeup_waits: Annotated[Array[i8], ROWS]  # reads that waited for an entry to wake up, and for how long
    wakeup_wait_cycles: Annotated[Array[i8], ROWS]


COLUMNS = field_names(Sums)
# The run's counter that a column adds up to, where there is one.
COUNTERS_OF = {
    "issues": "warp_instructions",
    "register_reads": "rf_reads",
    "register_writes": "rf_writes",
    "main_file_reads": "mrf_reads",
    "main_file_writes": "mrf_writes",
    "read_lanes": "rf_read_lanes",
    "write_lanes": "rf_write_lanes",
    "bank_reads": "bank_reads",
    "bank_writes": "bank_writes",
    "bank_conflicts": "bank_conflicts",
    "upper_reads": "upper_reads",
    "upper_writes": "upper_writes",
    "forwarded_reads": "forwarded_reads",
    "wakeup_wait_cycles": "wakeup_wait_cycles",
}


class InstructionSums(Sums):
    """Sums of each instruction, and of what belongs to none; and what each warp is doing."""

    stalls: Annotated[Array[i8], ROWS, len(STALLS)]
    waits: Annotated[Array[i8], ROWS, len(WAITS)]
    since: Annotated[Array[i8], MAX_WARPS]  # what each warp has been doing from this cycle on
    place: Annotated[Array[i4], MAX_WARPS]
    wait: Annotated[Array[i4], MAX_WARPS]
    began: Annotated[Array[i8], MAX_WARPS]
    resident_cycles: i8


@inlined
def _settle(own: InstructionSums, cycle: int, warp: int) -> None:
    """Count the cycles for which a warp has waited up to now, where it has."""
    if cycle > own.since[warp]:
        own.waits[own.place[warp], own.wait[warp]] += cycle - own.since[warp]


class HotSpots(NamedTuple):
    """For each instruction of the code: issues, threads, why warps wait at it, why schedulers do, register accesses, conflicts.

    The rows add up to the run's counters; what belongs to no instruction has a row of its own, under pc -1. ``stalls`` are
    cycles in which a scheduler issued nothing, ``waits`` cycles in which a resident warp was not issued; with ``issue_cycles``
    the latter add up to the cycles for which warps were resident.
    """

    NAME = "hot-spots"
    STATE = InstructionSums
    COUNTERS = {
        "issues": CounterMeaning("instructions", "Warp instructions that were issued."),
        "threads": CounterMeaning("lanes", "Lanes that executed them."),
        "issue_cycles": CounterMeaning(
            "cycles", "Cycles in which a warp was issued: fewer than issues where one is issued twice in a cycle."
        ),
        "register_reads": CounterMeaning("accesses", "Reads of registers, wherever their values were."),
        "register_writes": CounterMeaning("accesses", "Writes of registers, wherever their values went."),
        "main_file_reads": CounterMeaning("accesses", "Reads of entries of the main register file."),
        "main_file_writes": CounterMeaning("accesses", "Writes of entries of the main register file."),
        "read_lanes": CounterMeaning("lanes", "Lanes that were read in the main register file."),
        "write_lanes": CounterMeaning("lanes", "Lanes that were written in the main register file."),
        "bank_reads": CounterMeaning("accesses", "Reads of single banks."),
        "bank_writes": CounterMeaning("accesses", "Writes of single banks."),
        "encoded_reads": CounterMeaning("accesses", "Reads of the main register file that met compressed registers."),
        "encoded_writes": CounterMeaning("accesses", "Writes of the main register file that stored compressed registers."),
        "bank_conflicts": CounterMeaning("cycles", "Cycles that accesses waited for ports of their banks."),
        "upper_reads": CounterMeaning("accesses", "Reads in the upper level of the register file."),
        "upper_writes": CounterMeaning("accesses", "Writes to the upper level of the register file."),
        "forwarded_reads": CounterMeaning("accesses", "Reads that took a value on its way."),
        "wakeup_waits": CounterMeaning("accesses", "Reads that waited for an entry to wake up."),
        "wakeup_wait_cycles": CounterMeaning("cycles", "Cycles that reads waited for entries to wake up."),
        "stalls": CounterMeaning("cycles", "Cycles in which a scheduler issued nothing, by reason."),
        "waits": CounterMeaning("cycles", "Cycles in which a resident warp was not issued, by reason."),
        "resident_cycles": CounterMeaning(
            "cycles", "Cycles that warps were resident, added up over the warps; on the last row alone."
        ),
    }

    def for_code(observer, code: Code) -> HotSpots:
        """The observer with room for code of this length."""
        return observer if len(code) < ROWS else HotSpotsOfLongCode._make(())

    def on_launched(observer, own: InstructionSums, ctx: Context, cycle: int, warp: int, cta: int) -> None:
        own.since[warp] = cycle
        own.began[warp] = cycle

    def on_exited(observer, own: InstructionSums, ctx: Context, cycle: int, warp: int) -> None:
        _settle(own, cycle, warp)
        own.resident_cycles += cycle - own.began[warp]

    def on_waits(observer, own: InstructionSums, ctx: Context, cycle: int, warp: int, wait: int, pc: int) -> None:
        _settle(own, cycle, warp)
        own.since[warp] = cycle
        own.place[warp] = pc + 1
        own.wait[warp] = wait

    def on_issued(observer, own: InstructionSums, ctx: Context, cycle: int, warp: int, pc: int, mask: Lanes) -> None:
        _settle(own, cycle, warp)
        row = pc + 1
        if own.since[warp] <= cycle:
            own.issue_cycles[row] += 1
            own.since[warp] = cycle + 1
        own.issues[row] += 1
        own.threads[row] += count(np.uint64(mask))
        own.register_reads[row] += ctx.code[pc].n_reads
        own.register_writes[row] += ctx.code[pc].n_writes

    def on_stalled(
        observer, own: InstructionSums, ctx: Context, cycle: int, scheduler: int, reason: int, pc: int, cycles: int
    ) -> None:
        own.stalls[pc + 1, reason] += cycles

    def on_accessed(
        observer, own: InstructionSums, ctx: Context, cycle: int, pc: int, write: bool, lanes: int, banks: int, form: int
    ) -> None:
        row = pc + 1
        if write:
            own.main_file_writes[row] += 1
            own.write_lanes[row] += lanes
            own.bank_writes[row] += banks
            own.encoded_writes[row] += form != 0
        else:
            own.main_file_reads[row] += 1
            own.read_lanes[row] += lanes
            own.bank_reads[row] += banks
            own.encoded_reads[row] += form != 0

    def on_conflict(observer, own: InstructionSums, ctx: Context, cycle: int, pc: int) -> None:
        own.bank_conflicts[pc + 1] += 1

    def on_upper_level(observer, own: InstructionSums, ctx: Context, cycle: int, pc: int, what: int) -> None:
        row = pc + 1
        if what == HIT:
            own.upper_reads[row] += 1
        elif what == FORWARDED:
            own.forwarded_reads[row] += 1
        else:
            own.upper_writes[row] += 1

    def on_woken(observer, own: InstructionSums, ctx: Context, cycle: int, pc: int, cycles: int) -> None:
        own.wakeup_waits[pc + 1] += 1
        own.wakeup_wait_cycles[pc + 1] += cycles

    def report(observer, states: np.ndarray, run: LaunchFacts) -> list[dict[str, Any]]:
        """One row for each instruction, in order of pc; -1, which also says for how long warps were resident, is last."""
        places = [*range(1, len(run.code) + 1), 0]
        columns = {name: states[name].sum(axis=0)[places].tolist() for name in COLUMNS}
        stalls = states["stalls"].sum(axis=0)[places].tolist()
        waits = states["waits"].sum(axis=0)[places].tolist()
        rows = [
            {
                **about,
                **{name: column[place] for name, column in columns.items()},
                "stalls": {name: cycles for name, cycles in zip(STALLS, stalls[place], strict=True) if cycles},
                "waits": {name: cycles for name, cycles in zip(WAITS, waits[place], strict=True) if cycles},
            }
            for place, about in enumerate(_described(run.code))
        ]
        rows[-1]["resident_cycles"] = int(states["resident_cycles"].sum())
        return rows


class HotSpotsOfLongCode(HotSpots):
    """The same with more rows."""

    STATE = with_length(InstructionSums, ROWS, LONG_ROWS)

    def for_code(observer, code: Code) -> HotSpots:
        """Itself: no code is longer."""
        return observer


def _described(code: Code) -> Iterator[dict[str, Any]]:
    """What is known of each instruction: its line in the source, its block, the loops around it, outermost first, its text."""
    graph = flow_graph(code)
    loops, live = find_loops(graph), thread_liveness(code, graph).pressure
    pc = 0
    for number, block in enumerate(code.blocks):
        around = [header for header, loop in loops.items() if number in loop.blocks]
        for instruction in block.instructions:
            place = {"pc": pc, "line": instruction.line, "block": number, "loops": around, "live": int(live[pc])}
            yield {**place, "instruction": str(instruction)}
            pc += 1
    yield {"pc": -1, "line": 0, "block": -1, "loops": [], "live": 0, "instruction": ""}
