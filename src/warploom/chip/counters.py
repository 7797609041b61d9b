"""All counters that results and observers have, each with its unit, its meaning and who counts it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from warploom.chip.memory.counters import MEMORY_COUNTERS
from warploom.chip.observers.registry import observer_kinds
from warploom.chip.result import CORE_COUNTERS
from warploom.chip.sm.choices import CHOICES
from warploom.chip.sm.counter import CounterMeaning
from warploom.chip.sm.registry import policies_of


class KnownCounter(NamedTuple):
    """A counter by name. Policies that count the same are named together."""

    name: str
    unit: str
    meaning: str
    counted_by: tuple[str, ...]


def known_counters() -> list[KnownCounter]:
    """Those of the core and of memory, then those of policies, then those of observers."""
    found: dict[tuple[str, CounterMeaning], list[str]] = {}
    for who, counters in _sources():
        for name, meaning in counters.items():
            found.setdefault((name, meaning), []).append(who)
    return [KnownCounter(name, *meaning, tuple(who)) for (name, meaning), who in found.items()]


def _sources() -> Iterator[tuple[str, Mapping[str, CounterMeaning]]]:
    yield "core", CORE_COUNTERS
    yield "memory", MEMORY_COUNTERS
    for choice in CHOICES:
        for name, policy in policies_of(choice).items():
            yield f"{choice}={name}", getattr(policy, "COUNTERS", {})
    for observer in observer_kinds():
        yield f"observer {observer.NAME}", getattr(observer, "COUNTERS", {})
