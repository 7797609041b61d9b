"""What happens to an access when it reaches the tags of a first-level cache."""

from __future__ import annotations

from warploom.chip.machines import MachineRecord
from warploom.chip.machines.memory_tables import MemoryModel
from warploom.chip.memory.bits import sectors_in
from warploom.chip.memory.cache import find, holds, reserve, reserve_sectors, sector_victim, set_of, victim, wait_for
from warploom.chip.memory.port import push_reply, send
from warploom.chip.memory.state import (
    ACKNOWLEDGE,
    ALL_CONSTANT_LINES,
    CODE_BASE,
    CONST_BASE,
    CONSTANT,
    DATA,
    DIRECT,
    DIRTY,
    FILL_CODE,
    FILL_CONSTANT,
    FILL_DATA,
    FILL_TEXTURE,
    FIRST_CONSTANT_LINES,
    FIRST_INDEXED_LINE,
    FOREVER,
    IN_PART,
    INVALID,
    OUTBOX_ENTRIES,
    PAST_L1,
    READ,
    RESERVED,
    SILENT,
    TEXTURE,
    VALID,
    WRITE,
    Access,
    CachePipe,
    CacheState,
    Ldst,
    Memory,
    Port,
)
from warploom.chip.sm.bits import signed
from warploom.jit import callee, whole

BLOCKED, UNDER_WAY, FINISHED = -1, 0, 1
_LEAVE_ENTRIES = 64
_STORES_LOOKED_AT = 16  # requests in front of a store among which it looks for one to join


@callee
def _room(pipe: CachePipe, requests: int, depth: int, cycle: int) -> bool:
    """Whether the miss queue has room for further requests; if not, when the pipe should look again."""
    before = pipe.sent + requests - 1 - depth
    if before >= 0 and pipe.leave[before % _LEAVE_ENTRIES] > cycle:
        pipe.wake = pipe.leave[before % _LEAVE_ENTRIES]
        return False
    return True


@callee
def _request(
    machine: MachineRecord,
    ldst: Ldst,
    pipe: CachePipe,
    cycle: int,
    line: int,
    sectors: int,
    shift: int,
    kind: int,
    lanes: int,
    reply: int,
    token: int,
) -> None:
    """Ask L2 for a line of 32 << shift bytes, or write its named sectors; L2's lines are 128 bytes."""
    wide = line >> (2 - shift)
    offset = (line & ((1 << (2 - shift)) - 1)) << shift
    pipe.leave[pipe.sent % _LEAVE_ENTRIES] = send(machine, ldst, cycle, wide, sectors << offset, kind, lanes, reply, token)
    pipe.sent += 1


@callee
def _load(
    machine: MachineRecord,
    ldst: Ldst,
    cache: CacheState,
    pipe: CachePipe,
    access: Access,
    cycle: int,
    sets: int,
    ways: int,
    hashed: int,
    line_bytes: int,
    mshrs: int,
    merged: int,
    depth: int,
    reply: int,
) -> int:
    line = access.line
    first = set_of(line, sets, hashed) * ways
    way = find(cache, line, first, ways)
    pipe.wake = FOREVER
    if way >= 0:
        state = cache.state[way]
        if state != RESERVED:
            cache.used[way] = cycle
            cache.accesses += 1
            cache.hits += 1
            return FINISHED
        mshr = cache.mshr[way]
        if cache.miss[mshr].count >= merged:
            return BLOCKED
        wait_for(cache, mshr, access.slot)
        cache.used[way] = cycle
        cache.accesses += 1
        cache.pending_hits += 1
        return UNDER_WAY
    if cache.mshrs_used >= mshrs:
        return BLOCKED
    way = victim(cache, first, ways)
    if way < 0:
        return BLOCKED
    dirty = cache.state[way] == DIRTY
    if not _room(pipe, 2 if dirty else 1, depth, cycle):
        return BLOCKED
    shift = 2 if line_bytes == 128 else (1 if line_bytes == 64 else 0)
    whole = (1 << (1 << shift)) - 1
    if dirty:
        ldst.l1_write_backs += 1
        _request(machine, ldst, pipe, cycle, cache.tag[way], whole, shift, WRITE, 0, SILENT, 0)
    mshr = reserve(cache, way, line, cycle)
    wait_for(cache, mshr, access.slot)
    cache.accesses += 1
    cache.misses += 1
    _request(machine, ldst, pipe, cycle, line, whole, shift, READ, 0, reply, mshr)
    return UNDER_WAY


