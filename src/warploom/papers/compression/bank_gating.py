"""A bank without valid data is gated."""

from __future__ import annotations

from typing import Any, NamedTuple

from warploom.machines.schema import MAX_RF_BANKS, MAX_WARP_REGISTERS
from warploom.register_file import policy
from warploom.register_file.context import Context
from warploom.register_file.layout import Sm
from warploom.register_file.services import OFF, ON, inlined, move_entries


@inlined
def _weight(ctx: Context) -> int:
    """How many warp registers a bank is worth."""
    return ctx.info.entries // ctx.machine.rf_banks


@inlined
def _take(policy: Any, ctx: Context, sm: Sm, cycle: int, bank: int) -> None:
    """One more valid entry in a bank; the first wakes it."""
    state = sm.power
    if state.valid[bank] == 0:
        state.awake_at[bank] = cycle + policy.wakeup
        state.gated_cycles[bank] += cycle - state.gated_since[bank]
        state.wakeups += 1
        move_entries(sm, cycle, OFF, ON, _weight(ctx))
    state.valid[bank] += 1


@inlined
def _give(ctx: Context, sm: Sm, cycle: int, bank: int) -> None:
    """One valid entry less; without any the bank is gated."""
    state = sm.power
    state.valid[bank] -= 1
    if state.valid[bank] == 0:
        state.gated_since[bank] = cycle
        move_entries(sm, cycle, ON, OFF, _weight(ctx))


@inlined
def _awake_at(ctx: Context, sm: Sm, entry: int) -> int:
    """When all banks that hold an entry can be accessed."""
    first = entry % ctx.info.groups * ctx.machine.rf_banks_per_register
    at = 0
    for bank in range(sm.power.held[entry]):
        at = max(at, sm.power.awake_at[first + bank])
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
    STATE = (
        ("valid", "i4", (MAX_RF_BANKS,)),
        ("awake_at", "i8", (MAX_RF_BANKS,)),
        ("gated_since", "i8", (MAX_RF_BANKS,)),
        ("gated_cycles", "i8", (MAX_RF_BANKS,)),
        ("held", "u1", (MAX_WARP_REGISTERS,)),  # banks in which an entry is valid
        ("wakeups", "i8"),
    )

    wakeup: int = 10

    def reset(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        for bank in range(ctx.machine.rf_banks):
            sm.power.gated_since[bank] = cycle
        move_entries(sm, cycle, ON, OFF, _weight(ctx) * ctx.machine.rf_banks)

    def prepare_read(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> int:
        return max(cycle, _awake_at(ctx, sm, entry))

    def write_awake(policy, ctx: Context, sm: Sm, cycle: int, entry: int, banks: int) -> int:
        state = sm.power
        first = entry % ctx.info.groups * ctx.machine.rf_banks_per_register
        for bank in range(state.held[entry], banks):
            _take(policy, ctx, sm, cycle, first + bank)
        state.held[entry] = max(banks, state.held[entry])
        return max(cycle, _awake_at(ctx, sm, entry))

    def on_write(policy, ctx: Context, sm: Sm, cycle: int, entry: int, banks: int) -> None:
        first = entry % ctx.info.groups * ctx.machine.rf_banks_per_register
        for bank in range(sm.power.held[entry], banks):  # an eviction in between was shorter
            _take(policy, ctx, sm, cycle, first + bank)
        for bank in range(banks, sm.power.held[entry]):  # the new value is shorter
            _give(ctx, sm, cycle, first + bank)
        sm.power.held[entry] = banks

    def on_free(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        first = entry % ctx.info.groups * ctx.machine.rf_banks_per_register
        for bank in range(sm.power.held[entry]):
            _give(ctx, sm, cycle, first + bank)
        sm.power.held[entry] = 0

    def awake(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> bool:
        return _awake_at(ctx, sm, entry) <= cycle

    def finish(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        for bank in range(ctx.machine.rf_banks):
            if sm.power.valid[bank] == 0:
                sm.power.gated_cycles[bank] += cycle - sm.power.gated_since[bank]
                sm.power.gated_since[bank] = cycle

    def counters(policy, states: Any, run: Any) -> dict[str, Any]:
        banks = run.machine.register_file.banks
        return {
            "bank_gated_cycles": [int(value) for value in states["gated_cycles"].sum(axis=0)[:banks]],
            "bank_wakeups": int(states["wakeups"].sum()),
        }

    def storage_bits(policy, machine: Any) -> int:
        return machine.register_file.banks * machine.register_file.entries_per_bank
