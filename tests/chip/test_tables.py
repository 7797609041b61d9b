"""Tables of code are made once, and chips that share them do what chips with their own do."""

from __future__ import annotations

import pytest

from support.executed import traced
from warploom.chip.machines import load_machine
from warploom.chip.simulate import Simulation
from warploom.designs import parse_design
from warploom.programs.named import program_named
from warploom.runs.execution import Executions


@pytest.mark.parametrize(("machine", "design"), [("gtx480", "baseline"), ("hopper", "modern")])
def test_chips_that_share_tables(machine: str, design: str) -> None:
    chip, point = load_machine(machine), parse_design(design)
    executed = traced(program_named("reduction", chip.code), point, chip, "tiny", Executions())
    (first, trace), (second, _) = list(executed.traced())[:2]
    assert first.code is second.code

    def timed(tables: object = None) -> Simulation:
        simulation = Simulation(point.policies, chip, tables=tables)
        simulation.launch(first.code, trace)
        return simulation

    alone = timed()
    made = alone.tables.of(first.code)
    before = [table.tobytes() for table in made]
    sharing = timed(alone.tables)
    assert all(now is known for now, known in zip(sharing.tables.of(first.code), made, strict=True))
    assert [table.tobytes() for table in made] == before  # no launch changes them
    assert sharing.result() == alone.result() == timed().result()
