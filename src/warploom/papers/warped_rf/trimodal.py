"""Three states for each register: on, drowsy, off (TRIC)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np

from warploom.base.records import Array, Record, i2, i8, u1
from warploom.chip.machines import Machine
from warploom.chip.machines.limits import MAX_WARP_REGISTERS
from warploom.chip.sm import policy
from warploom.chip.sm.bits import has
from warploom.chip.sm.context import Context
from warploom.chip.sm.counter import CounterMeaning
from warploom.chip.sm.hooks import holds
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import DROWSY, OFF, ON, inlined, move_entries
from warploom.designs.energy import RunFacts, Technology
from warploom.papers.warped_rf.ratios import savings_by_ratio

STATE_BITS = 2
IN_COLLECTOR = 0  # where an instruction waits for its registers


class State(Record):
    """What is known of each entry."""

    users: Annotated[Array[i2], MAX_WARP_REGISTERS]  # reasons for an entry to be on
    width: Annotated[Array[u1], MAX_WARP_REGISTERS]  # bank entries that hold its data
    early: Annotated[Array[u1], MAX_WARP_REGISTERS]  # one of the reasons is a read that is foreseen
    awake_at: Annotated[Array[i8], MAX_WARP_REGISTERS]
    wakeups: i8


@inlined
def _switch_on(policy: Trimodal, sm: Sm, cycle: int, entry: int) -> None:
    """One more reason for an entry to be on; the first wakes it, at full supply from now."""
    state: State = sm.power
    if state.users[entry] == 0:
        state.awake_at[entry] = cycle + policy.wakeup
        state.wakeups += 1
        move_entries(sm, cycle, DROWSY, ON, int(state.width[entry]))
    state.users[entry] += 1


@inlined
def _let_go(sm: Sm, cycle: int, entry: int) -> None:
    """One reason less; without any the entry is drowsy again."""
    state: State = sm.power
    state.users[entry] -= 1
    if state.users[entry] == 0:
        move_entries(sm, cycle, ON, DROWSY, int(state.width[entry]))


@inlined
def _resize(sm: Sm, cycle: int, entry: int, banks: int) -> None:
    """The data of an entry that is on take so many banks; bank entries without data are off."""
    state: State = sm.power
    grown = banks - int(state.width[entry])
    if grown != 0:
        state.width[entry] = banks
        move_entries(sm, cycle, OFF, ON, grown)


@inlined
def _foreseen(sm: Sm, entry: int) -> bool:
    """Whether an entry was woken ahead of this access, which then is the reason for it to be on."""
    state: State = sm.power
    early = state.early[entry] != 0
    state.early[entry] = 0
    return early


@policy
class Trimodal(NamedTuple):
    """Entries without a register are off and the others drowsy; an access keeps its entry on until it is done.

    When an instruction is assigned to a collector its registers are switched on: a source until it has been read, a
    destination until it has been written; the collector is held while they wake. With `hold=stages` the scheduler sends the
    signal at issue, and the instruction takes a collector only when its sources can be read in the next cycle. States are kept
    for each bank entry: one for a register where banks are as wide as a register, more where it spans narrow banks, and of a
    compressed register only those that hold data are not off. Registers in an upper level have no state of their own.
    """

    CHOICE = "power"
    NAME = "trimodal"
    SOURCE = "Abdel-Majeed and Annavaram, Warped Register File, HPCA 2013, section 4"
    MEANING = {
        "wakeup": "cycles from drowsy to on; the first is hidden between scheduling and read",
        "hold": "where an instruction waits for its registers: in its collector (section 4), or in stages in front of it",
        "lookahead": "cycles ahead of a warp's turn that its sources are woken, where the scheduler knows the turn (section 4.2)",
    }
    GIVEN = ("wakeup",)
    LIMITS = {"wakeup": (0, 100), "lookahead": (0, 100), "hold": ("collector", "stages")}
    STATE = State

    wakeup: int = 3
    lookahead: int = 0
    hold: str = "collector"

    COUNTERS = {
        "wakeups": CounterMeaning("entries", "Drowsy entries that were woken up."),
        "wakeup_stall_cycles": CounterMeaning("cycles", "`wakeup_wait_cycles` under the paper's name."),
    }

    def reset(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        sm.state_entries[ON] = 0
        sm.state_entries[OFF] = ctx.info.entries * ctx.machine.banks_per_register

    def on_allocate(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        state: State = sm.power
        span = ctx.machine.banks_per_register
        if state.width[entry] == 0:
            state.width[entry] = span
            move_entries(sm, cycle, OFF, DROWSY, span)

    def on_free(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        state: State = sm.power
        before = ON if state.users[entry] > 0 else DROWSY
        move_entries(sm, cycle, before, OFF, int(state.width[entry]))
        state.users[entry] = 0
        state.early[entry] = 0
        state.width[entry] = 0

    def issue_stages(policy) -> int:
        if policy.hold == IN_COLLECTOR:
            return 0
        return max(0, policy.wakeup - 1)  # the first cycle of waking is the one between scheduling and read

    def wakes_in_collectors(policy) -> bool:
        return policy.hold == IN_COLLECTOR

    def looks_ahead(policy) -> int:
        # A warp whose turn comes in the next cycle is given a collector in the one after: it is known two cycles ahead.
        return max(policy.lookahead - 1, min(policy.lookahead, 1))

    def foresee(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int) -> None:
        state: State = sm.power
        row = ctx.code[pc]
        for operand in range(row.n_reads):
            if has(sm.warp[warp].pending[row.reads[operand] >> 6], row.reads[operand] & 63):
                return  # it waits for a result, so it is not in the ready queue
        for operand in range(row.n_reads):
            register = int(row.reads[operand])
            entry = int(sm.map[warp, register])
            if entry < 0 or state.early[entry] != 0 or sm.entry[entry].evictions > 0:
                continue
            if not holds(ctx.design.hierarchy, ctx, sm, warp, register):
                _switch_on(policy, sm, cycle + (1 if policy.lookahead == 1 else 0), entry)
                state.early[entry] = 1

    def prepare_read(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> int:
        state: State = sm.power
        if not _foreseen(sm, entry):
            _switch_on(policy, sm, cycle, entry)
        return max(cycle, state.awake_at[entry])

    def on_read(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        _let_go(sm, cycle, entry)

    def prepare_write(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        if not _foreseen(sm, entry):
            _switch_on(policy, sm, cycle, entry)

    def write_awake(policy, ctx: Context, sm: Sm, cycle: int, entry: int, banks: int) -> int:
        state: State = sm.power
        if banks > state.width[entry]:
            _resize(sm, cycle, entry, banks)
            state.awake_at[entry] = max(state.awake_at[entry], cycle + policy.wakeup)
        return max(cycle, state.awake_at[entry])

    def on_write(policy, ctx: Context, sm: Sm, cycle: int, entry: int, banks: int) -> None:
        _resize(sm, cycle, entry, banks)
        _let_go(sm, cycle, entry)

    def on_unwritten(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        _let_go(sm, cycle, entry)

    def awake(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> bool:
        state: State = sm.power
        return state.users[entry] > 0 and state.awake_at[entry] <= cycle

    def counters(policy, states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
        return {"wakeups": int(states["wakeups"].sum())}

    def summary(policy, counters: dict[str, Any]) -> dict[str, Any]:
        return {"wakeup_stall_cycles": counters["wakeup_wait_cycles"]}

    def energy(policy, counters: dict[str, Any], technology: Technology, run: RunFacts) -> Iterator[tuple[str, str, float]]:
        # The paper does not say what its control unit costs: its states are scaled from the register file's cells.
        access, leakage = technology.small_array(policy.storage_bits(run.machine), STATE_BITS, run.cycle_time)
        yield "tri-modal states", "overhead", 2 * counters["wakeups"] * access
        yield "tri-modal states leakage", "overhead", leakage * run.sms * run.seconds

    def versus(policy, result: Any, reference: Any) -> dict[str, float]:
        return savings_by_ratio(vars(result), vars(reference))

    def storage_bits(policy, machine: Machine) -> int:
        return STATE_BITS * machine.register_file.banks * machine.register_file.entries_per_bank
