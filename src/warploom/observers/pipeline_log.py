"""What happens in the pipeline, event by event, for some cycles and one warp or all."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from warploom.records import Array, Lanes, Record, i2, i4, i8, u1
from warploom.register_file.context import Context
from warploom.register_file.services import inlined

ROOM = 16384  # events of an SM between two drainings
EVENTS = ("issued", "retired", "exited")
ISSUED, RETIRED, EXITED = range(len(EVENTS))


class Log(Record):
    """The events since the buffer was emptied."""

    count: i8
    dropped: i8
    cycle: Annotated[Array[i8], ROOM]
    event: Annotated[Array[u1], ROOM]
    warp: Annotated[Array[i2], ROOM]
    pc: Annotated[Array[i4], ROOM]


@inlined
def _note(observer: Any, own: Log, cycle: int, event: int, warp: int, pc: int) -> None:
    if cycle < observer.first or cycle > observer.last or (observer.warp >= 0 and warp != observer.warp):
        return
    if own.count >= ROOM:
        own.dropped += 1
        return
    own.cycle[own.count] = cycle
    own.event[own.count] = event
    own.warp[own.count] = warp
    own.pc[own.count] = pc
    own.count += 1


class PipelineLog(NamedTuple):
    """A list of events: SM, cycle, what, warp, pc. Cycles are counted from the first launch's begin.

    The buffer of an SM is emptied every few cycles of the run; events that do not fit between are counted as dropped.
    """

    NAME = "pipeline-log"
    CHUNK = 1024  # cycles between two drainings
    STATE = Log

    first: int = 0  # cycle
    last: int = 1 << 60
    warp: int = -1  # all

    def on_issued(observer, own: Log, ctx: Context, cycle: int, warp: int, pc: int, mask: Lanes) -> None:
        _note(observer, own, cycle, ISSUED, warp, pc)

    def on_retired(observer, own: Log, ctx: Context, cycle: int, warp: int, pc: int) -> None:
        _note(observer, own, cycle, RETIRED, warp, pc)

    def on_exited(observer, own: Log, ctx: Context, cycle: int, warp: int) -> None:
        _note(observer, own, cycle, EXITED, warp, -1)

    def drain(observer, states: Any) -> list[tuple[int, int, str, int, int]]:
        """The events since the last time, by cycle and SM; the buffers are empty afterwards."""
        events = []
        for sm, own in enumerate(states):
            for number in range(int(own["count"])):
                event = EVENTS[own["event"][number]]
                events.append((sm, int(own["cycle"][number]), event, int(own["warp"][number]), int(own["pc"][number])))
        states["count"] = 0
        return sorted(events, key=lambda event: (event[1], event[0]))

    def report(observer, states: Any, run: Any) -> dict[str, Any]:
        """How many events had no room; the events themselves stand beside it."""
        return {"dropped": int(states["dropped"].sum())}
