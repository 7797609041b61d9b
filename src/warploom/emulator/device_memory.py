"""Device memory: one arena, below 4 GiB for code with narrow addresses, handed out in allocations that lie apart."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from warploom.base.errors import WarploomError
from warploom.emulator.sparse_bytes import SparseBytes

FIRST_ADDRESS = 0x1000_0000
LAST_ADDRESS = 0xF000_0000
_ALIGNMENT = 256
_GAP = 64  # bytes between allocations, so that an index that is one too large hits none
_FIRST_BYTES = 1 << 20
_BLOCK = 1 << 16
_LARGE = 16 << 20  # bytes of an allocation that the host gets back at once, and of which only touched parts are looked at
PAGE_BYTES = 2 << 20  # within which hardware does not notice that an access misses its array


class Copied(NamedTuple):
    """Bytes of device memory that the host has written."""

    address: int
    size: int
    constant: bool = False  # kernels read them as constants


class DeviceMemory:
    """Grows with what is allocated. Contents outside of allocations mean nothing.

    ``sparse``, where it is given, is what the arena lies in: it does not grow, may be larger than the host's memory, and
    others may see it as well, at ``first`` in their address space.
    ``lenient`` memory takes accesses between allocations, and up to a page before the first and behind the last, as a GPU does.
    """

    def __init__(self, first: int = FIRST_ADDRESS, sparse: SparseBytes | None = None, *, lenient: bool = False) -> None:
        self.first = first
        self._margin = PAGE_BYTES if lenient else 0
        self._sparse = sparse
        self.arena = self._new_arena(_FIRST_BYTES) if sparse is None else sparse.array
        self._end = LAST_ADDRESS if sparse is None else first + len(self.arena)
        self._last = self._end  # what is reserved lies behind it
        self._used = first  # nothing above it has been written
        self._allocations: list[tuple[int, int, str]] = []  # first address, one past the last, what it is; ascending
        self._holes = False  # whether something below the last allocation was given back
        self._bounds: np.ndarray | None = None
        self._unreserved: dict[int, int] = {}  # ranges that were given back before those below them
        self._copied: list[Copied] = []  # since somebody asked
        self.written: np.ndarray | None = None  # of each byte, where somebody watches: whether it was written
        self._given_back: list[tuple[int, int, str]] = []  # where somebody watches, what was freed: it is not used again

    @property
    def total_bytes(self) -> int:
        """All that can be allocated."""
        return self._end - self.first

    @property
    def free_bytes(self) -> int:
        """What is not allocated, in one piece or several."""
        return self.total_bytes - sum(end - start for start, end, _ in self._allocations)

    def allocate(self, size: int, what: str) -> int:
        """Reserve zeroed bytes in the first place where they fit; returns their address."""
        below = self._allocations if self._last == self._end else self._below()
        place = len(below)
        address = _behind(below[-1]) if below else self.first + self._margin
        if self.written is not None:  # behind all that ever was, so that its use is known for what it is
            address = max([address, *(_behind(entry) for entry in self._given_back if entry[0] < self._last)])
        elif self._holes:
            start = self.first + self._margin
            for index, entry in enumerate(below):
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

    def reserve(self, size: int, alignment: int) -> int:
        """Set a range of addresses aside, at the end, where only `allocate_at` puts something."""
        address = (self._last - max(size, 1)) // alignment * alignment
        below = self._below()
        if address < (_behind(below[-1]) if below else self.first + self._margin):
            raise WarploomError(f"{size} bytes of addresses cannot be reserved; device memory has {self.total_bytes >> 20} MiB.")
        self._last = address
        return address

    def _below(self) -> list[tuple[int, int, str]]:
        """The allocations that lie in front of all reserved ranges."""
        return [entry for entry in self._allocations if entry[0] < self._last]

    def unreserve(self, address: int, size: int) -> None:
        """Give a range back; it is used again once all that were reserved after it are back, too."""
        self._unreserved[address] = size
        while self._last in self._unreserved:
            self._last += self._unreserved.pop(self._last)

    def begin_at(self, address: int) -> None:
        """Let memory begin elsewhere; nothing may have been allocated so far."""
        assert self._used == self.first
        self.first = self._used = address // _ALIGNMENT * _ALIGNMENT - self._margin

    def allocate_at(self, address: int, size: int, what: str) -> None:
        """Reserve zeroed bytes where somebody else has decided that they lie."""
        end = address + max(size, 1)
        if size < 0 or address < self.first + self._margin or end > self._end:
            memory = f"{self.first + self._margin:#x} to {self._end:#x}"
            raise WarploomError(f"{what}: {size} bytes at {address:#x} are not all in device memory, which is {memory}.")
        place = bisect.bisect_left(self._allocations, (address, 0, ""))
        meets_last = place > 0 and self._allocations[place - 1][1] > address
        if meets_last or (place < len(self._allocations) and self._allocations[place][0] < end):
            raise WarploomError(f"{what}: {size} bytes at {address:#x} cannot be allocated: they lie {self.nearest(address)}.")
        self._holes = True
        self._reserve(place, address, size, what)

    def _reserve(self, place: int, address: int, size: int, what: str) -> None:
        needed = min(_behind((address, address + size, what)) + self._margin, self._end) - self.first
        if needed > len(self.arena):
            grown = self._new_arena(min(max(needed, 2 * len(self.arena)), self._end - self.first))
            written = min(self._used + self._margin - self.first, len(self.arena))
            grown[:written] = self.arena[:written]
            self.arena = grown
            if self.written is not None:
                self.watch()
        self._allocations.insert(place, (address, address + size, what))
        self._bounds = None
        self._clear(address, max(0, min(size, self._used - address)))
        self._used = max(self._used, address + size)

    def _clear(self, address: int, size: int) -> None:
        if self._sparse is not None:
            self._sparse.clear(address - self.first, address - self.first + size)
        else:
            self.view(address, size)[:] = 0

    def watch(self) -> None:
        """From now on, note what was written, and use nothing again that was given back."""
        known, self.written = self.written, _zeros(len(self.arena), sparse=self._sparse is not None)
        if known is not None:
            self.written[: len(known)] = known

    def mark_written(self, address: int, size: int, written: bool = True) -> None:
        """Bytes hold what somebody put there, or do not any more; without a watch nobody wants to know."""
        if self.written is not None:
            self.written[address - self.first : address - self.first + size] = written

    def mark_all_written(self) -> None:
        """Whatever is allocated may hold what somebody put there."""
        for start, end, _ in self._allocations:
            self.mark_written(start, end - start)

    @property
    def allocations(self) -> tuple[tuple[int, int, str], ...]:
        """First address, one past the last, what it is, of all that is allocated."""
        return tuple(self._allocations)

    def _new_arena(self, size: int) -> np.ndarray:
        """Zeroed bytes of the host for device memory to lie in."""
        return np.zeros(size, np.uint8)

    def free(self, address: int) -> None:
        """Give an allocation back."""
        place = bisect.bisect_left(self._allocations, (address, 0, ""))
        if place == len(self._allocations) or self._allocations[place][0] != address:
            return
        entry = self._allocations.pop(place)
        if self.written is not None:
            self._given_back.append(entry)
        if self._sparse is not None and entry[1] - entry[0] >= _LARGE:
            self._clear(address, entry[1] - entry[0])
        self._holes = bool(self._allocations) and (self._holes or place < len(self._allocations))
        self._bounds = None

    def find(self, address: int) -> tuple[int, int, str] | None:
        """The allocation that an address lies in: its first address, one past its last, what it is."""
        place = bisect.bisect_right(self._allocations, (address, 1 << 64, "")) - 1
        if place >= 0 and self._allocations[place][0] <= address < self._allocations[place][1]:
            return self._allocations[place]
        return None

    def end_from(self, address: int) -> int:
        """Where memory from an address on ends: behind its allocation, or those that adjoin it; nowhere if there is none."""
        found, end = self.find(address), 0
        while found is not None:
            end = found[1]
            found = self.find(end)
        return end

    def check(self, address: int, size: int, what: str = "a copy or fill") -> None:
        """Refuse bytes that are not all in one allocation, or, in lenient memory, near one.

        Variables of machine code lie closer than two allocations ever do, for they are parts of one section: they count as one.
        """
        if self._margin:
            first, end = map(int, self.bounds()[0])
            if not first <= address <= address + size <= end:
                raise self._outside(address, size, what)
            return
        place = bisect.bisect_right(self._allocations, (address, 1 << 64, "")) - 1
        if place < 0 or self._allocations[place][1] <= address:
            raise self._outside(address, size, what)
        while self._allocations[place][1] < address + size:
            place += 1
            if place == len(self._allocations) or self._allocations[place][0] - self._allocations[place - 1][1] >= _GAP:
                raise self._outside(address, size, what)

    def _outside(self, address: int, size: int, what: str) -> WarploomError:
        return WarploomError(f"{what}: {size} bytes at {address:#x} are not all in an allocation ({self.nearest(address)}).")

    def view(self, address: int, size: int) -> np.ndarray:
        """The bytes of an allocation. Valid until the next one is made."""
        start = address - self.first
        if not 0 <= start <= start + size <= len(self.arena):  # an array would be cut, or counted from its end, without a word
            raise WarploomError(f"{size} bytes at {address:#x} are not in device memory.")
        return self.arena[start : start + size]

    def write(self, address: int, values: np.ndarray | int, size: int) -> None:
        """Let the host write bytes, or one byte everywhere, into an allocation."""
        self.view(address, size)[:] = values
        self.note_copy(address, size)

    def note_copy(self, address: int, size: int, constant: bool = False) -> None:
        """The host has written bytes, however it did it."""
        if self.written is not None:
            self.mark_written(address, size)
        if size:
            self._copied.append(Copied(address, size, constant))

    def take_copies(self) -> tuple[Copied, ...]:
        """What the host has written since this was asked for, in its order."""
        copied, self._copied = tuple(self._copied), []
        return copied

    def bounds(self) -> np.ndarray:
        """What may be accessed, as rows of first address and one past the last: each allocation, or all there is if lenient."""
        if self._margin:
            end = min(self._used + self._margin, self.first + len(self.arena))
            return np.array([(self.first, end)], np.uint64)
        if self._bounds is None:
            self._bounds = np.array([entry[:2] for entry in self._allocations] or [(0, 0)], np.uint64)
        return self._bounds

    def contents(self) -> Iterator[tuple[int, int, np.ndarray]]:
        """Address, size and bytes of each allocation; of large ones those of each block that is not all zero."""
        for start, end, _ in self._allocations:
            if self._sparse is None or end - start < _LARGE:
                yield start, end - start, self.view(start, end - start)
            else:
                yield start, end - start, self.view(start, 0)
                yield from self._blocks(self._sparse, start, end)

    def _blocks(self, sparse: SparseBytes, start: int, end: int) -> Iterator[tuple[int, int, np.ndarray]]:
        """The blocks of an allocation in which the host has memory, and some byte is not zero."""
        known = -1
        for first, behind in sparse.touched(start - self.first, end - self.first):
            numbers = range((first + self.first - start) // _BLOCK, -(-(behind + self.first - start) // _BLOCK))
            for number in range(max(numbers.start, known + 1), numbers.stop):
                known, address = number, start + number * _BLOCK
                contents = self.view(address, min(_BLOCK, end - address))
                if contents.any():
                    yield address, len(contents), contents

    def nearest(self, address: int) -> str:
        """Words for the allocation closest to an address."""
        freed = next((each for each in reversed(self._given_back) if each[0] <= address < each[1]), None)
        if freed is not None:
            return f"in {freed[2]} at {freed[0]:#x} of {freed[1] - freed[0]} bytes, which was freed"
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


def _zeros(size: int, *, sparse: bool) -> np.ndarray:
    if not sparse:
        return np.zeros(size, np.uint8)
    room = SparseBytes(size)
    room.close()  # nobody else maps it
    return room.array


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
