"""The release flag cache: direct-mapped, it keeps flags that one warp has fetched for all others."""

from __future__ import annotations

from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import inlined
from warploom.papers.rfv.state import State


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
