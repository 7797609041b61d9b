"""Ctrl-C while a compiler or compiled code has the main thread: Python itself would hear of it only when that returns."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

PATIENCE = 1.0  # seconds that the main thread has to hear of it by itself, and then ends in order


@contextmanager
def prompt_interrupts(give_up: Callable[[], None]) -> Iterator[None]:
    """Call ``give_up`` from another thread, to end the process, when the main thread does not hear of an interruption.

    What holds it up is a call into LLVM, or a launch that is executed or timed; nobody can end these in order.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) != signal.default_int_handler:
        yield  # somebody else, such as a notebook, takes care of it
        return
    heard = threading.Event()

    def hear(number: int, frame: FrameType | None) -> None:
        heard.set()
        signal.default_int_handler(number, frame)

    ears, mouth = os.pipe()
    os.set_blocking(mouth, False)
    before = signal.set_wakeup_fd(mouth, warn_on_full_buffer=False)
    signal.signal(signal.SIGINT, hear)
    thread = threading.Thread(target=_listen, args=(ears, heard, give_up), name="interrupts", daemon=True)
    thread.start()
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.set_wakeup_fd(before)
        heard.set()
        os.close(mouth)
        thread.join()
        os.close(ears)


def _listen(ears: int, heard: threading.Event, give_up: Callable[[], None]) -> None:
    """Wait for signals, whose numbers come as bytes at once, whatever the main thread does."""
    while numbers := os.read(ears, 16):
        if signal.SIGINT in numbers and not heard.wait(PATIENCE):
            give_up()
