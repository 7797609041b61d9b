"""What warps and schedulers do over time, as spans: fewer than events, because a span lasts until something else is done."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from warploom.base.records import Array, Lanes, i2, i4, i8, u1
from warploom.chip.machines.limits import MAX_SCHEDULERS, MAX_WARPS
from warploom.chip.observers.window import ALL, EVER, Window, in_window, is_chosen, open_window
from warploom.chip.sm.context import Context
from warploom.chip.sm.counter import CounterMeaning
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.chip.sm.layout import STALLS, WAITS
from warploom.chip.sm.services import inlined

ROOM = 32768  # spans of an SM between two drainings
KINDS = ("warp", "scheduler", "launched", "exited")
WARP, SCHEDULER, LAUNCHED, EXITED = range(len(KINDS))
ISSUING = len(WAITS)
DOING = (*WAITS, "issuing")


class Spans(Window):
    """What goes on, and the spans since the buffer was emptied."""

    since: Annotated[Array[i8], MAX_WARPS]
    doing: Annotated[Array[i8], MAX_WARPS]
    at: Annotated[Array[i8], MAX_WARPS]  # pc
    stall_begin: Annotated[Array[i8], MAX_SCHEDULERS]
    stall_end: Annotated[Array[i8], MAX_SCHEDULERS]
    stall_reason: Annotated[Array[i8], MAX_SCHEDULERS]
    count: i8
    dropped: i8
    begin_at: Annotated[Array[i8], ROOM]
    end_at: Annotated[Array[i8], ROOM]
    kind: Annotated[Array[u1], ROOM]
    who: Annotated[Array[i2], ROOM]
    what: Annotated[Array[i4], ROOM]
    pc: Annotated[Array[i4], ROOM]


@inlined
def _note(own: Spans, begin: int, end: int, kind: int, who: int, what: int, pc: int) -> None:
    if own.count >= ROOM:
        own.dropped += 1
        return
    own.begin_at[own.count] = begin - own.later
    own.end_at[own.count] = end - own.later
    own.kind[own.count] = kind
    own.who[own.count] = who
    own.what[own.count] = what
    own.pc[own.count] = pc
    own.count += 1


@inlined
def _settle(own: Spans, cycle: int, warp: int) -> None:
    """Note what a warp has been doing up to now, if it is watched."""
    begin, end = max(own.since[warp], own.first), min(cycle, own.last + 1)
    if own.watched and is_chosen(own, warp) and begin < end:
        _note(own, begin, end, WARP, warp, own.doing[warp], own.at[warp])
    own.since[warp] = cycle


class Timeline(NamedTuple):
    """Spans: SM, kind, first cycle, the cycle after the last, who, what, pc.

    Kinds: "warp" (what: why it waits, or "issuing"), "scheduler" (what: why it issues nothing), "launched" (a warp; what: its
    CTA) and "exited" (a warp), which have no length. What warps and schedulers do is watched on one SM or all, for some cycles;
    that warps are launched and exit, always. Cycles are counted from the first launch's begin.
    """

    NAME = "timeline"
    CHUNK = 1024  # cycles between two drainings
    SAMPLE_EVERY = 64  # cycles between samples of counters at first; doubled when there are many
    STATE = Spans
    COUNTERS = {
        "dropped": CounterMeaning("spans", "Spans for which there was no room."),
    }

    first: int = 0  # cycle
    last: int = EVER
    sm: int = 0
    warps: int = ALL

    def begin(observer, states: np.ndarray, later: int) -> None:
        """A launch begins: say what is watched."""
        open_window(states, later, observer.sm, observer.warps, observer.first, observer.last)

    def on_launched(observer, own: Spans, ctx: Context, cycle: int, warp: int, cta: int) -> None:
        _note(own, cycle, cycle, LAUNCHED, warp, cta, -1)
        own.since[warp] = cycle

    def on_exited(observer, own: Spans, ctx: Context, cycle: int, warp: int) -> None:
        _settle(own, cycle, warp)
        _note(own, cycle, cycle, EXITED, warp, 0, -1)

    def on_waits(observer, own: Spans, ctx: Context, cycle: int, warp: int, wait: int, pc: int) -> None:
        _settle(own, cycle, warp)
        own.doing[warp] = wait
        own.at[warp] = pc

    def on_issued(observer, own: Spans, ctx: Context, cycle: int, warp: int, pc: int, mask: Lanes) -> None:
        if own.doing[warp] != ISSUING:
            _settle(own, cycle, warp)
            own.doing[warp] = ISSUING
            own.at[warp] = pc

    def on_stalled(observer, own: Spans, ctx: Context, cycle: int, scheduler: int, reason: int, pc: int, cycles: int) -> None:
        end = min(cycle + cycles, own.last + 1)
        if not in_window(own, max(cycle, own.first)) or end <= own.first:
            return
        if own.stall_end[scheduler] != cycle or own.stall_reason[scheduler] != reason:
            if own.stall_end[scheduler] > own.stall_begin[scheduler]:
                _note(
                    own,
                    own.stall_begin[scheduler],
                    own.stall_end[scheduler],
                    SCHEDULER,
                    scheduler,
                    own.stall_reason[scheduler],
                    -1,
                )
            own.stall_begin[scheduler] = max(cycle, own.first)
            own.stall_reason[scheduler] = reason
        own.stall_end[scheduler] = end

    def drain(observer, states: np.ndarray) -> list[tuple[int, str, int, int, int, int | str, int]]:
        """The spans since the last time; the buffers are empty afterwards. What goes on is cut here."""
        spans: list[tuple[int, str, int, int, int, int | str, int]] = []
        for sm, own in enumerate(states):
            columns = (own[name][: own["count"]].tolist() for name in ("kind", "begin_at", "end_at", "who", "what", "pc"))
            for kind, begin, end, who, what, pc in zip(*columns, strict=True):
                said = DOING[what] if kind == WARP else STALLS[what] if kind == SCHEDULER else what
                spans.append((sm, KINDS[kind], begin, end, who, said, pc))
            later = int(own["later"])
            for scheduler in (own["stall_end"] > own["stall_begin"]).nonzero()[0].tolist():
                begin, end = int(own["stall_begin"][scheduler]) - later, int(own["stall_end"][scheduler]) - later
                spans.append((sm, "scheduler", begin, end, scheduler, STALLS[own["stall_reason"][scheduler]], -1))
        states["stall_begin"] = states["stall_end"]
        states["count"] = 0
        return sorted(spans, key=lambda span: (span[2], span[0]))

    def report(observer, states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
        """How many spans had no room; the spans themselves stand beside it."""
        return {"dropped": int(states["dropped"].sum())}
