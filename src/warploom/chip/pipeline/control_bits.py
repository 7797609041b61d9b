"""Readiness as the compiler says: a stall count after each instruction, and six counters a warp for what takes variable time.

A counter is held from the issue of an instruction until its operands have been read or its results written; instructions name
the counters that must be zero. Hardware makes an increment visible one cycle after the issue, and compilers leave that cycle;
here it is visible at once.
"""

from __future__ import annotations

from typing import Any

from warploom.base.records import Mask
from warploom.chip.memory import FOREVER, Port, constant_access
from warploom.chip.memory.state import FIRST_INDEXED_LINE, INDEXED_LINES
from warploom.chip.pipeline.examine import begin_to_wait, cease_to_wait, skip_metadata, tell_hierarchy
from warploom.chip.pipeline.subcore_state import AHEAD, GROUPS, SubCores, look_again
from warploom.chip.sm.bits import NOTHING, bit, has, lowest, next_after, without_lowest
from warploom.chip.sm.columns import mask_at, memory_at, pc_at, sector_at
from warploom.chip.sm.context import INDEXED_CONSTANT, NO_CONSTANT, CodeRow, Context
from warploom.chip.sm.hooks import hook
from warploom.chip.sm.layout import Sm, Warp
from warploom.chip.sm.observing import observed
from warploom.chip.sm.services import inlined, separate
from warploom.compiler.code.instruction import CONTROL_COUNTERS
from warploom.compiler.code.table import Flag

FENCE, BRANCH, CONDITIONAL = int(Flag.FENCE), int(Flag.BRANCH), int(Flag.CONDITIONAL)


@inlined
def due_warps(sm: Sm, cycle: int) -> None:
    """Wake the warps whose time to be looked at has come."""
    own: SubCores = sm.stages
    moment = cycle % AHEAD
    if has(own.timed, moment):
        sm.woken |= own.timer[moment] & ~(sm.held | sm.blocked | sm.at_barrier | sm.stalled_memory)
        own.timer[moment] = NOTHING
        own.timed &= ~bit(moment)


@inlined
def next_due(sm: Sm, cycle: int) -> int:
    """The next cycle at which a warp is to be looked at again."""
    own: SubCores = sm.stages
    if own.timed == NOTHING:
        return FOREVER
    moment = next_after(own.timed, cycle % AHEAD)
    return cycle + 1 + (moment - cycle - 1) % AHEAD


@hook()
def depends(stages: Any, ctx: Context, sm: Sm, warp: int, row: CodeRow) -> bool:
    """Whether an instruction must wait for others of its warp: a counter that it names is still held."""
    own: SubCores = sm.stages
    counter = own.warp[warp].counter
    if row.wait != 0:
        for number in range(CONTROL_COUNTERS):
            if row.wait >> number & 1 != 0 and counter[number] > 0:
                return True
    return row.limited_counter >= 0 and counter[row.limited_counter] > row.limit


@inlined
def _constant_line(ctx: Context, state: Warp, row: CodeRow) -> int:
    """The line of constants that a warp's next instruction reads like an operand, or NO_CONSTANT."""
    if row.constant != INDEXED_CONSTANT:
        return int(row.constant)
    if memory_at(ctx, state.memory) & 0xFF == 0:  # no lane executes it
        return NO_CONSTANT
    return FIRST_INDEXED_LINE + (sector_at(ctx, state.sector) >> 1) % INDEXED_LINES


@inlined
def _constant_there(ctx: Context, sm: Sm, port: Port, cycle: int, warp: int, line: int) -> bool:
    """Whether the sub-cores have a line of constants; if not, it is asked for and the warp looked at again."""
    own: SubCores = sm.stages
    at = own.constant_at[line]
    if at == 0:
        at = constant_access(ctx.machine, port, cycle, line)
        if at >= FOREVER:
            own.no_constant |= bit(warp)
            own.fills_seen = port.ldst.fetch_fills
            return False
        own.constant_at[line] = at
    if at > cycle:
        look_again(sm, cycle, at, warp)
        return False
    return True


