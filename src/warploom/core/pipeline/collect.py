"""Operand collection: collectors take issued instructions, banks serve one register a cycle, full collectors send on.

Every bank group has a queue of reads in order of arrival. A write of the same cycle goes first where the bank has one port.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from warploom.register_file.bits import NOTHING, below, bit, has, highest, lowest, next_after, without_lowest
from warploom.register_file.checking import check_read
from warploom.register_file.hooks import (
    fetch_cycles,
    lanes_accessed,
    on_gated,
    on_read,
    operand_stages,
    prepare_read,
    prepare_write,
    read_ready,
    stored_lanes,
)
from warploom.register_file.layout import DISPATCHED, DISTANCE_BINS, MAX_READS
from warploom.register_file.services import inlined, settle, stage

REACH = 3000  # inter-access distances beyond are not averaged, as the published figure leaves them out


@inlined
def note_access(sm: Any, cycle: int, entry: int) -> None:
    """Add to the statistics of the time between two accesses to an entry."""
    owned = sm.entry[entry]
    if owned.last_access > 0:
        distance = cycle - owned.last_access
        sm.count.distance[min(max(highest(distance), 0), DISTANCE_BINS - 1)] += 1
        if distance <= REACH:
            sm.count.distance_sum += distance
            sm.count.distance_count += 1
    owned.last_access = cycle


@inlined
def banks_of(ctx: Any, form: int) -> int:
    """How many of its neighbouring banks a register in this form lies in, from the lowest on."""
    span = ctx.machine.rf_banks_per_register
    return (stored_lanes(ctx.design.encoding, form) * span + 31) // 32


@inlined
def count_access(ctx: Any, sm: Any, cycle: int, entry: int, form: int, mask: Any, write: bool) -> int:
    """Account for one access of the main register file; in how many banks the register lies."""
    stored = stored_lanes(ctx.design.encoding, form)
    lanes = stored
    if form == 0:  # an encoded register has no lanes of its own in the banks: all that hold it are accessed
        lanes = lanes_accessed(ctx.design.gating, ctx, sm, mask, write)
    banks = (lanes * ctx.machine.rf_banks_per_register + 31) // 32
    sm.count.lanes_gated += stored - lanes
    if write:
        sm.count.mrf_writes += 1
        sm.count.bank_writes += banks
        sm.count.rf_write_lanes += lanes
    else:
        sm.count.mrf_reads += 1
        sm.count.bank_reads += banks
        sm.count.rf_read_lanes += lanes
    on_gated(ctx.design.gating, ctx, sm, cycle, lanes, banks, write)
    note_access(sm, cycle, entry)
    return banks_of(ctx, form)


@stage
def collect(ctx: Any, sm: Any, cycle: int) -> bool:
    """One cycle of all collectors: send on, read, take in."""
    moved = False
    if sm.collector_full != NOTHING:
        moved |= _dispatch(ctx, sm, cycle)
    if sm.delayed_count > 0:
        moved |= _undelay(sm, cycle)
    if sm.queued_groups != NOTHING:
        _read_banks(ctx, sm, cycle)
        moved = True
    if sm.in_latches > 0:
        moved |= _take_in(ctx, sm, cycle)
    return moved


@inlined
def _dispatch(ctx: Any, sm: Any, cycle: int) -> bool:
    """Send instructions with all operands to the latch in front of their units, collectors of a port in turn."""
    moved = False
    for number in range(3 * ctx.machine.sub_cores):
        first, size = sm.collector_first[number], sm.collector_count[number]
        mine = (sm.collector_full >> np.uint64(first)) & below(size)
        if mine == NOTHING:
            continue
        width = sm.ports_out[number]
        room = min(DISPATCHED, width * (1 + operand_stages(ctx.design.encoding)))
        for _ in range(width):
            if mine == NOTHING or sm.dispatched_count[number] >= room:
                break
            place = next_after(mine, sm.collector_last[number])
            mine &= ~bit(place)
            unit = sm.collector[first + place]
            if unit.ready_at > cycle:
                continue
            sm.collector_last[number] = place
            sm.dispatched[number, sm.dispatched_count[number]] = unit.slot
            sm.dispatched_count[number] += 1
            sm.in_dispatch += 1
            sm.collector_full &= ~bit(first + place)
            sm.collector_free |= bit(first + place)
            moved = True
    return moved


@inlined
def enqueue(sm: Any, request: int, group: int) -> None:
    """Put a read at the end of its bank group's queue."""
    sm.queue_next[request] = -1
    if sm.queue_length[group] == 0:
        sm.queue_head[group] = request
        sm.queued_groups |= bit(group)
    else:
        sm.queue_next[sm.queue_tail[group]] = request
    sm.queue_tail[group] = request
    sm.queue_length[group] += 1


