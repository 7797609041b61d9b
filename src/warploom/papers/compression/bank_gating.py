"""A bank without valid data is gated."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from warploom.base.records import Array, Record, i4, i8, u1
from warploom.chip.machines import Machine
from warploom.chip.machines.limits import MAX_RF_BANKS, MAX_WARP_REGISTERS
from warploom.chip.sm import policy
from warploom.chip.sm.context import Context
from warploom.chip.sm.counter import CounterMeaning
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import OFF, ON, inlined, move_entries


class State(Record):
    """What is known of each bank and of each entry."""

    valid: Annotated[Array[i4], MAX_RF_BANKS]
    awake_at: Annotated[Array[i8], MAX_RF_BANKS]
    gated_since: Annotated[Array[i8], MAX_RF_BANKS]
    gated_cycles: Annotated[Array[i8], MAX_RF_BANKS]
    held: Annotated[Array[u1], MAX_WARP_REGISTERS]  # banks in which an entry is valid
    wakeups: i8


@inlined
def _weight(ctx: Context) -> int:
    """How many warp registers a bank is worth."""
    return ctx.info.entries // ctx.machine.register_file.banks


@inlined
def _take(policy: BankGating, ctx: Context, sm: Sm, cycle: int, bank: int) -> None:
    """One more valid entry in a bank; the first wakes it."""
    state: State = sm.power
    if state.valid[bank] == 0:
        state.awake_at[bank] = cycle + policy.wakeup
        state.gated_cycles[bank] += cycle - state.gated_since[bank]
        state.wakeups += 1
        move_entries(sm, cycle, OFF, ON, _weight(ctx))
    state.valid[bank] += 1


@inlined
def _give(ctx: Context, sm: Sm, cycle: int, bank: int) -> None:
    """One valid entry less; without any the bank is gated."""
    state: State = sm.power
    state.valid[bank] -= 1
    if state.valid[bank] == 0:
        state.gated_since[bank] = cycle
        move_entries(sm, cycle, ON, OFF, _weight(ctx))


@inlined
def _awake_at(ctx: Context, sm: Sm, entry: int) -> int:
    """When all banks that hold an entry can be accessed."""
    state: State = sm.power
    first = entry % ctx.info.groups * ctx.machine.banks_per_register
    at = 0
    for bank in range(state.held[entry]):
        at = max(at, state.awake_at[first + bank])
    return at


@policy
class BankGating(NamedTuple):
    """Each bank entry has a valid bit, set by a write and cleared when its register is freed; a bank with none is off."""

    CHOICE = "power"
    NAME = "bank-gating"
    SOURCE = "Lee et al., Warped-Compression, ISCA 2015, section 5.3"
    MEANING = {"wakeup": "cycles until a gated bank can be accessed"}
    GIVEN = ("wakeup",)
    LIMITS = {"wakeup": (0, 500)}
    STATE = State

    wakeup: int = 10

    COUNTERS = {
        "bank_gated_cycles": CounterMeaning("cycles", "Cycles that each bank was gated, added up over the SMs."),
        "bank_wakeups": CounterMeaning("banks", "Times that a gated bank was woken up."),
    }

    def reset(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        state: State = sm.power
        for bank in range(ctx.machine.register_file.banks):
            state.gated_since[bank] = cycle
        move_entries(sm, cycle, ON, OFF, _weight(ctx) * ctx.machine.register_file.banks)

    def prepare_read(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> int:
        return max(cycle, _awake_at(ctx, sm, entry))

    def write_awake(policy, ctx: Context, sm: Sm, cycle: int, entry: int, banks: int) -> int:
        state: State = sm.power
        first = entry % ctx.info.groups * ctx.machine.banks_per_register
        for bank in range(state.held[entry], banks):
            _take(policy, ctx, sm, cycle, first + bank)
        state.held[entry] = max(banks, state.held[entry])
        return max(cycle, _awake_at(ctx, sm, entry))

    def on_write(policy, ctx: Context, sm: Sm, cycle: int, entry: int, banks: int) -> None:
        state: State = sm.power
        first = entry % ctx.info.groups * ctx.machine.banks_per_register
        for bank in range(state.held[entry], banks):  # an eviction in between was shorter
            _take(policy, ctx, sm, cycle, first + bank)
        for bank in range(banks, state.held[entry]):  # the new value is shorter
            _give(ctx, sm, cycle, first + bank)
        state.held[entry] = banks

    def on_free(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        state: State = sm.power
        first = entry % ctx.info.groups * ctx.machine.banks_per_register
        for bank in range(state.held[entry]):
            _give(ctx, sm, cycle, first + bank)
        state.held[entry] = 0

    def awake(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> bool:
        return _awake_at(ctx, sm, entry) <= cycle

    def finish(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        state: State = sm.power
        for bank in range(ctx.machine.register_file.banks):
            if state.valid[bank] == 0:
                state.gated_cycles[bank] += cycle - state.gated_since[bank]
                state.gated_since[bank] = cycle

    def counters(policy, states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
        banks = run.machine.register_file.banks
        return {
            "bank_gated_cycles": [int(value) for value in states["gated_cycles"].sum(axis=0)[:banks]],
            "bank_wakeups": int(states["wakeups"].sum()),
        }

    def storage_bits(policy, machine: Machine) -> int:
        return machine.register_file.banks * machine.register_file.entries_per_bank
