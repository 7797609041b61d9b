"""A subarray of a bank in which no entry is allocated is gated."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from warploom.base.records import Array, Record, i4, i8
from warploom.chip.machines import Machine
from warploom.chip.machines.limits import MAX_RF_BANKS
from warploom.chip.sm import policy
from warploom.chip.sm.context import Context
from warploom.chip.sm.counter import CounterMeaning
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import OFF, ON, inlined, move_entries

MAX_SUBARRAYS = 16 * MAX_RF_BANKS


class State(Record):
    """What is known of each subarray."""

    used: Annotated[Array[i4], MAX_SUBARRAYS]
    awake_at: Annotated[Array[i8], MAX_SUBARRAYS]
    wakeups: i8


@inlined
def _subarrays(policy: SubarrayGating, ctx: Context) -> int:
    """Subarrays of a bank group."""
    return policy.subarrays if policy.subarrays > 0 else ctx.machine.register_file.subarrays_per_bank


@inlined
def _rows(policy: SubarrayGating, ctx: Context) -> int:
    """Entries of one subarray; the last one takes what is left over."""
    return max(1, ctx.info.entries // ctx.info.groups // _subarrays(policy, ctx))


@inlined
def _subarray_of(policy: SubarrayGating, ctx: Context, entry: int) -> int:
    own = min(entry // ctx.info.groups // _rows(policy, ctx), _subarrays(policy, ctx) - 1)
    return entry % ctx.info.groups * _subarrays(policy, ctx) + own


@inlined
def _size(policy: SubarrayGating, ctx: Context, subarray: int) -> int:
    per_group = _subarrays(policy, ctx)
    rows = ctx.info.entries // ctx.info.groups
    if subarray % per_group == per_group - 1:
        return rows - _rows(policy, ctx) * (per_group - 1)
    return _rows(policy, ctx)


@policy
class SubarrayGating(NamedTuple):
    """A subarray is on while any of its entries is allocated; policies that search for entries fill such subarrays first."""

    CHOICE = "power"
    NAME = "subarray-gating"
    SOURCE = "Jeon et al., GPU Register File Virtualization, MICRO 2015, section 8.2"
    MEANING = {"wakeup": "cycles until a gated subarray can be accessed", "subarrays": "per bank; 0: as the machine says"}
    GIVEN = ("wakeup",)
    LIMITS = {"wakeup": (0, 500), "subarrays": (0, 16)}
    STATE = State

    wakeup: int = 10
    subarrays: int = 0

    COUNTERS = {
        "subarray_wakeups": CounterMeaning("subarrays", "Times that a subarray that was off was woken up."),
        "subarray_on_cycles": CounterMeaning("entry cycles", "`on_cycles` under the paper's name."),
    }

    def reset(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        move_entries(sm, cycle, ON, OFF, ctx.info.entries // ctx.info.groups * ctx.info.groups)

    def on_allocate(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        state: State = sm.power
        subarray = _subarray_of(policy, ctx, entry)
        if state.used[subarray] == 0:
            state.awake_at[subarray] = cycle + policy.wakeup
            state.wakeups += 1
            move_entries(sm, cycle, OFF, ON, _size(policy, ctx, subarray))
        state.used[subarray] += 1

    def on_free(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        state: State = sm.power
        subarray = _subarray_of(policy, ctx, entry)
        state.used[subarray] -= 1
        if state.used[subarray] == 0:
            move_entries(sm, cycle, ON, OFF, _size(policy, ctx, subarray))

    def prepare_read(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> int:
        state: State = sm.power
        return max(cycle, state.awake_at[_subarray_of(policy, ctx, entry)])

    def write_awake(policy, ctx: Context, sm: Sm, cycle: int, entry: int, banks: int) -> int:
        state: State = sm.power
        return max(cycle, state.awake_at[_subarray_of(policy, ctx, entry)])

    def powered(policy, ctx: Context, sm: Sm, entry: int) -> bool:
        state: State = sm.power
        return state.used[_subarray_of(policy, ctx, entry)] > 0

    def awake(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> bool:
        state: State = sm.power
        return sm.entry[entry].allocated and state.awake_at[_subarray_of(policy, ctx, entry)] <= cycle

    def counters(policy, states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
        return {"subarray_wakeups": int(states["wakeups"].sum())}

    def summary(policy, counters: dict[str, Any]) -> dict[str, Any]:
        return {"subarray_on_cycles": counters["on_cycles"]}

    def storage_bits(policy, machine: Machine) -> int:
        subarrays = policy.subarrays or machine.register_file.subarrays_per_bank
        return machine.register_file.banks * subarrays
