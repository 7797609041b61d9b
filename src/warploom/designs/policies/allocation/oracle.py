"""The best that allocation can do: a register exists from the instruction that writes it to the last one that reads the value."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from warploom.base.errors import WarploomError
from warploom.base.records import Array, Mask, Record, dtype_of, flag, i8, u1
from warploom.chip.machines import Machine
from warploom.chip.machines.limits import MAX_CTAS
from warploom.chip.sm import policy
from warploom.chip.sm.bits import NOTHING, bit, has
from warploom.chip.sm.columns import DEAD_WRITE, last_at, pc_at
from warploom.chip.sm.context import CodeRow, Context
from warploom.chip.sm.counter import CounterMeaning
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.chip.sm.layout import REGISTER_WORDS, Sm
from warploom.chip.sm.services import allocate, find_free_anywhere, group_of, inlined, release, separate, wake
from warploom.compiler.code.instruction import Code
from warploom.compiler.code.lanes import LANES
from warploom.compiler.code.slots import REGISTER_MASK
from warploom.compiler.code.warp import warp_liveness


class State(Record):
    """Who has how much, and who waits for more; only kept where the resident CTAs could need more than there is."""

    scarce: flag
    held: Annotated[Array[Mask], REGISTER_WORDS]  # scratch: a warp's registers while its trace is looked through
    need_of: Annotated[Array[i8], MAX_CTAS]  # of a slot's CTA: registers that its warps have at once, each at most
    mapped: i8  # of all CTAs
    mapped_of: Annotated[Array[i8], MAX_CTAS]
    launches: i8
    launched_as: Annotated[Array[i8], MAX_CTAS]  # of a slot's CTA: the how-manieth
    resident: Mask  # slots that have a CTA
    waiting: Mask  # warps
    waits: i8
    releases: i8


class Notes(Record):
    """What is noted of the first instruction."""

    held: u1  # registers that a warp has at once, at most, whatever path it takes


@separate
def _set_aside(policy: Oracle, sm: Sm, cta: int) -> int:
    """What older CTAs may still need: as many of them as are guarded, the oldest first."""
    state: State = sm.allocation
    older = guarded = 0
    after = -1
    while guarded < policy.guarded:
        following = -1
        for slot in range(MAX_CTAS):
            age = state.launched_as[slot]
            if has(state.resident, slot) and age > after and (following < 0 or age < state.launched_as[following]):
                following = slot
        if following < 0 or following == cta:
            break
        after = state.launched_as[following]
        older += state.need_of[following] - state.mapped_of[following]
        guarded += 1
    return older


@inlined
def _last_read(row: CodeRow, last: int, operand: int) -> bool:
    """Whether an instruction reads a value for the last time and leaves the register to nobody, not even to itself."""
    rewritten = False
    for number in range(row.n_writes):
        rewritten |= row.writes[number] == row.reads[operand]
    return last >> operand & 1 != 0 and not rewritten


@separate
def _most_held(ctx: Context, sm: Sm, warp: int) -> int:
    """The most registers that a warp will have at once: what is to come is in the trace."""
    state: State = sm.allocation
    for word in range(ctx.info.words):
        state.held[word] = NOTHING
    now = most = 0
    for index in range(sm.warp[warp].next, sm.warp[warp].end):
        row = ctx.code[pc_at(ctx, index)]
        last = last_at(ctx, index)
        for number in range(row.n_writes):
            register = row.writes[number]
            now += not has(state.held[register >> 6], register & 63)
            state.held[register >> 6] |= bit(register & 63)
        most = max(most, now)
        for operand in range(row.n_reads):
            register = row.reads[operand]
            if _last_read(row, last, operand) and has(state.held[register >> 6], register & 63):
                state.held[register >> 6] &= ~bit(register & 63)
                now -= 1
        for number in range(row.n_writes):
            register = row.writes[number]
            if last >> (DEAD_WRITE + number) & 1 != 0 and has(state.held[register >> 6], register & 63):
                state.held[register >> 6] &= ~bit(register & 63)
                now -= 1
    return most


@inlined
def _give_back(ctx: Context, sm: Sm, cycle: int, warp: int, register: int) -> None:
    state: State = sm.allocation
    state.releases += 1
    if state.scarce and sm.map[warp, register] >= 0:
        state.mapped -= 1
        state.mapped_of[sm.warp[warp].cta] -= 1
    release(ctx, sm, cycle, warp, register)


@inlined
def _let_ask_again(sm: Sm) -> None:
    state: State = sm.allocation
    asking = state.waiting
    if asking != NOTHING:
        state.waiting = NOTHING
        wake(sm, asking)


@policy
class Oracle(NamedTuple):
    """Perfect dynamic liveness from the trace, free of charge; occupancy is that of static allocation on the whole file.

    On a smaller file a warp waits for registers where there are none. So that the oldest CTA never waits for another one, a
    younger CTA leaves free what the oldest may still need; or what several of the oldest may need, so that fewer CTAs begin
    what they cannot end.
    """

    CHOICE = "allocation"
    NAME = "oracle"
    SOURCE = "a limit, not a mechanism"
    IDEAL = True
    LIMITS = {"shrink": (0.01, 1.0), "guarded": (1, MAX_CTAS)}
    MEANING = {
        "shrink": "physical registers as a share of the architected file, which occupancy goes by",
        "guarded": "the CTAs, oldest first, for which younger ones leave free what they may still need",
    }
    STATE = State
    NOTES = Notes

    shrink: float = 1.0
    guarded: int = 1

    COUNTERS = {
        "releases": CounterMeaning("registers", "Registers that were released after their last read."),
        "waits": CounterMeaning("instructions", "Times that an instruction was held for its result had no entry."),
    }

    def physical_share(policy) -> float:
        return policy.shrink

    def annotate(policy, code: Code, table: np.ndarray, machine: Machine) -> np.ndarray:
        notes = np.zeros(len(table), dtype_of(Notes))
        live = warp_liveness(code, by_arm=True)
        accesses = [access for block in live.accesses for access in block]
        held = [(after | one.reads | one.writes) & REGISTER_MASK for after, one in zip(live.after, accesses, strict=True)]
        notes["held"] = most = max((mask.bit_count() for mask in held), default=0)
        warps = -(-(code.threads or LANES) // LANES)
        if most * warps > machine.warp_registers:
            raise WarploomError(
                f"kernel {code.name}: {most * warps} registers of a CTA can be live at once, "
                f"and the file holds {machine.warp_registers}; give allocation=oracle a larger share of it"
            )
        return notes

    def reset(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        state: State = sm.allocation
        notes: Notes = ctx.code[0].allocation
        state.scarce = notes.held * ctx.info.warps_per_cta * ctx.info.cta_limit > ctx.info.entries

    def on_cta_launch(policy, ctx: Context, sm: Sm, cycle: int, cta: int) -> None:
        state: State = sm.allocation
        state.resident |= bit(cta)
        state.launched_as[cta] = state.launches
        state.launches += 1
        state.need_of[cta] = 0

    def on_warp_launch(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        state: State = sm.allocation
        if state.scarce:
            state.need_of[sm.warp[warp].cta] += _most_held(ctx, sm, warp)

    def on_cta_exit(policy, ctx: Context, sm: Sm, cycle: int, cta: int) -> None:
        state: State = sm.allocation
        state.resident &= ~bit(cta)
        _let_ask_again(sm)

    def may_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> bool:
        state: State = sm.allocation
        if not state.scarce:
            return True
        row = ctx.code[pc]
        needed = 0
        for number in range(row.n_writes):
            needed += sm.map[warp, row.writes[number]] < 0
        if needed == 0:
            return True
        left = ctx.info.entries - state.mapped - needed
        if left < _set_aside(policy, sm, sm.warp[warp].cta) or ctx.info.entries - sm.allocated < needed:
            state.waiting |= bit(warp)
            state.waits += 1
            return False
        return True

    def map_write(policy, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, pc: int, index: int) -> int:
        entry = sm.map[warp, register]
        if entry < 0:
            state: State = sm.allocation
            entry = find_free_anywhere(ctx, sm, group_of(ctx, warp, register))
            allocate(ctx, sm, cycle, warp, register, entry)
            if state.scarce:
                state.mapped += 1
                state.mapped_of[sm.warp[warp].cta] += 1
        return entry

    def on_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> None:
        last = last_at(ctx, index)
        if last == 0:
            return
        row = ctx.code[pc]
        for operand in range(row.n_reads):
            if _last_read(row, last, operand):
                _give_back(ctx, sm, cycle, warp, row.reads[operand])
        for number in range(row.n_writes):
            if last >> (DEAD_WRITE + number) & 1 != 0:
                _give_back(ctx, sm, cycle, warp, row.writes[number])
        _let_ask_again(sm)

    def on_free(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        _let_ask_again(sm)

    def counters(policy, states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
        return {name: int(states[name].sum()) for name in ("releases", "waits")}
