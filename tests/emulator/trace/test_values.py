"""Value classes against a plain definition, and images that come back."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from warploom.emulator.trace.encoding import ENCODINGS, compress, decompress, fits, image_bytes
from warploom.emulator.trace.format import BASE4_SHIFT, BASE8_SHIFT, BIN_SHIFT, ONE_ZERO_SHIFT, TWO_ONE_SHIFT
from warploom.emulator.trace.values import classify
from warploom.jit import njit


@njit
def class_of(register: np.ndarray) -> int:
    return classify(register.ctypes.data)


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def chunks(register: np.ndarray, size: int) -> list[int]:
    raw = register.tobytes()
    return [int.from_bytes(raw[at : at + size], "little") for at in range(0, len(raw), size)]


def plainly_fits(register: np.ndarray, base: int, delta: int) -> bool:
    first, *others = chunks(register, base)
    limit = 1 << (8 * delta - 1) if delta else 0
    return all(other == first if not delta else -limit <= signed(other - first, 8 * base) < limit for other in others)


def plain_class(register: np.ndarray) -> int:
    four = next((index for index, delta in enumerate((0, 1, 2)) if plainly_fits(register, 4, delta)), 3)
    eight = next((index for index, delta in enumerate((0, 1, 2, 4)) if plainly_fits(register, 8, delta)), 4)
    words = chunks(register, 4)
    farthest = max(abs(signed(after - before, 32)) for before, after in itertools.pairwise(words))
    distance = 0 if farthest == 0 else 1 if farthest <= 128 else 2 if farthest <= 1 << 15 else 3
    result = four << BASE4_SHIFT | eight << BASE8_SHIFT | distance << BIN_SHIFT
    return result | plainly_fits(register, 1, 0) << ONE_ZERO_SHIFT | plainly_fits(register, 2, 1) << TWO_ONE_SHIFT


def registers() -> list[np.ndarray]:
    random = np.random.default_rng(5)
    made = []
    for _ in range(60):
        base = int(random.integers(0, 2**32))
        pair = np.tile([base, int(random.integers(0, 2**32))], 16)
        halves = base % 65536 * 0x10001
        made += [
            np.full(32, base),
            base + random.integers(-128, 128, 32),
            base + random.integers(-(2**15), 2**15, 32),
            base + np.arange(32) * int(random.integers(0, 300)),
            base + np.arange(32) * int(random.integers(0, 2**17)),
            pair,
            pair + np.tile(random.integers(-100, 100, 16), (2, 1)).T.reshape(-1) * np.tile([1, 0], 16),
            pair + random.integers(-30000, 30000, 32) * np.tile([1, 0], 16),
            random.integers(0, 2**32, 32),
            np.full(32, int(random.integers(0, 256)) * 0x01010101),
            halves + random.integers(-50, 50, 32) + 65536 * random.integers(-50, 50, 32),
        ]
    # the edges of what fits
    for step in (127, 128, 129, -128, -129, 32767, 32768, 32769, -32768, -32769):
        made.append(np.where(np.arange(32) == 17, 1000 + step, 1000))
    return [np.asarray(values & 0xFFFFFFFF, np.int64).astype(np.uint32) for values in made]


def test_classes_are_as_defined() -> None:
    seen = set()
    for register in registers():
        got = int(class_of(register))
        assert got == plain_class(register), register
        seen.add(got)
    assert len(seen) > 12


@pytest.mark.parametrize(("base", "delta"), ENCODINGS)
def test_images_come_back(base: int, delta: int) -> None:
    fitting = 0
    for register in registers():
        value_class = int(class_of(register))
        assert bool(fits(value_class, base, delta)) == plainly_fits(register, base, delta)
        if not fits(value_class, base, delta):
            continue
        fitting += 1
        raw, image, back = register.view(np.uint8), np.zeros(256, np.uint8), np.zeros(128, np.uint8)
        assert compress(raw, base, delta, image) == image_bytes(base, delta) <= 128
        decompress(image, base, delta, back)
        assert (back == raw).all()
    assert fitting > 10


def test_an_image_that_does_not_fit_is_lost() -> None:
    """The check of checked runs can fail: an image with too narrow deltas gives another register."""
    register = (np.arange(32) * 1000).astype(np.uint32)
    image, back = np.zeros(256, np.uint8), np.zeros(128, np.uint8)
    compress(register.view(np.uint8), 4, 1, image)
    decompress(image, 4, 1, back)
    assert (back != register.view(np.uint8)).any()
