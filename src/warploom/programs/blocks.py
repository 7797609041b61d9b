"""Blocks of memory as copies name them: rows of bytes, a pitch apart, in slices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from warploom.emulator.device_memory import DeviceMemory


class PitchedRows(NamedTuple):
    """Rows of ``width`` bytes, ``pitch`` apart; ``rows`` of them in each of ``slices``, which are ``slice`` apart."""

    address: int
    pitch: int
    slice: int
    width: int
    rows: int
    slices: int

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
        return b"".join(memory.view(start, self.width).tobytes() for start in self.starts())

    def write(self, memory: DeviceMemory, data: bytes) -> None:
        """Put bytes into all rows."""
        values = np.frombuffer(data, np.uint8).reshape(self.rows * self.slices, self.width)
        for start, row in zip(self.starts(), values, strict=True):
            memory.write(start, row, self.width)

    def fill(self, memory: DeviceMemory, byte: int) -> None:
        """Give all bytes one value."""
        for start in self.starts():
            memory.write(start, byte, self.width)
