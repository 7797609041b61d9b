"""The chip's memory system as the main loop sees it: requests in, replies out, once per quantum.

An SM's request needs at least the crossbar's and L2's latency to reach the tags. So whatever the SMs did up to a cycle
decides everything at the tags and behind them up to that much later, and replies that arrive within the next quantum are
known before the SMs run it. First the requests cross, then the channels run, then the replies cross. Channels (each with its
slices) do not depend on each other and run one after the other, each in the order of its events; the outcome does not depend
on how time is cut into quanta.
"""

from __future__ import annotations

from warploom.base.records import Array
from warploom.chip.machines import MachineRecord
from warploom.chip.machines.memory_tables import MemoryModel
from warploom.chip.memory.address import channel_of, slice_of, within_channel
from warploom.chip.memory.bits import sectors_in
from warploom.chip.memory.cache import forget
from warploom.chip.memory.crossbar import depart, enter_crossbar, free_request, new_request, next_departure
from warploom.chip.memory.dram import enqueue, free_transfer, grant, pick
from warploom.chip.memory.filling import warm_l2
from warploom.chip.memory.joining import joins_a_store
from warploom.chip.memory.l2 import access, filled
from warploom.chip.memory.ldst import ldst_idle, ldst_pop_done, ldst_step
from warploom.chip.memory.port import push_reply
from warploom.chip.memory.state import CODE_BASE, FOREVER, KERNEL_SECTORS, KERNELS, OUTBOX_ENTRIES, TICKS, Memory, Port
from warploom.jit import callee, whole

_RETURN, _ARRIVAL, _PICK, _SLICE = 0, 1, 2, 3


@callee
def _collect(machine: MachineRecord, memory: Memory, sms: Array[Port], end: int) -> None:
    """Take over the requests that SMs have handed to the crossbar before `end`."""
    for number in range(len(sms)):
        ldst = sms[number].ldst
        while ldst.outbox_count > 0 and ldst.outbox[ldst.outbox_head].cycle < end:
            sent = ldst.outbox[ldst.outbox_head]
            request = new_request(memory)
            node = memory.pool[request - 1]
            node.cycle, node.line, node.sectors, node.flits = sent.cycle, sent.line, sent.sectors, sent.flits
            node.kind, node.reply, node.token, node.sm, node.packets = sent.kind, sent.reply, sent.token, number, 1
            node.lanes, node.far = sent.lanes, 0
            node.joined = 1 if joins_a_store(machine, memory, node) else 0
            node.within = within_channel(machine, memory, node.line)
            slice_number = slice_of(memory, channel_of(machine, memory, node.line), node.within)
            enter_crossbar(memory, memory.requests, number, request, slice_number)
            memory.in_flight += 1
            ldst.outbox_count -= 1
            ldst.outbox_head = 0 if ldst.outbox_count == 0 else (ldst.outbox_head + 1) % OUTBOX_ENTRIES


@callee
def _move_requests(machine: MachineRecord, memory: Memory, inputs: int, until: int) -> None:
    """Through the crossbar to the queues of the slices."""
    while True:
        at, port = next_departure(memory.requests, inputs, False, False)
        if at >= until:
            return
        request = depart(memory, memory.requests, port, at, True, 0)
        node = memory.pool[request - 1]
        node.cycle += node.flits + machine.interconnect.latency + machine.l2.latency
        part = memory.slice[node.destination]
        if part.head == 0:
            part.head = request
        else:
            memory.pool[part.tail - 1].next = request
        part.tail = request


@callee
def _move_replies(machine: MachineRecord, memory: Memory, sms: Array[Port], until: int) -> None:
    """Through the crossbar to the SMs."""
    alternate = machine.compatibility.sectors_travel_alone
    while True:
        at, port = next_departure(memory.replies, machine.l2.slices, alternate, machine.interconnect.buffered)
        if at >= until:
            return
        request = depart(memory, memory.replies, port, at, False, machine.interconnect.taken_cycles)
        if request == 0:
            continue
        node = memory.pool[request - 1]
        arrival = node.cycle + node.flits + machine.interconnect.latency
        if node.far:
            arrival += machine.l2.far_cycles
        push_reply(sms[node.sm].ldst, arrival, port, node.reply, node.token)
        memory.in_flight -= 1
        free_request(memory, request)


@callee
def _channel_event(memory: Memory, number: int) -> tuple[int, int, int]:
    """The next event of a channel and its slices: when (ticks), what, and in which slice. What frees room goes first."""
    channel = memory.channel[number]
    at, what, where = FOREVER, _RETURN, 0
    if channel.returning_head != 0:
        at = channel.transfer[channel.returning_head - 1].at
    if channel.arriving_head != 0 and channel.transfer[channel.arriving_head - 1].at < at:
        at, what = channel.transfer[channel.arriving_head - 1].at, _ARRIVAL
    if channel.busy_banks != 0 and channel.next_pick < at:
        at, what = channel.next_pick, _PICK
    per_channel = memory.slices_per_channel
    for index in range(number * per_channel, (number + 1) * per_channel):
        part = memory.slice[index]
        if part.head != 0 and part.stalled == 0:
            ready = max(memory.pool[part.head - 1].cycle * TICKS, part.tags_free)
            if ready < at:
                at, what, where = ready, _SLICE, index
    return at, what, where