@inlined
def examine_warps(ctx: Context, sm: Sm, port: Port, cycle: int) -> None:
    """Sort the woken warps into those that could issue, those that wait for a counter, and those that wait for their time."""
    own: SubCores = sm.stages
    due_warps(sm, cycle)
    if own.no_constant != NOTHING and port.ldst.fetch_fills != own.fills_seen:
        sm.woken |= own.no_constant
        own.no_constant = NOTHING
    while sm.woken != NOTHING:
        warp = lowest(sm.woken)
        sm.woken = without_lowest(sm.woken)
        state = sm.warp[warp]
        skip_metadata(ctx, sm, cycle, warp)
        if state.next >= state.decoded:
            continue
        mine = bit(warp)
        if own.warp[warp].stall_until > cycle:
            look_again(sm, cycle, own.warp[warp].stall_until, warp)
            continue
        row = ctx.code[pc_at(ctx, state.next)]
        if depends(ctx.stages, ctx, sm, warp, row):
            sm.blocked |= mine
            slow = state.memory_in_flight > 0
            if observed(ctx.observers):
                sm.slow = sm.slow | mine if slow else sm.slow & ~mine
            begin_to_wait(ctx, sm, cycle, warp, slow)
            continue
        if row.traits & FENCE != 0 and (state.memory_in_flight > 0 or port.ldst.warp_stores[warp] > 0):
            sm.stalled_memory |= mine
            begin_to_wait(ctx, sm, cycle, warp, True)
            continue
        if row.constant != NO_CONSTANT:
            line = _constant_line(ctx, state, row)
            if line != NO_CONSTANT and not _constant_there(ctx, sm, port, cycle, warp, line):
                continue
        cease_to_wait(ctx, sm, cycle, warp)
        own.ready[row.pipe] |= mine
        own.wanted |= bit(row.pipe)
        own.all_ready |= mine
    if sm.active != sm.known_active:
        tell_hierarchy(ctx, sm, cycle)


@separate
def _turns_without_jump(ctx: Context, sm: Sm, warp: int) -> bool:
    """Whether the branch that a warp has issued was taken, by some lanes at least, although the next instruction follows it.

    Lanes that are missing there have gone elsewhere; if it is guarded they may be missing for that reason, and nothing is known.
    """
    state = sm.warp[warp]
    following = state.next
    if following >= state.end or pc_at(ctx, following) != pc_at(ctx, following - 1) + 1:
        return False
    if ctx.code[pc_at(ctx, following - 1)].traits & CONDITIONAL == 0:
        return True
    return not ctx.code[pc_at(ctx, following)].guarded and mask_at(ctx, following) != mask_at(ctx, following - 1)


@inlined
def hold_counters(ctx: Context, sm: Sm, cycle: int, warp: int, row: CodeRow) -> None:
    """An instruction has been issued: its warp stalls as long as it says, and holds its counters."""
    own: SubCores = sm.stages
    mine = own.warp[warp]
    stall = max(1, row.stall)
    if row.yields:
        stall = max(2, stall)
    if row.traits & BRANCH != 0 and _turns_without_jump(ctx, sm, warp):
        stall = max(stall, ctx.machine.sm.branch_cycles + ctx.machine.sub_core.fetch_cycles)
    core = warp % ctx.machine.sm.sub_cores
    # What is behind a late instruction is held up in front of its stage: it is issued, and a stall count of 1 is not longer.
    mine.stall_until = cycle + stall + (own.slipped[core] if stall > 1 else 0)
    own.slipped[core] = 0
    if row.unit != 0:
        if row.write_counter >= 0:
            mine.counter[row.write_counter] += 1
        if row.read_counter >= 0:
            mine.counter[row.read_counter] += 1
        if row.copies:
            mine.copies_issued += 1
    elif row.write_counter >= 0 and mine.copies_issued > mine.copies_done:
        _hold_for_copies(sm, warp, int(row.write_counter))


@inlined
def leave_barrier(ctx: Context, sm: Sm, cycle: int, warps: Mask) -> None:
    """Let the warps of a barrier go on one after the other; the SM has one unit for all its barriers."""
    own: SubCores = sm.stages
    while warps != NOTHING:
        warp = lowest(warps)
        warps = without_lowest(warps)
        own.barrier_from = max(own.barrier_from, cycle) + ctx.machine.sub_core.barrier_interval
        own.warp[warp].stall_until = max(own.warp[warp].stall_until, own.barrier_from + ctx.machine.sub_core.barrier_cycles)


@inlined
def _hold_for_copies(sm: Sm, warp: int, number: int) -> None:
    """LDGDEPBAR: hold a counter until all copies to shared memory that were issued before have ended."""
    own: SubCores = sm.stages
    mine = own.warp[warp]
    if mine.groups == GROUPS:
        mine.group_end[GROUPS - 1] = mine.copies_issued
        return
    mine.group_end[mine.groups] = mine.copies_issued
    mine.group_counter[mine.groups] = number
    mine.groups += 1
    mine.counter[number] += 1


@inlined
def copy_done(sm: Sm, warp: int) -> None:
    """A copy to shared memory has ended: let the counters go that were held for it and all before it."""
    own: SubCores = sm.stages
    mine = own.warp[warp]
    mine.copies_done += 1
    while mine.groups > 0 and mine.group_end[0] <= mine.copies_done:
        number = int(mine.group_counter[0])
        mine.groups -= 1
        for group in range(mine.groups):
            mine.group_end[group] = mine.group_end[group + 1]
            mine.group_counter[group] = mine.group_counter[group + 1]
        release_counter(sm, warp, number)


@inlined
def release_counter(sm: Sm, warp: int, number: int) -> None:
    """Let a counter go, and look at its warp again if it waits for one."""
    own: SubCores = sm.stages
    own.warp[warp].counter[number] -= 1
    if has(sm.blocked, warp):
        sm.blocked &= ~bit(warp)
        sm.woken |= bit(warp)
