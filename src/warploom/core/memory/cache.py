"""Tags and miss registers of a first-level cache: least recently used, a line reserved as soon as it misses."""

from __future__ import annotations

from warploom.core.memory.state import DIRTY, INVALID, RESERVED, VALID, CacheState
from warploom.jit import callee


@callee
def set_of(line: int, sets: int, hashed: int) -> int:
    """The set of a line. Fermi's L1 folds address bits 13, 14, 15, 17 and 19 into the five lowest bits of the index."""
    if hashed:
        line ^= (line >> 6 & 7) | (line >> 10 & 1) << 3 | (line >> 12 & 1) << 4
    return line & (sets - 1)


@callee
def find(cache: CacheState, line: int, first: int, ways: int) -> int:
    """The place of a line in the set that starts at `first`, or -1."""
    for place in range(first, first + ways):
        if cache.tag[place] == line and cache.state[place] != INVALID:
            return place
    return -1


@callee
def victim(cache: CacheState, first: int, ways: int) -> int:
    """The place that a new line takes: an empty one, else the least recently used; -1 where every line is on its way."""
    best = -1
    for place in range(first, first + ways):
        state = cache.state[place]
        if state == INVALID:
            return place
        if state != RESERVED and (best < 0 or cache.used[place] < cache.used[best]):
            best = place
    return best


@callee
def reserve(cache: CacheState, place: int, line: int, cycle: int) -> int:
    """Give a place to a line that is being fetched; the miss register that stands for it."""
    if cache.spare_count > 0:
        cache.spare_count -= 1
        mshr = cache.mshr_spare[cache.spare_count]
    else:
        mshr = cache.fresh
        cache.fresh += 1
    cache.mshrs_used += 1
    cache.tag[place] = line
    cache.state[place] = RESERVED
    cache.mshr[place] = mshr
    cache.used[place] = cycle
    cache.mshr_line[mshr] = place
    cache.mshr_count[mshr] = 0
    return mshr


@callee
def wait_for(cache: CacheState, mshr: int, slot: int) -> None:
    """Let an instruction wait for a line."""
    cache.mshr_target[mshr, cache.mshr_count[mshr]] = slot
    cache.mshr_count[mshr] += 1


@callee
def fill(cache: CacheState, mshr: int) -> None:
    """The line has arrived."""
    cache.state[cache.mshr_line[mshr]] = VALID
    cache.mshr_spare[cache.spare_count] = mshr
    cache.spare_count += 1
    cache.mshrs_used -= 1


@callee
def forget(cache: CacheState) -> None:
    """Empty the cache, but for lines that are still on their way."""
    for place in range(len(cache.state)):
        if cache.state[place] != RESERVED:
            cache.state[place] = INVALID


@callee
def holds(state: int) -> bool:
    """Whether a line's data is there."""
    return state in (VALID, DIRTY)
