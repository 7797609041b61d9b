"""What schedulers that stay with a warp share: which one issued last, and the choice between it and the oldest."""

from __future__ import annotations

from typing import Any

from warploom.register_file.bits import NOTHING, has, lowest, without_lowest
from warploom.register_file.services import inlined

LAST_STATE = (("last", "i8", (4,)),)  # of each scheduler the warp that issued last


@inlined
def forget_last(sm: Any) -> None:
    """No warp has issued yet."""
    for scheduler in range(4):
        sm.scheduler.last[scheduler] = -1


@inlined
def greedy_then_oldest(sm: Any, scheduler: int, warps: Any) -> int:
    """Of some warps the one that this scheduler issued from last, else the one that was launched first."""
    last = sm.scheduler.last[scheduler]
    if last >= 0 and has(warps, last):
        return last
    oldest = lowest(warps)
    rest = without_lowest(warps)
    while rest != NOTHING:
        warp = lowest(rest)
        if sm.warp[warp].age < sm.warp[oldest].age:
            oldest = warp
        rest = without_lowest(rest)
    return oldest
