"""Arithmetic of 128 bits as NVRTC compiles it: chains in which additions, subtractions and products pass the carry flag on."""

from __future__ import annotations

import numpy as np
import pytest

from warploom.compiler.cuda import compile_to_ptx
from warploom.programs.device import Device

pytestmark = pytest.mark.compiled

SOURCE = """
typedef TYPE integer;
typedef unsigned long long word;

__device__ integer get(const word *from) { return (integer)((unsigned __int128)from[1] << 64 | from[0]); }
__device__ void put(word *to, integer value) { to[0] = (word)value; to[1] = (word)((unsigned __int128)value >> 64); }

extern "C" __global__ void arithmetic(const word *operands, word *results)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    integer x = get(operands + 4 * i), y = get(operands + 4 * i + 2);
    put(results + 10 * i, x / y);
    put(results + 10 * i + 2, x % y);
    put(results + 10 * i + 4, x * y);
    put(results + 10 * i + 6, x - y);
    put(results + 10 * i + 8, x + y);
}
"""
MODULUS = 1 << 128
COUNT = 256


def _numbers(seed: int) -> list[int]:
    """Numbers of all lengths, with long runs of equal bits; none is zero."""
    random = np.random.default_rng(seed)
    numbers = []
    for _ in range(COUNT):
        bits = int(random.integers(1, 129))
        number = int.from_bytes(random.bytes(16), "little") >> (128 - bits)
        kind = random.integers(0, 4)
        if kind == 0:
            number = (1 << bits) - 1 - (number >> max(bits - 3, 0))
        elif kind == 1:
            number = (1 << (bits - 1)) + (number >> max(bits - 3, 0))
        numbers.append(number % MODULUS or 1)
    return numbers


def _signed(number: int) -> int:
    return number - MODULUS if number >> 127 else number


def _truncated(x: int, y: int) -> tuple[int, int]:
    """Quotient and remainder as C has them."""
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return quotient, x - quotient * y


@pytest.mark.parametrize("type_", ["unsigned __int128", "__int128"])
def test_like_pythons_integers(type_: str) -> None:
    ptx = compile_to_ptx(SOURCE.replace("TYPE", type_), "int128.cu", options=["--device-int128"])
    operands = list(zip([35, *_numbers(1)[1:]], [3, *_numbers(2)[1:]], strict=True))
    words = [number >> shift & 0xFFFFFFFFFFFFFFFF for pair in operands for number in pair for shift in (0, 64)]
    device = Device(ptx, record=None)
    results = device.array(np.zeros(10 * COUNT, np.uint64))
    device.launch("arithmetic", (2,), (COUNT // 2,), device.array(np.array(words, np.uint64)), results)
    halves = results.get().tolist()
    got = [low | high << 64 for low, high in zip(halves[::2], halves[1::2], strict=True)]
    for index, pair in enumerate(operands):
        x, y = pair if type_.startswith("unsigned") else (_signed(number) for number in pair)
        wanted = [number % MODULUS for number in (*_truncated(x, y), x * y, x - y, x + y)]
        assert got[5 * index : 5 * index + 5] == wanted, (x, y)
