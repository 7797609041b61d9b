"""Issue: each scheduler picks a warp, and its next instruction goes to the latch in front of a kind of collector.

Here program order meets the register file: sources are resolved to physical entries or upper-level places, destinations are
given entries, registers are released.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from warploom.base.records import Lanes, Mask
from warploom.chip.machines.sm_tables import OperandPath
from warploom.chip.memory import Port
from warploom.chip.pipeline.examine import begin_to_stand, examine_woken
from warploom.chip.pipeline.fetch import jumps_after, update_fetchable
from warploom.chip.pipeline.residency import arrive_at_barrier
from warploom.chip.pipeline.waits import tell_waits
from warploom.chip.sm.bits import NOTHING, bit, count, has
from warploom.chip.sm.checking import check_cached, check_forwarded, check_issue, check_unmapped
from warploom.chip.sm.columns import DEAD_WRITE, last_at, mask_at, memory_at, pc_at
from warploom.chip.sm.context import CodeRow, Context
from warploom.chip.sm.hooks import (
    branch_delay,
    choose,
    flush,
    foresee,
    holds,
    hook,
    issue_delay,
    looks_ahead,
    lookup,
    map_write,
    may_issue,
    merges,
    needs_move,
    next_warp,
    on_issue,
    on_ports,
    prepare_read,
    prepare_write,
    shares_reads,
    wakes_in_collectors,
)
from warploom.chip.sm.layout import MAX_READS, SLOT_RESERVE, STALLS, UNITS, Slot, Sm
from warploom.chip.sm.observing import (
    FORWARDED,
    HIT,
    ISSUE,
    RETIRE,
    observed,
    on_issued,
    on_staged,
    on_stalled,
    on_upper_level,
    on_woken,
)
from warploom.chip.sm.services import (
    INSTRUCTION,
    MOVE,
    OLDEST,
    SPILL,
    covers,
    first_by_age,
    group_of,
    inlined,
    new_slot,
    separate,
)
from warploom.compiler.code.classes import Unit
from warploom.compiler.code.lanes import FULL
from warploom.compiler.code.table import Flag, Space
from warploom.emulator.trace.format import SPACE_MASK, SPACE_SHIFT

NONE, SP, SFU, MEM = (int(unit) for unit in Unit)
BARRIER, STORE, ATOMIC, LOAD = int(Flag.BARRIER), int(Flag.STORE), int(Flag.ATOMIC), int(Flag.LOAD)
SHARED, LOCAL = int(Space.SHARED), int(Space.LOCAL)
EMPTY, FETCH, BARRIER_WAIT, SCOREBOARD, PIPELINE, ALLOCATION, SCHEDULER = range(len(STALLS))


@separate
def issue(ctx: Context, sm: Sm, port: Port, cycle: int) -> bool:
    """Let every scheduler issue; whether any did."""
    moved = False
    machine = ctx.machine
    if observed(ctx.observers):
        sm.issued_now = NOTHING
        sm.crowded = NOTHING
    for scheduler in range(machine.sm.schedulers):
        core = sm.scheduler_core[scheduler]
        mine = sm.scheduler_warps[scheduler]
        done = 0
        coming = -1
        only = mine
        for _ in range(machine.sm.issue_width):
            examine_woken(ctx.stages, ctx, sm, port, cycle)
            if done == 0 and sm.injected_count > 0 and _issue_injected(ctx, sm, cycle, core):
                done += 1
                only = NOTHING
                continue
            ready, blocked = issuable(ctx.stages, ctx, sm, cycle, core, only, done == 0)
            candidates = ready & sm.active
            chosen = -1
            while candidates != NOTHING and sm.free_slot_count > SLOT_RESERVE:
                warp = choose(ctx.design.scheduler, ctx, sm, cycle, scheduler, candidates)
                if warp < 0:
                    break
                if _issue_from(ctx, sm, port, cycle, core, warp):
                    chosen = warp
                    break
                moved = True  # held back: the state has changed
                candidates &= ~bit(warp)
            if chosen < 0:
                if done == 0:
                    sm.stall_reason[scheduler] = _why_not(sm, mine, ready, blocked)
                    if observed(ctx.observers):
                        sm.stall_pc[scheduler] = _where_not(ctx, sm, mine, ready, sm.stall_reason[scheduler])
                break
            done += 1
            only = bit(chosen)
            coming = chosen
        if done > 0:
            moved = True
            for _ in range(looks_ahead(ctx.design.power)):
                if coming >= 0:
                    coming = next_warp(ctx.design.scheduler, ctx, sm, cycle, scheduler, coming)
                if coming >= 0 and sm.warp[coming].next < sm.warp[coming].decoded:
                    foresee(ctx.design.power, ctx, sm, cycle, coming, pc_at(ctx, sm.warp[coming].next))
        else:
            reason = sm.stall_reason[scheduler]
            sm.count.stall[reason] += 1
            on_stalled(ctx.observers, sm.observed, ctx, cycle, scheduler, reason, sm.stall_pc[scheduler], 1)
    if observed(ctx.observers):
        tell_waits(ctx, sm, cycle)
    return moved


@hook()
def issuable(stages: Any, ctx: Context, sm: Sm, cycle: int, core: int, only: Mask, first: bool) -> tuple[Mask, bool]:
    """Which of some warps, whose next instruction waits for nothing, find room on its way; and whether others do not."""
    ready = sm.ready[NONE] & only
    blocked = False
    for unit in range(SP, MEM + 1):
        waiting = sm.ready[unit] & only
        if waiting != NOTHING:
            if sm.issued_count[UNITS * core + unit - 1] < sm.latch_size[UNITS * core + unit - 1]:
                ready |= waiting
            else:
                blocked = True
                if observed(ctx.observers) and first:
                    sm.crowded |= waiting
    return ready, blocked


@hook()
def unready(stages: Any, sm: Sm, warp: int, row: CodeRow) -> None:
    """A warp's next instruction has been chosen."""
    sm.ready[row.unit] &= ~bit(warp)


