"""What a policy can ask of the core: allocate and release registers, wake warps, move entries between power states, inject work.

All of these are plain functions on the SM's record; call them from any hook that has ``ctx``, ``sm`` and ``cycle``.
"""

from __future__ import annotations

import numpy as np

from warploom.base.records import Lanes, Mask
from warploom.chip.machines.sm_tables import BankMapping
from warploom.chip.sm.bits import NOTHING, bit, lowest, signed, without_lowest
from warploom.chip.sm.checking import check_allocate, check_brought, check_evict, check_filled
from warploom.chip.sm.context import CodeRow, Context
from warploom.chip.sm.hooks import on_allocate, on_free, on_release, prepare_read, prepare_write
from warploom.chip.sm.layout import MAX_PLACES, OPERANDS, WHOLE_ENTRY, Sm
from warploom.chip.sm.observing import FORWARDED, on_upper_level, on_woken
from warploom.jit import inlined, separate

ON, DROWSY, OFF = 0, 1, 2  # power states
INSTRUCTION, MOVE, SPILL, REFILL, EVICTION, PIECE = 0, 1, 2, 3, 4, 5  # kinds of work in flight
OLDEST, YOUNGEST = 1, -1  # orders of warps
UNKNOWN = np.uint32(0xFFFFFFFF)  # the value class of what no instruction of the trace wrote: fits no encoding


@inlined
def group_of(ctx: Context, warp: int, register: int) -> int:
    """The bank group in which the compiler and the machine's mapping want a register of a warp to be."""
    machine, groups = ctx.machine, ctx.info.core_groups
    spreads = machine.register_file.mapping == BankMapping.REGISTER_PLUS_WARP
    if machine.sm.sub_cores == 1:
        return (register + warp if spreads else register) % groups
    spread = register + warp // machine.sm.sub_cores if spreads else register
    return warp % machine.sm.sub_cores * groups + spread % groups


@inlined
def covers(sm: Sm, warp: int, mask: Lanes) -> bool:
    """Whether a mask has every lane that a warp was launched with; an instruction with such a mask has not diverged."""
    return sm.warp[warp].launched & ~mask == 0


@inlined
def scheduler_of(ctx: Context, warp: int) -> int:
    """The scheduler that a warp belongs to."""
    machine = ctx.machine
    if machine.sm.schedulers == 2 and machine.sm.sub_cores == 1:
        return warp & 1  # the usual case, without divisions
    per_core = machine.sm.schedulers // machine.sm.sub_cores
    return warp % machine.sm.sub_cores * per_core + warp // machine.sm.sub_cores % per_core


@inlined
def first_by_age(sm: Sm, warps: Mask, order: int) -> int:
    """Of some warps the one that was launched first (`OLDEST`) or last (`YOUNGEST`); -1: there are none."""
    if warps == NOTHING:
        return -1
    first = lowest(warps)
    rest = without_lowest(warps)
    while rest != NOTHING:
        warp = lowest(rest)
        rest = without_lowest(rest)
        if order * sm.warp[warp].age < order * sm.warp[first].age:
            first = warp
    return first


@inlined
def result_number(row: CodeRow, register: int) -> int:
    """Which of its results an instruction writes to a register; compile-time hints on results are numbered like this."""
    number = signed(0)
    for result in range(row.n_writes):
        if row.writes[result] == register:
            number = signed(result)
    return number


@inlined
def find_free(ctx: Context, sm: Sm, group: int) -> int:
    """The lowest free entry of a bank group; -1: none."""
    for word in range(ctx.info.row_words):
        rows = sm.free_rows[group, word]
        if rows != NOTHING:
            return (word * 64 + lowest(rows)) * ctx.info.groups + group
    return -1


@inlined
def find_free_anywhere(ctx: Context, sm: Sm, group: int) -> int:
    """The lowest free entry of a bank group, else of the next group that has one; -1: the register file is full."""
    groups = ctx.info.groups
    for step in range(groups):
        entry = find_free(ctx, sm, group + step if group + step < groups else group + step - groups)
        if entry >= 0:
            return entry
    return -1


@inlined
def _count_allocated(sm: Sm, cycle: int, change: int) -> None:
    sm.allocated_cycles += sm.allocated * (cycle - sm.allocated_since)
    sm.allocated_since = cycle
    sm.allocated += change
    sm.allocated_peak = max(sm.allocated_peak, sm.allocated)


