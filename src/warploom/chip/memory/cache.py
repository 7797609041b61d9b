"""Tags and miss registers of a first-level cache: least recently used, a line reserved as soon as it misses."""

from __future__ import annotations

from warploom.chip.memory.state import DIRTY, INVALID, RESERVED, VALID, CacheState
from warploom.chip.sm.bits import signed
from warploom.jit import callee


@callee
def set_of(line: int, sets: int, hashed: int) -> int:
    """The set of a line. Fermi's L1 folds address bits 13, 14, 15, 17 and 19 into the five lowest bits of the index.

    A cache of 128 sets or more folds all upper bits into them.
    """
    if hashed and sets >= 128:
        line = signed(line)
        line ^= line >> 7 ^ line >> 14 ^ line >> 21
    elif hashed:
        line ^= (line >> 6 & 7) | (line >> 10 & 1) << 3 | (line >> 12 & 1) << 4
    return line & (sets - 1)


@callee
def find(cache: CacheState, line: int, first: int, ways: int) -> int:
    """The way, counted through all sets, that holds a line in the set that starts at `first`; -1: none."""
    for way in range(first, first + ways):
        if cache.tag[way] == line and cache.state[way] != INVALID:
            return way
    return -1


@callee
def victim(cache: CacheState, first: int, ways: int) -> int:
    """The way that a new line takes: an empty one, else the least recently used; -1 where every line is on its way."""
    best = -1
    for way in range(first, first + ways):
        state = cache.state[way]
        if state == INVALID:
            return way
        if state != RESERVED and (best < 0 or cache.used[way] < cache.used[best]):
            best = way
    return best


@callee
def _miss_register(cache: CacheState, way: int) -> int:
    """Take a miss register for a way; nobody waits for it yet."""
    if cache.spare_count > 0:
        cache.spare_count -= 1
        mshr = cache.mshr_spare[cache.spare_count]
    else:
        mshr = cache.fresh
        cache.fresh += 1
    cache.mshrs_used += 1
    miss = cache.miss[mshr]
    miss.way = way
    miss.count = 0
    return mshr


@callee
def reserve(cache: CacheState, way: int, line: int, cycle: int) -> int:
    """Give a way to a line that is being fetched; the miss register that stands for it."""
    mshr = _miss_register(cache, way)
    cache.tag[way] = line
    cache.state[way] = RESERVED
    cache.mshr[way] = mshr
    cache.used[way] = cycle
    return mshr


@callee
def wait_for(cache: CacheState, mshr: int, slot: int) -> None:
    """Let an instruction wait for a line."""
    miss = cache.miss[mshr]
    if miss.count == 0:
        miss.first = slot
    else:
        cache.mshr_target[mshr, miss.count] = slot
    miss.count += 1


@callee
def waiting_for(cache: CacheState, mshr: int, index: int) -> int:
    """The instruction that has waited for a line as the first, the second, and so on."""
    if index == 0:
        return cache.miss[mshr].first
    return cache.mshr_target[mshr, index]


@callee
def fill(cache: CacheState, mshr: int) -> None:
    """The line has arrived."""
    cache.state[cache.miss[mshr].way] = VALID
    cache.mshr_spare[cache.spare_count] = mshr
    cache.spare_count += 1
    cache.mshrs_used -= 1


@callee
def sector_victim(cache: CacheState, first: int, ways: int) -> int:
    """The way that a new line takes where sectors are fetched; -1 where every line has some on their way."""
    best = -1
    for way in range(first, first + ways):
        if cache.state[way] == INVALID:
            return way
        if cache.arriving[way] == 0 and (best < 0 or cache.used[way] < cache.used[best]):
            best = way
    return best


@callee
def reserve_sectors(cache: CacheState, way: int, sectors: int) -> int:
    """Let sectors of a line be fetched; the miss register that stands for them."""
    mshr = _miss_register(cache, way)
    cache.miss[mshr].sectors = sectors
    cache.arriving[way] |= sectors
    for sector in range(4):
        if sectors >> sector & 1:
            cache.sector_mshr[way, sector] = mshr
    return mshr


@callee
def fill_sectors(cache: CacheState, mshr: int) -> None:
    """The sectors have arrived."""
    miss = cache.miss[mshr]
    way = miss.way
    cache.valid[way] |= miss.sectors
    cache.arriving[way] &= ~miss.sectors
    cache.mshr_spare[cache.spare_count] = mshr
    cache.spare_count += 1
    cache.mshrs_used -= 1


@callee
def forget(cache: CacheState) -> None:
    """Empty the cache, but for lines that are still on their way."""
    if cache.accesses == 0:
        return  # it is empty, and memory that was never touched need not be had
    for way in range(len(cache.state)):
        if cache.state[way] != RESERVED:
            cache.state[way] = INVALID


@callee
def holds(state: int) -> bool:
    """Whether a line's data is there."""
    return state in (VALID, DIRTY)
