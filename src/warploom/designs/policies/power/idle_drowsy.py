"""Registers that nobody has used for a while are drowsy."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from warploom.base.records import Array, Record, i2, i8, u1
from warploom.chip.machines import Machine
from warploom.chip.machines.limits import MAX_WARP_REGISTERS
from warploom.chip.sm import policy
from warploom.chip.sm.context import Context
from warploom.chip.sm.counter import CounterMeaning
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import DROWSY, OFF, ON, inlined, move_entries

DUE = 16384  # ends of idle times that are waited for at once; an entry beyond stays on until its next use


class State(Record):
    """What is known of each entry, and the ends of idle times in a ring."""

    mode: Annotated[Array[u1], MAX_WARP_REGISTERS]  # ON, DROWSY or OFF
    users: Annotated[Array[i2], MAX_WARP_REGISTERS]  # accesses under way
    used_at: Annotated[Array[i8], MAX_WARP_REGISTERS]
    awake_at: Annotated[Array[i8], MAX_WARP_REGISTERS]
    due_at: Annotated[Array[i8], DUE]
    due_entry: Annotated[Array[i2], DUE]
    due_head: i8
    due_count: i8
    wakeups: i8


@inlined
def _set(ctx: Context, sm: Sm, cycle: int, entry: int, mode: int) -> None:
    """Put an entry, all banks of it, into a power state."""
    state: State = sm.power
    if state.mode[entry] != mode:
        move_entries(sm, cycle, int(state.mode[entry]), mode, ctx.machine.banks_per_register)
        state.mode[entry] = mode


@inlined
def _use(policy: IdleDrowsy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
    """One more access is under way; a drowsy entry wakes."""
    state: State = sm.power
    if state.mode[entry] == DROWSY:
        state.awake_at[entry] = cycle + policy.wakeup
        state.wakeups += 1
        _set(ctx, sm, cycle, entry, ON)
    state.users[entry] += 1


@inlined
def _rest(policy: IdleDrowsy, sm: Sm, cycle: int, entry: int) -> None:
    """Nothing uses the entry now: look at it again when its idle time is over. Times end in the order in which they begin."""
    state: State = sm.power
    state.used_at[entry] = cycle
    if state.users[entry] == 0 and state.due_count < DUE:
        behind = (state.due_head + state.due_count) % DUE
        state.due_at[behind] = cycle + policy.idle
        state.due_entry[behind] = entry
        state.due_count += 1


@policy
class IdleDrowsy(NamedTuple):
    """Entries without a register are off; the others become drowsy when nothing has used them for so many cycles."""

    CHOICE = "power"
    NAME = "idle-drowsy"
    SOURCE = "drowsy caches, with the decision of when by time alone"
    MEANING = {"idle": "cycles without a use until an entry is drowsy", "wakeup": "cycles from drowsy to on"}
    GIVEN = ("wakeup",)
    LIMITS = {"idle": (1, 100), "wakeup": (0, 100)}
    STATE = State

    idle: int = 20
    wakeup: int = 3

    COUNTERS = {
        "wakeups": CounterMeaning("entries", "Drowsy entries that were woken up."),
        "wakeup_stall_cycles": CounterMeaning(
            "cycles", "`wakeup_wait_cycles`, as it is named beside other policies that wake entries."
        ),
    }

    def reset(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        state: State = sm.power
        sm.state_entries[ON] = 0
        sm.state_entries[OFF] = ctx.info.entries * ctx.machine.banks_per_register
        for entry in range(ctx.info.entries):
            state.mode[entry] = OFF

    def on_allocate(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        state: State = sm.power
        if state.mode[entry] == OFF:
            _set(ctx, sm, cycle, entry, ON)
            state.awake_at[entry] = cycle + policy.wakeup
            _rest(policy, sm, cycle, entry)

    def on_free(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        state: State = sm.power
        _set(ctx, sm, cycle, entry, OFF)
        state.users[entry] = 0

    def prepare_read(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> int:
        state: State = sm.power
        _use(policy, ctx, sm, cycle, entry)
        return max(cycle, state.awake_at[entry])

    def on_read(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        state: State = sm.power
        state.users[entry] -= 1
        _rest(policy, sm, cycle, entry)

    def prepare_write(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        _use(policy, ctx, sm, cycle, entry)

    def write_awake(policy, ctx: Context, sm: Sm, cycle: int, entry: int, banks: int) -> int:
        state: State = sm.power
        return max(cycle, state.awake_at[entry])

    def on_write(policy, ctx: Context, sm: Sm, cycle: int, entry: int, banks: int) -> None:
        state: State = sm.power
        state.users[entry] -= 1
        _rest(policy, sm, cycle, entry)

    def on_unwritten(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        state: State = sm.power
        state.users[entry] -= 1
        _rest(policy, sm, cycle, entry)

    def next_event(policy, ctx: Context, sm: Sm, cycle: int) -> int:
        state: State = sm.power
        return state.due_at[state.due_head] if state.due_count > 0 else -1

    def on_event(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        state: State = sm.power
        while state.due_count > 0 and state.due_at[state.due_head] <= cycle:
            entry, at = int(state.due_entry[state.due_head]), state.due_at[state.due_head]
            state.due_head = (state.due_head + 1) % DUE
            state.due_count -= 1
            if state.mode[entry] == ON and state.users[entry] == 0 and state.used_at[entry] + policy.idle == at:
                _set(ctx, sm, cycle, entry, DROWSY)

    def awake(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> bool:
        state: State = sm.power
        return state.mode[entry] == ON and state.awake_at[entry] <= cycle

    def counters(policy, states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
        return {"wakeups": int(states["wakeups"].sum())}

    def summary(policy, counters: dict[str, Any]) -> dict[str, Any]:
        return {"wakeup_stall_cycles": counters["wakeup_wait_cycles"]}

    def storage_bits(policy, machine: Machine) -> int:
        return (2 + policy.idle.bit_length()) * machine.warp_registers  # a state and a counter
