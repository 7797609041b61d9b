"""A DRAM channel: first ready, first come, with one candidate per bank.

A bank's candidate is its oldest transfer to the open row, or else its oldest; choosing one to another row closes and opens
rows at once, as early as the timing allows. Among the candidates the one whose column command can go first is taken, in
turn where several can. All times are ticks.
"""

from __future__ import annotations

from warploom.chip.machines import MachineRecord
from warploom.chip.memory.bits import sectors_in
from warploom.chip.memory.state import FOREVER, TICKS, Channel, DramBank, Memory
from warploom.jit import callee


@callee
def new_transfer(channel: Channel) -> int:
    """A free transfer, as index + 1."""
    if channel.spare > 0:
        transfer = channel.spare
        channel.spare = channel.transfer[transfer - 1].next
    else:
        channel.fresh += 1
        transfer = channel.fresh
    channel.transfer[transfer - 1].next = 0
    return transfer


@callee
def free_transfer(channel: Channel, transfer: int) -> None:
    """Give a transfer back."""
    channel.transfer[transfer - 1].next = channel.spare
    channel.spare = transfer


@callee
def _activate(memory: Memory, channel: Channel, bank: DramBank, row: int, now: int) -> None:
    """Close the open row and open another."""
    at = now
    if bank.row != 0:
        at = max(now, bank.precharge_ready) + memory.t_rp
    if channel.activations > 0:
        if bank.row != 0:
            at = max(at, bank.activated + memory.t_rc)
        if abs(at - channel.last_activation) < memory.t_rrd:
            at = channel.last_activation + memory.t_rrd
    channel.last_activation = at
    channel.activations += 1
    bank.activated = at
    bank.row = row + 1
    bank.column_ready = at + memory.t_rcd
    bank.precharge_ready = at + memory.t_ras


@callee
def _refreshed(memory: Memory, bank: DramBank, now: int) -> int:
    """When a row can be opened, as far as refresh goes: one that has begun closes the bank's row."""
    if memory.t_rfc == 0 or now < bank.refresh:
        return now
    begun = bank.refresh + (now - bank.refresh) // memory.t_refi * memory.t_refi
    bank.refresh = begun + memory.t_refi
    bank.row = 0
    return max(now, begun + memory.t_rfc)


@callee
def _choose(memory: Memory, channel: Channel, bank: DramBank, now: int) -> None:
    """The bank's next candidate."""
    bank.candidate = bank.head
    bank.before = 0
    if bank.head == 0:
        return
    now = _refreshed(memory, bank, now)
    before, transfer = 0, bank.head
    while transfer != 0:
        if channel.transfer[transfer - 1].row + 1 == bank.row:
            bank.candidate, bank.before = transfer, before
            channel.row_hits += 1
            return
        before, transfer = transfer, channel.transfer[transfer - 1].next
    _activate(memory, channel, bank, channel.transfer[bank.head - 1].row, now)


@callee
def _earliest(machine: MachineRecord, memory: Memory, channel: Channel, number: int, now: int) -> int:
    """When the bank's candidate can have its column command."""
    bank = channel.bank[number]
    at = max(now, bank.column_ready)
    if channel.bursts > 0:
        at = max(at, channel.last_column + max(memory.t_ccd, memory.t_burst))
        at = max(at, channel.group_column[number & (machine.dram.bank_groups - 1)] + memory.t_ccdl)
    if channel.transfer[bank.candidate - 1].way >= 0:
        return max(at, channel.read_ready)
    return max(at, channel.write_ready)


@callee
def enqueue(machine: MachineRecord, memory: Memory, channel: Channel, transfer: int, now: int) -> None:
    """A transfer has reached the controller."""
    number = int(channel.transfer[transfer - 1].bank)  # as wide as a mask of banks
    bank = channel.bank[number]
    channel.transfer[transfer - 1].next = 0
    if bank.head == 0:
        bank.head = transfer
    else:
        channel.transfer[bank.tail - 1].next = transfer
    bank.tail = transfer
    if bank.candidate == 0:
        _choose(memory, channel, bank, now)
        channel.busy_banks |= 1 << number
        at = _earliest(machine, memory, channel, number, now)
        if at < channel.next_pick:
            channel.next_pick, channel.next_bank = at, number