@inlined
def allocate(ctx: Context, sm: Sm, cycle: int, warp: int, register: int, entry: int) -> None:
    """Let a physical entry hold a register of a warp."""
    allocate_bytes(ctx, sm, cycle, warp, register, entry, WHOLE_ENTRY)


@separate
def allocate_bytes(ctx: Context, sm: Sm, cycle: int, warp: int, register: int, entry: int, mask: int) -> None:
    """Let a register have some bytes (a mask) of every lane of an entry; the others can hold other registers of the same warp.

    The policy knows that the register needs no more. A read or write of it is one of the whole entry.
    """
    check_allocate(ctx.check, ctx, sm, cycle, warp, register, entry, mask)
    owned = sm.entry[entry]
    sm.map[warp, register] = entry
    sm.bytes_of[warp, register] = mask
    owned.held |= mask
    owned.warp = warp
    owned.register = register
    owned.released = False
    sm.entries_used = max(sm.entries_used, entry + 1)
    row = ctx.info.row_of_entry[entry]
    sm.free_rows[ctx.info.group_of_entry[entry], row >> 6] &= ~bit(row & 63)
    if not owned.allocated:
        owned.allocated = True
        _count_allocated(sm, cycle, 1)
    on_allocate(ctx.design.allocation, ctx, sm, cycle, entry)
    on_allocate(ctx.design.power, ctx, sm, cycle, entry)


