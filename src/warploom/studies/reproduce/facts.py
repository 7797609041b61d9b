"""The published numbers, as data with their place in the paper, and the verdict on ours beside them.

The rules, the same for every paper:

* a bound has no slack: ours keeps it or not;
* a value is *reproduced* within a fifth of it. Half a point is allowed where that is more, which it is for percentages below 2.5;
* it goes in the *same direction* within a factor of two, and *differs* otherwise;
* what changes something is judged as a change: 0.87 of the baseline is a saving of 0.13, and 0.95 has less than half of it;
* what holds by construction (bits of a table, ratios of constants, a constant that was fitted to the number) is *derived*: it
  says nothing of the model, and is counted apart.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.library import find_paper
from warploom.base.spelling import did_you_mean

MEANINGS = ("value", "at-most", "at-least")  # the number itself, or a bound
REPRODUCED, SAME_DIRECTION, DIFFERS, DERIVED = VERDICTS = ("reproduced", "same direction", "differs", "derived")
RELATIVE_TOLERANCE = 0.2
FACTOR = 2.0
HALF_A_POINT = {"%": 0.5, "points": 0.5, "% of full": 0.5, "of baseline": 0.005}
UNCHANGED = {"of baseline": 1.0}  # by unit, the number that would mean "nothing changes"


@dataclass(frozen=True, slots=True)
class Fact:
    """One number that a paper reports."""

    paper: str
    id: str  # unique within the paper
    what: str
    value: float
    unit: str
    place: str  # "figure 6", "table 5", "section 5.5"
    meaning: str = MEANINGS[0]
    headline: bool = False  # whether the abstract or the conclusion has it
    derived: str = ""  # why it holds by construction, where it does

    @property
    def full_id(self) -> str:
        return f"{self.paper}.{self.id}"

    def difference(self, ours: float) -> float:
        """Ours minus theirs, in the fact's unit."""
        return ours - self.value

    def verdict(self, ours: float) -> str:
        """One of `VERDICTS`, by the rules above."""
        if self.derived:
            return DERIVED
        neutral = UNCHANGED.get(self.unit, 0.0)
        mine, theirs = ours - neutral, self.value - neutral
        if self.meaning != "value":
            kept = mine <= theirs if self.meaning == "at-most" else mine >= theirs
            return REPRODUCED if kept else self._direction(mine, theirs)
        slack = max(abs(theirs) * RELATIVE_TOLERANCE, HALF_A_POINT.get(self.unit, 0.0))
        return REPRODUCED if abs(mine - theirs) <= slack + ROUNDING else self._direction(mine, theirs)

    def _direction(self, mine: float, theirs: float) -> str:
        """Whether a number that is not reproduced is within a factor of two."""
        near = mine * theirs > 0 and 1 / FACTOR <= mine / theirs <= FACTOR
        return SAME_DIRECTION if near else DIFFERS


ROUNDING = 1e-9  # of sums that should be exactly at the border
_KINDS: dict[str, tuple[tuple[type, ...], str]] = {"value": ((int, float), "a number"), "headline": ((bool,), "true or false")}


@cache
def load_facts(paper: str) -> tuple[Fact, ...]:
    """All facts of one paper, in the order of its data file."""
    found = find_paper(paper)
    return tuple(_fact(found.name, entry, f"{found.folder / 'published.toml'}") for entry in found.published)


def _fact(paper: str, entry: dict[str, Any], place: str) -> Fact:
    known = {item.name: item for item in fields(Fact) if item.name != "paper"}
    where = f"{place}: fact {entry.get('id', '')!r}"
    for key in entry:
        if key not in known:
            raise WarploomError(f"{where}: {key!r} says nothing about a number{did_you_mean(key, list(known))}")
    for key, item in known.items():
        wanted, name = _KINDS.get(key, ((str,), "text"))
        if key in entry and type(entry[key]) not in wanted:
            raise WarploomError(f"{where}: {key!r} must be {name}, not {entry[key]!r}")
        if key not in entry and item.default is MISSING:
            raise WarploomError(f"{where}: {key!r} is missing")
    if entry.get("meaning", MEANINGS[0]) not in MEANINGS:
        raise WarploomError(f"{where}: 'meaning' must be one of {', '.join(MEANINGS)}, not {entry['meaning']!r}")
    return Fact(paper=paper, **entry)
