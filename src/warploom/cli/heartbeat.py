"""A sign of life on standard error while a command takes long, also where that is a file or a pipe."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from warploom.cli.output import bar_is_shown, message
from warploom.errors.progress import under_way

EVERY_SECONDS = 10.0


@contextmanager
def heartbeat(every: float = EVERY_SECONDS) -> Iterator[None]:
    """Say every some seconds what is under way, until the block ends. A progress bar shows that itself: then nothing is said."""
    ended = threading.Event()
    started = time.monotonic()

    def beat() -> None:
        while not ended.wait(every):
            doing = under_way()
            if doing and not bar_is_shown():
                message(f"{doing}, {time.monotonic() - started:.0f} s so far")

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
