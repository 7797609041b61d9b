"""The two-level scheduler where its second level has nothing to do."""

from __future__ import annotations

import pytest

from warploom.chip.machines import load_machine
from warploom.runs.execution import Executions
from warploom.runs.simulate import simulate

MACHINE = load_machine("rfc")


@pytest.mark.parametrize("name", ["pathfinder", "parallax"])  # barriers; textures and divergent loops
def test_with_every_warp_active_it_is_the_single_level_scheduler_to_the_cycle(name: str) -> None:
    executions = Executions()
    design = f"scheduler=two-level(active={MACHINE.sm.warps_per_sm}, inner=round-robin)"
    single, two = (simulate(name, each, MACHINE, size="tiny", executions=executions) for each in ("scheduler=lrr", design))
    assert two.counters["suspensions"] > 0  # warps leave for slow loads, and are back as soon as these have arrived
    assert two.cycles == single.cycles
