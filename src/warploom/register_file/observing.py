"""The points at which observers look: no-ops by default, answered by the parts of `warploom.observers` that a run was given.

An observer is told what happens in numbers and has a record of its own, ``own``, in every SM. It is not given the SM, so it can
change nothing. All points share their first arguments: the observer, ``own``, ``ctx``, ``cycle``. A pc of -1 stands for work
that no instruction of the program asked for: values that move between the levels, moves and spills that a policy injected.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from warploom.records import Lanes, own_dtype
from warploom.register_file.context import Context
from warploom.register_file.hooks import hook


@hook()
def observed(observers: Any) -> bool:
    """Whether anybody watches: what only observers need to know is found out under this condition."""
    return False


@hook()
def on_issued(observer: Any, own: Any, ctx: Context, cycle: int, warp: int, pc: int, mask: Lanes) -> None:
    """An instruction has been issued for the lanes of a mask."""


@hook()
def on_retired(observer: Any, own: Any, ctx: Context, cycle: int, warp: int, pc: int) -> None:
    """An instruction has ended: its results are written."""


@hook()
def on_exited(observer: Any, own: Any, ctx: Context, cycle: int, warp: int) -> None:
    """A warp has exited."""


@hook()
def on_stalled(observer: Any, own: Any, ctx: Context, cycle: int, scheduler: int, reason: int, pc: int, cycles: int) -> None:
    """A scheduler issued nothing for so many cycles, for a reason (its number in `layout.STALLS`).

    The pc is of the next instruction of the oldest warp that the reason is true of; -1: of none.
    """


@hook()
def on_accessed(observer: Any, own: Any, ctx: Context, cycle: int, pc: int, write: bool) -> None:
    """The main register file has been read or written."""


@hook()
def on_conflict(observer: Any, own: Any, ctx: Context, cycle: int, pc: int) -> None:
    """A read or write waits a cycle for its bank."""


class NoObserver(NamedTuple):
    """Nobody watches; all points compile to nothing."""


class Observers(NamedTuple):
    """One observer and the others after it: a list whose type says who is in it, so that each is compiled in."""

    first: Any
    rest: Any

    def observed(observers) -> bool:
        return True

    def on_issued(observers, own: Any, ctx: Context, cycle: int, warp: int, pc: int, mask: Lanes) -> None:
        on_issued(observers.first, own.first, ctx, cycle, warp, pc, mask)
        on_issued(observers.rest, own.rest, ctx, cycle, warp, pc, mask)

    def on_retired(observers, own: Any, ctx: Context, cycle: int, warp: int, pc: int) -> None:
        on_retired(observers.first, own.first, ctx, cycle, warp, pc)
        on_retired(observers.rest, own.rest, ctx, cycle, warp, pc)

    def on_exited(observers, own: Any, ctx: Context, cycle: int, warp: int) -> None:
        on_exited(observers.first, own.first, ctx, cycle, warp)
        on_exited(observers.rest, own.rest, ctx, cycle, warp)

    def on_stalled(observers, own: Any, ctx: Context, cycle: int, scheduler: int, reason: int, pc: int, cycles: int) -> None:
        on_stalled(observers.first, own.first, ctx, cycle, scheduler, reason, pc, cycles)
        on_stalled(observers.rest, own.rest, ctx, cycle, scheduler, reason, pc, cycles)

    def on_accessed(observers, own: Any, ctx: Context, cycle: int, pc: int, write: bool) -> None:
        on_accessed(observers.first, own.first, ctx, cycle, pc, write)
        on_accessed(observers.rest, own.rest, ctx, cycle, pc, write)

    def on_conflict(observers, own: Any, ctx: Context, cycle: int, pc: int) -> None:
        on_conflict(observers.first, own.first, ctx, cycle, pc)
        on_conflict(observers.rest, own.rest, ctx, cycle, pc)


POINTS = frozenset(name for name in vars(Observers) if name.startswith("on_"))


def linked(observers: tuple[Any, ...]) -> Any:
    """Observers as the core takes them."""
    return Observers(observers[0], linked(observers[1:])) if observers else NoObserver()


def observed_dtype(observers: tuple[Any, ...]) -> np.dtype:
    """The records of the observers in an SM, linked as they are; a single unused byte where nobody watches."""
    if not observers:
        return np.dtype([("unused", "u1")])
    return np.dtype([("first", own_dtype(observers[0].STATE)), ("rest", observed_dtype(observers[1:]))], align=True)


def own_records(sms: np.ndarray, number: int) -> np.ndarray:
    """The records of the observer of that number, of all SMs."""
    records = sms["observed"]
    for _ in range(number):
        records = records["rest"]
    return records["first"]
