"""What compiling costs in this process: how long it has taken so far, and a line about each part of it that is long.

Only what is really compiled counts: code that is on the disk already is loaded without a word.
"""

from __future__ import annotations

import functools
import sys
import time
from collections import defaultdict
from contextlib import AbstractContextManager
from typing import Any

from warploom.base.progress import Activity, activity, made_of_code

ABOUT_SECONDS = {"the emulator": 13, "the core for this combination of policies": 17}
"""Processor time of the long parts, as measured on a server of 2023 for a GTX 480: told beforehand, and good for nothing else."""


class _Compilations:
    """Hears from Numba when it compiles. What is compiled within something else is a part of that."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)  # by what was compiled, in words; empty for what has no name
        self.speaks = False
        self._depth = 0
        self._started, self._part = 0.0, ""
        self._said: set[str] = set()
        self._shown: AbstractContextManager[Activity] | None = None

    def begin(self) -> None:
        """Something is compiled from now on."""
        self._depth += 1
        if self._depth > 1:
            return
        self._started = time.perf_counter()
        self._part = part = made_of_code()
        self._shown = activity(f"compiling {part}" if part else "compiling")
        self._shown.__enter__()
        if self.speaks and part and part not in self._said:
            self._said.add(part)
            about = f", about {ABOUT_SECONDS[part]} s of processor time" if part in ABOUT_SECONDS else ""
            print(f"compiling {part}{about}; this happens once, later runs start at once ...", file=sys.stderr, flush=True)

    def end(self) -> None:
        """It is compiled, or failed to be."""
        self._depth -= 1
        if self._depth == 0 and self._shown is not None:
            self.seconds[self._part] += time.perf_counter() - self._started
            self._shown.__exit__(None, None, None)


@functools.cache
def _compilations() -> _Compilations:
    """Those of this process, from the first time that somebody asks."""
    heard = _Compilations()
    try:
        from numba.core import event
    except ImportError:  # a Numba that says nothing of its work, see warploom.jit.ways
        return heard

    class Listener(event.Listener):
        def on_start(self, started: Any) -> None:
            heard.begin()

        def on_end(self, ended: Any) -> None:
            heard.end()

    event.register("numba:compile", Listener())
    return heard


def announce_compilation() -> None:
    """From now on, let this process say on standard error when it compiles a long part instead of loading it from disk."""
    _compilations().speaks = True


def seconds_compiling() -> float:
    """How long this process has compiled since somebody first asked. A Numba that says nothing of its work counts as none."""
    return sum(_compilations().seconds.values(), 0.0)


def seconds_by_part() -> defaultdict[str, float]:
    """The same by what was compiled, in words; under an empty one what has no name."""
    return _compilations().seconds.copy()
