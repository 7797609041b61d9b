"""The processes that search in one folder: which of them are still there, and that one at a time chooses what to try."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warploom.base.locks import Lock

FOLDER = ".searching"
_TURN = "turn"


class Searcher:
    """This process among those that search in a folder. Its name is locked as long as it lives."""

    def __init__(self, folder: Path) -> None:
        self.name = uuid.uuid4().hex
        self._folder = folder / FOLDER

    @contextmanager
    def present(self) -> Iterator[None]:
        """Let the others know that what this one has begun is in its hands, until the block ends or the process dies."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with _held(self._folder / self.name):
            yield

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait until no other process chooses; none does until the block ends."""
        with _held(self._folder / _TURN):
            yield

    def is_gone(self, name: str) -> bool:
        """Whether the process of that name has ended, however it ended."""
        lock = Lock(self._folder / name)
        if name == self.name or not lock.acquire():
            return False
        lock.release()
        return True


@contextmanager
def _held(path: Path) -> Iterator[None]:
    lock = Lock(path)
    lock.acquire(wait=True)
    try:
        yield
    finally:
        lock.release()
