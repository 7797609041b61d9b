"""The published numbers load, are unique, and are judged as a reader would judge them."""

import pytest

from warploom.base.library import paper_names
from warploom.show.reproduction import tally_lines
from warploom.studies.reproduce.experiment import Experiment
from warploom.studies.reproduce.facts import Fact, load_facts
from warploom.studies.reproduce.reproduce import Score, tally


@pytest.mark.parametrize("paper", paper_names())
def test_every_fact_has_an_id_of_its_own_a_unit_and_a_place(paper: str) -> None:
    facts = load_facts(paper)
    assert len({fact.id for fact in facts}) == len(facts) > 0
    assert any(fact.headline for fact in facts)
    assert not any(fact.headline and fact.derived for fact in facts)
    for fact in facts:
        assert fact.unit and fact.meaning in ("value", "at-most", "at-least")
        assert fact.place.split()[0] in ("figure", "table", "section", "abstract")


@pytest.mark.parametrize(
    ("value", "unit", "meaning", "ours", "verdict"),
    [
        (50, "%", "value", 60, "reproduced"),  # a fifth
        (50, "%", "value", 60.1, "same direction"),
        (50, "%", "value", 25, "same direction"),
        (50, "%", "value", 24, "differs"),  # less than half of it
        (50, "%", "value", 101, "differs"),
        (50, "%", "value", -50, "differs"),
        (0.58, "%", "value", 1.08, "reproduced"),  # within half a point of a small number
        (0.58, "%", "value", 1.1, "same direction"),
        (0.58, "%", "value", 2.0, "differs"),
        (0, "%", "value", -0.5, "reproduced"),
        (0, "%", "value", -14, "differs"),  # an IPC of 86% is no IPC of 100%
        (10, "%", "at-most", 3, "reproduced"),
        (10, "%", "at-most", 10.1, "same direction"),  # a bound has no slack
        (10, "%", "at-most", 30, "differs"),
        (50, "%", "at-least", 50, "reproduced"),
        (50, "%", "at-least", 49.9, "same direction"),
        (0.87, "of baseline", "value", 0.85, "reproduced"),
        (0.87, "of baseline", "value", 0.90, "same direction"),  # a saving of 0.10 instead of 0.13
        (0.87, "of baseline", "value", 0.95, "differs"),
        (0.87, "of baseline", "value", 1.2, "differs"),
        (4, "benchmarks", "value", 4, "reproduced"),
        (4, "benchmarks", "value", 3, "same direction"),
    ],
)
def test_verdict(value: float, unit: str, meaning: str, ours: float, verdict: str) -> None:
    assert Fact("paper", "id", "what", value, unit, "figure 1", meaning).verdict(ours) == verdict


def test_what_holds_by_construction_is_counted_apart() -> None:
    by_design = Fact("paper", "bits", "what", 384, "bits", "figure 1", derived="48 x 8")
    assert by_design.verdict(384) == by_design.verdict(0) == "derived"
    shown = Experiment("the cause", "a design", 9.5)
    scores = [
        Score(Fact("paper", "saved", "what", 10, "%", "abstract", headline=True), 30, shown, "", "", ()),
        Score(by_design, 384, None, "", "", ()),
    ]
    assert tally(scores)["headline"] == {"reproduced": 0, "same direction": 0, "differs": 1, "derived": 0}
    assert tally(scores)["all"]["derived"] == 1
    assert tally_lines(scores)[0] == "headline: 0 reproduced, 0 same direction, 1 differs, 0 derived"
    row = scores[0].to_dict()
    assert (row["verdict"], row["headline"]) == ("differs", True)
    assert row["experiment"] == {"without": "the cause", "run": "a design", "value": 9.5}
