"""Many bytes of which few are used: the host gives memory for those that are touched, and takes back what is cleared."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator

import numpy as np

_PAGE = mmap.PAGESIZE


class SparseBytes:
    """Zeroed bytes in a file of their own in memory, which other processes can map as well."""

    def __init__(self, size: int) -> None:
        self.file = os.memfd_create("warploom-device-memory", os.MFD_CLOEXEC)
        os.ftruncate(self.file, size)
        self._mapping = mmap.mmap(self.file, size)
        self.array = np.frombuffer(self._mapping, np.uint8)

    def close(self) -> None:
        """Give the file up; what is mapped stays as long as it is used."""
        os.close(self.file)

    def clear(self, start: int, end: int) -> None:
        """Make bytes zero again; whole pages go back to the host."""
        first, last = -(-start // _PAGE) * _PAGE, end // _PAGE * _PAGE
        if first >= last:
            self.array[start:end] = 0
            return
        self.array[start:first] = 0
        self.array[last:end] = 0
        self._mapping.madvise(mmap.MADV_REMOVE, first, last - first)

    def touched(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The parts of a range that the host has given memory for, in order; all other bytes are zero, and stay untouched."""
        while start < end:
            try:
                first = max(start, os.lseek(self.file, start, os.SEEK_DATA))
            except OSError:  # there is nothing behind it
                return
            if first >= end:
                return
            start = os.lseek(self.file, first, os.SEEK_HOLE)
            yield first, min(start, end)