@callee
def _schedule(machine: MachineRecord, memory: Memory, channel: Channel, now: int) -> None:
    """Find the bank whose candidate can go first; the search ends at one that can go as early as the bus allows."""
    channel.next_pick = FOREVER
    if channel.busy_banks == 0:
        return
    soonest = max(now, channel.last_column + max(memory.t_ccd, memory.t_burst))
    banks = machine.dram.banks
    for step in range(1, banks + 1):
        number = (channel.last_bank + step) & (banks - 1)
        if channel.busy_banks >> number & 1:
            at = _earliest(machine, memory, channel, number, now)
            if at < channel.next_pick:
                channel.next_pick, channel.next_bank = at, number
                if at <= soonest:
                    return


@callee
def pick(machine: MachineRecord, memory: Memory, channel: Channel) -> int:
    """Issue the column command that is due; the transfer (index + 1) if this was its last burst, else 0."""
    now, number = channel.next_pick, channel.next_bank
    bank = channel.bank[number]
    chosen = bank.candidate
    transfer = channel.transfer[chosen - 1]
    channel.last_bank = number
    channel.last_column = now
    channel.group_column[number & (machine.dram.bank_groups - 1)] = now
    channel.bursts += 1
    channel.busy_ticks += memory.t_burst
    if transfer.way >= 0:
        bank.precharge_ready = max(bank.precharge_ready, now + memory.t_rtpl)
        channel.write_ready = max(channel.write_ready, now + memory.t_cl + memory.t_burst - memory.t_wl)
    else:
        end = now + memory.t_wl + memory.t_burst
        bank.precharge_ready = max(bank.precharge_ready, end + memory.t_wr)
        channel.read_ready = max(channel.read_ready, end + memory.t_cdlr)
    transfer.bursts -= 1
    finished = 0
    if transfer.bursts == 0:
        finished = chosen
        if bank.before == 0:
            bank.head = transfer.next
        else:
            channel.transfer[bank.before - 1].next = transfer.next
        if bank.tail == chosen:
            bank.tail = bank.before
        transfer.next = 0
        transfer.at = now + memory.t_cl + memory.t_burst
        _choose(memory, channel, bank, now)
        if bank.candidate == 0:
            channel.busy_banks &= ~(1 << number)
    _schedule(machine, memory, channel, now)
    return finished


@callee
def bursts_of(machine: MachineRecord, sectors: int, writes: bool) -> int:
    """Bursts that a transfer takes: neighbouring sectors share one where it is wide enough."""
    if machine.dram.burst_bytes == 32 or (machine.compatibility.sectors_travel_alone and not writes):
        return sectors_in(sectors)
    if machine.dram.burst_bytes == 64:
        return (1 if sectors & 3 else 0) + (1 if sectors & 12 else 0)
    return 1


@callee
def grant(machine: MachineRecord, memory: Memory, channel: Channel, now: int) -> None:
    """Let waiting transfers set out for the controller while it has credits."""
    while channel.waiting_head != 0:
        index = channel.waiting_head
        transfer = channel.transfer[index - 1]
        sectors = sectors_in(transfer.sectors)
        if channel.credits_used + sectors > machine.dram.queue:
            return
        channel.credits_used += sectors
        channel.waiting_head = transfer.next
        if channel.waiting_head == 0:
            channel.waiting_tail = 0
        memory.slice[transfer.slice].queued -= sectors
        memory.slice[transfer.slice].stalled = 0
        transfer.next = 0
        transfer.at = now + machine.dram.latency * TICKS
        if channel.arriving_head == 0:
            channel.arriving_head = index
        else:
            channel.transfer[channel.arriving_tail - 1].next = index
        channel.arriving_tail = index
