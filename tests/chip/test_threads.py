"""Threads inside a run: counters, samples, launches and what observers saw are equal to the last bit for any number of them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from warploom.base.cores import use_threads
from warploom.chip import simulate as core
from warploom.jit.team import Crew
from warploom.runs.simulate import simulate

CASES = [
    ("hotspot", "baseline", "gtx480", False, ()),
    ("bfs", "rfv", "gtx480", True, ()),
    ("matrixmul", "ltrf", "gtx480", False, ("timeline", "hot-spots")),
    ("reduction", "modern", "hopper", False, ()),
    ("vectoradd", "modern", "hopper", True, ()),
]
WIDE = [
    (workload, design, machine, check, ())
    for workload in ("hotspot", "bfs", "matrixmul", "reduction", "sgemm", "histogram")
    for design, machine in (("baseline", "gtx480"), ("rfc", "gtx480"), ("warped-compression", "gtx480"), ("modern", "hopper"))
    for check in (False, True)
]


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Share also the smallest launches; the helpers that came to each, which are waited for so that there is work left."""
    came: list[int] = []
    begin = Crew.call

    def call(crew: Crew, members: int, work: Callable[[], object]) -> None:
        begin(crew, members, work)
        while crew.record[0].joined[0] < members:
            time.sleep(0.001)
        came.append(members)

    monkeypatch.setattr(Crew, "call", call)
    monkeypatch.setattr(core, "WORTH_SHARING", 0)
    yield came
    use_threads(1)


def _all_of(workload: str, design: str, machine: str, check: bool, observers: tuple[str, ...]) -> dict[str, Any]:
    result = simulate(workload, design, machine, size="tiny", check=check, observers=observers).to_dict()
    for name in ("wall_seconds", "compile_seconds"):
        result.pop(name)
    return json.loads(json.dumps(result, default=str))


def _agree(case: tuple[Any, ...], shared: list[int]) -> None:
    one = _all_of(*case)
    for threads in (2, 4):
        use_threads(threads)
        assert _all_of(*case) == one, threads
        assert shared[-1] == threads - 1, "nobody helped"


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case[:3])))
def test_one_two_and_four_threads_agree(case: tuple[Any, ...], shared: list[int]) -> None:
    _agree(case, shared)


@pytest.mark.slow
@pytest.mark.parametrize("case", WIDE, ids=lambda case: "-".join(map(str, case[:4])))
def test_threads_agree_widely(case: tuple[Any, ...], shared: list[int]) -> None:
    _agree(case, shared)


def test_a_small_launch_is_not_shared() -> None:
    use_threads(2)
    try:
        simulation = core.Simulation(*_small())
        assert simulation._helpers(_Launch(core.WORTH_SHARING - 1)) == 0  # type: ignore[arg-type]
        assert simulation._helpers(_Launch(core.WORTH_SHARING)) == 1  # type: ignore[arg-type]
    finally:
        use_threads(1)


class _Launch:
    def __init__(self, warp_instructions: int) -> None:
        self.warp_instructions = warp_instructions


def _small() -> tuple[Any, Any]:
    from warploom.chip.machines import load_machine
    from warploom.chip.sm import baseline_policies

    return baseline_policies(), load_machine("gtx480")
