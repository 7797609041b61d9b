"""What a run is expected to cost, and what one costs that the rule was not made from."""

from __future__ import annotations

import json
import time

import pytest

from warploom.chip.machines import load_machine
from warploom.cli.app import run_command
from warploom.designs import parse_design
from warploom.emulator.trace.store import COLUMNS
from warploom.programs.named import origin_named
from warploom.runs import cost
from warploom.runs.cost import cost_of
from warploom.runs.execution import Executions
from warploom.runs.run import run
from warploom.runs.spec import RunSpec

OTHER_PROCESSORS = 4  # times slower or faster than the one of the rule


def test_a_thousand_million_warp_instructions() -> None:
    expected = cost_of(10**9)
    assert expected.long
    assert expected.sentence == (
        "1,000,000,000 warp instructions: to time them takes about 3 min to 37 min on one core, and 10 GB to 34 GB of traces"
    )
    assert not cost_of(10**6).long


@pytest.mark.compiled
@pytest.mark.parametrize("program", ["montecarlo", "srad"])
def test_a_run_that_the_rule_does_not_know_keeps_to_it(program: str) -> None:
    machine = load_machine("gtx480")
    spec = RunSpec(origin_named(program), parse_design(machine.design), machine, "small").settled
    executions = Executions()
    launches = executions.of(spec).launches
    run(spec, executions=executions)  # compiles what is not compiled yet
    began = time.process_time()
    run(spec, executions=executions)
    took = time.process_time() - began
    expected = cost_of(sum(launch.stats.warp_instructions for launch in launches))
    held = sum(getattr(launch.trace, name).nbytes for launch in launches for name in COLUMNS)
    assert expected.trace_bytes[0] * 0.9 <= held <= expected.trace_bytes[1] * 1.1
    # A short run costs its start besides; that the start is bounded too, and that a long one is not quicker than the rule.
    assert took <= OTHER_PROCESSORS * expected.seconds[1]
    assert took >= (expected.seconds[0] - cost.START_SECONDS) / OTHER_PROCESSORS


@pytest.mark.compiled
def test_what_takes_long_is_said_before_it_begins(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["run", "vectoradd", "--size", "tiny", "--sms", "1"]
    assert run_command(words) == 0
    assert "to time them takes about" not in capsys.readouterr().err
    monkeypatch.setattr(cost, "LONG_SECONDS", 0.5)
    assert run_command(words) == 0
    assert "vectoradd: 13,168 warp instructions: to time them takes about" in capsys.readouterr().err


@pytest.mark.compiled
def test_executing_alone_says_what_timing_costs(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "vectoradd", "--size", "tiny", "--emulate-only"]
    assert run_command(words) == 0
    assert "13,168 warp instructions: to time them takes about" in capsys.readouterr().out
    assert run_command([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cost"] == json.loads(json.dumps(cost_of(13168).to_dict()))
