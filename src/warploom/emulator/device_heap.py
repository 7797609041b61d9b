"""The heap of ``malloc`` on the device: one piece of device memory that is handed out in blocks.

Blocks of one size are reused for that size; what is freed is not joined with its neighbours. A heap that is used up answers with
the null pointer, as CUDA's does.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from warploom.emulator.device_memory import DeviceMemory

DEFAULT_BYTES = 8 << 20
"""What CUDA gives the heap unless a program asks for more."""
_ALIGNMENT = 16


@dataclass
class DeviceHeap:
    """Blocks by address, and those that were given back by size."""

    memory: DeviceMemory
    size: int = DEFAULT_BYTES
    start: int = 0  # 0: not there yet
    _next: int = 0
    _used: dict[int, int] = field(default_factory=dict)
    _free: dict[int, list[int]] = field(default_factory=dict)

    def open(self) -> None:
        """Reserve the memory, before the first launch of code that wants some."""
        if not self.start:
            self.start = self._next = self.memory.allocate(self.size, "the heap of malloc on the device")

    def allocate(self, size: int) -> int:
        """The address of a new block, or 0."""
        rounded = -(-max(size, 1) // _ALIGNMENT) * _ALIGNMENT
        again = self._free.get(rounded)
        if again:
            address = again.pop()
        elif self._next + rounded <= self.start + self.size:
            address, self._next = self._next, self._next + rounded
        else:
            return 0
        self._used[address] = rounded
        self.memory.mark_written(address, rounded, False)
        return address

    def free(self, address: int) -> bool:
        """Take a block back; whether it was one. What is none is ignored."""
        size = self._used.pop(address, None)
        if size is not None:
            self.memory.mark_written(address, size, False)
            self._free.setdefault(size, []).append(address)
        return size is not None
