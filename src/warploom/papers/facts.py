"""The published numbers, as data with their place in the paper, and the verdict on ours beside them."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any

from warploom.errors import WarploomError
from warploom.errors.names import did_you_mean
from warploom.library import find_paper

MEANINGS = ("value", "at-most", "at-least")  # the number itself, or a bound

# A number counts as reproduced within this relative difference, or within these absolute ones where the number itself is small:
# the papers' figures are read to about a percent, and their inputs are not ours.
RELATIVE_TOLERANCE = 0.15
ABSOLUTE_TOLERANCE = {"%": 2.0, "points": 2.0, "% of full": 2.0, "of baseline": 0.03}


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

    @property
    def full_id(self) -> str:
        return f"{self.paper}.{self.id}"

    def difference(self, ours: float) -> float:
        """Ours minus theirs, in the fact's unit."""
        return ours - self.value

    def verdict(self, ours: float) -> str:
        """``reproduced``, ``same direction`` (the sign or the side agrees, the size does not) or ``differs``."""
        neutral = 1.0 if self.unit in ("of baseline", "times") else 0.0  # the number that would mean "nothing changes"
        effect = self.value - neutral if self.unit == "of baseline" else self.value
        slack = max(abs(effect) * RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE.get(self.unit, 0.0))
        below, above = ours <= self.value + slack, ours >= self.value - slack
        if (self.meaning == "at-most" and below) or (self.meaning == "at-least" and above) or (below and above):
            return "reproduced"
        return "same direction" if (ours - neutral) * (self.value - neutral) > 0 else "differs"


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
        wanted = (int, float) if item.name == "value" else (str,)
        if key in entry and (not isinstance(entry[key], wanted) or isinstance(entry[key], bool)):
            raise WarploomError(f"{where}: {key!r} must be {'a number' if key == 'value' else 'text'}, not {entry[key]!r}")
        if key not in entry and item.default is MISSING:
            raise WarploomError(f"{where}: {key!r} is missing")
    if entry.get("meaning", MEANINGS[0]) not in MEANINGS:
        raise WarploomError(f"{where}: 'meaning' must be one of {', '.join(MEANINGS)}, not {entry['meaning']!r}")
    return Fact(paper=paper, **entry)
