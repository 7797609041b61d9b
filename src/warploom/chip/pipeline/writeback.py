"""Write-back: results go to the upper level or to a bank, the scoreboard lets go, warps wake up.

Results of the units arrive at planned cycles; loads when the load/store unit hands them back, one a cycle. A bank takes its
writes in order of arrival, and before reads. A write waits until the readers of the old value have read it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from warploom.chip.memory import DONE_STORES, FOREVER, Port, done_kind, done_value, ldst_pop_done
from warploom.chip.pipeline.collect import banks_of, count_access
from warploom.chip.sm.bits import NOTHING, bit, has, lowest, without_lowest
from warploom.chip.sm.checking import check_placed, check_write
from warploom.chip.sm.columns import value_at
from warploom.chip.sm.context import Context
from warploom.chip.sm.hooks import (
    form_of,
    hook,
    on_complete,
    on_injected,
    on_placed,
    on_result,
    on_store,
    on_unwritten,
    on_write,
    read_ready,
    write_awake,
    write_ready,
)
from warploom.chip.sm.layout import RING, Slot, Sm
from warploom.chip.sm.observing import RETIRE, WRITE, WRITTEN, on_conflict, on_retired, on_staged, on_upper_level
from warploom.chip.sm.services import (
    EVICTION,
    INSTRUCTION,
    SPILL,
    UNKNOWN,
    append_write,
    covers,
    inlined,
    separate,
    settle,
)
from warploom.compiler.code.classes import Unit
from warploom.compiler.code.lanes import FULL
from warploom.compiler.code.table import Flag

MEM = int(Unit.MEM)
ATOMIC = int(Flag.ATOMIC)


@inlined
def plan(sm: Sm, cycle: int, at: int, slot: int) -> None:
    """Let work go on at a later cycle; what is farther than the ring reaches is looked at once a round."""
    sm.slot[slot].ready_at = at
    moment = min(at, cycle + RING - 1) % RING
    sm.slot[slot].next = sm.ring_head[moment]
    sm.ring_head[moment] = slot
    sm.ring_busy[moment >> 6] |= bit(moment & 63)


@inlined
def next_planned(sm: Sm, cycle: int) -> int:
    """The first cycle after this one for which something is planned."""
    start = (cycle + 1) % RING
    word = start >> 6
    busy = sm.ring_busy[word] & ~(bit(start & 63) - np.uint64(1))
    for _ in range(RING // 64 + 1):
        if busy != NOTHING:
            moment = word * 64 + lowest(busy)
            return cycle + 1 + (moment - start) % RING
        word = (word + 1) % (RING // 64)
        busy = sm.ring_busy[word]
    return FOREVER


@separate
def write_results(ctx: Context, sm: Sm, port: Port, cycle: int) -> bool:
    """Everything that arrives in this cycle, and writes that wait for their bank."""
    moved = False
    if sm.written_groups != NOTHING:
        written = sm.written_groups
        sm.written_groups = NOTHING
        while written != NOTHING:
            sm.writes_in_cycle[lowest(written)] = 0
            written = without_lowest(written)
    moment = cycle % RING
    arrived, loaded = -1, -1
    if has(sm.ring_busy[moment >> 6], moment & 63):
        sm.ring_busy[moment >> 6] &= ~bit(moment & 63)
        arrived = sm.ring_head[moment]
        sm.ring_head[moment] = -1
    sm.ring_results[moment] = 0
    while port.ldst.done_count > 0:
        entry = ldst_pop_done(port, cycle)
        moved = True
        if done_kind(entry) == DONE_STORES:
            warp = done_value(entry)
            mine = bit(warp)
            if has(sm.draining, warp):
                sm.draining &= ~mine
                sm.exiting |= mine
            elif has(sm.stalled_memory, warp):
                sm.stalled_memory &= ~mine
                sm.woken |= mine
        else:
            slot = done_value(entry)
            sm.slot[slot].ready_at = cycle
            if loads_last(ctx.stages):
                loaded = slot
            else:
                sm.slot[slot].next = arrived
                arrived = slot
            break
    waiting = sm.write_head  # older than what arrives now
    sm.write_head = -1
    sm.write_tail = -1
    while waiting >= 0 or arrived >= 0:
        moved = True
        if waiting >= 0:
            slot = waiting
            waiting = sm.slot[slot].next
        else:
            slot = arrived
            arrived = sm.slot[slot].next
        _write(ctx, sm, cycle, slot)
    if loads_last(ctx.stages) and loaded >= 0:
        _write(ctx, sm, cycle, loaded)
    return moved


@hook()
def loads_last(stages: Any) -> bool:
    """Whether the result of a load gives way to other results of its cycle."""
    return False


@hook()
def waits_for_readers(stages: Any) -> bool:
    """Whether a result is written only when all that has been issued and reads the old value has read it."""
    return True


@hook()
def read_first(stages: Any, ctx: Context, sm: Sm, cycle: int, slot: int) -> bool:
    """Planned work has come to its cycle; True: it had operands to read, and its results come later."""
    return False


@hook()
def on_finished(stages: Any, ctx: Context, sm: Sm, cycle: int, slot: int) -> None:
    """The results of an instruction have been written, or it has none and has ended."""


@inlined
def _write(ctx: Context, sm: Sm, cycle: int, slot: int) -> None:
    """Take one piece of work as far as it comes in this cycle."""
    work = sm.slot[slot]
    if work.ready_at > cycle:
        plan(sm, cycle, work.ready_at, slot)
        return
    if read_first(ctx.stages, ctx, sm, cycle, slot):
        return
    if work.storing == 0:
        work.storing = 1
        if work.kind == INSTRUCTION:
            on_staged(ctx.observers, sm.observed, ctx, cycle, work.warp, work.pc, slot, WRITE)
        later = _place_results(ctx, sm, cycle, slot)
        if later > cycle:
            plan(sm, cycle, later, slot)
            return
    left = work.writes_left
    if left > 0:
        for number in range(work.n_writes):
            if work.written >> number & 1 == 0:
                left -= _write_bank(ctx, sm, cycle, slot, number)
        work.writes_left = left
    if left > 0:
        append_write(sm, slot)
    else:
        finish_work(ctx, sm, cycle, slot)


@inlined
def _place_results(ctx: Context, sm: Sm, cycle: int, slot: int) -> int:
    """Ask where each result goes and when it can; what goes to the upper level is written at once."""
    work = sm.slot[slot]
    latest = cycle
    for number in range(work.n_writes):
        register, entry = int(work.registers[number]), int(work.writes[number])
        place = -1
        if work.kind == INSTRUCTION:
            place = on_result(ctx.design.hierarchy, ctx, sm, cycle, work.warp, register, work.pc, work.index, work.mask)
        if place >= 0 or entry < 0:
            if place >= 0:
                check_placed(ctx.check, ctx, sm, cycle, slot, number, place)
                sm.count.upper_writes += 1
                on_upper_level(ctx.observers, sm.observed, ctx, cycle, work.pc, WRITTEN)
                sm.place_value[place] = work.value + number
                on_placed(ctx.design.hierarchy, ctx, sm, cycle, work.warp, register, place)
            work.written |= 1 << number
            work.writes_left -= 1
            if entry >= 0:
                sm.entry[entry].writers -= 1
                on_unwritten(ctx.design.power, ctx, sm, cycle, entry)
                settle(ctx, sm, cycle, entry)
            continue
        value = UNKNOWN
        if work.value >= 0:
            value = value_at(ctx, work.value + number)
        mask = FULL if covers(sm, work.warp, work.mask) else work.mask
        whole = mask == FULL or work.whole >> number & 1 != 0
        form = form_of(ctx.design.encoding, ctx, sm, cycle, value, mask, whole)
        work.form[number] = form
        at = write_ready(ctx.design.encoding, ctx, sm, cycle, form, value, whole)
        latest = max(latest, write_awake(ctx.design.power, ctx, sm, at, entry, banks_of(ctx, form)))
    return latest


@inlined
def _is_oldest_eviction(sm: Sm, slot: int, entry: int) -> bool:
    """Whether work is the oldest eviction to an entry that is on its way down; when a bank wakes up, several arrive at once."""
    owned = sm.entry[entry]
    return sm.slot[slot].kind == EVICTION and sm.slot[slot].index == owned.evicted - owned.evictions


@inlined
def _write_bank(ctx: Context, sm: Sm, cycle: int, slot: int, number: int) -> int:
    """Write one result if its bank has a port left and nobody waits for the old value; 1 if it was written."""
    work = sm.slot[slot]
    entry, group = int(work.writes[number]), int(work.write_group[number])
    if (
        sm.writes_in_cycle[group] >= ctx.machine.register_file.write_ports
        or (waits_for_readers(ctx.stages) and sm.entry[entry].readers > 0)
        or (sm.entry[entry].evictions > 0 and not _is_oldest_eviction(sm, slot, entry))
    ):
        sm.count.bank_conflicts += 1
        on_conflict(ctx.observers, sm.observed, ctx, cycle, asked_by(work))
        return 0
    sm.writes_in_cycle[group] += 1
    sm.written_groups |= bit(group)
    owned = sm.entry[entry]
    form, mask = int(work.form[number]), work.mask
    if work.whole >> number & 1 != 0:
        mask = FULL
    if owned.form != 0 and not covers(sm, work.warp, mask):
        _expand(ctx, sm, cycle, asked_by(work), entry)
        work.whole |= 1 << number
        return 0
    check_write(ctx.check, ctx, sm, cycle, slot, number, entry)
    banks = count_access(ctx, sm, cycle, asked_by(work), entry, form, mask, True)
    on_store(ctx.design.encoding, ctx, sm, cycle, entry, form)
    owned.form = form
    owned.writers -= 1
    if work.kind == EVICTION:
        owned.evictions -= 1
        sm.count.write_backs += 1
    work.written |= 1 << number
    on_write(ctx.design.power, ctx, sm, cycle, entry, banks)
    settle(ctx, sm, cycle, entry)
    return 1


@inlined
def asked_by(work: Slot) -> int:
    """The pc of the instruction that work is done for; -1: none of the program."""
    return work.pc if work.kind == INSTRUCTION else -1


@inlined
def _expand(ctx: Context, sm: Sm, cycle: int, pc: int, entry: int) -> None:
    """A result for some lanes has found an encoded register, come down from the upper level since it was issued.

    The register is read and decoded in the buffer in front of the bank, and the write that follows stores all of its lanes.
    """
    old = int(sm.entry[entry].form)
    count_access(ctx, sm, cycle, pc, entry, old, FULL, False)
    read_ready(ctx.design.encoding, ctx, sm, cycle, old)
    on_store(ctx.design.encoding, ctx, sm, cycle, entry, 0)
    sm.entry[entry].form = 0
    sm.count.expansions += 1


@inlined
def finish_work(ctx: Context, sm: Sm, cycle: int, slot: int) -> None:
    """An instruction has ended: clear the scoreboard, wake its warp, give its record back."""
    work = sm.slot[slot]
    warp = int(work.warp)
    state = sm.warp[warp]
    mine = bit(warp)
    if work.kind != EVICTION:
        for number in range(work.n_writes):
            register = work.registers[number]
            state.pending[register >> 6] &= ~bit(register & 63)
            state.long_latency[register >> 6] &= ~bit(register & 63)
        if work.kind == INSTRUCTION:
            state.pending_predicates &= ~ctx.code[work.pc].predicates_written
            on_retired(ctx.observers, sm.observed, ctx, cycle, warp, work.pc)
            on_staged(ctx.observers, sm.observed, ctx, cycle, warp, work.pc, slot, RETIRE)
            on_complete(ctx.design.hierarchy, ctx, sm, cycle, warp, work.pc, work.issued_at)
            on_complete(ctx.design.scheduler, ctx, sm, cycle, warp, work.pc, work.issued_at)
            on_finished(ctx.stages, ctx, sm, cycle, slot)
        state.in_flight -= 1
        if work.unit == MEM:
            state.memory_in_flight -= 1
            if work.traits & ATOMIC != 0 and state.atomics > 0:
                state.atomics -= 1
            if work.kind != INSTRUCTION:
                sm.injected_in_flight -= 1
                register = work.sources[0] if work.kind == SPILL else work.registers[0]
                entry = work.reads[0] if work.kind == SPILL else work.writes[0]
                on_injected(ctx.design.allocation, ctx, sm, cycle, warp, int(register), int(entry), work.kind)
        if has(sm.blocked, warp):
            sm.blocked &= ~mine
            sm.woken |= mine
        if has(sm.stalled_memory, warp):
            sm.stalled_memory &= ~mine
            sm.woken |= mine
        if state.next >= state.end and state.in_flight == 0:
            sm.exiting |= mine
    sm.last_progress = cycle
    sm.free_slot[sm.free_slot_count] = slot
    sm.free_slot_count += 1
