"""The hardware's half: registers are allocated as usual, and what the compiler says of each block is added up."""

from __future__ import annotations

from typing import Any, NamedTuple

from warploom.register_file import policy
from warploom.register_file.services import allocate, find_free_anywhere, group_of

from .counting import BLOCKS, counted


@policy
class Census(NamedTuple):
    """Every warp owns all its registers, and counts how many the compiler said to be live."""

    CHOICE = "allocation"
    NAME = "census"
    SOURCE = "invented"
    STATE = (("blocks", "i8"), ("live", "i8"))

    def compile(policy, code: Any, machine: Any) -> Any:
        return counted(code)

    def freed_with_cta(policy) -> bool:
        return True

    def on_warp_launch(policy, ctx: Any, sm: Any, cycle: int, warp: int) -> None:
        for register in range(ctx.info.registers_per_warp):
            allocate(ctx, sm, cycle, warp, register, find_free_anywhere(ctx, sm, group_of(ctx, warp, register)))

    def on_metadata(policy, ctx: Any, sm: Any, cycle: int, warp: int, pc: int, payload: Any) -> None:
        sm.allocation.blocks += 1
        sm.allocation.live += int(payload)

    def counters(policy, states: Any, run: Any) -> dict[str, Any]:
        return {
            "census_blocks": int(states["blocks"].sum()),
            "census_live": int(states["live"].sum()),
            "static_blocks_peak": run.code.annotations[BLOCKS],
        }

    def energy(policy, counters: dict[str, Any], technology: Any, run: Any) -> Any:
        yield "census", "overhead", counters["census_blocks"] * technology.access("read", run.cycle_time) / 64

    def storage_bits(policy, machine: Any) -> int:
        return 8 * machine.sm.warps_per_sm
