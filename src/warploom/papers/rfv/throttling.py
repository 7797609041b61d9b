"""The balance of registers: what each CTA may still need, which CTA is let on when registers run short, and who waits for it."""

from __future__ import annotations

from typing import Any

from warploom.machines.schema import MAX_CTAS, MAX_RF_BANKS
from warploom.register_file.bits import NOTHING, bit, has, lowest, without_lowest
from warploom.register_file.layout import Sm
from warploom.register_file.services import inlined, separate, wake

THROTTLING_STATE = (
    ("room", "i8"),  # entries for renaming
    ("need", "i8"),  # renamed registers that one CTA has at once, at most, as its compiler knows
    ("scarce", "?"),  # the resident CTAs may need more than there is
    ("ctas", "u8"),  # resident
    ("mapped", "i8"),  # names mapped at the moment, of all CTAs and of each
    ("mapped_of", "i8", (MAX_CTAS,)),
    ("leader", "i8"),
    ("throttled", "u8"),  # warps held back for the sake of the leading CTA
    ("starved", "u8"),  # warps that found no free entry
    ("wanting", "u8", (MAX_RF_BANKS,)),  # of these, who waits for which bank
    ("to_wake", "u8"),
    ("held_since", "i8"),
)


# --- the balance ------------------------------------------------------------------------------------------------------------


@inlined
def _balance(sm: Sm, cta: int) -> int:
    """Registers that a CTA may still need."""
    return sm.allocation.need - sm.allocation.mapped_of[cta]


@inlined
def _spare(sm: Sm) -> int:
    """Entries that nobody's name is mapped to; those still being read or written for the last time are among them."""
    return sm.allocation.room - sm.allocation.mapped


@separate
def choose_leader(sm: Sm) -> None:
    """The CTA with the smallest balance: the one that is let on when registers run short. It stays as long as none is smaller."""
    state = sm.allocation
    leader = state.leader
    if leader < 0 or not has(state.ctas, leader):
        leader = -1
    rest = state.ctas
    while rest != NOTHING:
        cta = lowest(rest)
        rest = without_lowest(rest)
        if leader < 0 or state.mapped_of[cta] > state.mapped_of[leader]:
            leader = cta
    if leader != state.leader:
        state.leader = leader
        if leader >= 0:
            state.to_wake |= sm.cta[leader].warps


@inlined
def leads(sm: Sm, warp: int) -> bool:
    """Whether a warp belongs to the leading CTA."""
    return sm.warp[warp].cta == sm.allocation.leader


@inlined
def too_few_left(sm: Sm, needed: int) -> bool:
    """Whether the leading CTA could come short if a warp of another one took so many registers."""
    spare, balance = _spare(sm), _balance(sm, sm.allocation.leader)
    return spare - needed < balance or spare <= balance


@separate
def count_mapped(sm: Sm, cycle: int, warp: int) -> None:
    """Account for a register of a warp that has been mapped."""
    state = sm.allocation
    state.mapped += 1
    state.mapped_of[sm.warp[warp].cta] += 1
    if state.scarce:
        choose_leader(sm)
        let_on(sm, cycle)


@separate
def count_unmapped(sm: Sm, cycle: int, warp: int) -> None:
    """Account for a register of a warp that is not mapped any more."""
    state = sm.allocation
    state.mapped -= 1
    state.mapped_of[sm.warp[warp].cta] -= 1
    if state.scarce:
        choose_leader(sm)
        if state.leader >= 0 and _spare(sm) > _balance(sm, state.leader):
            state.to_wake |= state.throttled
        let_on(sm, cycle)


# --- warps that wait for registers ------------------------------------------------------------------------------------------


@inlined
def _hold(sm: Sm, cycle: int) -> None:
    """Note when the first warp is held back."""
    if (sm.allocation.throttled | sm.allocation.starved) == NOTHING:
        sm.allocation.held_since = cycle


@inlined
def throttle(sm: Sm, cycle: int, warp: int) -> None:
    """Hold a warp back for the sake of the leading CTA."""
    _hold(sm, cycle)
    sm.allocation.throttled |= bit(warp)


@inlined
def starve(sm: Sm, cycle: int, warp: int) -> None:
    """Hold a warp back because there is no free entry for it."""
    _hold(sm, cycle)
    sm.allocation.starved |= bit(warp)


@separate
def let_on(sm: Sm, cycle: int) -> None:
    """Let the warps in `to_wake` ask again."""
    state = sm.allocation
    chosen = state.to_wake & (state.throttled | state.starved)
    state.to_wake = NOTHING
    if chosen == NOTHING:
        return
    state.throttled &= ~chosen
    state.starved &= ~chosen
    for group in range(MAX_RF_BANKS):
        state.wanting[group] &= ~chosen
    if (state.throttled | state.starved) == NOTHING:
        state.throttled_cycles += cycle - state.held_since
    wake(sm, chosen)


@separate
def feed(sm: Sm, cycle: int, group: int) -> None:
    """An entry of a bank is free: let those ask again who wait for this bank, and those of the leading CTA."""
    state = sm.allocation
    state.to_wake |= state.wanting[group]
    if state.leader >= 0:
        state.to_wake |= state.starved & sm.cta[state.leader].warps
    let_on(sm, cycle)


@inlined
def hungry_warps(sm: Sm) -> Any:
    """The warps that found no free entry; those of the leading CTA alone, if it has any."""
    state = sm.allocation
    hungry = state.starved
    if state.leader >= 0 and (hungry & sm.cta[state.leader].warps) != NOTHING:
        hungry &= sm.cta[state.leader].warps
    return hungry


@inlined
def settle_held(sm: Sm, cycle: int) -> None:
    """Integrate the cycles in which warps were held back up to now."""
    state = sm.allocation
    if (state.throttled | state.starved) != NOTHING:
        state.throttled_cycles += cycle - state.held_since
        state.held_since = cycle
