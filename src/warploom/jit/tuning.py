"""Two habits of Numba that cost time while it compiles, and are left off."""

from __future__ import annotations

import gc
from typing import Any

import numba
from numba.core import event


def install() -> None:
    """Change them for this process."""
    _remember_descriptions()
    event.register("numba:compile", _CollectLater())


def _remember_descriptions() -> None:
    """Let Numba describe a type of records once; it does so in every pass over a function that has one as an argument."""
    kind: Any = numba.types.Record
    describe = kind.__repr__

    def remembered(record: Any) -> str:
        if "_description" not in record.__dict__:
            record._description = describe(record)
        return record._description

    kind.__repr__ = remembered


class _CollectLater(event.Listener):
    """Garbage is collected after a function has been compiled, not while: the millions of objects made then live to its end."""

    depth = 0
    was_enabled = True

    def on_start(self, started: Any) -> None:
        if self.depth == 0:
            self.was_enabled = gc.isenabled()
            gc.disable()
        self.depth += 1

    def on_end(self, ended: Any) -> None:
        self.depth -= 1
        if self.depth == 0 and self.was_enabled:
            gc.enable()
