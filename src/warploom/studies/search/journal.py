"""The journal of a search: what was tried, a line each, by all processes that search in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.kept import say


def open_journal(optuna: Any, path: Path) -> Any:
    """Optuna's storage over a journal. A last line that was torn off, by a full disk or a power failure, is cut away."""
    lock = optuna.storages.journal.JournalFileSymlinkLock(str(path))
    backend = optuna.storages.journal.JournalFileBackend(str(path), lock_obj=lock)
    lock.acquire()  # so that nobody is in the middle of a line
    try:
        torn = _cut_torn_line(path)
    finally:
        lock.release()
    if torn:
        say(f"{path}: its last line was torn off ({torn:,} bytes) and is cut away; the search goes on from the line before")
    try:
        return optuna.storages.JournalStorage(backend)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WarploomError(f"{path}: the journal is damaged ({error}); begin a search in another folder, with --out") from None


def _cut_torn_line(path: Path) -> int:
    """Shorten a file to its whole lines; how many bytes were behind them."""
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        with path.open("r+b") as file:
            file.truncate(whole)
    return len(data) - whole
