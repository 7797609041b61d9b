"""The files that ``warploom profile`` writes while a program runs: a timeline for Perfetto, a pipeline for Konata."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.files import replace_file
from warploom.chip.machines import Machine
from warploom.chip.observers.pipeline_log import PipelineLog
from warploom.chip.observers.timeline import Timeline
from warploom.chip.observers.window import ALL, warp_mask
from warploom.chip.simulate import Receive
from warploom.runs.result import Result
from warploom.show.kanata import KanataWriter
from warploom.show.perfetto import TimelineWriter

TIMELINE_CYCLES, PIPELINE_CYCLES = 100_000, 5_000  # that are written unless others are asked for


class Watched:
    """What of a run is written to which files; false where nothing is."""

    def __init__(
        self, timeline: Path | None, pipeline: Path | None, sm: int, warps: str | None, cycles: str | None, machine: Machine
    ) -> None:
        for option, path in (("--timeline", timeline), ("--pipeline", pipeline)):
            if path is not None and not path.resolve().parent.is_dir():
                raise WarploomError(f"{option} {path}: there is no folder {path.resolve().parent}")
        if sm >= machine.chip.sms:
            raise WarploomError(f"--sm {sm}: the machine has SMs 0 to {machine.chip.sms - 1}")
        mask = warp_mask(parse_warps(warps, machine.sm.warps_per_sm)) if warps else ALL
        self.timeline, self.pipeline = timeline, pipeline
        self.observers: list[Any] = []
        if timeline is not None:
            first, last = parse_cycles(cycles, TIMELINE_CYCLES)
            self.observers.append(Timeline._make((first, last, sm, mask)))
        if pipeline is not None:
            first, last = parse_cycles(cycles, PIPELINE_CYCLES)
            self.observers.append(PipelineLog._make((first, last, sm, mask)))
        self.writers: dict[str, Any] = {}
        self.notes: list[str] = []  # what is to be said of the files at the end

    def __bool__(self) -> bool:
        return bool(self.observers)

    @contextmanager
    def files(self, name: str) -> Iterator[Receive | None]:
        """Open the files, which stay only if the run ends well; yields what takes the observers' events."""
        if not self:
            yield None
            return
        with ExitStack() as stack:
            if self.timeline is not None:
                draft = stack.enter_context(replace_file(self.timeline))
                self.writers[Timeline.NAME] = TimelineWriter(stack.enter_context(draft.open("wb")), name)
            if self.pipeline is not None:
                draft = stack.enter_context(replace_file(self.pipeline))
                self.writers[PipelineLog.NAME] = KanataWriter(stack.enter_context(draft.open("w", encoding="utf-8")))
            yield lambda observer, code, events: self.writers[observer].receive(code, events)

    def finish(self, result: Result) -> None:
        """Write what is known only at the end, and note what was written."""
        for observer, path in ((Timeline, self.timeline), (PipelineLog, self.pipeline)):
            if path is None:
                continue
            if observer is Timeline:
                self.writers[Timeline.NAME].finish(result)
            dropped = sum(launch["report"]["dropped"] for launch in result.observed[observer.NAME])
            missing = f"; {dropped:,} events had no room: ask for fewer warps" if dropped else ""
            self.notes.append(f"wrote {path}{missing}")


def parse_cycles(text: str | None, length: int) -> tuple[int, int]:
    """The first and the last cycle of ``1000:3000``; without a text the first so many."""
    if text is None:
        return 0, length - 1
    first, colon, last = text.partition(":")
    if not colon or not all(part.isdecimal() or not part for part in (first, last)) or not (first or last):
        raise WarploomError(f"--cycles {text}: write the first and the last, such as 1000:3000")
    begin = int(first or 0)
    end = int(last) if last else begin + length - 1
    if end < begin:
        raise WarploomError(f"--cycles {text}: the last comes before the first")
    return begin, end


def parse_warps(text: str, limit: int) -> list[int]:
    """The warps of ``0,3,8-11``."""
    warps: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        last = last if dash else first
        if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last) < limit):
            raise WarploomError(f"--warps {text}: write numbers below {limit} and ranges of them, such as 0,3,8-11")
        warps += range(int(first), int(last) + 1)
    return warps
