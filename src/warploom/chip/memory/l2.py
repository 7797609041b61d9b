"""An L2 slice: one sector a cycle at the tags, in order; what cannot be served holds up what is behind it."""

from __future__ import annotations

from warploom.chip.machines import MachineRecord
from warploom.chip.memory.address import bank_of, channel_of_slice, first_way, row_of
from warploom.chip.memory.bits import sectors_in
from warploom.chip.memory.crossbar import enter_crossbar, free_request
from warploom.chip.memory.dram import bursts_of, grant, new_transfer
from warploom.chip.memory.joining import joins, lead
from warploom.chip.memory.state import (
    ATOMIC,
    FILL_CODE,
    FILL_CONSTANT,
    IN_PART,
    READ,
    RECENT,
    SEVERAL,
    SILENT,
    TICKS,
    TURNS,
    WRITE,
    L2Line,
    Memory,
    Request,
    Slice,
)
from warploom.chip.sm.bits import signed
from warploom.jit import callee

LINE_SECTORS = 4


@callee
def _busy_ticks(machine: MachineRecord, part: Slice, node: Request) -> int:
    """How long a request keeps its slice busy."""
    sectors = sectors_in(node.sectors)
    if node.kind == READ:
        return (sectors + machine.l2.sectors_per_cycle - 1) // machine.l2.sectors_per_cycle * TICKS
    if node.kind == WRITE:
        cycles = sectors * machine.l2.line_write_cycles / LINE_SECTORS
        return int(TICKS * (cycles + machine.l2.part_write_cycles if node.lanes & IN_PART else cycles))
    # an atomic: lanes that meet in a word take turns, each of which finds the line at hand but for the first
    several = node.lanes & SEVERAL != 0
    cycles = machine.l2.atomic_row_cycles if several else machine.l2.atomic_cycles
    if part.atomic_line != node.line + 1:
        part.atomic_line, part.atomic_sectors = node.line + 1, 0
    elif not several or signed(node.sectors) & ~signed(part.atomic_sectors) == 0:
        cycles = machine.l2.atomic_again_cycles
    part.atomic_sectors |= node.sectors
    turns = max(1, node.lanes & TURNS)
    return int(TICKS * (sectors * cycles + (turns - 1) * machine.l2.atomic_again_cycles))