@hook()
def crowd(stages: Any, sm: Sm) -> Mask:
    """The warps whose next instruction waits for nothing but room on its way."""
    return sm.ready[SP] | sm.ready[SFU] | sm.ready[MEM]


@hook()
def memory_has_room(stages: Any, ctx: Context, sm: Sm, core: int) -> bool:
    """Whether a sub-core can take one more memory instruction."""
    return sm.issued_count[UNITS * core + MEM - 1] < sm.latch_size[UNITS * core + MEM - 1]


@hook()
def send_on(stages: Any, ctx: Context, sm: Sm, cycle: int, core: int, slot: int) -> None:
    """Let issued work go on its way to a unit, and tell the hierarchy when it has what it needs to read its sources."""
    work = sm.slot[slot]
    _put(sm, UNITS * core + work.unit - 1, slot)
    if work.kind == INSTRUCTION:
        on_ports(ctx.design.hierarchy, ctx, sm, cycle, int(work.warp), int(work.pc), cycle)


@hook()
def comes_for_sources(stages: Any, ctx: Context, sm: Sm, cycle: int, core: int, row: CodeRow) -> int:
    """The cycle in which an instruction that is issued now looks for its sources in the upper level."""
    return cycle


@hook()
def after_issue(stages: Any, ctx: Context, sm: Sm, cycle: int, warp: int, row: CodeRow) -> None:
    """An instruction of the program has been issued."""


@inlined
def _why_not(sm: Sm, mine: Mask, ready: Mask, blocked: bool) -> int:
    """The reason why a scheduler issued nothing, the one closest to issue first."""
    reason = EMPTY
    if ready != NOTHING:
        reason = SCHEDULER
    elif blocked:
        reason = PIPELINE
    elif (sm.held & mine) != NOTHING:
        reason = ALLOCATION
    elif ((sm.blocked | sm.stalled_memory) & mine) != NOTHING:
        reason = SCOREBOARD
    elif (sm.at_barrier & mine) != NOTHING:
        reason = BARRIER_WAIT
    elif (sm.resident & mine) != NOTHING:
        reason = FETCH
    return reason


