"""Traces that are being written: each in a hidden folder that belongs to its process, and is swept when that is gone."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from contextlib import suppress
from pathlib import Path

from warploom.base.errors import WarploomError
from warploom.base.locks import Lock

_DRAFT, _LOCK = ".draft-", ".lock"
_ABANDONED_SECONDS = 24 * 3600  # after which a draft that nobody could lock was left by a process that is gone


class TraceDraft:
    """The folder of a trace until it is complete. Its lock is held as long as the process lives, or until `release`."""

    def __init__(self, root: Path) -> None:
        self.folder = root / f"{_DRAFT}{secrets.token_hex(8)}"
        self._lock: Lock | None = _lock_of(self.folder)
        try:
            self._lock.acquire()  # first, so that the folder is never without
        except WarploomError:
            self._lock = None  # this file system has none
        try:
            self.folder.mkdir()
        except OSError:
            self.release()
            raise

    def release(self) -> None:
        """The draft has become a trace, or is not wanted any more: remove what is left of it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def _lock_of(folder: Path) -> Lock:
    return Lock(folder.with_name(folder.name + _LOCK))


def sweep(root: Path) -> None:
    """Remove the drafts of processes that are gone."""
    hidden = {name.removesuffix(_LOCK) for name in os.listdir(root) if name.startswith(".")}
    for folder in (root / name for name in hidden):
        with suppress(OSError):  # another process sweeps, too
            if folder.name.startswith(_DRAFT):
                _sweep_draft(folder)
            elif folder.is_dir() and _is_old(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _sweep_draft(folder: Path) -> None:
    lock = _lock_of(folder)
    try:
        is_ours = lock.acquire()
    except WarploomError:
        is_ours = False
        if _is_old(folder):
            shutil.rmtree(folder, ignore_errors=True)
    if is_ours:
        shutil.rmtree(folder, ignore_errors=True)
        lock.release()


def _is_old(folder: Path) -> bool:
    return time.time() - folder.stat().st_mtime > _ABANDONED_SECONDS
