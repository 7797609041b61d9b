"""Device memory that tells when it is left: nobody may touch the pages around it, and bytes between allocations stay zero."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np

from warploom.emulator.device_memory import DeviceMemory
from warploom_lab.fuzz.kinds import Wrong

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_NO_ACCESS = 0  # PROT_NONE
_PAGE = mmap.PAGESIZE
_GUARD = 256 << 20  # before and behind; an access that is farther away may hit something else
_MOST_LOOKED_THROUGH = 8 << 20  # bytes


class GuardedMemory(DeviceMemory):
    """Device memory between two stretches of address space that end the process when they are touched."""

    def __init__(self, *, lenient: bool) -> None:
        self._mapped: list[tuple[int, int]] = []
        self._ever: list[tuple[int, int]] = []  # first address and size of all that was allocated
        super().__init__(lenient=lenient)

    def _new_arena(self, size: int) -> np.ndarray:
        """Bytes that end where their last page ends, so that one byte too many is noticed."""
        for mapped in self._mapped[:-1]:  # the last is copied from
            _LIBC.munmap(*mapped)
        inner = -(-size // _PAGE) * _PAGE
        whole = inner + 2 * _GUARD
        start = _LIBC.mmap(None, whole, _NO_ACCESS, mmap.MAP_PRIVATE | mmap.MAP_ANON, -1, 0)
        if start in (None, ctypes.c_void_p(-1).value):
            raise MemoryError
        self._mapped = [*self._mapped[-1:], (start, whole)]
        if _LIBC.mprotect(start + _GUARD, inner, mmap.PROT_READ | mmap.PROT_WRITE):
            raise MemoryError
        bytes_ = (ctypes.c_uint8 * size).from_address(start + _GUARD + inner - size)
        return np.frombuffer(memoryview(bytes_), np.uint8)

    def _reserve(self, place: int, address: int, size: int, what: str) -> None:
        super()._reserve(place, address, size, what)
        self._ever.append((address, size))

    def check_the_rest(self) -> None:
        """Complain of a byte that was written where nothing was ever allocated; lenient memory may be written there."""
        if self._margin or len(self.arena) > _MOST_LOOKED_THROUGH:
            return
        left = self.arena.copy()
        for address, size in self._ever:
            left[address - self.first : address - self.first + size] = 0
        if left.any():
            raise Wrong(f"a byte was written where nothing was allocated\n{self.first + int(left.argmax()):#x}")

    def close(self) -> None:
        """Give the address space back; nothing of it may be used any more."""
        self.arena = np.zeros(0, np.uint8)
        for mapped in self._mapped:
            _LIBC.munmap(*mapped)
        self._mapped = []
