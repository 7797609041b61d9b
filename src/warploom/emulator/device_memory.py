"""Device memory: one arena below 4 GiB, handed out in allocations that lie apart."""

from __future__ import annotations

import bisect
from typing import NamedTuple

import numpy as np

from warploom.errors import WarploomError

FIRST_ADDRESS = 0x1000_0000
LAST_ADDRESS = 0xF000_0000
_ALIGNMENT = 256
_GAP = 64  # bytes between allocations, so that an index that is one too large hits none
_FIRST_BYTES = 1 << 20
PAGE_BYTES = 2 << 20  # within which hardware does not notice that an access misses its array


class Copied(NamedTuple):
    """Bytes of device memory that the host has written."""

    address: int
    size: int
    constant: bool = False  # kernels read them as constants


class DeviceMemory:
    """Grows with what is allocated. Contents outside of allocations mean nothing.

    ``arena``, where it is given, is memory that others see as well, at ``first`` in their address space; it does not grow.
    ``lenient`` memory takes accesses between allocations, and up to a page before the first and behind the last, as a GPU does.
    """

    def __init__(self, first: int = FIRST_ADDRESS, arena: np.ndarray | None = None, *, lenient: bool = False) -> None:
        self.first = first
        self._margin = PAGE_BYTES if lenient else 0
        self.arena = np.zeros(_FIRST_BYTES, np.uint8) if arena is None else arena
        self._last = LAST_ADDRESS if arena is None else first + len(arena)
        self._used = first  # nothing above it has been written
        self._allocations: list[tuple[int, int, str]] = []  # first address, one past the last, what it is; ascending
        self._holes = False  # whether something below the last allocation was given back
        self._bounds: np.ndarray | None = None
        self._copied: list[Copied] = []  # since somebody asked

    @property
    def total_bytes(self) -> int:
        """All that can be allocated."""
        return self._last - self.first

    @property
    def free_bytes(self) -> int:
        """What is not allocated, in one piece or several."""
        return self.total_bytes - sum(end - start for start, end, _ in self._allocations)

    def allocate(self, size: int, what: str) -> int:
        """Reserve zeroed bytes in the first place where they fit; returns their address."""
        place = len(self._allocations)
        address = _behind(self._allocations[-1]) if self._allocations else self.first + self._margin
        if self._holes:
            start = self.first + self._margin
            for index, entry in enumerate(self._allocations):
                if start + max(size, 1) + _GAP <= entry[0]:
                    place, address = index, start
                    break
                start = _behind(entry)
        if address + max(size, 1) > self._last:
            used = (self.total_bytes - self.free_bytes) >> 20
            raise WarploomError(
                f"{what}: {size} bytes do not fit device memory, of which {used} of {self.total_bytes >> 20} MiB are in use."
            )
        self._reserve(place, address, size, what)
        return address

    def begin_at(self, address: int) -> None:
        """Let memory begin elsewhere; nothing may have been allocated so far."""
        assert self._used == self.first
        self.first = self._used = address - self._margin

    def allocate_at(self, address: int, size: int, what: str) -> None:
        """Reserve zeroed bytes where somebody else has decided that they lie."""
        place = bisect.bisect_left(self._allocations, (address, 0, ""))
        before, after = self._allocations[:place], self._allocations[place:]
        if (before and before[-1][1] > address) or (after and after[0][0] < address + size) or address < self.first:
            raise WarploomError(f"{what}: {size} bytes at {address:#x} cannot be allocated, for {self.nearest(address)}.")
        self._holes = True
        self._reserve(place, address, size, what)

    def _reserve(self, place: int, address: int, size: int, what: str) -> None:
        needed = min(_behind((address, address + size, what)) + self._margin, self._last) - self.first
        if needed > len(self.arena):
            grown = np.zeros(max(needed, 2 * len(self.arena)), np.uint8)
            written = min(self._used + self._margin - self.first, len(self.arena))
            grown[:written] = self.arena[:written]
            self.arena = grown
        self._allocations.insert(place, (address, address + size, what))
        self._bounds = None
        self.view(address, max(0, min(size, self._used - address)))[:] = 0
        self._used = max(self._used, address + size)

    def free(self, address: int) -> None:
        """Give an allocation back."""
        place = bisect.bisect_left(self._allocations, (address, 0, ""))
        if place == len(self._allocations) or self._allocations[place][0] != address:
            return
        self._allocations.pop(place)
        self._holes = bool(self._allocations) and (self._holes or place < len(self._allocations))
        self._bounds = None

    def find(self, address: int) -> tuple[int, int, str] | None:
        """The allocation that an address lies in: its first address, one past its last, what it is."""
        place = bisect.bisect_right(self._allocations, (address, 1 << 64, "")) - 1
        if place >= 0 and self._allocations[place][0] <= address < self._allocations[place][1]:
            return self._allocations[place]
        return None

    def view(self, address: int, size: int) -> np.ndarray:
        """The bytes of an allocation. Valid until the next one is made."""
        start = address - self.first
        return self.arena[start : start + size]

    def write(self, address: int, values: np.ndarray | int, size: int) -> None:
        """Let the host write bytes, or one byte everywhere, into an allocation."""
        self.view(address, size)[:] = values
        self.note_copy(address, size)

    def note_copy(self, address: int, size: int, constant: bool = False) -> None:
        """The host has written bytes, however it did it."""
        if size:
            self._copied.append(Copied(address, size, constant))

    def take_copies(self) -> tuple[Copied, ...]:
        """What the host has written since this was asked for, in its order."""
        copied, self._copied = tuple(self._copied), []
        return copied

    def bounds(self) -> np.ndarray:
        """What may be accessed, as rows of first address and one past the last: each allocation, or all there is if lenient."""
        if self._margin:
            return np.array([(self.first, min(self._used + self._margin, self._last))], np.uint64)
        if self._bounds is None:
            self._bounds = np.array([entry[:2] for entry in self._allocations] or [(0, 0)], np.uint64)
        return self._bounds

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


def _behind(entry: tuple[int, int, str]) -> int:
    """Where the next allocation after this one may begin."""
    start, end, _ = entry
    return -(-(max(end, start + 1) + _GAP) // _ALIGNMENT) * _ALIGNMENT


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
        self._memory.write(self.address, values.reshape(-1).view(np.uint8), self.nbytes)
