"""The balance of registers: what each CTA may still need, which CTA is let on when registers run short, and who waits for it."""

from __future__ import annotations

from warploom.base.records import Mask
from warploom.chip.machines.limits import MAX_RF_BANKS
from warploom.chip.sm.bits import NOTHING, bit, has, lowest, without_lowest
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import inlined, separate, wake
from warploom.papers.rfv.state import State

# --- the balance ------------------------------------------------------------------------------------------------------------


@inlined
def _balance(sm: Sm, cta: int) -> int:
    """Registers that a CTA may still need."""
    state: State = sm.allocation
    return state.need - state.mapped_of[cta]


@inlined
def _spare(sm: Sm) -> int:
    """Entries that nobody's name is mapped to; those still being read or written for the last time are among them."""
    state: State = sm.allocation
    return state.room - state.mapped


@separate
def choose_leader(sm: Sm) -> None:
    """The CTA with the smallest balance: the one that is let on when registers run short. It stays as long as none is smaller."""
    state: State = sm.allocation
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
    state: State = sm.allocation
    return sm.warp[warp].cta == state.leader


@separate
def _set_aside(sm: Sm, cta: int, guarded: int) -> int:
    """What CTAs before this one may still need: the leader, then those with the smallest balances, as many as are guarded."""
    state: State = sm.allocation
    aside = _balance(sm, state.leader)
    behind = state.ctas & ~bit(state.leader)
    for _ in range(guarded - 1):
        following = -1
        rest = behind
        while rest != NOTHING:
            other = lowest(rest)
            rest = without_lowest(rest)
            if following < 0 or state.mapped_of[other] > state.mapped_of[following]:
                following = other
        if following < 0 or following == cta:
            break
        behind &= ~bit(following)
        aside += _balance(sm, following)
    return aside


@inlined
def too_few_left(sm: Sm, warp: int, guarded: int, needed: int) -> bool:
    """Whether a CTA that is guarded could come short if a warp of another one took so many registers."""
    spare, aside = _spare(sm), _set_aside(sm, sm.warp[warp].cta, guarded)
    return spare - needed < aside or spare <= aside


@separate
def count_mapped(sm: Sm, cycle: int, warp: int) -> None:
    """Account for a register of a warp that has been mapped."""
    state: State = sm.allocation
    state.mapped += 1
    state.mapped_of[sm.warp[warp].cta] += 1
    if state.scarce:
        choose_leader(sm)
        let_on(sm, cycle)


@separate
def count_unmapped(sm: Sm, cycle: int, warp: int) -> None:
    """Account for a register of a warp that is not mapped any more."""
    state: State = sm.allocation
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
    state: State = sm.allocation
    if (state.throttled | state.starved) == NOTHING:
        state.held_since = cycle


@inlined
def throttle(sm: Sm, cycle: int, warp: int) -> None:
    """Hold a warp back for the sake of the leading CTA."""
    state: State = sm.allocation
    _hold(sm, cycle)
    state.throttled |= bit(warp)


@inlined
def starve(sm: Sm, cycle: int, warp: int) -> None:
    """Hold a warp back because there is no free entry for it."""
    state: State = sm.allocation
    _hold(sm, cycle)
    state.starved |= bit(warp)


@separate
def let_on(sm: Sm, cycle: int) -> None:
    """Let the warps in `to_wake` ask again."""
    state: State = sm.allocation
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
    state: State = sm.allocation
    state.to_wake |= state.wanting[group]
    if state.leader >= 0:
        state.to_wake |= state.starved & sm.cta[state.leader].warps
    let_on(sm, cycle)


@inlined
def hungry_warps(sm: Sm) -> Mask:
    """The warps that found no free entry; those of the leading CTA alone, if it has any."""
    state: State = sm.allocation
    hungry = state.starved
    if state.leader >= 0 and (hungry & sm.cta[state.leader].warps) != NOTHING:
        hungry &= sm.cta[state.leader].warps
    return hungry


@inlined
def settle_held(sm: Sm, cycle: int) -> None:
    """Integrate the cycles in which warps were held back up to now."""
    state: State = sm.allocation
    if (state.throttled | state.starved) != NOTHING:
        state.throttled_cycles += cycle - state.held_since
        state.held_since = cycle