@callee
def _named_before(cache: CacheState, way: int, sectors: int, sector: int) -> bool:
    """Whether one of the sectors in front of this one comes with the same miss register."""
    for earlier in range(sector):
        if sectors >> earlier & 1 and cache.sector_mshr[way, earlier] == cache.sector_mshr[way, sector]:
            return True
    return False


@callee
def _load_sectors(machine: MachineRecord, ldst: Ldst, pipe: CachePipe, access: Access, cycle: int, counted: bool) -> int:
    """A load from a data cache that fetches sectors: it waits for those on their way and asks for the rest."""
    cache = ldst.l1
    line, wanted = access.line, signed(access.sectors)
    first = set_of(line, machine.l1.sets, machine.l1.hashed) * machine.l1.ways
    way = find(cache, line, first, machine.l1.ways)
    pipe.wake = FOREVER
    there, coming = signed(0), signed(0)
    if way >= 0:
        there, coming = signed(cache.valid[way]), signed(cache.arriving[way])
    missing, waiting = wanted & ~there & ~coming, wanted & coming
    for sector in range(4):
        if waiting >> sector & 1 and cache.miss[cache.sector_mshr[way, sector]].count >= machine.l1.merged:
            return BLOCKED
    if missing != 0:
        if cache.mshrs_used >= machine.l1.mshrs:
            return BLOCKED
        dirty = False
        if way < 0:
            way = sector_victim(cache, first, machine.l1.ways)
            if way < 0:
                return BLOCKED
            dirty = cache.state[way] == DIRTY
            if not _room(pipe, 2 if dirty else 1, machine.l1.miss_queue, cycle):
                return BLOCKED
            if dirty:
                ldst.l1_write_backs += 1
                _request(machine, ldst, pipe, cycle, cache.tag[way], cache.valid[way], 2, WRITE, 0, SILENT, 0)
            cache.tag[way] = line
            cache.state[way] = VALID
            cache.valid[way] = 0
        elif not _room(pipe, 1, machine.l1.miss_queue, cycle):
            return BLOCKED
    cache.accesses += 1
    cache.used[way] = cycle
    if counted:
        cache.sectors += sectors_in(wanted)
        cache.sector_hits += sectors_in(wanted & there)
    if missing == 0 and waiting == 0:
        cache.hits += 1
        return FINISHED
    parts = 0
    for sector in range(4):
        if waiting >> sector & 1 and not _named_before(cache, way, waiting, sector):
            wait_for(cache, cache.sector_mshr[way, sector], access.slot)
            parts += 1
    if missing != 0:
        mshr = reserve_sectors(cache, way, missing)
        wait_for(cache, mshr, access.slot)
        parts += 1
        cache.misses += 1
        _request(machine, ldst, pipe, cycle, line, missing, 2, READ, 0, FILL_DATA, mshr)
    else:
        cache.pending_hits += 1
    ldst.pending[access.slot] += parts - 1
    return UNDER_WAY


@callee
def _load_constant(machine: MachineRecord, ldst: Ldst, pipe: CachePipe, access: Access, cycle: int) -> int:
    """Constants that are looked up by index: a warp's addresses one after the other, those of other warps in between.

    A line that is not there is fetched from the cache for code.
    """
    cache = ldst.l1c
    first = set_of(access.line, machine.l1c.sets, machine.l1c.hashed) * machine.l1c.ways
    way = find(cache, access.line, first, machine.l1c.ways)
    until = ldst.constant_until[access.warp]
    starts = cycle + (signed(access.lanes) - 1) * machine.l1c.again_cycles
    if access.parts != 0:
        starts = until + signed(access.lanes) * machine.l1c.again_cycles
    if way < 0:
        pipe.wake = FOREVER
        if _through_code_cache(machine, ldst, cycle, signed(access.line) << 1, FOREVER, 0) >= FOREVER:
            return BLOCKED
        cache.misses += 1
        way = victim(cache, first, machine.l1c.ways)
        cache.tag[way] = access.line
        cache.state[way] = VALID
        fetches = max(cycle, ldst.constant_fetched)
        ldst.constant_fetched = fetches + machine.l1c.behind_cycles
        starts = max(starts, fetches) + machine.l1c.behind_latency
    else:
        cache.hits += 1
    cache.used[way] = cycle
    cache.accesses += 1
    ldst.constant_until[access.warp] = starts
    if starts <= cycle:
        return FINISHED
    ldst.direct_outstanding += 1
    push_reply(ldst, starts, access.warp, DIRECT, access.slot)
    return UNDER_WAY


