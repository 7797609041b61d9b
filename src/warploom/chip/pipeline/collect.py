"""Operand collection: collectors take issued instructions, banks serve one register a cycle, full collectors send on.

Every bank group has a queue of reads in order of arrival. A write of the same cycle goes first where the bank has one port.
"""

from __future__ import annotations

from warploom.base.records import Lanes
from warploom.chip.sm.bits import NOTHING, bit, has, highest, lowest, next_after, without_lowest
from warploom.chip.sm.checking import check_brought, check_read
from warploom.chip.sm.context import Context
from warploom.chip.sm.hooks import (
    fetch_cycles,
    lanes_accessed,
    on_collected,
    on_filled,
    on_read,
    operand_stages,
    prepare_read,
    prepare_write,
    read_ready,
    shares_reads,
    stored_lanes,
    wakes_in_collectors,
)
from warploom.chip.sm.layout import (
    DISPATCHED,
    DISTANCE_BINS,
    MAX_PLACES,
    OPERAND_BITS,
    OPERANDS,
    PORT_COLLECTORS,
    UNITS,
    Slot,
    Sm,
)
from warploom.chip.sm.observing import COLLECT, DISPATCH, observed, on_accessed, on_conflict, on_staged, on_woken
from warploom.chip.sm.services import INSTRUCTION, arrive_later, enqueue, inlined, separate, settle
from warploom.compiler.code.classes import Unit
from warploom.compiler.code.lanes import FULL

MEM = int(Unit.MEM)
REACH = 3000  # inter-access distances beyond are not averaged, as the published figure leaves them out


@inlined
def note_access(sm: Sm, cycle: int, entry: int) -> None:
    """Add to the statistics of the time between two accesses to an entry."""
    owned = sm.entry[entry]
    if owned.last_access > 0:
        distance = cycle - owned.last_access
        sm.count.distance[min(max(highest(distance), 0), DISTANCE_BINS - 1)] += 1
        if distance <= REACH:
            owned.distance_sum += distance
            owned.distance_count += 1
    owned.last_access = cycle


@inlined
def banks_of(ctx: Context, form: int) -> int:
    """How many of its neighbouring banks a register in this form lies in, from the lowest on."""
    span = ctx.machine.banks_per_register
    return (stored_lanes(ctx.design.encoding, form) * span + 31) // 32


@inlined
def count_access(ctx: Context, sm: Sm, cycle: int, pc: int, entry: int, form: int, mask: Lanes, write: bool) -> int:
    """Account for an access of the main register file, for an instruction or none (-1); in how many banks the register lies."""
    stored = stored_lanes(ctx.design.encoding, form)
    lanes = stored
    if form == 0:  # an encoded register has no lanes of its own in the banks: all that hold it are accessed
        lanes = lanes_accessed(ctx.design.gating, ctx, sm, mask, write)
    banks = (lanes * ctx.machine.banks_per_register + 31) // 32
    sm.count.lanes_gated += stored - lanes
    if write:
        sm.count.mrf_writes += 1
        sm.count.bank_writes += banks
        sm.count.rf_write_lanes += lanes
    else:
        sm.count.mrf_reads += 1
        sm.count.bank_reads += banks
        sm.count.rf_read_lanes += lanes
    on_accessed(ctx.observers, sm.observed, ctx, cycle, pc, write, lanes, banks, form)
    note_access(sm, cycle, entry)
    return banks_of(ctx, form)


@separate
def collect(ctx: Context, sm: Sm, cycle: int) -> bool:
    """One cycle of all collectors: send on, read, take in."""
    moved = _dispatch(ctx, sm, cycle)
    if sm.arriving_count > 0:
        moved |= _arrive(ctx, sm, cycle)
    if sm.delayed_count > 0:
        moved |= _undelay(ctx, sm, cycle)
    if sm.queued_groups != NOTHING:
        _read_banks(ctx, sm, cycle)
        moved = True
    if sm.in_latches > 0:
        moved |= _take_in(ctx, sm, cycle)
    return moved


@inlined
def _dispatch(ctx: Context, sm: Sm, cycle: int) -> bool:
    """Send instructions with all operands to the latch in front of their units, collectors of a port in turn."""
    moved = False
    for number in range(UNITS * ctx.machine.sm.sub_cores):
        mine = sm.collector_full[number]
        if mine == NOTHING:
            continue
        width = sm.ports_out[number]
        room = min(DISPATCHED, width * (1 + operand_stages(ctx.design.encoding)))
        for _ in range(width):
            if mine == NOTHING or sm.dispatched_count[number] >= room:
                break
            which = next_after(mine, sm.collector_last[number])
            mine &= ~bit(which)
            collector = sm.collector[number * PORT_COLLECTORS + which]
            if collector.ready_at > cycle:
                continue
            sm.collector_last[number] = which
            sm.dispatched[number, sm.dispatched_count[number]] = collector.slot
            sm.dispatched_count[number] += 1
            sm.in_dispatch += 1
            sm.collector_full[number] &= ~bit(which)
            sm.collector_free[number] |= bit(which)
            work = sm.slot[collector.slot]
            if work.kind == INSTRUCTION:
                on_staged(ctx.observers, sm.observed, ctx, cycle, work.warp, work.pc, collector.slot, DISPATCH)
                on_collected(ctx.design.hierarchy, ctx, sm, cycle, int(work.warp))
            moved = True
    return moved


