"""The hardware's half: registers are allocated as usual, and what the compiler says of each block is added up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from warploom.kit import (
    Code,
    Context,
    CounterMeaning,
    LaunchFacts,
    Machine,
    Record,
    RunFacts,
    Sm,
    Technology,
    allocate,
    find_free_anywhere,
    group_of,
    i8,
    policy,
    u8,
)

from .counting import BLOCKS, counted


class State(Record):
    """What is counted."""

    blocks: i8
    live: i8


@policy
class Census(NamedTuple):
    """Every warp owns all its registers, and counts how many the compiler said to be live."""

    CHOICE = "allocation"
    NAME = "census"
    SOURCE = "invented"
    STATE = State
    COUNTERS = {  # noqa: RUF012
        "census_blocks": CounterMeaning("blocks", "Blocks that warps entered."),
        "census_live": CounterMeaning("registers", "Registers that the compiler said to be live there, added up."),
        "static_blocks_peak": CounterMeaning("blocks", "Blocks of the code, in the launch with the most."),
    }

    def compile(policy, code: Code, machine: Machine) -> Code:
        return counted(code)

    def freed_with_cta(policy) -> bool:
        return True

    def on_warp_launch(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        for register in range(ctx.info.registers_per_warp):
            allocate(ctx, sm, cycle, warp, register, find_free_anywhere(ctx, sm, group_of(ctx, warp, register)))

    def on_metadata(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, payload: u8) -> None:
        state: State = sm.allocation
        state.blocks += 1
        state.live += int(payload)

    def counters(policy, states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
        return {
            "census_blocks": int(states["blocks"].sum()),
            "census_live": int(states["live"].sum()),
            "static_blocks_peak": run.code.annotations[BLOCKS],
        }

    def energy(policy, counters: dict[str, Any], technology: Technology, run: RunFacts) -> Iterator[tuple[str, str, float]]:
        yield "census", "overhead", counters["census_blocks"] * technology.access("read", run.cycle_time) / 64

    def storage_bits(policy, machine: Machine) -> int:
        return 8 * machine.sm.warps_per_sm
