"""The headline values of size tiny, pinned: a change of one is seen in review. They are not the values of the scorecard.

To take in values that are meant to change, run this file with ``PIN_HEADLINES=1`` and commit what it writes.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from warploom.base.library import paper_names
from warploom.runs.store import Store
from warploom.studies.reproduce.facts import load_facts
from warploom.studies.reproduce.reproduce import reproduce, select

pytestmark = [pytest.mark.slow, pytest.mark.compiled]
PINNED = Path(__file__).parent / "headline_values.json"
PLACES = [
    ("rfc", "figure 6"),
    ("rfc", "figure 9"),
    ("rfc", "figure 11"),
    ("rfc", "table 5"),
    ("warped-rf", "figure 2"),
    ("warped-rf", "figure 7"),
    ("warped-rf", "figure 8"),
    ("compression", "figure 9"),
    ("rfv", "figure 11"),
    ("rfv", "figure 12"),
    ("regmutex", "figure 7"),
    ("regmutex", "figure 9"),
]


@pytest.mark.parametrize(("paper", "place"), PLACES)
def test_headline_values_are_those_that_were_reviewed(paper: str, place: str, tmp_path: Path) -> None:
    headline = {fact.id for fact in load_facts(paper) if fact.headline}
    (made,) = reproduce(select(paper, place), "tiny", Store(tmp_path), 0, lambda run: None, code="ptx")
    values = {f"{paper}.{key}": float(f"{value:.6g}") for key, value in made.outcome.facts.items() if key in headline}
    assert values, f"{paper}: {place} has no headline number"
    pinned = json.loads(PINNED.read_text())
    if os.environ.get("PIN_HEADLINES"):
        PINNED.write_text(json.dumps(dict(sorted((pinned | values).items())), indent=2) + "\n")
    else:
        assert values == pytest.approx({key: pinned[key] for key in values}, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("paper", paper_names())
def test_every_headline_number_that_is_measured_is_pinned(paper: str) -> None:
    measured = {place for name, place in PLACES if name == paper}
    pinned = {key.partition(".")[2] for key in json.loads(PINNED.read_text()) if key.startswith(f"{paper}.")}
    assert bool(measured) == bool(pinned)
    assert pinned <= {fact.id for fact in load_facts(paper) if fact.headline}
