"""An SM's two ends of the crossbar: the outbox of requests and the heap of replies that are on their way."""

from __future__ import annotations

from warploom.chip.machines import MachineRecord
from warploom.chip.memory.bits import sectors_in
from warploom.chip.memory.state import FOREVER, IN_PART, OUTBOX_ENTRIES, WRITE, Ldst
from warploom.jit import callee

SLICE_BITS = 8  # replies that arrive in the same cycle are taken in the order of their slices
TOKEN_SHIFT = 4


@callee
def send(
    machine: MachineRecord,
    ldst: Ldst,
    cycle: int,
    line: int,
    sectors: int,
    kind: int,
    lanes: int,
    reply: int,
    token: int,
) -> int:
    """Queue a request for a 128-byte line; the cycle in which its last flit leaves the miss queue."""
    packet = machine.flits[sectors_in(sectors) if kind == WRITE else 0]
    starts = max(ldst.port_free, cycle)
    ldst.port_free = starts + packet
    if kind == WRITE and machine.interconnect.store_cycles != 0:
        masks = machine.interconnect.mask_cycles if lanes & IN_PART else 0  # it says which bytes of sectors it writes, too
        ldst.port_free = starts + sectors_in(sectors) * machine.interconnect.store_cycles + masks
    request = ldst.outbox[(ldst.outbox_head + ldst.outbox_count) % OUTBOX_ENTRIES]
    ldst.outbox_count += 1
    request.cycle = starts
    request.flits = packet
    request.line = line
    request.sectors = sectors
    request.kind = kind
    request.lanes = lanes
    request.reply = reply
    request.token = token
    return ldst.port_free


@callee
def push_reply(ldst: Ldst, arrival: int, source: int, reply: int, token: int) -> None:
    """Put a reply on its way to the SM."""
    key = arrival << SLICE_BITS | source
    what = reply | token << TOKEN_SHIFT
    position = ldst.reply_count
    ldst.reply_count += 1
    while position > 0:
        parent = (position - 1) >> 1
        if ldst.reply_key[parent] <= key:
            break
        ldst.reply_key[position] = ldst.reply_key[parent]
        ldst.reply_what[position] = ldst.reply_what[parent]
        position = parent
    ldst.reply_key[position] = key
    ldst.reply_what[position] = what
    ldst.event = min(ldst.event, arrival)


@callee
def next_reply(ldst: Ldst) -> int:
    """When the earliest reply arrives."""
    if ldst.reply_count == 0:
        return FOREVER
    return ldst.reply_key[0] >> SLICE_BITS


@callee
def pop_reply(ldst: Ldst) -> int:
    """Take the earliest reply; what it is."""
    what = ldst.reply_what[0]
    ldst.reply_count -= 1
    count = ldst.reply_count
    key, moved = ldst.reply_key[count], ldst.reply_what[count]
    position = 0
    child = 1
    while child < count:
        if child + 1 < count and ldst.reply_key[child + 1] < ldst.reply_key[child]:
            child += 1
        if ldst.reply_key[child] >= key:
            break
        ldst.reply_key[position] = ldst.reply_key[child]
        ldst.reply_what[position] = ldst.reply_what[child]
        position = child
        child = 2 * position + 1
    ldst.reply_key[position] = key
    ldst.reply_what[position] = moved
    return what
