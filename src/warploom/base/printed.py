"""Where the text goes that kernels print: standard output, unless that is kept for something else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

_elsewhere: list[TextIO] = []


def say_to_stdout(text: str) -> None:
    """Write what a kernel has printed."""
    stream = _elsewhere[-1] if _elsewhere else sys.stdout
    stream.write(text)
    stream.flush()


@contextmanager
def printed_to(stream: TextIO) -> Iterator[None]:
    """Let kernels print to another stream until the block ends."""
    _elsewhere.append(stream)
    try:
        yield
    finally:
        _elsewhere.pop()
