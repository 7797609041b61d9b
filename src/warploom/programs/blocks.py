"""Blocks of memory as copies name them: rows of bytes, a pitch apart, in slices."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from warploom.base.errors import WarploomError
from warploom.emulator.device_memory import DeviceMemory

_HOST_BYTES = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
_MOST_NOTED = 1024  # rows of one block that are noted one by one; of more, what lies between them counts as written, too


class PitchedRows(NamedTuple):
    """Rows of ``width`` bytes, ``pitch`` apart; ``rows`` of them in each of ``slices``, which are ``slice`` apart."""

    address: int
    pitch: int
    slice: int
    width: int
    rows: int
    slices: int

    @property
    def size(self) -> int:
        """Of all rows together, without what lies between them."""
        return self.width * self.rows * self.slices

    @property
    def span(self) -> int:
        """From the first byte to the last."""
        return (self.slices - 1) * self.slice + (self.rows - 1) * self.pitch + self.width if self.size else 0

    @property
    def overlaps(self) -> bool:
        """Whether rows or slices begin before those in front of them end."""
        in_slice = (self.rows - 1) * self.pitch + self.width
        return bool(self.size) and ((self.rows > 1 and self.pitch < self.width) or (self.slices > 1 and self.slice < in_slice))

    def starts(self) -> Iterator[int]:
        """Where each row begins."""
        for index in range(self.slices):
            for row in range(self.rows):
                yield self.address + index * self.slice + row * self.pitch

    def at(self, address: int) -> PitchedRows:
        """The same block elsewhere."""
        return self._replace(address=address)

    def read(self, memory: DeviceMemory) -> bytes:
        """The bytes of all rows, without what lies between them."""
        return self._in(memory).tobytes()

    def write(self, memory: DeviceMemory, data: bytes) -> None:
        """Put bytes into all rows."""
        rows = self._in(memory)
        rows[...] = np.frombuffer(data, np.uint8).reshape(rows.shape)
        self._note(memory)

    def fill(self, memory: DeviceMemory, byte: int) -> None:
        """Give all bytes one value."""
        if self.size > _HOST_BYTES:
            raise WarploomError(f"{self.size} bytes cannot be filled: this machine has memory for {_HOST_BYTES}.")
        self._in(memory)[...] = byte
        self._note(memory)

    def _in(self, memory: DeviceMemory) -> np.ndarray:
        """The rows where they lie; refused if they are not all in an allocation."""
        if not self.size:
            return np.empty((0, 0, 0), np.uint8)
        memory.check(self.address, self.span)
        steps = (self.slice if self.slices > 1 else 0, self.pitch if self.rows > 1 else 0, 1)
        return as_strided(memory.view(self.address, self.span), (self.slices, self.rows, self.width), steps)

    def _note(self, memory: DeviceMemory) -> None:
        if self.size == self.span or self.rows * self.slices > _MOST_NOTED:
            memory.note_copy(self.address, self.span)
        else:
            for start in self.starts():
                memory.note_copy(start, self.width)
