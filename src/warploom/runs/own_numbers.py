"""What only a design counts and only a design's hardware takes: numbers of a result that the core's own tables leave out."""

from __future__ import annotations

from warploom.chip.memory.counters import MEMORY_COUNTERS
from warploom.chip.result import CORE_COUNTERS
from warploom.runs.result import Result

_CORE = CORE_COUNTERS.keys() | MEMORY_COUNTERS.keys()


def own_counters(result: Result) -> dict[str, float]:
    """The counters of a design's policies; those that are tables are left out."""
    numbers = {name: value for name, value in result.counters.items() if name not in _CORE}
    return {name: value for name, value in numbers.items() if isinstance(value, int | float)}


def own_energy(result: Result) -> dict[str, float]:
    """The energy terms in nanojoules that are not the main register file's, by part and name."""
    terms = [term for term in result.energy_terms if not term.what.startswith("register file")]
    return {f"{term.part}: {term.what}": term.joules * 1e9 for term in terms}
