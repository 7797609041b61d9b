"""The pipeline log: it agrees with the counters, and what is written of it obeys the grammar of Konata's format."""

from __future__ import annotations

import io
import itertools

import pytest

from support.watched_run import code_of, events_of
from warploom.chip.sm.observing import STAGES
from warploom.runs.result import Result
from warploom.show.kanata import STAGE_NAMES, WAITING, KanataWriter


class Instruction:
    """What a reader of the format knows of one instruction."""

    def __init__(self, thread: int, begun: int) -> None:
        self.thread, self.begun = thread, begun
        self.label = ""
        self.open: dict[int, tuple[str, int]] = {}  # by lane: stage and its first cycle
        self.stages: list[tuple[int, str, int, int]] = []  # lane, stage, first cycle, the cycle after the last
        self.retired: int | None = None


def parse_kanata(text: str) -> dict[int, Instruction]:
    """Read a log by the rules of Kanata 0004; whatever breaks them fails."""
    lines = text.splitlines()
    assert lines[0] == "Kanata\t0004" and lines[1].startswith("C=\t")
    cycle, known = 0, {}
    for line in lines[1:]:
        kind, *fields = line.split("\t")
        if kind == "C=":
            cycle = int(fields[0])
        elif kind == "C":
            assert int(fields[0]) > 0
            cycle += int(fields[0])
        elif kind == "I":
            number, _, thread = map(int, fields)
            assert number == len(known)
            known[number] = Instruction(thread, cycle)
        elif kind == "L":
            known[int(fields[0])].label = fields[2]
            assert fields[1] == "0"
        elif kind == "S":
            instruction, lane = known[int(fields[0])], int(fields[1])
            assert lane not in instruction.open and instruction.retired is None
            instruction.open[lane] = fields[2], cycle
        elif kind == "E":
            instruction = known[int(fields[0])]
            stage, begin = instruction.open.pop(int(fields[1]))
            assert stage == fields[2]
            instruction.stages.append((int(fields[1]), stage, begin, cycle))
        elif kind == "R":
            instruction = known[int(fields[0])]
            assert not instruction.open and instruction.retired is None and fields[2] == "0"
            instruction.retired = cycle
        else:
            pytest.fail(f"no such line: {line}")
    return known


@pytest.fixture(scope="module")
def log(runs: tuple[Result, Result]) -> dict[int, Instruction]:
    _, watched = runs
    out = io.StringIO()
    writer = KanataWriter(out)
    events = events_of(watched, "pipeline-log")
    half = len(events) // 2
    for part in (events[:half], events[half:]):  # as they come
        writer.receive(code_of(watched), part)
    return parse_kanata(out.getvalue())


def test_every_instruction_of_the_watched_sm_is_there(runs: tuple[Result, Result], log: dict[int, Instruction]) -> None:
    _, watched = runs
    issued = [event for event in events_of(watched, "pipeline-log") if event[2] == "issue"]
    assert {event[0] for event in issued} == {0}
    ran = [instruction for instruction in log.values() if instruction.retired is not None]
    assert len(ran) == len(issued)
    assert 0 < len(ran) < watched.warp_instructions  # the other SM has the rest
    assert all(launch["report"]["dropped"] == 0 for launch in watched.observed["pipeline-log"])


def test_stages_follow_each_other_without_gaps(log: dict[int, Instruction]) -> None:
    order = [WAITING, *STAGE_NAMES.values()]
    for instruction in log.values():
        work = [stage for stage in instruction.stages if stage[0] == 0]
        assert [order.index(stage[1]) for stage in work] == sorted(order.index(stage[1]) for stage in work)
        assert all(before[3] == after[2] for before, after in itertools.pairwise(work))
        if instruction.retired is not None:
            assert work[-1][3] == instruction.retired and "Is" in [stage[1] for stage in work]
        assert instruction.label.startswith("SM0 W")


def test_its_cycles_agree_with_the_counters(runs: tuple[Result, Result], log: dict[int, Instruction]) -> None:
    _, watched = runs
    assert max(instruction.retired or 0 for instruction in log.values()) < watched.cycles
    waited: dict[str, int] = {}
    for instruction in log.values():
        for lane, stage, begin, end in instruction.stages:
            if lane == 1:
                waited[stage] = waited.get(stage, 0) + end - begin
    rows = [row for launch in watched.observed["hot-spots"] for row in launch["report"] if row["pc"] >= 0]
    everything: dict[str, int] = {}
    for row in rows:
        for reason, cycles in row["waits"].items():
            everything[reason] = everything.get(reason, 0) + cycles
    spans = [span for span in events_of(watched, "timeline") if span[1] == "warp"]
    timeline: dict[str, int] = {}
    for _, _, begin, end, _, what, pc in spans:
        if pc >= 0 and what != "issuing":
            timeline[what] = timeline.get(what, 0) + end - begin
    assert waited == timeline  # two observers, one truth
    assert waited and all(0 < cycles <= everything[reason] for reason, cycles in waited.items())


def test_a_window_cuts_instructions_without_breaking_the_grammar(runs: tuple[Result, Result]) -> None:
    _, watched = runs
    out = io.StringIO()
    window = [event for event in events_of(watched, "pipeline-log") if 500 <= event[1] < 700]
    KanataWriter(out).receive(code_of(watched), window)
    cut = parse_kanata(out.getvalue())
    assert cut and all(500 <= instruction.begun < 700 for instruction in cut.values())
    assert {event[2] for event in window} <= {*STAGES, "wait", "exit"}