@callee
def _credit_back(machine: MachineRecord, memory: Memory, number: int, sectors: int, now: int) -> None:
    """The controller has room: the next transfer sets out, and slices that stood still try again."""
    channel = memory.channel[number]
    channel.credits_used -= sectors_in(sectors)
    grant(machine, memory, channel, now)
    earliest = (now + TICKS - 1) // TICKS * TICKS
    per_channel = memory.slices_per_channel
    for index in range(number * per_channel, (number + 1) * per_channel):
        part = memory.slice[index]
        if part.head != 0:
            part.stalled = 0
            part.tags_free = max(part.tags_free, earliest)


@callee
def _return(machine: MachineRecord, memory: Memory, number: int) -> None:
    """A read is back at L2."""
    channel = memory.channel[number]
    index = channel.returning_head
    transfer = channel.transfer[index - 1]
    channel.returning_head = transfer.next
    now, sectors = transfer.at, transfer.sectors
    filled(machine, memory, transfer.slice, transfer.way, sectors, (now + TICKS - 1) // TICKS)
    free_transfer(channel, index)
    _credit_back(machine, memory, number, sectors, now)


@callee
def _command(machine: MachineRecord, memory: Memory, number: int) -> None:
    """A column command; with its last burst a read sets out for L2 and a write is over."""
    channel = memory.channel[number]
    now = channel.next_pick
    index = pick(machine, memory, channel)
    if index == 0:
        return
    transfer = channel.transfer[index - 1]
    if transfer.way >= 0:
        if channel.returning_head == 0:
            channel.returning_head = index
        else:
            channel.transfer[channel.returning_tail - 1].next = index
        channel.returning_tail = index
        return
    sectors = transfer.sectors
    free_transfer(channel, index)
    _credit_back(machine, memory, number, sectors, now)


@callee
def _run_channel(machine: MachineRecord, memory: Memory, number: int, until: int) -> None:
    channel = memory.channel[number]
    while True:
        at, what, where = _channel_event(memory, number)
        if at >= until:
            return
        if what == _SLICE:
            access(machine, memory, where, at)
        elif what == _PICK:
            _command(machine, memory, number)
        elif what == _ARRIVAL:
            index = channel.arriving_head
            channel.arriving_head = channel.transfer[index - 1].next
            enqueue(machine, memory, channel, index, at)
        else:
            _return(machine, memory, number)


@whole
def memory_step(machine: MachineRecord, memory: Memory, sms: Array[Port], from_cycle: int, to_cycle: int) -> None:
    """All that follows from what the SMs sent before `to_cycle`: replies that arrive from `to_cycle` on are in their heaps."""
    if machine.memory.model == MemoryModel.FIXED:
        return
    _collect(machine, memory, sms, to_cycle)
    _move_requests(machine, memory, len(sms), to_cycle)
    memory.horizon = to_cycle + machine.interconnect.latency + machine.l2.latency
    for number in range(machine.dram.channels):
        _run_channel(machine, memory, number, memory.horizon * TICKS)
    _move_replies(machine, memory, sms, memory.horizon + machine.l2.reply_latency)


@whole
def begin_launch(machine: MachineRecord, memories: Array[Memory], sms: Array[Port], kernel: int, instructions: int) -> None:
    """Empty the first-level caches, as every launch finds them; L2 stays. Launches of the same code have the same number."""
    if machine.l1i.brought > 0:
        sectors = machine.l1i.line_bytes // 32 * machine.l1i.brought
        warm_l2(machine, memories[0], CODE_BASE + kernel % KERNELS * KERNEL_SECTORS, sectors)
    for number in range(len(sms)):
        ldst = sms[number].ldst
        forget(ldst.l1)
        forget(ldst.l1c)
        forget(ldst.l1t)
        if not machine.l1i.kept:
            forget(ldst.l1i)
        ldst.code_base = kernel % KERNELS * KERNEL_SECTORS
        ldst.code_end = ldst.code_base + ((instructions * machine.l1i.instruction_bytes + 31) >> 5)


@whole
def memory_idle(memory: Memory, sms: Array[Port]) -> bool:
    """Whether every access of every SM is over; write-backs from L2 may still be under way."""
    busy = memory.in_flight
    for number in range(len(sms)):
        if not ldst_idle(sms[number]):
            busy += 1
    return busy == 0


@whole
def drain(machine: MachineRecord, memories: Array[Memory], sms: Array[Port], cycle: int) -> int:
    """Let everything that is under way from a cycle on come to its end; the cycle at which it has. Stores outlive launches."""
    memory = memories[0]
    while not memory_idle(memory, sms):
        end = cycle + machine.chip.quantum
        for number in range(len(sms)):
            port = sms[number]
            now = cycle
            while now < end:
                ldst_step(machine, memory, port, now)
                while ldst_pop_done(port, now) >= 0:
                    pass
                now = max(now + 1, port.ldst.event)
        memory_step(machine, memory, sms, cycle, end)
        cycle = end
    return cycle


@whole
def memory_next_event(machine: MachineRecord, memory: Memory) -> int:
    """No reply that is not yet in an SM's heap arrives before this cycle; FOREVER if none is to come."""
    if memory.in_flight == 0:
        return FOREVER
    buffered = machine.interconnect.buffered
    soonest, _ = next_departure(memory.replies, machine.l2.slices, False, buffered)
    request, _ = next_departure(memory.requests, machine.chip.sms, False, False)
    soonest = min(soonest, request)
    for number in range(machine.dram.channels):
        at, _, _ = _channel_event(memory, number)
        soonest = min(soonest, at // TICKS)
    return soonest + machine.interconnect.latency
