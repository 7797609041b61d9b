"""Headline values of size tiny, pinned: a change of one is seen in review. They are not the values of the scorecard.

Those of `rfc` and of GPU-shrink's times are not among them: they take hundreds of runs.

To take in values that are meant to change, run this file with ``PIN_HEADLINES=1`` and commit what it writes.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from warploom.runs.engine import Asked
from warploom.runs.store import Store
from warploom.studies.reproduce.facts import load_facts
from warploom.studies.reproduce.reproduce import reproduce, runs_of, select

pytestmark = [pytest.mark.slow, pytest.mark.compiled]
PINNED = Path(__file__).parent / "headline_values.json"
PLACES = [
    ("warped-rf", "figure 2"),
    ("warped-rf", "figure 7"),
    ("warped-rf", "figure 8"),
    ("rfv", "figure 12"),
]


@pytest.mark.parametrize(("paper", "place"), PLACES)
def test_headline_values_are_those_that_were_reviewed(paper: str, place: str, tmp_path: Path) -> None:
    headline = {fact.id for fact in load_facts(paper) if fact.headline}
    selected = select(paper, place)
    wanted = Asked(runs_of(selected, "tiny", "ptx"), Store(tmp_path))
    (made,) = reproduce(selected, "tiny", wanted, 0, lambda run: None, code="ptx")
    values = {f"{paper}.{key}": float(f"{value:.6g}") for key, value in made.outcome.facts.items() if key in headline}
    assert values, f"{paper}: {place} has no headline number"
    pinned = json.loads(PINNED.read_text())
    if os.environ.get("PIN_HEADLINES"):
        PINNED.write_text(json.dumps(dict(sorted((pinned | values).items())), indent=2) + "\n")
    else:
        assert values == pytest.approx({key: pinned[key] for key in values}, rel=1e-5, abs=1e-9)


def test_what_is_pinned_are_headline_numbers_of_the_places_above() -> None:
    papers = {paper for paper, _ in PLACES}
    headline = {fact.full_id for paper in papers for fact in load_facts(paper) if fact.headline}
    pinned = json.loads(PINNED.read_text())
    assert set(pinned) <= headline
    assert {key.partition(".")[0] for key in pinned} == papers