@inlined
def _where_not(ctx: Context, sm: Sm, mine: Mask, ready: Mask, reason: int) -> int:
    """The pc at which the oldest warp stands of which a reason is true; -1: there is none."""
    warps = sm.resident
    if reason == SCHEDULER:
        warps = ready
    elif reason == PIPELINE:
        warps = crowd(ctx.stages, sm)
    elif reason == ALLOCATION:
        warps = sm.held
    elif reason == SCOREBOARD:
        warps = sm.blocked | sm.stalled_memory
    elif reason == BARRIER_WAIT:
        warps = sm.at_barrier
    oldest = first_by_age(sm, warps & mine, OLDEST)
    if oldest < 0 or sm.warp[oldest].next >= sm.warp[oldest].end:
        return -1
    return pc_at(ctx, sm.warp[oldest].next)


@inlined
def _put(sm: Sm, port_number: int, slot: int) -> None:
    sm.issued[port_number, sm.issued_count[port_number]] = slot
    sm.issued_count[port_number] += 1
    sm.in_latches += 1


@inlined
def _group(ctx: Context, warp: int, register: int, entry: int) -> int:
    """The bank group of an access. Literal code has more names than registers; there the name decides, as in its model."""
    if ctx.info.literal != 0:
        return group_of(ctx, warp, register)
    return ctx.info.group_of_entry[entry]


@inlined
def add_write(ctx: Context, sm: Sm, work: Slot, warp: int, register: int, entry: int) -> None:
    """Note a destination: scoreboard and physical entry."""
    number = work.n_writes
    work.n_writes = number + 1
    work.writes_left += 1
    work.registers[number] = register
    work.writes[number] = entry
    if entry >= 0:
        work.write_group[number] = _group(ctx, warp, register, entry)
        sm.entry[entry].writers += 1
    sm.warp[warp].pending[register >> 6] |= bit(register & 63)


@inlined
def add_read(ctx: Context, sm: Sm, work: Slot, warp: int, register: int, entry: int) -> None:
    """Note a source that is read from a bank."""
    number = work.n_reads
    work.n_reads = number + 1
    work.sources[number] = register
    if shares_reads(ctx.design.hierarchy):
        work.places[number] = -1
    work.reads[number] = entry
    if entry >= 0:
        work.read_group[number] = _group(ctx, warp, register, entry)
        work.reads_left += 1
        sm.entry[entry].readers += 1


@inlined
def wake_entries(ctx: Context, sm: Sm, work: Slot) -> None:
    """Tell the power policy which entries will be accessed; the instruction is given a collector when its sources can be read."""
    if wakes_in_collectors(ctx.design.power) and ctx.machine.stages.operands == OperandPath.COLLECTORS:
        return
    arrival = work.ready_at  # in front of the collectors: one takes it then, and reads in the cycle after
    for operand in range(work.n_reads):
        if work.reads[operand] >= 0:
            at = prepare_read(ctx.design.power, ctx, sm, arrival, int(work.reads[operand]))
            if at > arrival + 1:
                sm.count.wakeup_wait_cycles += at - arrival - 1
                on_woken(ctx.observers, sm.observed, ctx, arrival, work.pc, at - arrival - 1)
                work.ready_at = max(work.ready_at, at - 1)
    for number in range(work.n_writes):
        if work.writes[number] >= 0:
            prepare_write(ctx.design.power, ctx, sm, arrival, int(work.writes[number]))


@inlined
def begin_work(sm: Sm, cycle: int, slot: int, kind: int, warp: int, unit: int) -> None:
    work = sm.slot[slot]
    work.kind = kind
    work.warp = warp
    work.unit = unit
    work.storing = 0
    work.n_reads = 0
    work.n_writes = 0
    work.reads_left = 0
    work.writes_left = 0
    work.written = 0
    work.whole = 0
    work.value = -1
    work.traits = 0
    work.memory = 0
    work.pc = -1
    work.issued_at = cycle
    work.ready_at = cycle + 1


