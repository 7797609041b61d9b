"""What happens in the pipeline, event by event, for some cycles of some warps."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from warploom.base.records import Array, i2, i4, i8, u1
from warploom.chip.observers.window import ALL, EVER, Window, in_window, is_chosen, open_window
from warploom.chip.sm.context import Context
from warploom.chip.sm.counter import CounterMeaning
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.chip.sm.layout import WAITS
from warploom.chip.sm.observing import STAGES
from warploom.chip.sm.services import inlined

ROOM = 32768  # events of an SM between two drainings
EVENTS = (*STAGES, "wait", "exit")
WAITING, EXITED = len(STAGES), len(STAGES) + 1


class EventLog(Window):
    """The events since the buffer was emptied."""

    count: i8
    dropped: i8
    cycle: Annotated[Array[i8], ROOM]
    event: Annotated[Array[u1], ROOM]
    warp: Annotated[Array[i2], ROOM]
    pc: Annotated[Array[i4], ROOM]
    about: Annotated[Array[i2], ROOM]  # slot, or why a warp waits


@inlined
def _note(own: EventLog, cycle: int, event: int, warp: int, pc: int, about: int) -> None:
    if not (in_window(own, cycle) and is_chosen(own, warp)):
        return
    if own.count >= ROOM:
        own.dropped += 1
        return
    own.cycle[own.count] = cycle - own.later
    own.event[own.count] = event
    own.warp[own.count] = warp
    own.pc[own.count] = pc
    own.about[own.count] = about
    own.count += 1


class PipelineLog(NamedTuple):
    """A list of events: SM, cycle, what, warp, pc, and the slot of the instruction or the reason why the warp waits.

    What is a stage that an instruction begins, or that a warp waits or exits. Cycles are counted from the first launch's begin.
    The buffer of an SM is emptied every few cycles of the run; events that do not fit between are counted as dropped.
    """

    NAME = "pipeline-log"
    CHUNK = 512  # cycles between two drainings
    STATE = EventLog
    COUNTERS = {
        "dropped": CounterMeaning("events", "Events for which there was no room."),
    }

    first: int = 0  # cycle
    last: int = EVER
    sm: int = ALL
    warps: int = ALL  # `warp_mask` makes one of some

    def begin(observer, states: np.ndarray, later: int) -> None:
        """A launch begins: say what is watched."""
        open_window(states, later, observer.sm, observer.warps, observer.first, observer.last)

    def on_staged(observer, own: EventLog, ctx: Context, cycle: int, warp: int, pc: int, slot: int, stage: int) -> None:
        _note(own, cycle, stage, warp, pc, slot)

    def on_waits(observer, own: EventLog, ctx: Context, cycle: int, warp: int, wait: int, pc: int) -> None:
        _note(own, cycle, WAITING, warp, pc, wait)

    def on_exited(observer, own: EventLog, ctx: Context, cycle: int, warp: int) -> None:
        _note(own, cycle, EXITED, warp, -1, 0)

    def drain(observer, states: np.ndarray) -> list[tuple[int, int, str, int, int, int | str]]:
        """The events since the last time, by cycle and SM; the buffers are empty afterwards."""
        events = []
        for sm, own in enumerate(states):
            columns = (own[name][: own["count"]].tolist() for name in ("cycle", "event", "warp", "pc", "about"))
            for cycle, event, warp, pc, about in zip(*columns, strict=True):
                events.append((sm, cycle, EVENTS[event], warp, pc, WAITS[about] if event == WAITING else about))
        states["count"] = 0
        return sorted(events, key=lambda event: (event[1], event[0]))

    def report(observer, states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
        """How many events had no room; the events themselves stand beside it."""
        return {"dropped": int(states["dropped"].sum())}
