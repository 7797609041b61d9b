"""The points at which observers look: no-ops by default, answered by the parts of `warploom.chip.observers` that a run was given.

An observer is told what happens in numbers and has a record of its own, ``own``, in every SM. It is not given the SM, so it can
change nothing. All points share their first arguments: the observer, ``own``, ``ctx``, ``cycle``. A pc of -1 stands for work
that no instruction of the program asked for: values that move between the levels, moves and spills that a policy injected.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from warploom.base.records import Lanes, own_dtype
from warploom.chip.sm.context import Context
from warploom.chip.sm.hooks import hook
from warploom.chip.sm.layout import WAITS

# The way of an instruction from its issue on; those that no unit executes go from issue to retire.
STAGES = ("issue", "collect", "dispatch", "execute", "write", "retire")
ISSUE, COLLECT, DISPATCH, EXECUTE, WRITE, RETIRE = range(len(STAGES))
FETCH, BARRIER, RESULT, MEMORY, PIPELINE, ALLOCATION, INACTIVE, NOT_CHOSEN, EXIT = range(len(WAITS))
WAIT_MEANINGS = {
    "fetch": "its next instruction is not decoded yet",
    "barrier": "it waits for the other warps of its CTA",
    "result": "an operand is being computed",
    "memory": "an operand is being loaded, or its own memory accesses must end first",
    "pipeline": "the way to its unit is full",
    "allocation": "the register file holds it back: no register, or a movement between levels",
    "inactive": "ready, but not among the warps that the scheduler looks at",
    "not chosen": "ready, but another warp was issued",
    "exit": "all is issued; what is under way ends",
}
HIT, FORWARDED, WRITTEN = 0, 1, 2  # what happened at the upper level


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
def on_launched(observer: Any, own: Any, ctx: Context, cycle: int, warp: int, cta: int) -> None:
    """A warp has begun: one of a CTA, by its number in the grid."""


@hook()
def on_waits(observer: Any, own: Any, ctx: Context, cycle: int, warp: int, wait: int, pc: int) -> None:
    """From this cycle on a warp does not issue for a new reason (its number in `WAITS`), until it issues or this is told again.

    The pc is of the instruction that it would issue; -1: all have been.
    """


@hook()
def on_staged(observer: Any, own: Any, ctx: Context, cycle: int, warp: int, pc: int, slot: int, stage: int) -> None:
    """An instruction begins a stage (its number in `STAGES`). While it is under way, no other has its slot."""


@hook()
def on_accessed(
    observer: Any, own: Any, ctx: Context, cycle: int, pc: int, write: bool, lanes: int, banks: int, form: int
) -> None:
    """The main register file has been accessed: so many lanes in so many banks, in a form of the encoding (0: as it is)."""


@hook()
def on_conflict(observer: Any, own: Any, ctx: Context, cycle: int, pc: int) -> None:
    """A read or write waits a cycle for its bank."""


@hook()
def on_upper_level(observer: Any, own: Any, ctx: Context, cycle: int, pc: int, what: int) -> None:
    """An operand was found in the upper level (HIT) or on its way down from it (FORWARDED), or a result went there (WRITTEN)."""


@hook()
def on_woken(observer: Any, own: Any, ctx: Context, cycle: int, pc: int, cycles: int) -> None:
    """A read waits for so many cycles until its entry has woken up."""


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

    def on_launched(observers, own: Any, ctx: Context, cycle: int, warp: int, cta: int) -> None:
        on_launched(observers.first, own.first, ctx, cycle, warp, cta)
        on_launched(observers.rest, own.rest, ctx, cycle, warp, cta)

    def on_waits(observers, own: Any, ctx: Context, cycle: int, warp: int, wait: int, pc: int) -> None:
        on_waits(observers.first, own.first, ctx, cycle, warp, wait, pc)
        on_waits(observers.rest, own.rest, ctx, cycle, warp, wait, pc)

    def on_staged(observers, own: Any, ctx: Context, cycle: int, warp: int, pc: int, slot: int, stage: int) -> None:
        on_staged(observers.first, own.first, ctx, cycle, warp, pc, slot, stage)
        on_staged(observers.rest, own.rest, ctx, cycle, warp, pc, slot, stage)

    def on_accessed(
        observers, own: Any, ctx: Context, cycle: int, pc: int, write: bool, lanes: int, banks: int, form: int
    ) -> None:
        on_accessed(observers.first, own.first, ctx, cycle, pc, write, lanes, banks, form)
        on_accessed(observers.rest, own.rest, ctx, cycle, pc, write, lanes, banks, form)

    def on_conflict(observers, own: Any, ctx: Context, cycle: int, pc: int) -> None:
        on_conflict(observers.first, own.first, ctx, cycle, pc)
        on_conflict(observers.rest, own.rest, ctx, cycle, pc)

    def on_upper_level(observers, own: Any, ctx: Context, cycle: int, pc: int, what: int) -> None:
        on_upper_level(observers.first, own.first, ctx, cycle, pc, what)
        on_upper_level(observers.rest, own.rest, ctx, cycle, pc, what)

    def on_woken(observers, own: Any, ctx: Context, cycle: int, pc: int, cycles: int) -> None:
        on_woken(observers.first, own.first, ctx, cycle, pc, cycles)
        on_woken(observers.rest, own.rest, ctx, cycle, pc, cycles)


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