@inlined
def _issue_injected(ctx: Context, sm: Sm, cycle: int, core: int) -> bool:
    """Issue the oldest spill or refill that a policy has asked for."""
    queued = sm.injected[sm.injected_head]
    if queued.warp % ctx.machine.sm.sub_cores != core or not memory_has_room(ctx.stages, ctx, sm, core):
        return False
    if sm.free_slot_count <= SLOT_RESERVE:
        return False
    if queued.kind == SPILL:
        if holds(ctx.design.hierarchy, ctx, sm, queued.warp, queued.register):
            flush(ctx.design.hierarchy, ctx, sm, cycle, queued.warp)
        if sm.entry[queued.entry].evictions > 0:
            return False  # what the upper level had is on its way down
    slot = new_slot(sm)
    work = sm.slot[slot]
    begin_work(sm, cycle, slot, queued.kind, queued.warp, MEM)
    work.mask = FULL
    work.memory = 4 | LOCAL << 8
    if queued.kind == SPILL:
        work.traits = STORE
        add_read(ctx, sm, work, queued.warp, queued.register, queued.entry)
        sm.count.spills += 1
    else:
        work.traits = LOAD
        add_write(ctx, sm, work, queued.warp, queued.register, queued.entry)
        sm.count.refills += 1
    wake_entries(ctx, sm, work)
    check_issue(ctx.check, ctx, sm, cycle, slot)
    sm.warp[queued.warp].in_flight += 1
    sm.warp[queued.warp].memory_in_flight += 1
    sm.injected_head = (sm.injected_head + 1) % len(sm.injected)
    sm.injected_count -= 1
    sm.injected_in_flight += 1
    sm.count.issued += 1
    send_on(ctx.stages, ctx, sm, cycle, core, slot)
    return True


@inlined
def _issue_move(ctx: Context, sm: Sm, cycle: int, core: int, warp: int, row: CodeRow, mask: Lanes) -> int:
    """Issue a MOV of a destination onto itself where the encoding asks for one: 0 = not needed, 1 = issued, 2 = no room."""
    for number in range(row.n_writes):
        register = int(row.writes[number])
        entry = sm.map[warp, register]
        if entry < 0 or holds(ctx.design.hierarchy, ctx, sm, warp, register):
            continue  # the upper level merges
        if not needs_move(ctx.design.encoding, ctx, sm, warp, register, entry, mask):
            continue
        if sm.entry[entry].evictions > 0:
            return 2  # the value is on its way down
        port_number = UNITS * core
        if sm.issued_count[port_number] >= sm.latch_size[port_number]:
            return 2
        slot = new_slot(sm)
        work = sm.slot[slot]
        begin_work(sm, cycle, slot, MOVE, warp, SP)
        work.mask = FULL
        add_read(ctx, sm, work, warp, register, entry)
        add_write(ctx, sm, work, warp, register, entry)
        wake_entries(ctx, sm, work)
        check_issue(ctx.check, ctx, sm, cycle, slot)
        sm.warp[warp].in_flight += 1
        sm.count.moves += 1
        sm.count.issued += 1
        _put(sm, port_number, slot)
        return 1
    return 0


