"""A sign of life on standard error while a command takes long: one live line on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from warploom.base.progress import under_way
from warploom.cli.output import bar_is_shown, erase_live_line, message, show_live_line

FIRST_AFTER_SECONDS = 10.0
EVERY_SECONDS = 60.0
LIVE_EVERY_SECONDS = 1.0


@contextmanager
def heartbeat(first: float = FIRST_AFTER_SECONDS, every: float | None = None, *, live: bool = True) -> Iterator[None]:
    """Say what is under way until the block ends. A progress bar shows that itself: then nothing is said.

    On a terminal it is one line that changes, unless ``live`` is False because other programs write there too.
    """
    changes = live and sys.stderr.isatty()
    ended = threading.Event()
    told = show_live_line if changes else message
    pause = every or (LIVE_EVERY_SECONDS if changes else EVERY_SECONDS)
    thread = threading.Thread(target=_beat, args=(ended, told, first, pause), name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        erase_live_line()


def _beat(ended: threading.Event, tell: Callable[[str], None], first: float, every: float) -> None:
    started, pause = time.monotonic(), first
    while not ended.wait(pause):
        doing, pause = under_way(), every
        if bar_is_shown() or not doing:
            erase_live_line()
        else:
            tell(f"{doing}, {time.monotonic() - started:.0f} s so far")
