"""Device memory: one arena below 4 GiB, handed out in allocations that lie apart."""

from __future__ import annotations

import numpy as np

from warploom.errors import WarploomError

FIRST_ADDRESS = 0x1000_0000
LAST_ADDRESS = 0xF000_0000
_ALIGNMENT = 256
_GAP = 64  # bytes between allocations, so that an index that is one too large hits none
_FIRST_BYTES = 1 << 20


class DeviceMemory:
    """Grows with what is allocated. Contents outside of allocations mean nothing."""

    def __init__(self) -> None:
        self.arena = np.zeros(_FIRST_BYTES, np.uint8)
        self._end = FIRST_ADDRESS
        self._allocations: list[tuple[int, int, str]] = []  # first address, one past the last, what it is; ascending

    def allocate(self, size: int, what: str) -> int:
        """Reserve zeroed bytes; returns their address."""
        address = self._end
        end = address + max(size, 1)
        if end > LAST_ADDRESS:
            used = (self._end - FIRST_ADDRESS) >> 20
            raise WarploomError(f"{what}: {size} bytes do not fit device memory, of which {used} of 3584 MiB are in use.")
        self._end = -(-(end + _GAP) // _ALIGNMENT) * _ALIGNMENT
        needed = self._end - FIRST_ADDRESS
        if needed > len(self.arena):
            grown = np.zeros(max(needed, 2 * len(self.arena)), np.uint8)
            grown[: len(self.arena)] = self.arena
            self.arena = grown
        self._allocations.append((address, address + size, what))
        self.view(address, size)[:] = 0
        return address

    def free(self, address: int) -> None:
        """Give an allocation back. Its place is used again if it was the last one."""
        self._allocations = [entry for entry in self._allocations if entry[0] != address]
        last = max((end for _, end, _ in self._allocations), default=FIRST_ADDRESS - _GAP)
        self._end = -(-(last + _GAP) // _ALIGNMENT) * _ALIGNMENT

    def view(self, address: int, size: int) -> np.ndarray:
        """The bytes of an allocation. Valid until the next one is made."""
        start = address - FIRST_ADDRESS
        return self.arena[start : start + size]

    def bounds(self) -> np.ndarray:
        """All allocations as rows of first address and one past the last."""
        return np.array([entry[:2] for entry in self._allocations] or [(0, 0)], np.uint64)

    def contents(self) -> list[tuple[int, int, np.ndarray]]:
        """Address, size and bytes of each allocation."""
        return [(start, end - start, self.view(start, end - start)) for start, end, _ in self._allocations]

    def nearest(self, address: int) -> str:
        """Words for the allocation closest to an address."""
        if not self._allocations:
            return "nothing is allocated"

        def distance(entry: tuple[int, int, str]) -> int:
            start, end, _ = entry
            return max(start - address, address - (end - 1), 0)

        start, end, what = min(self._allocations, key=distance)
        place = f"{what} at {start:#x} of {end - start} bytes"
        if address < start:
            return f"{start - address} bytes before {place}"
        return f"{address - end} bytes after the end of {place}" if address >= end else f"in {place}"


class DeviceArray:
    """An array in device memory."""

    def __init__(self, memory: DeviceMemory, values: np.ndarray, what: str) -> None:
        values = np.asarray(values)
        if values.dtype.hasobject:
            raise WarploomError(f"{what}: an array of Python objects cannot be copied to the device.")
        self.shape, self.dtype, self.nbytes = values.shape, values.dtype, values.nbytes
        self._memory = memory
        self.address = memory.allocate(self.nbytes, what)
        self.set(values)

    def get(self) -> np.ndarray:
        """A copy of the contents."""
        return self._memory.view(self.address, self.nbytes).copy().view(self.dtype).reshape(self.shape)

    def set(self, values: np.ndarray) -> None:
        """Replace the contents."""
        values = np.ascontiguousarray(values, self.dtype)
        if values.size * values.itemsize != self.nbytes:
            raise WarploomError(f"an array of shape {self.shape} cannot be set from one of shape {values.shape}.")
        self._memory.view(self.address, self.nbytes)[:] = values.reshape(-1).view(np.uint8)
