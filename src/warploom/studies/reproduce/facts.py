"""The published numbers, as data with their place in the paper, and the verdict on ours compared with them.

The rules, the same for every paper, are in docs/lab/scoring.md: a bound has no slack; a value is reproduced within 15% of it, or
within half a point of a percentage where that is more; a saving is judged by what is left as well; it goes in the same direction
within a factor of two, and differs otherwise; what changes something is judged as a change (0.87 of the baseline is a saving of
0.13). What holds by construction is derived: it has a verdict like all others, and is counted apart.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.library import find_paper
from warploom.base.spelling import did_you_mean

MEANINGS = ("value", "at-most", "at-least")  # the number itself, or a bound
STATED_IN = ("abstract", "conclusion", "evaluation")  # where a paper states a headline number
REPRODUCED, SAME_DIRECTION, DIFFERS = VERDICTS = ("reproduced", "same direction", "differs")
RELATIVE_TOLERANCE = 0.15
WHOLE = 100.0  # of which a saving in percent leaves the rest
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
    headline: str = ""  # the part of the paper that states it as a result of its own design: one of `STATED_IN`
    quotation: str = ""  # its words there
    saving: bool = False  # whether it is a percentage saved, so that what is left is judged as well
    derived: str = ""  # why it holds by construction, where it does

    @property
    def full_id(self) -> str:
        return f"{self.paper}.{self.id}"

    def difference(self, ours: float) -> float:
        """Ours minus theirs, in the fact's unit."""
        return ours - self.value

    def verdict(self, ours: float) -> str:
        """One of `VERDICTS`, by the rules above."""
        neutral = UNCHANGED.get(self.unit, 0.0)
        mine, theirs = ours - neutral, self.value - neutral
        if self.meaning != "value":
            kept = mine <= theirs if self.meaning == "at-most" else mine >= theirs
            return REPRODUCED if kept else self._direction(mine, theirs)
        near = self._near(mine, theirs) and (not self.saving or self._near(WHOLE - mine, WHOLE - theirs))
        return REPRODUCED if near else self._direction(mine, theirs)

    def _near(self, mine: float, theirs: float) -> bool:
        """Whether a value is within the tolerance of another."""
        slack = max(abs(theirs) * RELATIVE_TOLERANCE, HALF_A_POINT.get(self.unit, 0.0))
        return abs(mine - theirs) <= slack + ROUNDING

    def _direction(self, mine: float, theirs: float) -> str:
        """Whether a number that is not reproduced is within a factor of two."""
        near = mine * theirs > 0 and 1 / FACTOR <= mine / theirs <= FACTOR
        return SAME_DIRECTION if near else DIFFERS


ROUNDING = 1e-9  # of sums that should be exactly at the border
_KINDS: dict[str, tuple[tuple[type, ...], str]] = {"value": ((int, float), "a number"), "saving": ((bool,), "true or false")}


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
    if entry.get("headline", STATED_IN[0]) not in STATED_IN:
        raise WarploomError(f"{where}: 'headline' must be one of {', '.join(STATED_IN)}, not {entry['headline']!r}")
    return Fact(paper=paper, **entry)
