"""Registers that nobody has used for a while are drowsy."""

from __future__ import annotations

from typing import Any, NamedTuple

from warploom.machines.schema import MAX_WARP_REGISTERS
from warploom.register_file import policy
from warploom.register_file.services import DROWSY, OFF, ON, inlined, move_entries

DUE = 16384  # ends of idle times that are waited for at once; an entry beyond stays on until its next use


@inlined
def _set(ctx: Any, sm: Any, cycle: int, entry: int, state: int) -> None:
    """Put an entry, all banks of it, into a power state."""
    if sm.power.mode[entry] != state:
        move_entries(sm, cycle, int(sm.power.mode[entry]), state, ctx.machine.rf_banks_per_register)
        sm.power.mode[entry] = state


@inlined
def _use(policy: Any, ctx: Any, sm: Any, cycle: int, entry: int) -> None:
    """One more access is under way; a drowsy entry wakes."""
    state = sm.power
    if state.mode[entry] == DROWSY:
        state.awake_at[entry] = cycle + policy.wakeup
        state.wakeups += 1
        _set(ctx, sm, cycle, entry, ON)
    state.users[entry] += 1


@inlined
def _rest(policy: Any, sm: Any, cycle: int, entry: int) -> None:
    """Nothing uses the entry now: look at it again when its idle time is over. Times end in the order in which they begin."""
    state = sm.power
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
    STATE = (
        ("mode", "u1", (MAX_WARP_REGISTERS,)),  # ON, DROWSY or OFF
        ("users", "i2", (MAX_WARP_REGISTERS,)),  # accesses under way
        ("used_at", "i8", (MAX_WARP_REGISTERS,)),
        ("awake_at", "i8", (MAX_WARP_REGISTERS,)),
        ("due_at", "i8", (DUE,)),
        ("due_entry", "i2", (DUE,)),
        ("due_head", "i8"),
        ("due_count", "i8"),
        ("wakeups", "i8"),
    )

    idle: int = 20
    wakeup: int = 3

    def reset(policy, ctx: Any, sm: Any, cycle: int) -> None:
        sm.state_entries[ON] = 0
        sm.state_entries[OFF] = ctx.info.entries * ctx.machine.rf_banks_per_register
        for entry in range(ctx.info.entries):
            sm.power.mode[entry] = OFF

    def on_allocate(policy, ctx: Any, sm: Any, cycle: int, entry: int) -> None:
        if sm.power.mode[entry] == OFF:
            _set(ctx, sm, cycle, entry, ON)
            sm.power.awake_at[entry] = cycle + policy.wakeup
            _rest(policy, sm, cycle, entry)

    def on_free(policy, ctx: Any, sm: Any, cycle: int, entry: int) -> None:
        _set(ctx, sm, cycle, entry, OFF)
        sm.power.users[entry] = 0

    def prepare_read(policy, ctx: Any, sm: Any, cycle: int, entry: int) -> int:
        _use(policy, ctx, sm, cycle, entry)
        return max(cycle, sm.power.awake_at[entry])

    def on_read(policy, ctx: Any, sm: Any, cycle: int, entry: int) -> None:
        sm.power.users[entry] -= 1
        _rest(policy, sm, cycle, entry)

    def prepare_write(policy, ctx: Any, sm: Any, cycle: int, entry: int) -> None:
        _use(policy, ctx, sm, cycle, entry)

    def write_awake(policy, ctx: Any, sm: Any, cycle: int, entry: int, banks: int) -> int:
        return max(cycle, sm.power.awake_at[entry])

    def on_write(policy, ctx: Any, sm: Any, cycle: int, entry: int, banks: int) -> None:
        sm.power.users[entry] -= 1
        _rest(policy, sm, cycle, entry)

    def on_unwritten(policy, ctx: Any, sm: Any, cycle: int, entry: int) -> None:
        sm.power.users[entry] -= 1
        _rest(policy, sm, cycle, entry)

    def next_event(policy, ctx: Any, sm: Any, cycle: int) -> int:
        return sm.power.due_at[sm.power.due_head] if sm.power.due_count > 0 else -1

    def on_event(policy, ctx: Any, sm: Any, cycle: int) -> None:
        state = sm.power
        while state.due_count > 0 and state.due_at[state.due_head] <= cycle:
            entry, at = int(state.due_entry[state.due_head]), state.due_at[state.due_head]
            state.due_head = (state.due_head + 1) % DUE
            state.due_count -= 1
            if state.mode[entry] == ON and state.users[entry] == 0 and state.used_at[entry] + policy.idle == at:
                _set(ctx, sm, cycle, entry, DROWSY)

    def awake(policy, ctx: Any, sm: Any, cycle: int, entry: int) -> bool:
        return sm.power.mode[entry] == ON and sm.power.awake_at[entry] <= cycle

    def counters(policy, states: Any, run: Any) -> dict[str, Any]:
        return {"wakeups": int(states["wakeups"].sum())}

    def summary(policy, counters: dict[str, Any]) -> dict[str, Any]:
        return {"wakeup_stall_cycles": counters["wakeup_wait_cycles"]}

    def storage_bits(policy, machine: Any) -> int:
        return (2 + policy.idle.bit_length()) * machine.warp_registers  # a state and a counter