@inlined
def _issue_from(ctx: Context, sm: Sm, port: Port, cycle: int, core: int, warp: int) -> bool:
    """Issue a warp's next instruction, or a MOV in front of it; False: it has been held back."""
    state = sm.warp[warp]
    index = state.next
    pc = pc_at(ctx, index)
    mask = mask_at(ctx, index)
    row = ctx.code[pc]
    mine = bit(warp)
    unready(ctx.stages, sm, warp, row)
    if not may_issue(ctx.design.hierarchy, ctx, sm, cycle, warp, pc, index):
        sm.held |= mine
        return False
    if not may_issue(ctx.design.allocation, ctx, sm, cycle, warp, pc, index):
        sm.held |= mine
        begin_to_stand(ctx, sm, cycle, warp)
        return False
    partial = not covers(sm, warp, mask)
    if partial:
        moved = _issue_move(ctx, sm, cycle, core, warp, row, mask)
        if moved != 0:
            sm.woken |= mine
            return moved == 1

    slot = new_slot(sm)
    work = sm.slot[slot]
    begin_work(sm, cycle, slot, INSTRUCTION, warp, row.unit)
    work.index = index
    work.mask = mask
    work.pc = pc
    work.traits = row.traits
    work.ready_at = cycle + 1 + issue_delay(ctx.design.allocation, ctx, sm, cycle, warp, pc)
    sm.issuing = slot
    _resolve_sources(ctx, sm, cycle, core, slot, warp, row)
    if partial and merges(ctx.design.encoding):
        _read_destinations(ctx, sm, work, warp, row)
    for number in range(row.n_writes):
        register = int(row.writes[number])
        entry = map_write(ctx.design.allocation, ctx, sm, cycle, warp, register, pc, index)
        if entry < 0:
            check_unmapped(ctx.check, ctx, sm, cycle, warp, register, True)
        add_write(ctx, sm, work, warp, register, entry)
        if row.slow:
            state.long_latency[register >> 6] |= bit(register & 63)
    work.value = state.value
    state.value += row.n_writes
    state.pending_predicates |= row.predicates_written
    wake_entries(ctx, sm, work)
    check_issue(ctx.check, ctx, sm, cycle, slot)
    sm.count.rf_reads += row.n_reads
    sm.count.rf_writes += row.n_writes
    _account_live(ctx, sm, cycle, warp, index, row)
    on_issue(ctx.design.allocation, ctx, sm, cycle, warp, pc, index)
    on_issue(ctx.design.hierarchy, ctx, sm, cycle, warp, pc, index)
    on_issue(ctx.design.encoding, ctx, sm, cycle, warp, pc, index)
    on_issue(ctx.design.scheduler, ctx, sm, cycle, warp, pc, index)

    if row.has_memory:
        work.memory = memory_at(ctx, state.memory)
        state.memory += 1
        work.sector = state.sector
        if row.traits & BARRIER == 0:
            if work.memory >> SPACE_SHIFT & SPACE_MASK != SHARED:
                state.sector += work.memory & 0xFF
            if row.unit == MEM:
                state.memory_in_flight += 1
            if row.traits & ATOMIC != 0 and ctx.machine.compatibility.fetch_when_empty:
                state.atomics += 1

    on_issued(ctx.observers, sm.observed, ctx, cycle, warp, pc, mask)
    on_staged(ctx.observers, sm.observed, ctx, cycle, warp, pc, slot, ISSUE)
    if observed(ctx.observers):
        sm.issued_now |= mine
    sm.count.warp_instructions += 1
    sm.count.issued += 1
    sm.count.by_class[row.op_class] += 1
    sm.count.active_lanes[count(np.uint64(mask))] += 1
    sm.last_progress = cycle
    state.in_flight += 1
    state.next = index + 1
    if state.next < state.end and jumps_after(ctx, index):
        state.fetch_from = cycle + ctx.machine.sm.branch_cycles + branch_delay(ctx.design.hierarchy, ctx, sm)
        if ctx.machine.compatibility.fetch_when_empty and state.full_group and state.next == state.decoded:
            state.wrong_path = True
            state.fetch_from = cycle
    if row.unit == NONE:
        state.in_flight -= 1
        state.pending_predicates &= ~row.predicates_written
        sm.free_slot[sm.free_slot_count] = slot
        sm.free_slot_count += 1
        on_staged(ctx.observers, sm.observed, ctx, cycle, warp, pc, slot, RETIRE)
    else:
        send_on(ctx.stages, ctx, sm, cycle, core, slot)
    after_issue(ctx.stages, ctx, sm, cycle, warp, row)
    if row.traits & BARRIER != 0:
        arrive_at_barrier(ctx, sm, cycle, warp, int(work.memory), row.arrives_only)
    if not has(sm.at_barrier, warp):
        sm.woken |= mine
    if state.next >= state.end:
        sm.woken &= ~mine
        if observed(ctx.observers):
            sm.finished |= mine
        if state.in_flight == 0:
            sm.exiting |= mine
    else:
        update_fetchable(ctx, sm, warp)
    return True


