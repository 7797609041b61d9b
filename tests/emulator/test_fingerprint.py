"""The value that stands for memory in the keys of traces."""

from __future__ import annotations

import numpy as np
import pytest

from warploom.emulator.fingerprint import fingerprint

SIGN = 0x80


@pytest.mark.parametrize("length", [1, 7, 31, 32, 33, 4096, 5001])
def test_every_byte_and_every_bit_counts(length: int) -> None:
    memory = np.random.default_rng(length).integers(0, 256, length, dtype=np.uint8)
    known = {fingerprint(memory)}
    places = range(length) if length < 100 else range(0, length, 37)
    for place in places:
        for bit in range(8):
            memory[place] ^= 1 << bit
            known.add(fingerprint(memory))
            memory[place] ^= 1 << bit
    assert len(known) == 1 + 8 * len(places)
    assert fingerprint(memory) in known and len(fingerprint(memory)) < 64


def test_signs_of_two_numbers_do_not_cancel() -> None:
    plain = np.ones(64, np.float64).view(np.uint8)
    known = {fingerprint(plain)}
    for first in range(64):
        for second in range(first):
            changed = plain.copy()
            changed[8 * first + 7] ^= SIGN
            changed[8 * second + 7] ^= SIGN
            known.add(fingerprint(changed))
    assert len(known) == 1 + 64 * 63 // 2


def test_words_that_change_places() -> None:
    memory = np.arange(64, dtype=np.uint64)
    swapped = {fingerprint(memory.view(np.uint8))}
    for first in range(64):
        for second in range(first):
            other = memory.copy()
            other[[first, second]] = other[[second, first]]
            swapped.add(fingerprint(other.view(np.uint8)))
    assert len(swapped) == 1 + 64 * 63 // 2


def test_it_does_not_matter_where_memory_lies() -> None:
    memory = np.random.default_rng(3).integers(0, 256, 1000, dtype=np.uint8)
    shifted = np.concatenate([np.zeros(3, np.uint8), memory])[3:]
    assert fingerprint(shifted) == fingerprint(memory)
