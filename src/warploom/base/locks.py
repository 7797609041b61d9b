"""Locks that several processes respect and that a process which dies, however it dies, no longer holds."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

from warploom.base.errors import WarploomError
from warploom.base.files import EVERYBODY

_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)


class Lock:
    """A lock that is held from `acquire` to `release`, on a file that exists only while somebody wants it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def acquire(self, *, wait: bool = False) -> bool:
        """Take the lock; False if another process has it and we do not wait."""
        while True:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, EVERYBODY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                os.close(descriptor)
                return False
            except OSError as error:
                os.close(descriptor)
                if error.errno in _NO_LOCKS:
                    raise WarploomError(f"{self.path.parent}: this file system has no locks; choose a folder elsewhere") from None
                raise
            if self._is_still_there(descriptor):
                self._descriptor = descriptor
                return True
            os.close(descriptor)  # its holder removed it while we waited: whoever comes next makes another

    def _is_still_there(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), os.stat(self.path))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Give the lock back."""
        assert self._descriptor is not None
        self.path.unlink(missing_ok=True)  # before others can take it, so that nobody locks a file that is gone
        os.close(self._descriptor)
        self._descriptor = None