@inlined
def _arrive(ctx: Context, sm: Sm, cycle: int) -> bool:
    """Fill the places of the upper level whose values have come up."""
    moved = False
    while sm.arriving_count > 0 and sm.arriving[sm.arriving_head].at <= cycle:
        place = int(sm.arriving[sm.arriving_head].place)
        sm.arriving_head = (sm.arriving_head + 1) % MAX_PLACES
        sm.arriving_count -= 1
        on_filled(ctx.design.hierarchy, ctx, sm, cycle, int(sm.fill[place].warp), int(sm.fill[place].register), place)
        moved = True
    return moved


@inlined
def _undelay(ctx: Context, sm: Sm, cycle: int) -> bool:
    """Queue the reads whose entry has woken up, of operands and for places of the upper level."""
    moved = False
    kept = 0
    for number in range(sm.delayed_count):
        at, request = sm.delayed[number].at, sm.delayed[number].request
        if at <= cycle:
            if request >= OPERANDS:
                enqueue(sm, request, ctx.info.group_of_entry[sm.fill[request - OPERANDS].entry])
            else:
                work = sm.slot[sm.collector[request >> OPERAND_BITS].slot]
                enqueue(sm, request, work.read_group[request & ((1 << OPERAND_BITS) - 1)])
            moved = True
        else:
            sm.delayed[kept].at = at
            sm.delayed[kept].request = request
            kept += 1
    sm.delayed_count = kept
    return moved


@inlined
def _read_banks(ctx: Context, sm: Sm, cycle: int) -> None:
    """Every bank group with waiting reads serves the first of them, unless it has just been written."""
    machine = ctx.machine
    groups = sm.queued_groups
    while groups != NOTHING:
        group = lowest(groups)
        groups = without_lowest(groups)
        if machine.register_file.single_ported and has(sm.written_groups, group):
            sm.count.bank_conflicts += sm.queue_length[group]
            if observed(ctx.observers):
                _tell_conflicts(ctx, sm, cycle, group)
            continue
        for _ in range(machine.register_file.read_ports):
            request = sm.queue_head[group]
            sm.queue_head[group] = sm.queue_next[request]
            sm.queue_length[group] -= 1
            if request >= OPERANDS:
                _serve_fill(ctx, sm, cycle, request - OPERANDS)
            else:
                _serve_read(ctx, sm, cycle, request)
            if sm.queue_length[group] == 0:
                sm.queued_groups &= ~bit(group)
                break
        sm.count.bank_conflicts += sm.queue_length[group]
        if observed(ctx.observers):
            _tell_conflicts(ctx, sm, cycle, group)


@inlined
def _tell_conflicts(ctx: Context, sm: Sm, cycle: int, group: int) -> None:
    """Tell observers of all reads that wait for a bank."""
    request = sm.queue_head[group]
    for _ in range(sm.queue_length[group]):
        pc = -1
        if request < OPERANDS:
            pc = sm.slot[sm.collector[request >> OPERAND_BITS].slot].pc
        on_conflict(ctx.observers, sm.observed, ctx, cycle, pc)
        request = sm.queue_next[request]


@inlined
def read_entry(ctx: Context, sm: Sm, cycle: int, slot: int, operand: int) -> int:
    """Read an operand from its entry; the form in which it is kept there."""
    work = sm.slot[slot]
    entry = int(work.reads[operand])
    check_read(ctx.check, ctx, sm, cycle, slot, operand, entry)
    form = int(sm.entry[entry].form)
    count_access(ctx, sm, cycle, work.pc, entry, form, work.mask, False)
    sm.entry[entry].readers -= 1
    on_read(ctx.design.power, ctx, sm, cycle, entry)
    settle(ctx, sm, cycle, entry)
    return form


@inlined
def _serve_read(ctx: Context, sm: Sm, cycle: int, request: int) -> None:
    number, operand = request >> OPERAND_BITS, request & ((1 << OPERAND_BITS) - 1)
    collector = sm.collector[number]
    work = sm.slot[collector.slot]
    form = read_entry(ctx, sm, cycle, collector.slot, operand)
    there = cycle + ctx.machine.register_file.operand_fetch_cycles
    collector.ready_at = max(collector.ready_at, there)
    if form != 0:  # decoded on the way to its unit, which a memory instruction reaches at once, others in the next cycle
        arrival = there if work.unit == MEM else there + 1
        work.ready_at = max(work.ready_at, read_ready(ctx.design.encoding, ctx, sm, arrival, form))
    _operand_there(sm, number)
    if shares_reads(ctx.design.hierarchy) and work.places[operand] >= 0:
        _serve_sharers(sm, int(work.places[operand]), there)


