"""The register file cache paper's own arithmetic: value use, energy, chip, and that every published number is measured."""

from __future__ import annotations

import pytest

from support.timing_kernels import Kernel, add, exit_, op, store
from warploom.chip.machines import load_machine
from warploom.designs.energy import load_technology
from warploom.papers.rfc import figures as rfc
from warploom.papers.rfc.energy import Distances, chip_estimate, least_energy, relative_energy
from warploom.papers.rfc.value_usage import value_usage
from warploom.runs.keys import keys_of
from warploom.studies.reproduce.facts import load_facts

NOTHING_CACHED = {
    "mrf_reads_without_cache": 200,
    "mrf_writes_without_cache": 100,
    "mrf_reads": 200,
    "mrf_writes": 100,
    "forwarded_reads": 0,
    "rfc_reads": 0,
    "rfc_writes": 0,
    "rfc_hits": 0,
    "rfc_results": 0,
}


def test_values_are_counted_by_thread() -> None:
    """Half of the lanes skip the addition: for them R1 is read once instead of twice, R2 never, and R3 is not made."""
    body = [op("mov", 1), op("mov", 2), add(3, 1, 2), store(1, 3), op("mov", 4), exit_()]
    kernel = Kernel([body], 8, mask=lambda warp, pc, n: 0xFFFF if pc == 2 else 0xFFFFFFFF)
    usage = value_usage(*kernel.launch())
    assert usage.reads == (32 + 16, 16 + 16 + 16, 16, 0)  # R4, R2 of half; R2, R3 and R1 of a half each; R1 of the other
    assert usage.lifetimes == (16 + 16, 16, 0, 0)
    assert usage.values == 3 * 32 + 16


def test_a_cache_that_nothing_uses_costs_nothing() -> None:
    technology = load_technology("rfc")
    for distances in rfc.WIRES:
        assert relative_energy(NOTHING_CACHED, technology, 8, 6, distances) == pytest.approx(1)


def test_the_bound_is_what_all_hits_cost() -> None:
    technology = load_technology("rfc")
    hits = NOTHING_CACHED | {
        "mrf_reads": 0,
        "mrf_writes": 0,
        "rfc_reads": 200,
        "rfc_writes": 100,
        "rfc_hits": 200,
        "rfc_results": 100,
    }
    expected = (200 * 2.2 + 100 * 6.7) / (200 * 8 + 100 * 11)
    assert relative_energy(hits, technology, 8, 6, Distances()) == pytest.approx(expected)
    assert least_energy(hits, technology, 8, 6) == pytest.approx(expected)
    assert relative_energy(hits, technology, 8, 6, Distances(1, 0.2)) < expected  # wires gain more than accesses do


@pytest.mark.parametrize(("reads_avoided", "saved"), [(0.5, 0.27), (0.7, 0.36)])
def test_the_papers_energy_takes_more_reads_than_it_says(reads_avoided: float, saved: float) -> None:
    """What the row of reads avoided says of 50% and 70% of reads, both with 59% of writes and 1.8 reads a write."""
    technology = load_technology("rfc")
    reads, writes, hits, written = 179.3, 100.0, 179.3 * reads_avoided, 100 * (1 - 0.59)
    counters = {
        "mrf_reads_without_cache": reads,
        "mrf_writes_without_cache": writes,
        "mrf_reads": reads - hits,
        "mrf_writes": written,
        "forwarded_reads": 0,
        "rfc_reads": hits + written,
        "rfc_writes": writes,
        "rfc_hits": hits,
        "rfc_results": writes,
    }
    assert least_energy(counters, technology, 8, 6) == pytest.approx(1 - 0.58, abs=0.001)
    assert 1 - relative_energy(counters, technology, 8, 6, Distances(1, 0.2)) == pytest.approx(saved, abs=0.005)


def test_the_chip_estimate_is_the_papers() -> None:
    chip = chip_estimate(0.36)
    assert chip.watts == pytest.approx(3.3, abs=0.05)
    assert 100 * chip.sm_share == pytest.approx(5.4, abs=0.05)
    assert 100 * chip.dynamic_share == pytest.approx(3.8, abs=0.05)


def test_a_program_stands_for_the_traces_of_its_kind() -> None:
    """155 shaders beside 55 compute traces (19 video, 11 simulation, 7 image, 18 HPC): what all shaders do weighs 155 of 210."""
    shaders = {name: float(row["category"] == "shader") for name, row in rfc.PAPER.workloads.items()}
    assert rfc._over_traces(shaders) == pytest.approx(155 / 210)
    hpc = {name: float(row["category"] == "hpc") for name, row in rfc.PAPER.workloads.items()}
    assert rfc._by_group(hpc) == {"compute": pytest.approx(18 / 55), "shaders": 0}


def test_code_has_the_registers_that_let_every_warp_of_the_papers_machine_be_resident() -> None:
    sm = load_machine("rfc").sm
    limit = f"max_registers={sm.registers_per_sm // (32 * sm.warps_per_sm)}"
    assert all(limit in run.design.name for figure in rfc.FIGURES for run in figure.runs("tiny"))


def test_every_run_that_the_figures_name_can_be_made() -> None:
    runs = [run for figure in rfc.FIGURES for run in figure.runs("tiny") if run.program.name == "fft"]
    assert 20 < len(set(keys_of(runs))) < 45


def test_the_tables_and_figures_that_the_paper_has() -> None:
    places = {figure.place for figure in rfc.FIGURES}
    assert places == {f"figure {n}" for n in (2, 6, 7, 8, 9, 10, 11, 12)} | {f"table {n}" for n in (2, 3, 4, 5)}
    table = next(figure for figure in rfc.FIGURES if figure.place == "table 2").evaluate({}, "tiny")
    assert table.facts["rfc-bytes"] == next(fact.value for fact in load_facts("rfc") if fact.id == "rfc-bytes")