@inlined
def _undelay(sm: Any, cycle: int) -> bool:
    """Queue the reads whose entry has woken up."""
    moved = False
    kept = 0
    for place in range(sm.delayed_count):
        at, request = sm.delayed[place].at, sm.delayed[place].request
        work = sm.slot[sm.collector[request // MAX_READS].slot]
        operand = request % MAX_READS
        if at <= cycle:
            enqueue(sm, request, work.read_group[operand])
            moved = True
        else:
            sm.delayed[kept].at = at
            sm.delayed[kept].request = request
            kept += 1
    sm.delayed_count = kept
    return moved


@inlined
def _read_banks(ctx: Any, sm: Any, cycle: int) -> None:
    """Every bank group with waiting reads serves the first of them, unless it has just been written."""
    machine = ctx.machine
    groups = sm.queued_groups
    while groups != NOTHING:
        group = lowest(groups)
        groups = without_lowest(groups)
        if machine.rf_single_ported != 0 and has(sm.written_groups, group):
            sm.count.bank_conflicts += sm.queue_length[group]
            continue
        for _ in range(machine.rf_read_ports):
            request = sm.queue_head[group]
            sm.queue_head[group] = sm.queue_next[request]
            sm.queue_length[group] -= 1
            _serve_read(ctx, sm, cycle, request)
            if sm.queue_length[group] == 0:
                sm.queued_groups &= ~bit(group)
                break
        sm.count.bank_conflicts += sm.queue_length[group]


@inlined
def _serve_read(ctx: Any, sm: Any, cycle: int, request: int) -> None:
    number, operand = request // MAX_READS, request % MAX_READS
    unit = sm.collector[number]
    work = sm.slot[unit.slot]
    entry = int(work.reads[operand])
    check_read(ctx.check, ctx, sm, cycle, unit.slot, operand, entry)
    form = int(sm.entry[entry].form)
    count_access(ctx, sm, cycle, entry, form, work.mask, False)
    sm.entry[entry].readers -= 1
    on_read(ctx.design.power, ctx, sm, cycle, entry)
    settle(ctx, sm, cycle, entry)
    there = cycle + ctx.machine.rf_operand_fetch_cycles
    unit.ready_at = max(unit.ready_at, there)
    if form != 0:  # decoded on the way to its unit, at which it would arrive in the next cycle
        work.ready_at = max(work.ready_at, read_ready(ctx.design.encoding, ctx, sm, there + 1, form))
    unit.waiting -= 1
    if unit.waiting == 0:
        sm.collector_full |= bit(number)


@inlined
def _take_in(ctx: Any, sm: Any, cycle: int) -> bool:
    """Give issued instructions a collector, and queue their reads."""
    moved = False
    for number in range(3 * ctx.machine.sub_cores):
        for _ in range(sm.ports_in[number]):
            if sm.issued_count[number] == 0:
                break
            slot = sm.issued[number, 0]
            work = sm.slot[slot]
            first, size = sm.collector_first[number], sm.collector_count[number]
            free = (sm.collector_free >> np.uint64(first)) & below(size)
            if work.ready_at > cycle or free == NOTHING:
                break
            for place in range(1, sm.issued_count[number]):
                sm.issued[number, place - 1] = sm.issued[number, place]
            sm.issued_count[number] -= 1
            sm.in_latches -= 1
            collector = first + lowest(free)
            sm.collector_free &= ~bit(collector)
            _assign(ctx, sm, cycle, collector, slot)
            moved = True
    return moved


@inlined
def _assign(ctx: Any, sm: Any, cycle: int, number: int, slot: int) -> None:
    unit = sm.collector[number]
    work = sm.slot[slot]
    unit.slot = slot
    unit.waiting = work.reads_left
    unit.ready_at = cycle + (1 if work.reads_left == work.n_reads else fetch_cycles(ctx.design.hierarchy, ctx, sm))
    for operand in range(work.n_reads):
        entry = int(work.reads[operand])
        if entry < 0:
            continue
        request = number * MAX_READS + operand
        at = prepare_read(ctx.design.power, ctx, sm, cycle, entry)
        if at > cycle + 1:
            sm.count.wakeup_wait_cycles += at - cycle - 1
            sm.delayed[sm.delayed_count].at = at
            sm.delayed[sm.delayed_count].request = request
            sm.delayed_count += 1
        else:
            enqueue(sm, request, work.read_group[operand])
    for number_written in range(work.n_writes):
        if work.writes[number_written] >= 0:
            prepare_write(ctx.design.power, ctx, sm, cycle, int(work.writes[number_written]))
    if unit.waiting == 0:
        sm.collector_full |= bit(number)
