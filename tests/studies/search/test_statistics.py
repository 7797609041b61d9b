"""Means of replicates and their intervals, against SciPy."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from warploom.studies.search.statistics import estimate, t_quantile
from warploom.studies.sweep.summary import MEASURES, summarise

pytestmark = pytest.mark.unit


@settings(deadline=None)
@given(st.integers(1, 200), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_the_quantile_is_students(freedom: int, confidence: float) -> None:
    assert t_quantile(confidence, freedom) == pytest.approx(stats.t.ppf((1 + confidence) / 2, freedom), rel=1e-9)


def test_one_measurement_has_no_interval() -> None:
    assert estimate([7.0]).mean == 7 and math.isnan(estimate([7.0]).half_width)
    assert estimate([7.0, 7.0, 7.0]).half_width == 0


def test_the_summary_is_over_seeds_alone() -> None:
    rows = [
        ({"workload": name, "design": "rfv", "seed": seed}, dict.fromkeys(MEASURES, float(seed) if name == "bfs" else 1.0))
        for name in ("bfs", "lib")
        for seed in (1, 2, 6)
    ]
    first, second = summarise(rows)
    low, high = stats.t.interval(0.95, 2, loc=3, scale=stats.sem([1, 2, 6]))
    assert (first["workload"], first["runs"], first["cycles"]) == ("bfs", 3, 3.0)
    assert first["cycles ±"] == pytest.approx((high - low) / 2)
    assert "seed" not in first and (second["cycles"], second["cycles ±"]) == (1.0, 0.0)
