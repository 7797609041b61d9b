"""Every warp owns all the registers of its kernel while its CTA is resident."""

from __future__ import annotations

from typing import NamedTuple

from warploom.chip.sm import policy
from warploom.chip.sm.context import Context
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import allocate, find_free_anywhere, group_of


@policy
class Static(NamedTuple):
    """All registers of the kernel, rounded up as the machine says, each in the bank that the machine's mapping names."""

    CHOICE = "allocation"
    NAME = "static"
    SOURCE = "what the papers compare with"

    def freed_with_cta(policy) -> bool:
        return True

    def on_warp_launch(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        for register in range(ctx.info.registers_per_warp):
            allocate(ctx, sm, cycle, warp, register, find_free_anywhere(ctx, sm, group_of(ctx, warp, register)))