@callee
def _reply(machine: MachineRecord, memory: Memory, number: int, request: int, cycle: int) -> None:
    """Answer a request: loads with data, everything else with a header; in one packet, or in one for each sector."""
    node = memory.pool[request - 1]
    if node.reply != SILENT:
        sectors = sectors_in(node.sectors)
        node.packets = 1
        if machine.compatibility.sectors_travel_alone:
            node.packets, sectors = sectors, 1
        node.flits = machine.flits[sectors if node.kind == READ else 0]
        node.cycle = cycle + machine.l2.reply_latency
        if node.kind == ATOMIC and machine.l2.atomic_latency > 0:
            node.cycle += machine.l2.atomic_latency + max(0, memory.slice[number].tags_free // TICKS - cycle)
        enter_crossbar(memory, memory.replies, number, request, node.sm)
    else:
        memory.in_flight -= 1
        free_request(memory, request)


@callee
def _to_dram(machine: MachineRecord, memory: Memory, number: int, within: int, sectors: int, way: int, cycle: int) -> None:
    """Queue a transfer; `way` is of the L2 line that waits for it, or -1 for a write."""
    channel = memory.channel[channel_of_slice(memory, number)]
    index = new_transfer(channel)
    transfer = channel.transfer[index - 1]
    transfer.way = way
    transfer.row = row_of(machine, within)
    transfer.bank = bank_of(machine, within)
    transfer.sectors = sectors
    transfer.bursts = bursts_of(machine, sectors, way < 0)
    transfer.slice = number
    memory.slice[number].queued += sectors_in(sectors)
    if channel.waiting_head == 0:
        channel.waiting_head = index
    else:
        channel.transfer[channel.waiting_tail - 1].next = index
    channel.waiting_tail = index
    if way >= 0:
        channel.reads += sectors_in(sectors)
    else:
        channel.writes += sectors_in(sectors)
    grant(machine, memory, channel, cycle * TICKS)


@callee
def _find(memory: Memory, first: int, ways: int, within: int) -> int:
    for way in range(first, first + ways):
        if memory.tag[way] == within + 1:
            return way
    return -1


@callee
def _victim(memory: Memory, first: int, ways: int) -> int:
    """The least recently used line that nobody waits for; an empty way has never been used."""
    best = -1
    for way in range(first, first + ways):
        if memory.line[way].pending == 0 and (best < 0 or memory.line[way].used < memory.line[best].used):
            best = way
    return best


@callee
def _count(memory: Memory, node: Request, missing: int, waiting: int) -> None:
    kind = node.kind
    accesses, misses = sectors_in(node.sectors), sectors_in(missing)
    if kind == ATOMIC:
        accesses *= max(1, node.lanes & TURNS)
    memory.l2_accesses += accesses
    memory.l2_misses += misses
    memory.l2_pending_hits += sectors_in(waiting)
    if kind == WRITE:
        memory.l2_write_accesses += accesses
        memory.l2_write_misses += misses
    else:
        memory.l2_read_accesses += accesses
        memory.l2_read_misses += misses
        if kind == ATOMIC:
            memory.l2_atomic_accesses += accesses
        elif node.reply in (FILL_CODE, FILL_CONSTANT):
            memory.l2_code_accesses += accesses


@callee
def _distance(machine: MachineRecord, number: int, node: Request, line: L2Line, waiting: int) -> None:
    """Whether a request's reply comes from the other half of the chip.

    Each half of L2 is the home of half of the lines and keeps copies of others that its SMs have read. Writes and atomics go to
    the home, and copies are given up. Code and constants are in both halves.
    """
    elsewhere = node.sm & 1 != (1 if 2 * number >= machine.l2.slices else 0)
    sectors, copied = signed(node.sectors), signed(line.copied)
    if node.kind != READ:
        line.copied = copied & ~sectors
        node.far = 1 if elsewhere else 0
    elif elsewhere and node.reply not in (FILL_CODE, FILL_CONSTANT):
        node.far = 1 if (sectors & ~copied) | waiting else 0
        line.copied = copied | sectors


@callee
def access(machine: MachineRecord, memory: Memory, number: int, now: int) -> None:
    """The head of a slice's queue is at the tags; `now` is in ticks."""
    part = memory.slice[number]
    cycle = now // TICKS
    request = part.head
    node = memory.pool[request - 1]
    first = first_way(machine, memory, number, node.within)
    way = _find(memory, first, machine.l2.ways, node.within)
    found = way >= 0
    valid, pending = signed(0), signed(0)
    if found:
        valid, pending = signed(memory.line[way].valid), signed(memory.line[way].pending)
    sectors = signed(node.sectors)
    missing = sectors & ~valid & ~pending
    waiting = sectors & pending
    writes = node.kind == WRITE
    if (
        found
        and (node.joined != 0 or joins(machine, memory, node, waiting, cycle))
        and memory.line[way].merged < machine.l2.merged
    ):
        _join(machine, memory, number, request, way, waiting, cycle)
        return
    brought = signed(0) if writes else _with_neighbours(machine, missing) & ~valid & ~pending
    fetched = sectors_in(brought)
    if not writes and found and memory.line[way].merged >= machine.l2.merged and (missing | waiting) != 0:
        part.stalled = 1
    if fetched > 0 and (part.mshrs_used + fetched > machine.l2.mshrs or part.queued >= machine.l2.dram_queue):
        part.stalled = 1
    if not found and part.stalled == 0:
        way = _victim(memory, first, machine.l2.ways)
        if way < 0 or (memory.line[way].dirty != 0 and part.queued >= machine.l2.dram_queue):
            part.stalled = 1
    if part.stalled:
        memory.l2_stalls += 1
        return
    part.head = node.next
    node.next = 0
    part.tags_free = now + _busy_ticks(machine, part, node)
    line = memory.line[way]
    if not found:
        if line.dirty != 0:
            memory.l2_write_backs += sectors_in(line.dirty)
            _to_dram(machine, memory, number, memory.tag[way] - 1, line.dirty, -1, cycle)
        memory.tag[way] = node.within + 1
        line.valid, line.dirty, line.pending, line.merged, line.waiters, line.copied = 0, 0, 0, 0, 0, 0
    line.used = RECENT + cycle
    _count(memory, node, missing, waiting)
    if machine.l2.far_cycles > 0:
        _distance(machine, number, node, line, waiting)
    if machine.interconnect.groups > 0 and node.kind == READ:
        lead(machine, memory, node, cycle)
    written_anew = node.kind != READ and line.dirty == 0 and machine.l2.dirty_ways < machine.l2.ways
    if writes:  # a sector counts as written whole: no fetch
        line.valid |= node.sectors
        line.dirty |= node.sectors
        if written_anew:
            _clean(machine, memory, number, first, cycle)
        _reply(machine, memory, number, request, cycle)
        return
    if node.kind == ATOMIC:
        line.dirty |= node.sectors
        if written_anew:
            _clean(machine, memory, number, first, cycle)
    if missing == 0 and waiting == 0:
        _reply(machine, memory, number, request, cycle)
        return
    node.need = missing | waiting
    node.next = line.waiters
    line.waiters = request
    line.merged += 1
    if missing != 0:
        line.pending |= brought
        part.mshrs_used += fetched
        _to_dram(machine, memory, number, node.within, brought, way, cycle)


@callee
def _clean(machine: MachineRecord, memory: Memory, number: int, first: int, cycle: int) -> None:
    """A line of a set is written anew: of more than may wait, the least recently used one goes to DRAM and stays clean."""
    count, oldest = 0, -1
    for way in range(first, first + machine.l2.ways):
        if memory.line[way].dirty != 0:
            count += 1
            if oldest < 0 or memory.line[way].used < memory.line[oldest].used:
                oldest = way
    if count > machine.l2.dirty_ways:
        line = memory.line[oldest]
        memory.l2_write_backs += sectors_in(line.dirty)
        _to_dram(machine, memory, number, memory.tag[oldest] - 1, line.dirty, -1, cycle)
        line.dirty = 0


@callee
def _with_neighbours(machine: MachineRecord, sectors: int) -> int:
    """The sectors that are fetched for some: pairs of them where two are fetched together."""
    if machine.l2.fetched == 1:
        return sectors
    return (3 if sectors & 3 else 0) | (12 if sectors & 12 else 0)


@callee
def _join(machine: MachineRecord, memory: Memory, number: int, request: int, way: int, waiting: int, cycle: int) -> None:
    """What has joined another request of its group takes nothing of L2: its reply comes with the other's."""
    node = memory.pool[request - 1]
    memory.slice[number].head = node.next
    node.next = 0
    node.joined = 1
    memory.l2_joined += sectors_in(node.sectors)
    if machine.l2.far_cycles > 0:
        _distance(machine, number, node, memory.line[way], waiting)
    if waiting == 0 or node.kind == WRITE:
        _reply(machine, memory, number, request, cycle)
        return
    line = memory.line[way]
    node.need = waiting
    node.next = line.waiters
    line.waiters = request
    line.merged += 1


@callee
def filled(machine: MachineRecord, memory: Memory, number: int, way: int, sectors: int, cycle: int) -> None:
    """Sectors of a line have come from DRAM: answer those who waited for them, oldest first."""
    line = memory.line[way]
    line.valid |= sectors
    line.pending &= ~sectors
    part = memory.slice[number]
    part.mshrs_used -= sectors_in(sectors)
    oldest, request = signed(0), signed(line.waiters)
    while request != 0:  # the list holds the youngest first
        following = signed(memory.pool[request - 1].next)
        memory.pool[request - 1].next = oldest
        oldest, request = request, following
    line.waiters = 0
    request = oldest
    while request != 0:
        node = memory.pool[request - 1]
        following = signed(node.next)
        node.need &= ~sectors
        if node.need == 0:
            line.merged -= 1
            _reply(machine, memory, number, request, cycle)
        else:
            node.next = line.waiters
            line.waiters = request
        request = following
