"""The published numbers, as data with their place in the paper, and the verdict on ours beside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from warploom.library import find_paper

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
    meaning: str = "value"  # "value", "at-most" or "at-least"

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
    return tuple(Fact(paper=paper, **entry) for entry in find_paper(paper).published)
