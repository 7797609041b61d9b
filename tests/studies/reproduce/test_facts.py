"""The published numbers load, are unique, and are judged as a reader would judge them."""

import pytest

from warploom.base.library import paper_names
from warploom.show.reproduction import tally_lines
from warploom.studies.reproduce.experiment import Experiment, Help
from warploom.studies.reproduce.facts import Fact, load_facts
from warploom.studies.reproduce.reproduce import Score, tally

FROM_MEMORY = ("bow", "ltrf")  # whose texts were not at hand


@pytest.mark.parametrize("paper", paper_names())
def test_every_fact_has_an_id_of_its_own_a_unit_and_a_place(paper: str) -> None:
    facts = load_facts(paper)
    assert len({fact.id for fact in facts}) == len(facts) > 0
    assert any(fact.headline for fact in facts)
    assert all(fact.quotation for fact in facts if fact.headline) or paper in FROM_MEMORY
    assert all(fact.headline for fact in facts if fact.quotation)
    for fact in facts:
        assert fact.unit and fact.meaning in ("value", "at-most", "at-least")
        assert fact.place.split()[0] in ("figure", "table", "section", "abstract")


@pytest.mark.parametrize(
    ("value", "unit", "meaning", "ours", "verdict"),
    [
        (50, "%", "value", 57.5, "reproduced"),  # 15%
        (50, "%", "value", 57.6, "same direction"),
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
        (0.87, "of baseline", "value", 0.86, "reproduced"),
        (0.87, "of baseline", "value", 0.85, "same direction"),  # a saving of 0.15 instead of 0.13
        (0.87, "of baseline", "value", 0.90, "same direction"),  # a saving of 0.10 instead of 0.13
        (0.87, "of baseline", "value", 0.95, "differs"),
        (0.87, "of baseline", "value", 1.2, "differs"),
        (4, "benchmarks", "value", 4, "reproduced"),
        (4, "benchmarks", "value", 3, "same direction"),
    ],
)
def test_verdict(value: float, unit: str, meaning: str, ours: float, verdict: str) -> None:
    assert Fact("paper", "id", "what", value, unit, "figure 1", meaning).verdict(ours) == verdict


@pytest.mark.parametrize(
    ("value", "ours", "verdict"),
    [
        (90, 92.7, "same direction"),  # 7.3% left for 10%
        (90, 91.5, "reproduced"),
        (50, 57.5, "reproduced"),  # 42.5% left for 50%
        (69, 79, "same direction"),  # within 15% of the saving, but a third of what should be left is gone
        (16.2, 18, "reproduced"),
    ],
)
def test_a_saving_is_judged_by_what_is_left_as_well(value: float, ours: float, verdict: str) -> None:
    assert Fact("paper", "id", "what", value, "%", "abstract", saving=True).verdict(ours) == verdict


def test_what_holds_by_construction_is_compared_and_counted_apart() -> None:
    by_design = Fact("paper", "bits", "what", 384, "bits", "figure 1", derived="48 x 8")
    assert (by_design.verdict(384), by_design.verdict(0)) == ("reproduced", "differs")
    shown = Experiment("the cause", "a design", 9.5)
    scores = [
        Score(Fact("paper", "saved", "what", 10, "%", "abstract", headline="abstract"), 30, shown, "", "", ()),
        Score(by_design, 0, None, "", "", ()),
    ]
    assert tally(scores)["headline"] == {"reproduced": 0, "same direction": 0, "differs": 1}
    assert tally(scores)["derived"] == {"reproduced": 0, "same direction": 0, "differs": 1}
    assert sum(tally(scores)["all"].values()) == 1
    assert tally_lines(scores)[0] == "headline: 0 reproduced, 0 same direction, 1 differs"
    row = scores[0].to_dict()
    assert (row["verdict"], row["headline"]) == ("differs", "abstract")
    assert row["experiment"] == {"without": "the cause", "run": "a design", "value": 9.5}


def test_a_number_that_needs_a_choice_made_after_its_result_does_not_stand() -> None:
    fact = Fact("paper", "ipc", "what", 0, "%", "abstract", headline="abstract")
    chosen, there_before = Help("lone warps", -0.87, chosen_after=True), Help("shaped kernels", -0.87)
    assert Score(fact, -0.3, None, "", "", ()).stands
    assert Score(fact, -0.3, None, "", "", (), (there_before,)).stands
    assert not Score(fact, -0.3, None, "", "", (), (there_before, chosen)).stands
    assert not Score(Fact("paper", "bits", "what", 0, "%", "x", derived="by design"), 0, None, "", "", ()).stands