@inlined
def _resolve_sources(ctx: Context, sm: Sm, cycle: int, core: int, slot: int, warp: int, row: CodeRow) -> None:
    work = sm.slot[slot]
    coming = comes_for_sources(ctx.stages, ctx, sm, cycle, core, row)
    for operand in range(row.n_reads):
        register = int(row.reads[operand])
        if reads_once(ctx.stages) and _is_read_already(work, register):
            sm.count.forwarded_reads += 1
            on_upper_level(ctx.observers, sm.observed, ctx, cycle, work.pc, FORWARDED)
            add_read(ctx, sm, work, warp, register, -1)
            continue
        place = lookup(ctx.design.hierarchy, ctx, sm, coming, warp, register, work.pc, operand)
        if place >= 0:
            sm.count.upper_reads += 1
            on_upper_level(ctx.observers, sm.observed, ctx, cycle, work.pc, HIT)
            check_cached(ctx.check, ctx, sm, cycle, slot, operand, place)
            add_read(ctx, sm, work, warp, register, -1)
            work.places[operand] = place
            continue
        entry = int(sm.map[warp, register])
        if entry < 0:
            check_unmapped(ctx.check, ctx, sm, cycle, warp, register, False)
        elif sm.entry[entry].evictions > 0:  # on its way down: taken from the buffer in front of the bank
            check_forwarded(ctx.check, ctx, sm, cycle, slot, operand, entry)
            sm.count.forwarded_reads += 1
            on_upper_level(ctx.observers, sm.observed, ctx, cycle, work.pc, FORWARDED)
            entry = -1
        add_read(ctx, sm, work, warp, register, entry)


@hook()
def reads_once(stages: Any) -> bool:
    """Whether an instruction that names a register several times reads it once."""
    return False


@inlined
def _is_read_already(work: Slot, register: int) -> bool:
    """Whether an operand before this one brings the register from its bank."""
    found = False
    for operand in range(work.n_reads):
        found |= work.reads[operand] >= 0 and work.sources[operand] == register
    return found


@inlined
def _read_destinations(ctx: Context, sm: Sm, work: Slot, warp: int, row: CodeRow) -> None:
    """Let an instruction of some lanes also read what it writes, so that its results are whole registers."""
    for number in range(row.n_writes):
        register = int(row.writes[number])
        entry = sm.map[warp, register]
        if entry < 0:
            work.whole |= 1 << number  # a new entry, with nothing in its other lanes
            continue
        below = sm.entry[entry].evictions == 0 and not holds(ctx.design.hierarchy, ctx, sm, warp, register)
        if below and work.n_reads < MAX_READS:
            add_read(ctx, sm, work, warp, register, entry)
            work.whole |= 1 << number


@inlined
def _account_live(ctx: Context, sm: Sm, cycle: int, warp: int, index: int, row: CodeRow) -> None:
    """Count live registers: from the issue of the write of a value that will be read to the issue of its last read."""
    last = last_at(ctx, index)
    live = sm.warp[warp].live
    change = 0
    for operand in range(row.n_reads):
        if last >> operand & 1 != 0:
            word, within = row.reads[operand] >> 6, row.reads[operand] & 63
            if has(live[word], within):
                live[word] &= ~bit(within)
                change -= 1
    for number in range(row.n_writes):
        word, within = row.writes[number] >> 6, row.writes[number] & 63
        if last >> (DEAD_WRITE + number) & 1 == 0 and not has(live[word], within):
            live[word] |= bit(within)
            change += 1
    if change != 0:
        sm.live_cycles += sm.live * (cycle - sm.live_since)
        sm.live_since = cycle
        sm.live += change
