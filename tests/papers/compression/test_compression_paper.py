"""The figures and tables of the compression paper, evaluated on one small program that stands for all of its set."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from warploom.chip.machines import load_machine
from warploom.designs import parse_design
from warploom.designs.energy import Account, Technology
from warploom.papers.compression import figures as compression
from warploom.programs.program import workload_program
from warploom.runs.execution import Executions
from warploom.runs.savings import against
from warploom.runs.simulate import simulate
from warploom.studies.reproduce.experiment import Results
from warploom.studies.reproduce.facts import load_facts

SIZE = "tiny"


@pytest.fixture(scope="module")
def results() -> Results:
    """Results of every run that the paper's figures need: those of one program, under the design or without it."""
    program, executions = workload_program("pathfinder"), Executions()
    machine = load_machine("compression").scaled(compression.GRID.sms[SIZE])
    made = {
        name: simulate(program, name, machine, size=SIZE, check=True, executions=executions)
        for name in ("baseline", "compression")
    }
    made["compression"] = against(made["compression"], made["baseline"], parse_design("compression"))
    runs = {run for figure in compression.FIGURES for run in figure.runs(SIZE)}
    return {run: made["compression" if "compression" in run.design.name else "baseline"] for run in runs}


def test_every_published_number_is_measured_once(results: Results) -> None:
    measured: dict[str, float] = {}
    for figure in compression.FIGURES:
        outcome = figure.evaluate({run: results[run] for run in figure.runs(SIZE)}, SIZE)
        assert outcome.rows, figure.place
        assert not set(outcome.facts) & set(measured)
        assert {*outcome.reasons, *outcome.experiments} <= {fact.id for fact in load_facts("compression")}
        measured |= outcome.facts
        if outcome.chart is not None:
            columns = {outcome.chart.x, outcome.chart.y, outcome.chart.series, outcome.chart.facet} - {""}
            assert all(columns <= set(row) for row in outcome.rows), figure.place
    assert set(measured) == {fact.id for fact in load_facts("compression")}
    assert all(math.isfinite(value) for value in measured.values())


def test_a_stored_run_is_accounted_for_again_without_a_simulation(results: Results) -> None:
    for design in (compression.BASE, compression.DESIGN):
        run = compression.GRID.run("lib", design, SIZE)
        again = compression._accounts(results, SIZE, design)["lib"]
        assert again.picojoules() == pytest.approx(results[run].energy_pj)

    def changed(change: Callable[[Technology], Technology]) -> Account:
        return compression._accounts(results, SIZE, design, change)["lib"]

    dearer = changed(lambda table: compression._costlier_units(2.0, table))
    units = sum(term.joules for term in again.added if term.part == "dynamic")
    assert dearer.total - again.total == pytest.approx(units)
    access = sum(term.joules for term in again.register_file if term.part == "dynamic")
    dearer = changed(lambda table: compression._costlier_banks(2.5, table))
    assert dearer.total - again.total == pytest.approx(1.5 * access)
    wires = next(term.joules for term in again.register_file if term.what == "register file wires")
    quiet = changed(lambda table: compression._wire_activity(0.0, table))
    assert again.total - quiet.total == pytest.approx(wires)


def test_savings_stand_beside_the_counters(results: Results) -> None:
    """What `run --json` prints for the design, and what the figure makes of it, are the same numbers."""
    run = compression.GRID.run("lib", compression.DESIGN, SIZE)
    printed = results[run]
    for name in ("compressed_writes", "uncompressed_writes", "dummy_movs", "compressor_busy", "decompressor_busy"):
        assert name in printed.counters
    assert len(printed.counters["bank_gated_cycles"]) == 32 and printed.counters["bank_wakeups"] > 0
    assert set(printed.counters["compression_ratio"]) == {"divergent", "non_divergent"}
    facts = compression.energy(results, SIZE).facts
    assert facts["dynamic-saved"] == pytest.approx(100 * printed.versus["dynamic_saving"])
    assert facts["leakage-saved"] == pytest.approx(100 * printed.versus["leakage_saving"])
    assert facts["total-saved"] == pytest.approx(100 * printed.versus["total_saving"])
    assert printed.versus["slowdown"] > -0.5
