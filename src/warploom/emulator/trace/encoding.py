"""Base-delta images of a register: really built, and really taken apart again.

An image begins with the base (the first chunk), followed by the signed differences of the other chunks to it, little end first.
"""

from __future__ import annotations

import numpy as np

from warploom.emulator.trace.format import BASE4_SHIFT, BASE8_SHIFT, ONE_ZERO_SHIFT, TWO_ONE_SHIFT
from warploom.jit import njit

REGISTER_BYTES = 128
SLICE_BYTES = 16  # what a narrow bank holds of a register
ENCODINGS = ((1, 0), (2, 1), (4, 0), (4, 1), (4, 2), (8, 0), (8, 1), (8, 2), (8, 4))
"""The (base, delta) pairs, in bytes."""


def image_bytes(base: int, delta: int) -> int:
    """The length of an image: the base, and a delta for every other chunk."""
    return base + delta * (REGISTER_BYTES // base - 1)


def image_slices(base: int, delta: int) -> int:
    """How many narrow banks an image takes."""
    return -(-image_bytes(base, delta) // SLICE_BYTES)


@njit
def fits(value_class: int, base: int, delta: int) -> bool:
    """Whether a register with this (16-bit) class can be stored so."""
    if base == 4:
        return ((value_class >> BASE4_SHIFT) & 3) <= delta
    if base == 8:
        narrowest = (value_class >> BASE8_SHIFT) & 7
        return narrowest <= (3 if delta == 4 else delta)
    return (value_class >> (ONE_ZERO_SHIFT if base == 1 else TWO_ONE_SHIFT)) & 1 != 0


@njit
def _chunk(image: np.ndarray, at: int, size: int) -> np.uint64:
    """Bytes as a number, little end first."""
    value = np.uint64(0)
    for byte in range(size):
        value |= np.uint64(image[at + byte]) << np.uint64(8 * byte)
    return value


@njit
def _put_chunk(image: np.ndarray, at: int, size: int, value: np.uint64) -> None:
    for byte in range(size):
        image[at + byte] = np.uint8((value >> np.uint64(8 * byte)) & np.uint64(255))


@njit
def compress(register: np.ndarray, base: int, delta: int, image: np.ndarray) -> int:
    """Build the image of a register's 128 bytes in `image`; returns its length. The register must fit: see `fits`."""
    first = _chunk(register, 0, base)
    _put_chunk(image, 0, base, first)
    others = 128 // base - 1
    for chunk in range(others):
        _put_chunk(image, base + chunk * delta, delta, _chunk(register, (chunk + 1) * base, base) - first)
    return base + others * delta


@njit
def decompress(image: np.ndarray, base: int, delta: int, register: np.ndarray) -> None:
    """Rebuild the 128 bytes from an image."""
    first = _chunk(image, 0, base)
    _put_chunk(register, 0, base, first)
    for chunk in range(128 // base - 1):
        difference = np.uint64(0)
        if delta:
            difference = _chunk(image, base + chunk * delta, delta)
            if (difference >> np.uint64(8 * delta - 1)) & np.uint64(1):  # extend the sign
                difference |= ~((np.uint64(1) << np.uint64(8 * delta)) - np.uint64(1))
        _put_chunk(register, (chunk + 1) * base, base, first + difference)


@njit
def survives(register: np.ndarray, value_class: np.uint32, image: np.ndarray, back: np.ndarray) -> bool:
    """Whether a register comes back from every image that its class says it fits. `image` and `back` are scratch arrays."""
    for base, delta in ((1, 0), (2, 1), (4, 0), (4, 1), (4, 2), (8, 0), (8, 1), (8, 2), (8, 4)):
        if fits(value_class, base, delta):
            compress(register, base, delta, image)
            decompress(image, base, delta, back)
            for byte in range(128):
                if back[byte] != register[byte]:
                    return False
    return True
