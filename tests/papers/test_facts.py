"""The published numbers load, are unique, and are judged as a reader would judge them."""

import pytest

from warploom.library import paper_names
from warploom.papers.facts import Fact, load_facts


@pytest.mark.parametrize("paper", paper_names())
def test_every_fact_has_an_id_of_its_own_a_unit_and_a_place(paper: str) -> None:
    facts = load_facts(paper)
    assert len({fact.id for fact in facts}) == len(facts) > 10
    for fact in facts:
        assert fact.unit and fact.meaning in ("value", "at-most", "at-least")
        assert fact.place.split()[0] in ("figure", "table", "section", "abstract")


@pytest.mark.parametrize(
    ("value", "unit", "meaning", "ours", "verdict"),
    [
        (50, "%", "value", 54, "reproduced"),
        (50, "%", "value", 30, "same direction"),
        (50, "%", "value", -3, "differs"),
        (0.58, "%", "value", 2.0, "reproduced"),  # within two points of a small number
        (10, "%", "at-most", 3, "reproduced"),
        (10, "%", "at-most", 30, "same direction"),
        (0.87, "of baseline", "value", 0.95, "same direction"),
        (0.87, "of baseline", "value", 1.2, "differs"),
        (4, "benchmarks", "value", 4, "reproduced"),
    ],
)
def test_verdict(value: float, unit: str, meaning: str, ours: float, verdict: str) -> None:
    fact = Fact("paper", "id", "what", value, unit, "figure 1", meaning)
    assert fact.verdict(ours) == verdict