@callee
def _joins_a_store(ldst: Ldst, line: int, sectors: int, cycle: int) -> bool:
    """Whether a store writes sectors that an earlier one, which has not left the SM, writes too: they leave together."""
    for back in range(1, min(ldst.outbox_count, _STORES_LOOKED_AT) + 1):
        earlier = ldst.outbox[(ldst.outbox_head + ldst.outbox_count - back) % OUTBOX_ENTRIES]
        if earlier.cycle <= cycle:
            return False
        if earlier.line == line and earlier.kind == WRITE and sectors & ~signed(earlier.sectors) == 0:
            return True
    return False


@callee
def _store(machine: MachineRecord, ldst: Ldst, pipe: CachePipe, access: Access, cycle: int) -> int:
    """Global: through to L2, the line leaves L1. Local: into L1 where the line is there, else to L2.

    A cache that fetches sectors sends all stores through and keeps what they write where a line is there; local ones make room.
    """
    cache = ldst.l1
    line = access.line
    first = set_of(line, machine.l1.sets, machine.l1.hashed) * machine.l1.ways
    way = find(cache, line, first, machine.l1.ways)
    there = way >= 0 and holds(cache.state[way])
    if there and access.local and not machine.l1.sectored:
        cache.state[way] = DIRTY
        cache.used[way] = cycle
        cache.accesses += 1
        cache.hits += 1
        return FINISHED
    if machine.l1.sectored and _joins_a_store(ldst, line, signed(access.sectors), cycle):
        cache.accesses += 1
        return FINISHED
    pipe.wake = FOREVER
    if ldst.store_credits_used >= machine.l1.store_credits or not _room(pipe, 1, machine.l1.miss_queue, cycle):
        return BLOCKED
    cache.accesses += 1
    if there and not machine.l1.sectored:
        cache.state[way] = INVALID
        cache.hits += 1
        ldst.store_evictions += 1
    elif there:  # written in place, too
        cache.hits += 1
        if access.local:
            cache.valid[way] |= access.sectors & ~cache.arriving[way]
    else:
        cache.misses += 1
        if access.local and machine.l1.sectored:
            way = sector_victim(cache, first, machine.l1.ways)
            if way >= 0:
                cache.tag[way], cache.state[way], cache.used[way] = line, VALID, cycle
                cache.valid[way] = access.sectors
    ldst.store_credits_used += 1
    shift = 2 if machine.l1.line_bytes == 128 else (1 if machine.l1.line_bytes == 64 else 0)
    in_part = IN_PART if access.parts != 0 else 0
    _request(machine, ldst, pipe, cycle, line, access.sectors, shift, WRITE, in_part, ACKNOWLEDGE, access.warp)
    return UNDER_WAY


@callee
def serve(machine: MachineRecord, ldst: Ldst, number: int, access: Access, cycle: int) -> int:
    """One access at the tags: BLOCKED, UNDER_WAY to L2, or FINISHED."""
    pipe = ldst.pipe[number]
    if number == DATA:
        if access.kind == WRITE:
            return _store(machine, ldst, pipe, access, cycle)
        if machine.l1.sectored:
            return _load_sectors(machine, ldst, pipe, access, cycle, access.local == 0)
        return _load(
            machine,
            ldst,
            ldst.l1,
            pipe,
            access,
            cycle,
            machine.l1.sets,
            machine.l1.ways,
            machine.l1.hashed,
            machine.l1.line_bytes,
            machine.l1.mshrs,
            machine.l1.merged,
            machine.l1.miss_queue,
            FILL_DATA,
        )
    if number == PAST_L1:
        pipe.wake = FOREVER
        if ldst.direct_outstanding >= machine.l1.atomic_credits or not _room(pipe, 1, machine.l1.miss_queue, cycle):
            return BLOCKED
        ldst.direct_outstanding += 1
        _request(machine, ldst, pipe, cycle, access.line, access.sectors, 2, access.kind, access.lanes, DIRECT, access.slot)
        return UNDER_WAY
    if number == TEXTURE and machine.l1.sectored:
        return _load_sectors(machine, ldst, pipe, access, cycle, False)
    if number == CONSTANT and machine.l1c.behind_cycles > 0:
        return _load_constant(machine, ldst, pipe, access, cycle)
    if number == CONSTANT:
        return _load(
            machine,
            ldst,
            ldst.l1c,
            pipe,
            access,
            cycle,
            machine.l1c.sets,
            machine.l1c.ways,
            machine.l1c.hashed,
            machine.l1c.line_bytes,
            machine.l1c.mshrs,
            machine.l1c.merged,
            machine.l1c.miss_queue,
            FILL_CONSTANT,
        )
    return _load(
        machine,
        ldst,
        ldst.l1t,
        pipe,
        access,
        cycle,
        machine.l1t.sets,
        machine.l1t.ways,
        machine.l1t.hashed,
        machine.l1t.line_bytes,
        machine.l1t.mshrs,
        machine.l1t.merged,
        machine.l1t.miss_queue,
        FILL_TEXTURE,
    )


