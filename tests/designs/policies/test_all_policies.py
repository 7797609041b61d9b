"""Whatever the policies and their parameters: programs run to their end with right output, and every account adds up.

Every registered policy takes part in one combination at least. A combination is compiled once; its parameters, which are drawn
anew for each example, cost nothing more. What is drawn is the same in every run.
"""

from __future__ import annotations

import functools
from collections import Counter
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from support.drawn_designs import POLICIES, parameters_of
from support.executed import traced
from warploom.base.errors import SimulationError, WarploomError
from warploom.chip.machines import load_machine
from warploom.chip.sm import CHOICES, Policies, baseline_policies, make_policy
from warploom.compiler.code.classes import OpClass, op_class
from warploom.compiler.code.instruction import Operation
from warploom.designs import Design
from warploom.programs.program import workload_program
from warploom.runs.execution import Executions
from warploom.runs.result import Result
from warploom.runs.simulate import simulate

MACHINE = load_machine("gtx480").scaled(1)  # so that tiny grids fill it
PROGRAMS = ("reduction", "pathfinder")  # barriers and shared memory; divergence and loops
Kinds = tuple[Any, ...]  # a policy class for each choice


def combinations() -> list[Kinds]:
    """Few combinations that are not refused as such and in which every policy takes part."""
    shuffled = {choice: Random(choice).sample(kinds, len(kinds)) for choice, kinds in POLICIES.items()}
    missing = {choice: list(kinds) for choice, kinds in shuffled.items()}
    found: list[Kinds] = []
    for kind in [kind for choice in CHOICES for kind in shuffled[choice]]:
        if kind not in missing[kind.CHOICE]:
            continue
        others = (missing[choice] + shuffled[choice] for choice in CHOICES)
        candidates = [[kind] if choice == kind.CHOICE else kinds for choice, kinds in zip(CHOICES, others, strict=True)]
        chosen = _first_allowed(candidates)
        for one in chosen:
            if one in missing[one.CHOICE]:
                missing[one.CHOICE].remove(one)
        found.append(chosen)
    return found


def _first_allowed(candidates: list[list[Any]]) -> Kinds:
    """A policy for each choice: the first of the candidates' combinations that is not refused."""
    for chosen in product(*candidates):
        if _allowed({kind.CHOICE: make_policy(kind.CHOICE, kind.NAME) for kind in chosen}):
            return chosen
    raise AssertionError(f"no combination has {[kinds[0].NAME for kinds in candidates if len(kinds) == 1]}")


def _allowed(policies: dict[str, Any]) -> Design | None:
    try:
        return Design("drawn", Policies(**policies))
    except WarploomError as refused:
        assert "cannot be combined" in str(refused)
        return None


BASELINE = Design("baseline", baseline_policies())
COMBINATIONS = combinations()


@functools.cache
def executions(program: str) -> Executions:
    """Designs that run the same code share its execution."""
    return Executions()


def run(program: str, design: Design) -> Result:
    return simulate(workload_program(program), design, MACHINE, size="tiny", check=True, executions=executions(program))


@functools.cache
def baseline(program: str) -> Result:
    return run(program, BASELINE)


def test_every_policy_takes_part() -> None:
    taking_part = {kind for kinds in COMBINATIONS for kind in kinds}
    assert taking_part == {kind for kinds in POLICIES.values() for kind in kinds}
    assert len(COMBINATIONS) <= 9, "each costs seconds to compile"


def instructions(program: str, design: Design) -> Counter[str]:
    """How often the warps of a program execute each operation."""
    execution = traced(workload_program(program), design, MACHINE, "tiny", executions(program), check=True)
    counted: Counter[str] = Counter()
    for launch, trace in execution.traced():
        names = [instruction.op.name for instruction in launch.code.instructions()]
        for pc, times in enumerate(np.bincount(trace.pc, minlength=len(names))):
            counted[names[pc]] += int(times)
    return +counted


def accounts_add_up(program: str, design: Design) -> None:
    """What every design must keep to, whatever its policies."""
    result, plain = run(program, design), baseline(program)
    c = result.counters
    assert result.verified and result.checked
    added = instructions(program, design)
    added.subtract(instructions(program, BASELINE))
    moved = c.get("compaction_moves", 0)
    assert added.pop("mov", 0) == moved
    metadata = {name for name in added if op_class(Operation(name)) is OpClass.METADATA}
    issued = set(added) & {"acquire", "release"}
    assert {name for name, times in added.items() if times} <= metadata | issued
    assert c["metadata"] == sum(added[name] for name in metadata)
    assert result.warp_instructions == plain.warp_instructions + moved + sum(added[name] for name in issued)
    assert c["ctas"] == plain.counters["ctas"]
    assert c["on_cycles"] + c["drowsy_cycles"] + c["off_cycles"] == c["entry_cycles"]
    assert 0 < c["live_fraction_of_file"] <= c["allocated_fraction"] <= 1
    assert sum(term.joules for term in result.energy_terms) * 1e12 == pytest.approx(result.energy_pj["total"])
    assert all(term.joules >= 0 for term in result.energy_terms)
    assert sum(launch.cycles for launch in result.launches) == result.cycles > 0


@pytest.mark.parametrize("kinds", COMBINATIONS, ids=lambda kinds: " ".join(kind.NAME for kind in kinds))
@settings(
    max_examples=6,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate],  # to shrink a failure would take hundreds of runs
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_any_parameters_of_any_policies(kinds: Kinds, data: st.DataObject) -> None:
    drawn = {kind.CHOICE: make_policy(kind.CHOICE, kind.NAME, **data.draw(parameters_of(kind))) for kind in kinds}
    design = _allowed(drawn)
    assume(design is not None)
    assert design is not None
    program = data.draw(st.sampled_from(PROGRAMS))
    try:
        run(program, design)
    except SimulationError as error:  # a file too small for one CTA, and nowhere to spill to
        assert "deadlock" in str(error) and getattr(design.policies.allocation, "spill", True) is False
        return
    except WarploomError as error:
        assert "registers of a CTA" in str(error) and "and the file holds" in str(error)
        return
    accounts_add_up(program, design)
