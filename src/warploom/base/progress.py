"""What this process is doing, for whoever shows it: long steps say so here, and it costs next to nothing when nobody looks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

TRUSTED_SECONDS = 5.0  # after which a step tells how long the rest will take


@dataclass(eq=False)
class Activity:
    """A step that may take long. ``how_far`` is told as it goes on."""

    what: str
    how_far: str = ""
    code: str = ""  # what compiled code it needs, in words
    _first: tuple[float, int] | None = None  # when it was first noted how much is done, and how much that was

    def advance(self, done: int, of: int, how_far: str) -> None:
        """Note how much of a step is done. What is left is reckoned from here on: before the first note, code may be compiled."""
        now = time.monotonic()
        if self._first is None:
            self._first = (now, done)
        began, before = self._first
        self.how_far = how_far
        if done > before and now - began >= TRUSTED_SECONDS and of > done:
            self.how_far += f", about {(now - began) * (of - done) / (done - before):.0f} s left"

    def __str__(self) -> str:
        return f"{self.what} ({self.how_far})" if self.how_far else self.what


_under_way: list[Activity] = []  # the innermost last


@contextmanager
def activity(what: str, how_far: str = "", code: str = "") -> Iterator[Activity]:
    """Let others see that a step is under way, until the block ends."""
    step = Activity(what, how_far, code)
    _under_way.append(step)
    try:
        yield step
    finally:
        _under_way.remove(step)


def under_way() -> str:
    """What is being done now, from the whole to its part; empty for nothing."""
    return ", ".join(map(str, tuple(_under_way)))


def made_of_code() -> str:
    """What compiled code the innermost step needs that says so, in words; empty where none does."""
    return next((step.code for step in reversed(tuple(_under_way)) if step.code), "")