@separate
def free_entry(ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
    """Give a physical entry back. Policies use `release`, which waits for accesses under way."""
    owned = sm.entry[entry]
    owned.allocated = False
    owned.released = False
    row = ctx.info.row_of_entry[entry]
    sm.free_rows[ctx.info.group_of_entry[entry], row >> 6] |= bit(row & 63)
    _count_allocated(sm, cycle, -1)
    on_free(ctx.design.allocation, ctx, sm, cycle, entry)
    on_free(ctx.design.encoding, ctx, sm, cycle, entry)
    on_free(ctx.design.power, ctx, sm, cycle, entry)
    owned.form = 0


@separate
def release(ctx: Context, sm: Sm, cycle: int, warp: int, register: int) -> None:
    """Unmap a register: its value is dead. The entry is freed when it holds no other, and no read or write is under way."""
    entry = sm.map[warp, register]
    if entry < 0:
        return
    sm.map[warp, register] = -1
    on_release(ctx.design.hierarchy, ctx, sm, cycle, warp, register)
    owned = sm.entry[entry]
    owned.held &= ~sm.bytes_of[warp, register]
    if owned.held != 0:
        return
    if owned.readers == 0 and owned.writers == 0:
        free_entry(ctx, sm, cycle, entry)
    else:
        owned.released = True


@inlined
def settle(ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
    """An access has ended: free the entry if it was released and this was the last one."""
    owned = sm.entry[entry]
    if owned.released and owned.readers == 0 and owned.writers == 0:
        free_entry(ctx, sm, cycle, entry)


@inlined
def wake(sm: Sm, warps: Mask) -> None:
    """Let held warps (a mask) be asked again by `may_issue`."""
    woken = sm.held & warps
    sm.held &= ~woken
    sm.woken |= woken


@inlined
def move_entries(sm: Sm, cycle: int, source: int, target: int, entries: int) -> None:
    """Put entries from one power state into another. The core integrates; entries x cycles of all states always add up."""
    settle_states(sm, cycle)
    sm.state_entries[source] -= entries
    sm.state_entries[target] += entries


@inlined
def settle_states(sm: Sm, cycle: int) -> None:
    """Integrate the entries in each power state up to now."""
    passed = cycle - sm.state_since
    if passed != 0:
        for state in range(3):
            sm.state_cycles[state] += sm.state_entries[state] * passed
        sm.state_since = cycle


@inlined
def new_slot(sm: Sm) -> int:
    """Take a record for work in flight. The issue stage keeps a reserve, so there always is one."""
    sm.free_slot_count -= 1
    return sm.free_slot[sm.free_slot_count]


@separate
def write_back(ctx: Context, sm: Sm, cycle: int, warp: int, register: int, place: int, lanes: Lanes) -> None:
    """Write the lanes (a mask) of an upper-level place down to its register in the main file, through the bank's port."""
    entry = sm.map[warp, register]
    if entry < 0:
        return  # released meanwhile: nobody will read it
    slot = new_slot(sm)
    work = sm.slot[slot]
    work.kind = EVICTION
    work.warp = warp
    work.unit = 0
    work.reads_left = 0
    work.n_reads = 0
    work.n_writes = 1
    work.writes_left = 1
    work.registers[0] = register
    work.writes[0] = entry
    work.mask = lanes
    work.value = sm.place_value[place]
    work.storing = 0
    work.written = 0
    work.whole = 0
    work.ready_at = cycle
    work.write_group[0] = entry % ctx.info.groups
    work.index = sm.entry[entry].evicted
    sm.entry[entry].writers += 1
    sm.entry[entry].evictions += 1
    sm.entry[entry].evicted += 1
    prepare_write(ctx.design.power, ctx, sm, cycle, entry)
    check_evict(ctx.check, ctx, sm, cycle, slot, place)
    append_write(sm, slot)


@inlined
def fill(ctx: Context, sm: Sm, cycle: int, warp: int, register: int, place: int) -> None:
    """Let a place of the upper level take a copy of a source operand of the instruction that is being issued."""
    check_filled(ctx.check, ctx, sm, cycle, warp, register, place)


@inlined
def share_read(ctx: Context, sm: Sm, cycle: int, operand: int, place: int) -> None:
    """Let a place take a copy of an operand of the instruction that is being issued, from when the operand has been read.

    Operands that later instructions look up there wait for it; the policy says so with `shares_reads`.
    """
    work = sm.slot[sm.issuing]
    check_filled(ctx.check, ctx, sm, cycle, work.warp, work.sources[operand], place)
    if work.reads[operand] >= 0:
        work.places[operand] = place
        sm.place_read[place] = 1


@separate
def bring_up(ctx: Context, sm: Sm, cycle: int, warp: int, register: int, place: int) -> bool:
    """Read a register of the main file into a place of the upper level; `on_filled` says when it is there.

    It queues for its bank as operands do, and takes as long on the way. False: the register has no entry. A place is asked
    for once at a time, and never for a register whose next result is under way.
    """
    entry = int(sm.map[warp, register])
    if entry < 0:
        return False
    sm.fill[place].warp = warp
    sm.fill[place].register = register
    sm.fill[place].entry = entry
    if sm.entry[entry].evictions > 0:  # on its way down: taken from the buffer in front of the bank
        check_brought(ctx.check, ctx, sm, cycle, place, entry, True)
        sm.count.forwarded_reads += 1
        on_upper_level(ctx.observers, sm.observed, ctx, cycle, -1, FORWARDED)
        arrive_later(sm, cycle + 1 + ctx.machine.register_file.operand_fetch_cycles, place)
        return True
    sm.entry[entry].readers += 1
    at = prepare_read(ctx.design.power, ctx, sm, cycle, entry)
    if at > cycle + 1:
        sm.count.wakeup_wait_cycles += at - cycle - 1
        on_woken(ctx.observers, sm.observed, ctx, cycle, -1, at - cycle - 1)
        sm.delayed[sm.delayed_count].at = at
        sm.delayed[sm.delayed_count].request = OPERANDS + place
        sm.delayed_count += 1
    else:
        enqueue(sm, OPERANDS + place, ctx.info.group_of_entry[entry])
    return True


@inlined
def arrive_later(sm: Sm, at: int, place: int) -> None:
    """Put what has been read for a place on its way; what sets out later does not overtake it."""
    if sm.arriving_count > 0:
        last = (sm.arriving_head + sm.arriving_count - 1) % MAX_PLACES
        at = max(at, sm.arriving[last].at)
    behind = (sm.arriving_head + sm.arriving_count) % MAX_PLACES
    sm.arriving[behind].at = at
    sm.arriving[behind].place = place
    sm.arriving_count += 1


@inlined
def enqueue(sm: Sm, request: int, group: int) -> None:
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
def append_write(sm: Sm, slot: int) -> None:
    """Put work at the end of the list of those that wait for a bank's write port."""
    sm.slot[slot].next = -1
    if sm.write_tail >= 0:
        sm.slot[sm.write_tail].next = slot
    else:
        sm.write_head = slot
    sm.write_tail = slot


@inlined
def inject(sm: Sm, kind: int, warp: int, register: int, entry: int) -> bool:
    """Queue the store (SPILL: entry to reserved memory) or load (REFILL) of one whole register; False: the queue is full.

    The core sends it through the collectors, banks and memory like an instruction and reports to `on_injected`.
    """
    if sm.injected_count >= len(sm.injected):
        return False
    queued = sm.injected[(sm.injected_head + sm.injected_count) % len(sm.injected)]
    queued.kind = kind
    queued.warp = warp
    queued.register = register
    queued.entry = entry
    sm.injected_count += 1
    return True
