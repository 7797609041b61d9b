"""CUDA's numbers: errors, kinds of memory and of copies."""

from __future__ import annotations

from enum import IntEnum


class CudaStatus(IntEnum):
    """The errors that Warploom returns; CUDA's numbers."""

    SUCCESS = 0
    INVALID_VALUE = 1
    MEMORY_ALLOCATION = 2
    INVALID_CONFIGURATION = 9
    INVALID_SYMBOL = 13
    INVALID_DIRECTION = 21
    INVALID_DEVICE_FUNCTION = 98
    INVALID_KERNEL_IMAGE = 200
    ILLEGAL_ADDRESS = 700
    LAUNCH_TIMEOUT = 702
    ASSERT = 710
    MISALIGNED_ADDRESS = 716
    INVALID_PC = 718
    LAUNCH_FAILURE = 719
    NOT_SUPPORTED = 801
    UNKNOWN = 999


class CudaError(Exception):
    """A call that fails as CUDA would let it fail."""

    def __init__(self, status: CudaStatus) -> None:
        super().__init__(status.name)
        self.status = status


class MemoryKind(IntEnum):
    """Kinds of memory, as the library counts them."""

    DEVICE = 0
    PINNED = 1
    MANAGED = 2
    ARRAY = 3

    @property
    def words(self) -> str:
        """For messages."""
        return ("allocation", "pinned allocation", "managed allocation", "array")[self]

    @property
    def on_host(self) -> bool:
        """Whether the program reads and writes it without a call."""
        return self in (MemoryKind.PINNED, MemoryKind.MANAGED)


class CopyKind(IntEnum):
    """cudaMemcpyKind."""

    ON_HOST = 0
    TO_DEVICE = 1
    FROM_DEVICE = 2
    ON_DEVICE = 3
    DEFAULT = 4
