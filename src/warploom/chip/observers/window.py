"""A buffer of events in an SM's record that is emptied while the run goes on, and the part of a run that goes into it."""

from __future__ import annotations

import numpy as np

from warploom.base.records import Record, flag, i8
from warploom.chip.sm.services import inlined

EVER = 1 << 60  # cycles
ALL = -1


class Window(Record):
    """What is to be watched; the state of an observer begins with it."""

    first: i8  # cycle of the core, as `last`
    last: i8
    warps: i8  # `warp_mask`
    watched: flag  # this SM
    later: i8  # cycles of the core begin so much later than those of results


def warp_mask(warps: list[int]) -> int:
    """A set of warps as the parameter of an observer: a mask in 64 signed bits."""
    mask = sum(1 << warp for warp in set(warps))
    return mask - (1 << 64) if mask >> 63 else mask


def open_window(states: np.ndarray, later: int, sm: int, warps: int, first: int, last: int) -> None:
    """Let the SMs' records know what is to be watched; the core's cycles are so much later than those of results."""
    states["first"], states["last"], states["warps"], states["later"] = first + later, min(last, EVER) + later, warps, later
    states["watched"] = (np.arange(len(states)) == sm) | (sm == ALL)


@inlined
def in_window(own: Window, cycle: int) -> bool:
    return own.watched and own.first <= cycle <= own.last


@inlined
def is_chosen(own: Window, warp: int) -> bool:
    return (own.warps >> warp) & 1 != 0
