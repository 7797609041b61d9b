"""What a counter means: said once, where the counter is defined."""

from __future__ import annotations

from typing import Any, NamedTuple


class CounterMeaning(NamedTuple):
    """The unit of a number in a result's `counters`, and a sentence on what it is."""

    unit: str
    meaning: str


def counted(unit: str, meaning: str) -> Any:
    """A field of a record of counters: ``renames: i8 = counted("registers", "Registers that were given another entry.")``."""
    return CounterMeaning(unit, meaning)


def counters_of(kind: type, prefix: str = "") -> dict[str, CounterMeaning]:
    """The fields of a record of counters, by name, those of its bases first."""
    found: dict[str, CounterMeaning] = {}
    for base in reversed(kind.__mro__):
        found |= {prefix + name: value for name, value in vars(base).items() if isinstance(value, CounterMeaning)}
    return found
