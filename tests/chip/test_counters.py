"""Every counter of a result, a policy and an observer has a sentence, and every sentence a counter."""

from __future__ import annotations

from typing import Any

import pytest

from warploom.base.errors import WarploomError
from warploom.chip.counters import known_counters
from warploom.chip.machines import load_machine
from warploom.chip.memory.counters import MEMORY_COUNTERS
from warploom.chip.observers.registry import make_observers, observer_kinds
from warploom.chip.result import CORE_COUNTERS, TimingResult
from warploom.chip.run_chip import DONE
from warploom.chip.simulate import Simulation
from warploom.chip.sm.choices import CHOICES
from warploom.chip.sm.registry import policies_of
from warploom.designs import Design, named_designs, parse_design
from warploom.programs.named import origin_named, program_named
from warploom.runs.execution import run_program
from warploom.runs.spec import RunSpec

MACHINE = load_machine("gtx480")
OF_THE_CHIP = CORE_COUNTERS.keys() | MEMORY_COUNTERS.keys()
POLICIES = [f"{choice}={name}" for choice in CHOICES for name in policies_of(choice)]
WITH_ALL = {"hierarchy=rfc": "(characterise=true)"}  # parameters with which a policy counts all that it can


def design_with(policy: str) -> Design:
    """A policy alone, or in a named design where it does not go alone."""
    try:
        return parse_design(policy + WITH_ALL.get(policy, ""))
    except WarploomError:
        choice, _, name = policy.partition("=")
        named = (parse_design(name) for name in named_designs())
        return next(one for one in named if name == type(getattr(one.policies, choice)).NAME)


def result_of(design: Design, observers: tuple[Any, ...] = ()) -> TimingResult:
    """What is reported of a launch whose time nobody has simulated: all that is counted, mostly as 0."""
    spec = RunSpec(origin_named("vectoradd"), design, MACHINE, size="tiny", code="ptx").settled
    (launch,) = run_program(program_named("vectoradd", "ptx"), spec, record=True).launches
    simulation = Simulation(design.policies, MACHINE, observers=observers)

    def reset(context: Any, sms: Any, ports: Any, chip: Any) -> None:
        sms["state_entries"][:, 0] = MACHINE.warp_registers
        sms["entries_used"] = MACHINE.warp_registers

    simulation.reset_chip, simulation.run_chip = reset, lambda *_: DONE
    simulation.launch(launch.code, launch.trace)
    return simulation.result()


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_describes_what_it_counts_and_nothing_else(policy: str) -> None:
    design = design_with(policy)
    described = set().union(*(getattr(type(each), "COUNTERS", {}) for each in design.policies))
    assert result_of(design).counters.keys() == described | OF_THE_CHIP


@pytest.mark.parametrize("observer", [kind.NAME for kind in observer_kinds()])
def test_an_observer_describes_what_it_counts(observer: str) -> None:
    (kind,) = (one for one in observer_kinds() if observer == one.NAME)
    ((seen,),) = result_of(parse_design("baseline"), make_observers([observer])).observed.values()
    report = seen["report"] if isinstance(seen["report"], list) else [seen["report"]]
    found = set().union(*report)
    assert kind.COUNTERS.keys() <= found
    assert found - kind.COUNTERS.keys() <= ABOUT_AN_INSTRUCTION


ABOUT_AN_INSTRUCTION = {"pc", "line", "block", "loops", "instruction", "live", "source"}


def test_sentences_are_sentences() -> None:
    for counter in known_counters():
        assert counter.unit and counter.meaning[0] in "`ABCDEFGHIJKLMNOPQRSTUVWXYZ" and counter.meaning.endswith("."), counter
        assert counter.counted_by


def test_policies_that_count_the_same_are_named_together() -> None:
    (renames,) = (counter for counter in known_counters() if counter.name == "renames")
    assert renames.counted_by == ("allocation=hardware-renaming", "allocation=rfv")
