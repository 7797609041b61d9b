"""Three states for each register: on, drowsy, off (TRIC)."""

from __future__ import annotations

from typing import Any, NamedTuple

from warploom.machines.schema import MAX_WARP_REGISTERS
from warploom.policies import policy
from warploom.policies.hooks import holds, map_read
from warploom.policies.services import DROWSY, OFF, ON, inlined, move_entries

STATE_BITS = 2


@inlined
def _switch_on(policy: Any, sm: Any, cycle: int, entry: int) -> None:
    """One more reason for an entry to be on; the first wakes it, at full supply from now."""
    state = sm.power
    if state.users[entry] == 0:
        state.awake_at[entry] = cycle + policy.wakeup
        state.wakeups += 1
        move_entries(sm, cycle, DROWSY, ON, int(state.width[entry]))
    state.users[entry] += 1


@inlined
def _let_go(sm: Any, cycle: int, entry: int) -> None:
    """One reason less; without any the entry is drowsy again."""
    state = sm.power
    state.users[entry] -= 1
    if state.users[entry] == 0:
        move_entries(sm, cycle, ON, DROWSY, int(state.width[entry]))


@inlined
def _forget_early(sm: Any, entry: int) -> bool:
    """Whether an entry had been woken ahead of its read; its wake-up then counts for this one."""
    was_early = sm.power.early[entry] != 0
    sm.power.early[entry] = 0
    return was_early


@policy
class Trimodal(NamedTuple):
    """Entries without a register are off and the others drowsy; an access keeps its entry on until it is done.

    A source is on from the assignment of a collector until it has been read, a destination until it has been written. States are
    counted per bank entry: one for a register where banks are as wide as a register, more where it spans narrow banks, and
    of a compressed register only those that hold data are not off. Registers in an upper level have no state of their own.
    """

    CHOICE = "power"
    NAME = "trimodal"
    SOURCE = "Abdel-Majeed and Annavaram, Warped Register File, HPCA 2013, section 4"
    MEANING = {
        "wakeup": "cycles from drowsy to on; the first is hidden between scheduling and read",
        "lookahead": "further cycles that are hidden where the scheduler knows its next warp (section 4.2)",
    }
    LIMITS = {"wakeup": (0, 100), "lookahead": (0, 100)}
    STATE = (
        ("users", "i2", (MAX_WARP_REGISTERS,)),  # accesses for which an entry is on
        ("width", "u1", (MAX_WARP_REGISTERS,)),  # bank entries that hold its data
        ("early", "u1", (MAX_WARP_REGISTERS,)),  # woken ahead, its read is not under way yet
        ("awake_at", "i8", (MAX_WARP_REGISTERS,)),
        ("wakeups", "i8"),
    )

    wakeup: int = 3
    lookahead: int = 0

    def reset(policy, ctx: Any, sm: Any, cycle: int) -> None:
        span = ctx.machine.rf_banks_per_register
        sm.state_entries[ON] = 0
        sm.state_entries[OFF] = ctx.info.entries * span

    def on_allocate(policy, ctx: Any, sm: Any, cycle: int, entry: int) -> None:
        state = sm.power
        span = ctx.machine.rf_banks_per_register
        if state.width[entry] == 0:
            state.width[entry] = span
            move_entries(sm, cycle, OFF, DROWSY, span)

    def on_free(policy, ctx: Any, sm: Any, cycle: int, entry: int) -> None:
        state = sm.power
        before = ON if state.users[entry] > 0 else DROWSY
        move_entries(sm, cycle, before, OFF, int(state.width[entry]))
        state.users[entry] = 0
        state.early[entry] = 0
        state.width[entry] = 0

    def foresee(policy, ctx: Any, sm: Any, cycle: int, warp: int, pc: int) -> None:
        if policy.lookahead == 0:
            return
        row = ctx.code[pc]
        for operand in range(row.n_reads):
            register = int(row.reads[operand])
            entry = map_read(ctx.design.allocation, ctx, sm, warp, register)
            if entry >= 0 and sm.power.users[entry] == 0 and not holds(ctx.design.hierarchy, ctx, sm, warp, register):
                _switch_on(policy, sm, cycle, entry)
                sm.power.early[entry] = 1

    def prepare_read(policy, ctx: Any, sm: Any, cycle: int, entry: int) -> int:
        state = sm.power
        if _forget_early(sm, entry):
            # No more than `lookahead` cycles of the wake-up count as done ahead.
            state.awake_at[entry] = max(state.awake_at[entry], cycle + policy.wakeup - policy.lookahead)
        else:
            _switch_on(policy, sm, cycle, entry)
        return max(cycle, state.awake_at[entry])

    def on_read(policy, ctx: Any, sm: Any, cycle: int, entry: int) -> None:
        _let_go(sm, cycle, entry)

    def prepare_write(policy, ctx: Any, sm: Any, cycle: int, entry: int) -> None:
        if not _forget_early(sm, entry):
            _switch_on(policy, sm, cycle, entry)

    def write_awake(policy, ctx: Any, sm: Any, cycle: int, entry: int, banks: int) -> int:
        state = sm.power
        if sm.entry[entry].evictions > 0:  # comes from an upper level: no collector has woken the entry for it
            _switch_on(policy, sm, cycle, entry)
        grown = banks - int(state.width[entry])
        if grown > 0:
            state.width[entry] = banks
            state.awake_at[entry] = max(state.awake_at[entry], cycle + policy.wakeup)
            move_entries(sm, cycle, OFF, ON, grown)
        return max(cycle, state.awake_at[entry])

    def on_write(policy, ctx: Any, sm: Any, cycle: int, entry: int, banks: int) -> None:
        state = sm.power
        shrunk = int(state.width[entry]) - banks
        if shrunk > 0:
            state.width[entry] = banks
            move_entries(sm, cycle, ON, OFF, shrunk)
        _let_go(sm, cycle, entry)

    def on_unwritten(policy, ctx: Any, sm: Any, cycle: int, entry: int) -> None:
        _let_go(sm, cycle, entry)

    def awake(policy, ctx: Any, sm: Any, cycle: int, entry: int) -> bool:
        return sm.power.users[entry] > 0 and sm.power.awake_at[entry] <= cycle

    def counters(policy, states: Any, run: Any) -> dict[str, Any]:
        return {"wakeups": int(states["wakeups"].sum())}

    def summary(policy, counters: dict[str, Any]) -> dict[str, Any]:
        return {"wakeup_stall_cycles": counters["wakeup_wait_cycles"]}

    def storage_bits(policy, machine: Any) -> int:
        return STATE_BITS * machine.warp_registers
