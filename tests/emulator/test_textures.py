"""Which texel an index beyond the edges means, against what CUDA says of each mode of addressing."""

from __future__ import annotations

import pytest

from warploom.emulator.textures import BORDER, CLAMP, MIRROR, WRAP, _placed
from warploom.jit import njit


@njit
def placed(index: int, size: int, addressing: int) -> int:
    return _placed(index, size, addressing)


def mirrored(size: int) -> list[int]:
    """A row there and back, over and over, three times to either side."""
    return [*range(size), *reversed(range(size))] * 3


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_indices_beyond_the_edges(size: int) -> None:
    beyond = range(-2 * size, 4 * size)
    assert [placed(index, size, CLAMP) for index in beyond] == [min(max(index, 0), size - 1) for index in beyond]
    assert [placed(index, size, WRAP) for index in beyond] == [*range(size)] * 6
    assert [placed(index, size, BORDER) for index in beyond] == [index if 0 <= index < size else -1 for index in beyond]
    assert [placed(index, size, MIRROR) for index in beyond] == mirrored(size)