@whole
def constant_access(machine: MachineRecord, sm: Port, cycle: int, line: int) -> int:
    """When a line of 64 bytes of constants (see `constant_line`) is there for operands, or FOREVER, as `fetch_access` says.

    A launch brings bank 0 along, with its parameters. Other banks come through the cache that code comes through.
    """
    latency = machine.l1c.latency + machine.l1c.first_cycles
    if machine.memory.model == MemoryModel.FIXED or line < FIRST_CONSTANT_LINES:
        return cycle + latency
    place = (line - FIRST_INDEXED_LINE) % ALL_CONSTANT_LINES
    return _through_code_cache(machine, sm.ldst, cycle, CONST_BASE + 2 * place, FOREVER, latency)


@whole
def fetch_access(machine: MachineRecord, memory: Memory, sm: Port, cycle: int, pc: int) -> int:
    """When the instruction at `pc` is there: at once from the instruction cache, or FOREVER.

    After FOREVER its line is on its way (or no miss register is free); ask again when `sm.ldst.fetch_fills` has changed.
    """
    ldst = sm.ldst
    if machine.memory.model == MemoryModel.FIXED:
        return cycle + machine.l1i.latency
    sector = CODE_BASE + ldst.code_base + (pc * machine.l1i.instruction_bytes >> 5)
    return _through_code_cache(machine, ldst, cycle, sector, CODE_BASE + ldst.code_end, machine.l1i.latency)


@callee
def _through_code_cache(machine: MachineRecord, ldst: Ldst, cycle: int, sector: int, end: int, latency: int) -> int:
    """When a sector of code or constants is there, or FOREVER; a miss asks L2 for its line and some behind it.

    What is behind ``end`` is not asked for: FOREVER where nothing says where constants end.
    """
    cache = ldst.l1i
    shift = 2 if machine.l1i.line_bytes == 128 else (1 if machine.l1i.line_bytes == 64 else 0)
    line = sector >> shift
    first = set_of(line, machine.l1i.sets, machine.l1i.hashed) * machine.l1i.ways
    way = find(cache, line, first, machine.l1i.ways)
    cache.accesses += 1
    if way >= 0:
        if cache.state[way] == RESERVED:
            cache.pending_hits += 1
            return FOREVER
        cache.used[way] = cycle
        cache.hits += 1
        return cycle + latency
    way = victim(cache, first, machine.l1i.ways)
    if way < 0 or cache.mshrs_used >= machine.l1i.mshrs:
        cache.reservation_failures += 1
        return FOREVER
    cache.misses += 1
    _fetch_code(machine, ldst, cycle, way, line, shift)
    for ahead in range(line + 1, min(line + 1 + machine.l1i.prefetched, ((end - 1) >> shift) + 1)):
        first = set_of(ahead, machine.l1i.sets, machine.l1i.hashed) * machine.l1i.ways
        if find(cache, ahead, first, machine.l1i.ways) < 0 and cache.mshrs_used < machine.l1i.mshrs:
            way = victim(cache, first, machine.l1i.ways)
            if way >= 0:
                _fetch_code(machine, ldst, cycle, way, ahead, shift)
    return FOREVER


@callee
def _fetch_code(machine: MachineRecord, ldst: Ldst, cycle: int, way: int, line: int, shift: int) -> None:
    """Ask L2 for a line of code or constants."""
    mshr = reserve(ldst.l1i, way, line, cycle)
    whole = (1 << (1 << shift)) - 1
    offset = (line & ((1 << (2 - shift)) - 1)) << shift
    send(machine, ldst, cycle, line >> (2 - shift), whole << offset, READ, 0, FILL_CODE, mshr)
