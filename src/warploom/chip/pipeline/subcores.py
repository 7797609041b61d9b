"""The stages of sub-cores without operand collectors: their answers to the pipeline's questions."""

from __future__ import annotations

from typing import Any, NamedTuple

from warploom.base.records import Mask
from warploom.chip.memory import Memory, Port
from warploom.chip.pipeline.bulk_copies import run_unit, send_copy
from warploom.chip.pipeline.code_lines import line_ready
from warploom.chip.pipeline.control_bits import (
    copy_done,
    examine_warps,
    hold_counters,
    leave_barrier,
    next_due,
    release_counter,
)
from warploom.chip.pipeline.counted_barriers import TO_COUNT, do_deeds
from warploom.chip.pipeline.pipes import Pipe
from warploom.chip.pipeline.products import TO_MAKE, make_piece, send_product
from warploom.chip.pipeline.read_ports import (
    TO_READ,
    enters_at,
    hand_over,
    pipe_has_room,
    read_operands,
    send_fixed,
    send_variable,
    start_addresses,
    take_pipe,
)
from warploom.chip.pipeline.subcore_state import COUNTERS, SubCores
from warploom.chip.pipeline.writeback import plan
from warploom.chip.sm.bits import NOTHING, bit, has, lowest, without_lowest
from warploom.chip.sm.context import CodeRow, Context
from warploom.chip.sm.hooks import hook, on_ports
from warploom.chip.sm.layout import UNITS, Sm
from warploom.chip.sm.observing import observed
from warploom.chip.sm.services import INSTRUCTION
from warploom.compiler.code.classes import Unit

MEM = int(Unit.MEM)
NONE = int(Pipe.NONE)


@hook()
def let_go(stages: Any, ctx: Context, sm: Sm, cycle: int, warp: int, row: CodeRow) -> None:
    """An instruction has read its operands: whoever overwrites them need not wait for it any more."""
    if row.read_counter >= 0:
        release_counter(sm, warp, int(row.read_counter))


