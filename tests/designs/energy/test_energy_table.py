"""The technology table of Hopper says what the recorded windows of the power counter say."""

from __future__ import annotations

from statistics import fmean

import pytest

from warploom.designs.energy import load_technology
from warploom.studies.validate.recorded import folder_of, read_table

pytestmark = pytest.mark.oracle

DAYS = ("2026-11-16", "2026-11-18")


def _joules(more: str, less: str, accesses: int, day: str) -> float:
    _, rows = read_table(folder_of("h200") / "energy.tsv")
    rows = [row for row in rows if row["date"] == day]
    watts = {name: fmean(float(row["watts"]) for row in rows if row["loop"] == name) for name in (more, less)}
    rate = fmean(float(row["instructions_per_second"]) for row in rows if row["loop"] in (more, less))
    return (watts[more] - watts[less]) / rate / accesses


@pytest.mark.parametrize("day", DAYS)
@pytest.mark.parametrize(
    ("more", "less", "accesses"),
    [("zero_1_read", "zero_0_reads", 1), ("zero_2_reads", "zero_0_reads", 2), ("random_2_reads", "random_reuse", 2)],
)
def test_three_ways_to_measure_a_read_agree_with_the_table(more: str, less: str, accesses: int, day: str) -> None:
    assert load_technology("hopper").access("read", 1e-9) == pytest.approx(_joules(more, less, accesses, day), rel=0.03)


@pytest.mark.parametrize("day", DAYS)
def test_a_write_agrees_with_the_table(day: str) -> None:
    measured = _joules("random_reuse", "random_reuse_no_write", 1, day)
    assert load_technology("hopper").access("write", 1e-9) == pytest.approx(measured, rel=0.02)


def test_the_reuse_cache_agrees_with_the_table() -> None:
    cache = load_technology("hopper").reuse_cache
    assert 8 * cache.read == pytest.approx(_joules("zero_2_reuse", "zero_0_reads", 2, DAYS[1]), rel=0.05)
    assert 8 * cache.write == pytest.approx(_joules("zero_2_filled", "zero_2_changing", 2, DAYS[1]), abs=0.3e-12)


def test_nothing_is_borrowed_from_another_node() -> None:
    assert load_technology("hopper").borrowed == ()
