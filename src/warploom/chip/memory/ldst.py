"""An SM's load/store unit: what the pipeline calls.

The unit takes one instruction at a time, splits it into accesses to cache lines and sends one access a cycle down the pipe
of its space. An access reaches the tags after the cache's latency; where it cannot be served (no miss register, no line to
replace, no room towards the crossbar, no credit) it stands still, and with it all behind it, until something changes.
Nothing is stepped cycle by cycle: `event` says when the unit next has something to do.
"""

from __future__ import annotations

from warploom.base.records import Array
from warploom.chip.machines import MachineRecord
from warploom.chip.machines.memory_tables import MemoryModel
from warploom.chip.memory.access import serve
from warploom.chip.memory.bits import lanes_in
from warploom.chip.memory.bulk import take_line
from warploom.chip.memory.cache import fill, fill_sectors, waiting_for
from warploom.chip.memory.port import TOKEN_SHIFT, next_reply, pop_reply, push_reply
from warploom.chip.memory.state import (
    ACKNOWLEDGE,
    ATOMIC,
    CONST_BASE,
    CONSTANT,
    COPIED,
    DATA,
    DIRECT,
    DONE_ENTRIES,
    DONE_LOAD,
    DONE_STORES,
    FILL_CODE,
    FILL_CONSTANT,
    FILL_DATA,
    FILL_TEXTURE,
    FOREVER,
    PARAM_BASE,
    PAST_L1,
    PIPE_ENTRIES,
    PIPES,
    READ,
    SEVERAL,
    SHARED_ENTRIES,
    TEXTURE,
    WRITE,
    Access,
    Ldst,
    Memory,
    Port,
)
from warploom.chip.sm.bits import signed
from warploom.compiler.code.table import Flag, Space
from warploom.emulator.trace.format import FILTERED
from warploom.jit import callee, whole

_LOAD, _STORE, _ATOMIC, _VOLATILE = int(Flag.LOAD), int(Flag.STORE), int(Flag.ATOMIC), int(Flag.VOLATILE)
_GLOBAL, _LOCAL, _SHARED, _CONST = int(Space.GLOBAL), int(Space.LOCAL), int(Space.SHARED), int(Space.CONST)
_PARAM, _TEXTURE = int(Space.PARAM), int(Space.TEXTURE)
_KIND_SHIFT = 16
ABOUT_SHIFT = 16  # above the flags of an instruction stands what the trace says of its passes, addresses or texels


@callee
def _done(ldst: Ldst, kind: int, value: int) -> None:
    ldst.done[(ldst.done_head + ldst.done_count) % DONE_ENTRIES] = value | kind << _KIND_SHIFT
    ldst.done_count += 1


@callee
def _arrived(ldst: Ldst, slot: int) -> None:
    """One access of an instruction has its data."""
    ldst.pending[slot] -= 1
    if ldst.pending[slot] == 0:
        _done(ldst, DONE_LOAD, slot)


@callee
def _acknowledged(ldst: Ldst, warp: int) -> None:
    """One line of a warp's stores has arrived."""
    ldst.stores_outstanding -= 1
    ldst.warp_stores[warp] -= 1
    if ldst.warp_stores[warp] == 0:
        _done(ldst, DONE_STORES, warp)


@callee
def latency_of(machine: MachineRecord, pipe: int) -> int:
    """Cycles from the unit to the tags behind a pipe."""
    if pipe == DATA:
        return machine.l1.latency
    if pipe == CONSTANT:
        return machine.l1c.latency
    if pipe == TEXTURE:
        return machine.l1t.latency
    return machine.l1.latency if machine.l1.sectored else 1