@inlined
def _operand_there(sm: Sm, number: int) -> None:
    """A collector has one more operand."""
    collector = sm.collector[number]
    collector.waiting -= 1
    if collector.waiting == 0:
        sm.collector_full[number // PORT_COLLECTORS] |= bit(number % PORT_COLLECTORS)


@inlined
def _serve_sharers(sm: Sm, place: int, there: int) -> None:
    """The value of a place has been read for one operand: the others that wait for it have it too."""
    sm.place_read[place] = 0
    request = sm.place_waiting[place] - 1
    sm.place_waiting[place] = 0
    while request >= 0:
        number = request >> OPERAND_BITS
        sm.collector[number].ready_at = max(sm.collector[number].ready_at, there)
        _operand_there(sm, number)
        request = sm.queue_next[request]


@inlined
def _serve_fill(ctx: Context, sm: Sm, cycle: int, place: int) -> None:
    """A register has been read for a place of the upper level."""
    entry = int(sm.fill[place].entry)
    check_brought(ctx.check, ctx, sm, cycle, place, entry, False)
    form = int(sm.entry[entry].form)
    count_access(ctx, sm, cycle, -1, entry, form, FULL, False)
    sm.entry[entry].readers -= 1
    on_read(ctx.design.power, ctx, sm, cycle, entry)
    settle(ctx, sm, cycle, entry)
    there = cycle + ctx.machine.register_file.operand_fetch_cycles
    arrive_later(sm, there if form == 0 else read_ready(ctx.design.encoding, ctx, sm, there, form), place)


@inlined
def leave_latch(sm: Sm, port: int) -> None:
    """The first instruction in the latch behind issue leaves it; those behind move up."""
    for behind in range(1, sm.issued_count[port]):
        sm.issued[port, behind - 1] = sm.issued[port, behind]
    sm.issued_count[port] -= 1
    sm.in_latches -= 1


@inlined
def _take_in(ctx: Context, sm: Sm, cycle: int) -> bool:
    """Give issued instructions a collector, and queue their reads."""
    moved = False
    for number in range(UNITS * ctx.machine.sm.sub_cores):
        for _ in range(sm.ports_in[number]):
            if sm.issued_count[number] == 0:
                break
            slot = sm.issued[number, 0]
            work = sm.slot[slot]
            free = sm.collector_free[number]
            if work.ready_at > cycle or free == NOTHING:
                break
            leave_latch(sm, number)
            collector = lowest(free)
            sm.collector_free[number] &= ~bit(collector)
            _assign(ctx, sm, cycle, number * PORT_COLLECTORS + collector, slot)
            moved = True
    return moved


@inlined
def _assign(ctx: Context, sm: Sm, cycle: int, number: int, slot: int) -> None:
    collector = sm.collector[number]
    work = sm.slot[slot]
    collector.slot = slot
    if work.kind == INSTRUCTION:
        on_staged(ctx.observers, sm.observed, ctx, cycle, work.warp, work.pc, slot, COLLECT)
    collector.waiting = work.reads_left
    collector.ready_at = cycle + (1 if work.reads_left == work.n_reads else fetch_cycles(ctx.design.hierarchy, ctx, sm))
    for operand in range(work.n_reads):
        entry = int(work.reads[operand])
        request = number << OPERAND_BITS | operand
        if entry < 0:
            if shares_reads(ctx.design.hierarchy):
                _wait_for_sharer(sm, number, request, int(work.places[operand]))
            continue
        if wakes_in_collectors(ctx.design.power):
            _read_when_awake(ctx, sm, cycle, work, operand, request)
        else:
            enqueue(sm, request, work.read_group[operand])
    if wakes_in_collectors(ctx.design.power):
        for result in range(work.n_writes):
            if work.writes[result] >= 0:
                prepare_write(ctx.design.power, ctx, sm, cycle, int(work.writes[result]))
    if collector.waiting == 0:
        sm.collector_full[number // PORT_COLLECTORS] |= bit(number % PORT_COLLECTORS)


@inlined
def _read_when_awake(ctx: Context, sm: Sm, cycle: int, work: Slot, operand: int, request: int) -> None:
    """Wake the entry of an operand, and queue its read when it is awake; the collector is held until then."""
    at = prepare_read(ctx.design.power, ctx, sm, cycle, int(work.reads[operand]))
    if at <= cycle + 1:
        enqueue(sm, request, work.read_group[operand])
        return
    sm.count.wakeup_wait_cycles += at - cycle - 1
    on_woken(ctx.observers, sm.observed, ctx, cycle, work.pc, at - cycle - 1)
    sm.delayed[sm.delayed_count].at = at
    sm.delayed[sm.delayed_count].request = request
    sm.delayed_count += 1


@inlined
def _wait_for_sharer(sm: Sm, number: int, request: int, place: int) -> None:
    """Let an operand wait, if the place that it comes from is still being read for another instruction."""
    if place >= 0 and sm.place_read[place] != 0:
        sm.collector[number].waiting += 1
        sm.queue_next[request] = sm.place_waiting[place] - 1
        sm.place_waiting[place] = request + 1
