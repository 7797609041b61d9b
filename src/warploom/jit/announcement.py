"""Saying that compiled code is being made: it takes seconds, once for each combination of policies."""

from __future__ import annotations

import functools
import sys
from typing import Any


@functools.cache
def announce_compilation() -> None:
    """From now on, let this process say so once on standard error when it compiles instead of loading compiled code from disk."""
    try:
        from numba.core import event
    except ImportError:  # a Numba that says nothing of its work, see warploom.jit.ways
        return

    class Announcer(event.Listener):
        def on_start(self, started: Any) -> None:
            event.unregister("numba:compile", self)
            print("compiling for this combination of policies; later runs start at once ...", file=sys.stderr, flush=True)

        def on_end(self, ended: Any) -> None:
            pass

    event.register("numba:compile", Announcer())