class ControlledSubCores(NamedTuple):
    """Sub-cores that read operands through reserved ports and heed control bits."""

    def advance(stages, ctx: Context, sm: Sm, cycle: int) -> bool:
        if sm.in_latches == 0:
            return False
        return start_addresses(ctx, sm, cycle)

    def next_advance(stages, ctx: Context, sm: Sm, cycle: int) -> int:
        own: SubCores = sm.stages
        if sm.in_latches > 0 or sm.in_dispatch > 0 or own.all_ready != NOTHING:
            return cycle + 1
        return min(next_due(sm, cycle), own.bulk.event)

    def run_copies(stages, ctx: Context, sm: Sm, port: Port, cycle: int) -> bool:
        own: SubCores = sm.stages
        return (own.bulk.event <= cycle or port.ldst.copies_ended > 0) and run_unit(ctx, sm, port, cycle)

    def begin_warp(stages, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        own: SubCores = sm.stages
        mine = own.warp[warp]
        mine.stall_until = cycle
        mine.copies_issued = 0
        mine.copies_done = 0
        mine.groups = 0
        for number in range(COUNTERS):
            mine.counter[number] = 0

    def examine_woken(stages, ctx: Context, sm: Sm, port: Port, cycle: int) -> None:
        examine_warps(ctx, sm, port, cycle)

    def issuable(stages, ctx: Context, sm: Sm, cycle: int, core: int, only: Mask, first: bool) -> tuple[Mask, bool]:
        own: SubCores = sm.stages
        ready, waiting = NOTHING, NOTHING
        if own.all_ready & only == NOTHING:
            return ready, False
        full = own.issue_from[core] > cycle
        pipes = own.wanted
        while pipes != NOTHING:
            pipe = lowest(pipes)
            pipes = without_lowest(pipes)
            mine = own.ready[pipe] & only
            if mine != NOTHING:
                if full or (pipe != NONE and not pipe_has_room(ctx, sm, cycle, core, pipe)):
                    waiting |= mine
                else:
                    ready |= mine
        if observed(ctx.observers) and first:
            sm.crowded |= waiting
        return ready, waiting != NOTHING

    def unready(stages, sm: Sm, warp: int, row: CodeRow) -> None:
        own: SubCores = sm.stages
        own.ready[row.pipe] &= ~bit(warp)
        if own.ready[row.pipe] == NOTHING:
            own.wanted &= ~bit(row.pipe)
        own.all_ready &= ~bit(warp)

    def crowd(stages, sm: Sm) -> Mask:
        own: SubCores = sm.stages
        return own.all_ready & ~own.ready[NONE]

    def ready_warps(stages, sm: Sm) -> Mask:
        own: SubCores = sm.stages
        return own.all_ready

    def memory_has_room(stages, ctx: Context, sm: Sm, core: int) -> bool:
        own: SubCores = sm.stages
        return own.memory_inside[core] < ctx.machine.sub_core.memory_queue

    def reads_once(stages) -> bool:
        return True

    def comes_for_sources(stages, ctx: Context, sm: Sm, cycle: int, core: int, row: CodeRow) -> int:
        return cycle + ctx.machine.sub_core.control_cycles if row.variable else enters_at(ctx, sm, cycle, core)

    def send_on(stages, ctx: Context, sm: Sm, cycle: int, core: int, slot: int) -> None:
        own: SubCores = sm.stages
        work = sm.slot[slot]
        coming = at = cycle + ctx.machine.sub_core.control_cycles
        if work.unit == MEM:
            number = UNITS * core + MEM - 1
            sm.issued[number, sm.issued_count[number]] = slot
            sm.issued_count[number] += 1
            sm.in_latches += 1
            own.memory_inside[core] += 1
        elif ctx.code[work.pc].variable:
            if ctx.code[work.pc].wide:
                send_product(ctx, sm, cycle, core, slot)
            elif ctx.code[work.pc].bulk != 0:
                send_copy(ctx, sm, cycle, slot)
            else:
                send_variable(ctx, sm, cycle, core, slot, int(ctx.code[work.pc].pipe))
        else:
            row = ctx.code[work.pc]
            coming = enters_at(ctx, sm, cycle, core)
            take_pipe(ctx, sm, cycle, core, int(row.pipe), int(row.initiation))
            send_fixed(ctx, sm, cycle, core, slot)
            at = own.allocated_at[core]
        if work.kind == INSTRUCTION:
            on_ports(ctx.design.hierarchy, ctx, sm, coming, int(work.warp), int(work.pc), at)

    def after_issue(stages, ctx: Context, sm: Sm, cycle: int, warp: int, row: CodeRow) -> None:
        hold_counters(ctx, sm, cycle, warp, row)

    def on_opened(stages, ctx: Context, sm: Sm, cycle: int, warps: Mask) -> None:
        leave_barrier(ctx, sm, cycle, warps)

    def code_ready(stages, ctx: Context, memory: Memory, sm: Sm, port: Port, cycle: int, warp: int, pc: int) -> int:
        return line_ready(ctx, memory, sm, port, cycle, warp, pc)

    def fetch_room(stages, ctx: Context, buffered: int) -> int:
        return ctx.machine.sm.decode_width

    def unit_free(stages, ctx: Context, sm: Sm, cycle: int) -> bool:
        own: SubCores = sm.stages
        return own.unit_from <= cycle

    def on_handed_over(stages, ctx: Context, sm: Sm, cycle: int, core: int) -> None:
        own: SubCores = sm.stages
        own.unit_from = cycle + ctx.machine.sub_core.shared_interval
        own.memory_inside[core] -= 1

    def loads_last(stages) -> bool:
        return True

    def waits_for_readers(stages) -> bool:
        return False

    def read_first(stages, ctx: Context, sm: Sm, cycle: int, slot: int) -> bool:
        work = sm.slot[slot]
        if work.storing != TO_READ:
            if work.storing == TO_COUNT:
                return do_deeds(ctx, sm, cycle, slot)
            return work.storing == TO_MAKE and make_piece(ctx, sm, cycle, slot)
        read_operands(ctx, sm, cycle, slot)
        if work.kind == INSTRUCTION:
            let_go(stages, ctx, sm, cycle, int(work.warp), ctx.code[work.pc])
        if work.unit == MEM:
            hand_over(ctx, sm, cycle, slot)
            return True
        work.storing = 0
        written = work.issued_at + ctx.code[work.pc].latency
        if written > cycle:
            plan(sm, cycle, written, slot)
            return True
        return False

    def on_finished(stages, ctx: Context, sm: Sm, cycle: int, slot: int) -> None:
        row = ctx.code[sm.slot[slot].pc]
        if row.write_counter >= 0:
            release_counter(sm, int(sm.slot[slot].warp), int(row.write_counter))
        if row.copies:
            copy_done(sm, int(sm.slot[slot].warp))


class ScoreboardedSubCores(ControlledSubCores):
    """The same with a scoreboard in place of control bits, and a second one for registers that are still to be read."""

    def depends(stages, ctx: Context, sm: Sm, warp: int, row: CodeRow) -> bool:
        own: SubCores = sm.stages
        state = sm.warp[warp]
        if state.pending_predicates & row.predicates_used != NOTHING:
            return True
        for word in range(ctx.info.words):
            if state.pending[word] & row.uses[word] != NOTHING:
                return True
        awaited = 0
        for number in range(row.n_writes):
            awaited += own.to_read[warp, row.writes[number]]
        return awaited > 0

    def after_issue(stages, ctx: Context, sm: Sm, cycle: int, warp: int, row: CodeRow) -> None:
        own: SubCores = sm.stages
        own.warp[warp].stall_until = cycle + 1
        if row.variable:
            for operand in range(row.n_reads):
                own.to_read[warp, row.reads[operand]] += 1

    def let_go(stages, ctx: Context, sm: Sm, cycle: int, warp: int, row: CodeRow) -> None:
        own: SubCores = sm.stages
        if row.variable:
            for operand in range(row.n_reads):
                own.to_read[warp, row.reads[operand]] -= 1
            if has(sm.blocked, warp):
                sm.blocked &= ~bit(warp)
                sm.woken |= bit(warp)

    def on_finished(stages, ctx: Context, sm: Sm, cycle: int, slot: int) -> None:
        return
