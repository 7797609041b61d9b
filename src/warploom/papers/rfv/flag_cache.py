"""The release flag cache: direct-mapped, it keeps flags that one warp has fetched for all others."""

from __future__ import annotations

from warploom.papers.rfv.state import State
from warploom.register_file.layout import Sm
from warploom.register_file.services import inlined, separate


@inlined
def forget_probes(sm: Sm, warp: int) -> None:
    """A warp begins without having asked for any flags."""
    state: State = sm.allocation
    state.probed_from[warp] = -1


@inlined
def keep_flags(sm: Sm, entries: int, pc: int) -> None:
    """Store the flags of a pir."""
    state: State = sm.allocation
    if entries > 0:
        state.tag[pc % entries] = pc + 1


@inlined
def has_flags(sm: Sm, entries: int, pc: int) -> bool:
    """Whether the flags of a pir are stored."""
    state: State = sm.allocation
    return entries > 0 and state.tag[pc % max(1, entries)] == pc + 1


@separate
def count_probe(sm: Sm, warp: int, pc: int, hit: bool) -> None:
    """Count a look into the cache as a hit or a fetch, once for each dynamic metadata instruction."""
    state: State = sm.allocation
    start = sm.warp[warp].decoded
    if start == state.probed_from[warp] and pc <= state.probed_pc[warp]:  # tried again: its line was missing
        if hit and state.missed_pc[warp] == pc:  # and another warp has fetched the flags meanwhile
            state.missed_pc[warp] = -1
            state.flag_fetches -= 1
            state.flag_cache_hits += 1
        return
    state.probed_from[warp] = start
    state.probed_pc[warp] = pc
    if hit:
        state.flag_cache_hits += 1
    else:
        state.flag_fetches += 1
        state.missed_pc[warp] = pc
