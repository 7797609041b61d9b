"""Operands are forwarded between neighbouring instructions of a warp, inside a collector of the warp's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from warploom.base.records import Lanes, field_names
from warploom.chip.machines import Machine
from warploom.chip.sm import policy
from warploom.chip.sm.bits import bit
from warploom.chip.sm.columns import mask_at
from warploom.chip.sm.context import Context
from warploom.chip.sm.counter import CounterMeaning, counters_of
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.chip.sm.layout import PORT_COLLECTORS, Sm
from warploom.chip.sm.services import covers, result_number, share_read, wake, write_back
from warploom.compiler.code.instruction import Code
from warploom.compiler.code.lanes import FULL, REGISTER_BITS
from warploom.designs.energy import RunFacts, Technology
from warploom.designs.energy.technology import SLICES
from warploom.papers.bow.hints import Hints, window_hints
from warploom.papers.bow.window import (
    DIRTY,
    MOST_ENTRIES,
    TRANSIENT,
    VALID,
    Counts,
    State,
    find,
    forget,
    place_of,
    slide,
    take,
    write_down,
)

TAG_BITS = 9  # register name (6), valid, dirty, transient
OPERANDS = 3  # that a plain collector holds
THROUGH, BACK = 0, 1


@policy
class Bow(NamedTuple):
    """Each warp's collector keeps the operands and results of the warp's last instructions and forwards them to the next.

    Read from the register file once, an operand serves all instructions of the window; a result is written down when its
    register leaves the window, once for several results of one register, and not at all where the compiler says that nobody
    needs it then. A collector holds as many instructions as the window has; a warp whose collector is full does not issue.
    """

    CHOICE = "hierarchy"
    NAME = "bow"
    SOURCE = "Asghari Esfeden et al., BOW: Breathing Operand Windows to Exploit Bypassing in GPUs, MICRO 2020 (from memory)"
    MEANING = {
        "window": "instructions of a warp between which values are forwarded; 0: none, and the machine's pool of collectors",
        "entries": "registers that the window of a warp can hold",
        "write": "results go to the register file at once too (BOW), or when their register leaves the window (BOW-WR)",
        "hints": "the compiler marks results that need not go to the register file, and those that need not stay in the window",
    }
    LIMITS = {"window": (0, 7), "entries": (1, MOST_ENTRIES), "write": ("through", "back")}
    NOTES = Hints
    STATE = State

    window: int = 3
    entries: int = 12
    write: str = "back"
    hints: bool = True

    COUNTERS = {
        **counters_of(Counts, "bow_"),
        "reads_bypassed": CounterMeaning("ratio", "Share of the reads of registers that found their value in the window."),
        "writes_bypassed": CounterMeaning("ratio", "Share of the writes of registers that never reached the main file."),
    }

    def annotate(policy, code: Code, table: np.ndarray, machine: Machine) -> np.ndarray:
        return window_hints(code, table, policy.window)

    # Collectors of the warps' own.

    def collectors(policy, ctx: Context, unit: int, built: int) -> int:
        return PORT_COLLECTORS if policy.window > 0 else built

    def shares_reads(policy) -> bool:
        return True

    def may_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> bool:
        state: State = sm.hierarchy
        return policy.window == 0 or ctx.code[pc].unit == 0 or state.collecting[warp] < policy.window

    def on_collected(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        state: State = sm.hierarchy
        state.collecting[warp] -= 1
        wake(sm, bit(warp))

    # Reads.

    def lookup(policy, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, pc: int, operand: int) -> int:
        way = find(policy, sm, warp, register)
        if way < 0:
            return -1
        state: State = sm.hierarchy
        index = sm.warp[warp].next
        if mask_at(ctx, index) & ~state.lanes[warp, way] != 0:
            state.incomplete += 1
            write_down(ctx, sm, cycle, warp, way)
            return -1
        state.used[warp, way] = index
        state.hits += 1
        return place_of(warp, way)

    def on_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> None:
        row = ctx.code[pc]
        state: State = sm.hierarchy
        if row.unit != 0:
            state.collecting[warp] += 1
        if policy.window == 0:
            return
        if index + 1 >= sm.warp[warp].end:
            forget(policy, sm, warp)
            return
        slide(policy, ctx, sm, cycle, warp, index + 1)
        for operand in range(row.n_reads):
            register = int(row.reads[operand])
            if policy.window == 1 or sm.map[warp, register] < 0 or find(policy, sm, warp, register) >= 0:
                continue
            way = take(policy, sm, warp, register)
            if way < 0:
                state.crowded += 1
                continue
            state.status[warp, way] = VALID
            state.lanes[warp, way] = FULL
            state.used[warp, way] = index
            state.copies += 1
            share_read(ctx, sm, cycle, operand, place_of(warp, way))

    # Writes.

    def on_result(policy, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, pc: int, index: int, mask: Lanes) -> int:
        row = ctx.code[pc]
        hints: Hints = row.hierarchy
        state: State = sm.hierarchy
        number = result_number(row, register)
        lanes = mask if hints.rest_needed >> number & 1 != 0 else FULL
        way = find(policy, sm, warp, register)
        transient = policy.hints and covers(sm, warp, lanes) and hints.transient >> number & 1 != 0
        around = policy.hints and not transient and hints.unread >> number & 1 != 0
        if way >= 0:
            if covers(sm, warp, lanes):  # the old value is dead
                state.consolidated += state.status[warp, way] & DIRTY != 0
                state.status[warp, way] = 0
                way = -1
        elif index <= sm.warp[warp].next - policy.window:
            state.late += 1
            return -1
        if way < 0:
            if around:
                state.around += 1
                return -1
            way = take(policy, sm, warp, register)
            if way < 0:
                state.crowded += 1
                return -1
            state.lanes[warp, way] = np.uint32(0)
            state.used[warp, way] = index
        state.status[warp, way] = VALID | DIRTY | (TRANSIENT if transient else 0)
        state.lanes[warp, way] |= lanes
        state.used[warp, way] = max(state.used[warp, way], index)
        state.results += 1
        return place_of(warp, way)

    def on_placed(policy, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, place: int) -> None:
        state: State = sm.hierarchy
        if policy.write == THROUGH:
            way = place - place_of(warp, 0)
            write_back(ctx, sm, cycle, warp, register, place, state.lanes[warp, way])
            state.status[warp, way] = VALID
            state.writebacks += 1

    def flush(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        state: State = sm.hierarchy
        for way in range(policy.entries):
            if state.status[warp, way] & VALID != 0:
                write_down(ctx, sm, cycle, warp, way)

    def on_release(policy, ctx: Context, sm: Sm, cycle: int, warp: int, register: int) -> None:
        state: State = sm.hierarchy
        way = find(policy, sm, warp, register)
        if way >= 0:
            state.status[warp, way] = 0

    def on_warp_launch(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        state: State = sm.hierarchy
        state.collecting[warp] = 0

    def on_warp_exit(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        forget(policy, sm, warp)

    def holds(policy, ctx: Context, sm: Sm, warp: int, register: int) -> bool:
        state: State = sm.hierarchy
        way = find(policy, sm, warp, register)
        return way >= 0 and state.status[warp, way] & DIRTY != 0

    # What is reported.

    def counters(policy, states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
        return {f"bow_{name}": int(states[name].sum()) for name in field_names(Counts)}

    def summary(policy, counters: dict[str, Any]) -> dict[str, Any]:
        reads, writes = max(1, counters["rf_reads"]), max(1, counters["rf_writes"])
        return {"reads_bypassed": counters["bow_hits"] / reads, "writes_bypassed": 1 - counters["mrf_writes"] / writes}

    def energy(policy, counters: dict[str, Any], technology: Technology, run: RunFacts) -> Iterator[tuple[str, str, float]]:
        if policy.window == 0:
            return
        # A plain collector takes and gives the operands that come from the register file just so, and is not charged for it.
        read, write = technology.register_cache_energy(1, policy.entries)
        yield "window reads", "dynamic", (counters["bow_hits"] + counters["bow_writebacks"]) * SLICES * read
        yield "window writes", "dynamic", counters["bow_results"] * SLICES * write
        below = technology.access("read", run.cycle_time)
        yield "reads of values on their way down", "dynamic", counters["forwarded_reads"] * below
        _, leakage = technology.small_array(policy.entries * REGISTER_BITS, REGISTER_BITS, run.cycle_time)
        warps = run.machine.sm.warps_per_sm * run.sms
        yield "windows", "leakage", leakage * warps * run.cycles * run.cycle_time

    def storage_bits(policy, machine: Machine) -> int:
        if policy.window == 0:
            return 0
        built = machine.collectors.sp + machine.collectors.sfu + machine.collectors.mem
        return machine.sm.warps_per_sm * policy.entries * (REGISTER_BITS + TAG_BITS) - built * OPERANDS * REGISTER_BITS