@whole
def ldst_can_accept(machine: MachineRecord, sm: Port, cycle: int) -> bool:
    """Whether the unit takes an instruction in this cycle."""
    ldst = sm.ldst
    return (
        cycle >= ldst.free_at
        and ldst.pipe[DATA].count <= machine.l1.latency * (machine.l1.tag_banks if machine.l1.sectored else 1)
        and ldst.pipe[CONSTANT].count <= machine.l1c.latency
        and ldst.pipe[TEXTURE].count <= (machine.l1t.latency if not machine.l1.sectored else PIPE_ENTRIES // 2)
        and ldst.pipe[PAST_L1].count < machine.l1.direct_queue + latency_of(machine, PAST_L1)
        and ldst.shared_count < SHARED_ENTRIES
    )


@callee
def _enter(ldst: Ldst, number: int, cycle: int, line: int, sectors: int, kind: int, slot: int, warp: int, local: int) -> Access:
    pipe = ldst.pipe[number]
    if pipe.count == 0:
        pipe.head = 0  # keeps the part of the ring in use small
    access = ldst.access[number, (pipe.head + pipe.count) % PIPE_ENTRIES]
    pipe.count += 1
    access.entered = cycle
    access.line = line
    access.sectors = sectors
    access.kind = kind
    access.slot = slot
    access.warp = warp
    access.local = local
    access.transactions = 1
    access.lanes = 0
    access.parts = 0
    return access


@callee
def _line_shift(machine: MachineRecord, pipe: int) -> int:
    """Sectors of a line behind a pipe, as a power of two."""
    line_bytes = machine.l1.line_bytes
    if pipe == CONSTANT:
        line_bytes = machine.l1c.line_bytes
    elif pipe == TEXTURE:
        line_bytes = machine.l1t.line_bytes
    shift = 0
    while 32 << shift < line_bytes:
        shift += 1
    return shift


@callee
def _count(ldst: Ldst, space: int, flags: int, accesses: int) -> None:
    if flags & _ATOMIC:
        ldst.atomics += 1
        ldst.global_transactions += accesses
    elif space == _LOCAL:
        ldst.local_transactions += accesses
        if flags & _STORE:
            ldst.local_stores += 1
        else:
            ldst.local_loads += 1
    elif space in (_CONST, _PARAM):
        ldst.constant_loads += 1
    elif space == _TEXTURE:
        ldst.texture_loads += 1
    else:
        ldst.global_transactions += accesses
        if flags & _STORE:
            ldst.global_stores += 1
        else:
            ldst.global_loads += 1


@callee
def _own_turn(machine: MachineRecord, ldst: Ldst, cycle: int, warp: int, passes: int) -> int:
    """When a sub-core's passes begin in the banks of shared memory and L1: behind those before, with pauses in between."""
    if machine.shared.pause_cycles == 0:
        return cycle
    core = warp % machine.sm.sub_cores
    starts = max(cycle, ldst.shared_free[core])
    ldst.shared_free[core] = starts + passes * (machine.shared.cycles_per_pass + machine.shared.pause_cycles)
    return starts


@callee
def _accept_shared(machine: MachineRecord, ldst: Ldst, cycle: int, slot: int, warp: int, flags: int, passes: int) -> None:
    """Passes keep the memory busy for all, and with pauses between them they keep the sub-core waiting."""
    busy = passes * machine.shared.cycles_per_pass
    starts = _own_turn(machine, ldst, cycle, warp, passes)
    ldst.free_at = cycle + busy
    ldst.shared_accesses += 1
    ldst.shared_conflict_passes += passes - 1
    if flags & (_LOAD | _ATOMIC):
        _await_shared(ldst, starts + machine.shared.latency + busy + (passes - 1) * machine.shared.pause_cycles - 1, slot)


@callee
def _await_shared(ldst: Ldst, at: int, slot: int) -> None:
    """Put an access among those whose data are to come, in the order of time."""
    if ldst.shared_count == 0:
        ldst.shared_head = 0
    place = ldst.shared_head + ldst.shared_count
    while place > ldst.shared_head and ldst.shared_at[(place - 1) % SHARED_ENTRIES] > at:
        ldst.shared_at[place % SHARED_ENTRIES] = ldst.shared_at[(place - 1) % SHARED_ENTRIES]
        ldst.shared_slot[place % SHARED_ENTRIES] = ldst.shared_slot[(place - 1) % SHARED_ENTRIES]
        place -= 1
    ldst.shared_count += 1
    ldst.shared_at[place % SHARED_ENTRIES] = at
    ldst.shared_slot[place % SHARED_ENTRIES] = slot
    ldst.event = min(ldst.event, at)


@callee
def _accept_fixed(
    machine: MachineRecord, ldst: Ldst, cycle: int, slot: int, warp: int, space: int, flags: int, sectors: int, lanes: int
) -> None:
    """The simple memory: bandwidth, then a fixed time."""
    ldst.fixed_sequence += 1
    source = ldst.fixed_sequence & 0xFF
    ldst.free_at = cycle + 1
    if space in (_CONST, _PARAM):
        ready = cycle + machine.l1c.latency
    elif space == _TEXTURE:
        per_cycle = machine.memory.texture_lanes_per_cycle
        ldst.texture_free = max(ldst.texture_free, cycle) + (lanes + per_cycle - 1) // per_cycle
        ready = ldst.texture_free + machine.memory.texture_latency
    else:
        per_cycle = machine.memory.bytes_per_cycle
        ldst.port_free = max(ldst.port_free, cycle) + (32 * sectors + per_cycle - 1) // per_cycle
        ready = ldst.port_free + machine.memory.latency
    if flags & _STORE:
        ldst.stores_outstanding += 1
        ldst.store_credits_used += 1
        ldst.warp_stores[warp] += 1
        push_reply(ldst, ready, source, ACKNOWLEDGE, warp)
    else:
        ldst.pending[slot] = 1
        ldst.direct_outstanding += 1
        push_reply(ldst, ready, source, DIRECT, slot)


@whole
def ldst_accept(
    machine: MachineRecord,
    memory: Memory,
    sm: Port,
    cycle: int,
    slot: int,
    warp: int,
    space: int,
    flags: int,
    count: int,
    sectors: Array[int],
    lanes: Array[int],
    first: int,
    local_base: int,
) -> None:
    """Take an instruction; `ldst_can_accept` must have said yes.

    `count` records of the trace's `sectors` and `lanes` from `first` belong to it (for shared memory `count` is the number of
    passes). `local_base` is the sector where the warp's window of local memory begins. A load or atomic is handed back by
    `ldst_pop_done` under its `slot`; a store needs no slot, nor does an atomic without a result that is a store too by its flags.
    """
    ldst = sm.ldst
    if count == 0:  # no lane executes it
        ldst.free_at = cycle + 1
        if not flags & _STORE:
            _done(ldst, DONE_LOAD, slot)
        return
    if space == _SHARED:
        _accept_shared(machine, ldst, cycle, slot, warp, flags, count)
        return
    if machine.memory.model == MemoryModel.FIXED:
        active, touched = 0, 0
        for index in range(first, first + count):
            active += lanes_in(lanes[index])
            if index == first or sectors[index] != sectors[index - 1]:
                touched += 1
        _count(ldst, space, flags, active if flags & _ATOMIC else count)
        _accept_fixed(machine, ldst, cycle, slot, warp, space, flags, touched, active)
        return
    if flags & _ATOMIC:
        token = -1 - warp if flags & _STORE else slot
        transactions = _accept_atomic(machine, ldst, cycle, token, warp, count, sectors, lanes, first)
        if flags & _STORE:
            ldst.stores_outstanding += transactions
            ldst.warp_stores[warp] += transactions
        else:
            ldst.pending[slot] = transactions
        ldst.free_at = cycle + transactions
        _count(ldst, space, flags, transactions)
        ldst.event = min(ldst.event, cycle + 1)
        return

    number, base, kind, local = DATA, 0, READ, 0
    if space == _LOCAL:
        base, local = local_base, 1
    elif space == _CONST:
        number, base = CONSTANT, CONST_BASE
    elif space == _PARAM:
        number, base = CONSTANT, PARAM_BASE
    elif space == _TEXTURE:
        number = TEXTURE
    elif flags & _VOLATILE and not flags & _STORE:
        number = PAST_L1
    parts = 0
    if flags & _STORE:
        kind, parts = WRITE, flags >> ABOUT_SHIFT & 1
    shift = _line_shift(machine, number)
    enters, last = cycle, PIPE_ENTRIES  # accesses enter a cycle apart, but not later than this behind the first
    addresses = 1
    busy, ends = 0, 0  # the unit takes others not before it, the last access enters not before it
    if number == TEXTURE and machine.l1.sectored:
        texels = flags >> ABOUT_SHIFT
        enters, last = _filtered_from(ldst, cycle, _cycles_of_four(texels), count, lanes, first), 0
        enters += machine.l1t.word_cycles * (_cycles_of_four(texels) - 1)
        if texels & FILTERED:
            enters += machine.l1t.filter_cycles
    elif number == DATA and kind == READ and machine.l1.sectored:
        busy = max((flags >> ABOUT_SHIFT) + 1, _tag_passes(machine.l1.tag_banks, count, sectors, first))
        enters, last = _own_turn(machine, ldst, cycle, warp, busy), busy - 1
        ends = enters + last * (1 + machine.shared.pause_cycles)
    elif number == CONSTANT and machine.l1c.address_cycles != 0:
        addresses = (flags >> ABOUT_SHIFT) + 1
        enters, last = max(cycle, ldst.constant_free), 0
        ldst.constant_free = enters + addresses * machine.l1c.address_cycles
    accesses = 0
    current, mask = -1, 0
    for index in range(first, first + count):
        sector = base + signed(sectors[index])
        line = sector >> shift
        if line != current:
            if current >= 0:
                access = _enter(ldst, number, enters + min(accesses, last), current, mask, kind, slot, warp, local)
                access.parts = parts
                access.lanes = 1  # of the addresses of an instruction at least one lies in each line
                addresses -= 1
                accesses += 1
                parts = 1 if number == CONSTANT else parts
            current, mask = line, 0
        mask |= 1 << (sector & ((1 << shift) - 1))
    access = _enter(ldst, number, max(enters + min(accesses, last), ends), current, mask, kind, slot, warp, local)
    access.parts = parts
    access.lanes = max(1, addresses)
    ldst.free_at = cycle + max(min(accesses, last) + 1, busy)
    accesses += 1
    _count(ldst, space, flags, accesses)
    if kind == WRITE:
        ldst.stores_outstanding += accesses
        ldst.warp_stores[warp] += accesses
    else:
        ldst.pending[slot] = accesses
    ldst.event = min(ldst.event, _pipe_event(machine, ldst, number))


@callee
def _tag_passes(banks: int, count: int, sectors: Array[int], first: int) -> int:
    """The cycles that a load takes in the tags of a data cache, of banks that look up a line a cycle each."""
    counts, before = 0, -1  # of the lines of each bank, in eight bits each
    for index in range(first, first + count):
        line = signed(sectors[index]) >> 2
        if line != before:
            counts += 1 << 8 * (line % banks)
            before = line
    passes = 0
    for bank in range(banks):
        passes = max(passes, counts >> 8 * bank & 0xFF)
    return passes


@callee
def _cycles_of_four(texels: int) -> int:
    """Cycles that the texture unit takes for four lanes: one for a word of each that is filtered, or for two that are not."""
    words = (texels & FILTERED - 1) + 1
    return words if texels & FILTERED else (words + 1) // 2


@callee
def _filtered_from(ldst: Ldst, cycle: int, cycles: int, count: int, lanes: Array[int], first: int) -> int:
    """When the texture unit begins with an instruction; four of its lanes take so many cycles."""
    together = 0
    for index in range(first, first + count):
        together |= signed(lanes[index])
    together |= together >> 1
    fours = (together | together >> 2) & 0x1111_1111
    starts = max(cycle, ldst.texture_free)
    ldst.texture_free = starts + lanes_in(fours) * cycles
    return starts


@callee
def _accept_atomic(
    machine: MachineRecord,
    ldst: Ldst,
    cycle: int,
    slot: int,
    warp: int,
    count: int,
    sectors: Array[int],
    lanes: Array[int],
    first: int,
) -> int:
    """The lanes in a sector are one transaction each, or one for each record of the trace, whose lanes are on different words, or
    one together; L2 performs them in turn.
    """
    in_parallel = machine.compatibility.sector_atomics_in_parallel
    transactions = 0
    index, end = first, first + count
    while index < end:
        sector = signed(sectors[index])
        access = _enter(ldst, PAST_L1, cycle + transactions, sector >> 2, 1 << (sector & 3), ATOMIC, slot, warp, 0)
        met = records = 0
        while index < end and signed(sectors[index]) == sector:
            met += lanes_in(lanes[index])
            records += 1
            index += 1
        if machine.l2.atomic_sectors:
            access.lanes = records | (SEVERAL if met > records else 0)
        else:
            access.transactions = records if in_parallel else met
        transactions += access.transactions
    return transactions


@callee
def _pipe_event(machine: MachineRecord, ldst: Ldst, number: int) -> int:
    """When the head of a pipe next moves."""
    pipe = ldst.pipe[number]
    if pipe.count == 0:
        return FOREVER
    if pipe.blocked_since > 0:
        return pipe.wake
    return max(ldst.access[number, pipe.head].entered + latency_of(machine, number), pipe.next_at)


@callee
def _take_reply(ldst: Ldst, what: int, sectored: bool) -> None:
    reply, token = what & 0xF, what >> TOKEN_SHIFT
    if reply == FILL_DATA:
        for index in range(ldst.l1.miss[token].count):
            _arrived(ldst, waiting_for(ldst.l1, token, index))
        if sectored:
            fill_sectors(ldst.l1, token)
        else:
            fill(ldst.l1, token)
    elif reply == ACKNOWLEDGE:
        ldst.store_credits_used -= 1
        _acknowledged(ldst, token)
    elif reply == DIRECT:
        ldst.direct_outstanding -= 1
        if token < 0:
            _acknowledged(ldst, -1 - token)
        else:
            _arrived(ldst, token)
    elif reply == COPIED:
        take_line(ldst, token)
    elif reply == FILL_CODE:
        fill(ldst.l1i, token)
        ldst.fetch_fills += 1
    elif reply == FILL_CONSTANT:
        for index in range(ldst.l1c.miss[token].count):
            _arrived(ldst, waiting_for(ldst.l1c, token, index))
        fill(ldst.l1c, token)
    elif reply == FILL_TEXTURE:
        for index in range(ldst.l1t.miss[token].count):
            _arrived(ldst, waiting_for(ldst.l1t, token, index))
        fill(ldst.l1t, token)


@callee
def _run_pipe(machine: MachineRecord, ldst: Ldst, number: int, cycle: int, retry: bool) -> None:
    pipe = ldst.pipe[number]
    while pipe.count > 0:
        if pipe.blocked_since > 0:
            if cycle < pipe.wake and not retry:
                return
        elif max(ldst.access[number, pipe.head].entered + latency_of(machine, number), pipe.next_at) > cycle:
            return
        access = ldst.access[number, pipe.head]
        slot, warp, kind = access.slot, access.warp, access.kind
        outcome = serve(machine, ldst, number, access, cycle)
        if outcome < 0:  # it stands still
            if pipe.blocked_since == 0:
                pipe.blocked_since = cycle + 1
            return
        if pipe.blocked_since > 0:
            stood = cycle + 1 - pipe.blocked_since
            if number == DATA:
                ldst.l1.reservation_failures += stood
            elif number == CONSTANT:
                ldst.l1c.reservation_failures += stood
            elif number == TEXTURE:
                ldst.l1t.reservation_failures += stood
            pipe.blocked_since = 0
        together = machine.l1.sectored and (number == TEXTURE or (number == DATA and kind == READ))
        pipe.next_at = cycle if together else cycle + 1
        if kind == ATOMIC and access.transactions > 1:
            access.transactions -= 1
            continue
        pipe.head = (pipe.head + 1) % PIPE_ENTRIES
        pipe.count -= 1
        if outcome == 1:  # finished at the tags
            if kind == WRITE:
                _acknowledged(ldst, warp)
            else:
                _arrived(ldst, slot)


@whole
def ldst_step(machine: MachineRecord, memory: Memory, sm: Port, cycle: int) -> None:
    """Everything that is due in the unit up to this cycle."""
    ldst = sm.ldst
    if cycle < ldst.event:
        return
    retry = False
    while next_reply(ldst) <= cycle:
        _take_reply(ldst, pop_reply(ldst), machine.l1.sectored)
        retry = True
    for number in range(PIPES):
        _run_pipe(machine, ldst, number, cycle, retry)
    while ldst.shared_count > 0 and ldst.shared_at[ldst.shared_head] <= cycle:
        _done(ldst, DONE_LOAD, ldst.shared_slot[ldst.shared_head])
        ldst.shared_head = (ldst.shared_head + 1) % SHARED_ENTRIES
        ldst.shared_count -= 1
    event = next_reply(ldst)
    for number in range(PIPES):
        event = min(event, _pipe_event(machine, ldst, number))
    if ldst.shared_count > 0:
        event = min(event, ldst.shared_at[ldst.shared_head])
    ldst.event = event


@whole
def ldst_next_event(machine: MachineRecord, sm: Port, cycle: int) -> int:
    """The next cycle in which the unit does something, hands something back or takes an instruction again."""
    ldst = sm.ldst
    if ldst.done_count > 0:
        return cycle + 1
    event = ldst.event
    if ldst.free_at > cycle:
        event = min(event, ldst.free_at)
    return max(event, cycle + 1)


@whole
def ldst_pop_done(sm: Port, cycle: int) -> int:
    """The next finished entry, or -1; `done_kind` and `done_value` say what it is."""
    ldst = sm.ldst
    if ldst.done_count == 0:
        return -1
    entry = ldst.done[ldst.done_head]
    ldst.done_head = (ldst.done_head + 1) % DONE_ENTRIES
    ldst.done_count -= 1
    return entry


@whole
def done_kind(entry: int) -> int:
    """DONE_LOAD: a load or atomic has all its data. DONE_STORES: all stores of a warp have been acknowledged."""
    return entry >> _KIND_SHIFT


@whole
def done_value(entry: int) -> int:
    """The slot (DONE_LOAD) or the warp (DONE_STORES)."""
    return entry & ((1 << _KIND_SHIFT) - 1)


@whole
def ldst_idle(sm: Port) -> bool:
    """Whether the unit has nothing under way."""
    ldst = sm.ldst
    waiting = ldst.shared_count + ldst.done_count + ldst.outbox_count + ldst.reply_count + ldst.stores_outstanding
    for number in range(PIPES):
        waiting += ldst.pipe[number].count
    return waiting == 0 and ldst.l1.mshrs_used + ldst.l1c.mshrs_used + ldst.l1t.mshrs_used + ldst.l1i.mshrs_used == 0
