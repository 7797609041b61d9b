"""What this process is doing, for whoever shows it: long steps say so here, and it costs next to nothing when nobody looks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(eq=False)
class Activity:
    """A step that may take long. ``how_far`` is told as it goes on."""

    what: str
    how_far: str = ""

    def __str__(self) -> str:
        return f"{self.what} ({self.how_far})" if self.how_far else self.what


_under_way: list[Activity] = []  # the innermost last


@contextmanager
def activity(what: str, how_far: str = "") -> Iterator[Activity]:
    """Let others see that a step is under way, until the block ends."""
    step = Activity(what, how_far)
    _under_way.append(step)
    try:
        yield step
    finally:
        _under_way.remove(step)


def under_way() -> str:
    """What is being done now, from the whole to its part; empty for nothing."""
    return ", ".join(map(str, tuple(_under_way)))
