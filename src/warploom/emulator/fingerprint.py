"""A short value that stands for much memory: what the keys of traces take of it.

A program of many launches has all its memory looked at before each of them, several times as fast as by SHA-256. Nobody tries to
make two memories look alike, so it is enough that they do not by chance: where two of them differ in one place, their
values always do; in several, there is no more than chance that each of the lanes ends as it would have.
"""

from __future__ import annotations

import numpy as np

from warploom.jit import njit

_LANES = 4  # which the processor works on side by side
_WORD = 8
_TURN, _BACK = np.uint64(27), np.uint64(37)  # 64 bits around; what moves up in a product comes down again
_FACTOR = np.uint64(0x9E37_79B9_7F4A_7C15)  # odd, so that no two values become one; 2^64 over the golden ratio


def fingerprint(contents: np.ndarray) -> bytes:
    """Of some bytes; bytes of another length must be told apart by their length."""
    stride = _LANES * _WORD
    even = len(contents) // stride * stride
    lanes = np.zeros(_LANES, np.uint64)
    _mix(np.require(contents[:even].view(np.uint64), requirements="A"), lanes)
    return lanes.tobytes() + contents[even:].tobytes()


@njit
def _mix(words: np.ndarray, lanes: np.ndarray) -> None:
    """Let every word go into one of the lanes, in turn."""
    first, second, third, fourth = _FACTOR, _FACTOR, _FACTOR, _FACTOR
    for index in range(0, len(words), _LANES):
        first = _turned(first ^ words[index]) * _FACTOR
        second = _turned(second ^ words[index + 1]) * _FACTOR
        third = _turned(third ^ words[index + 2]) * _FACTOR
        fourth = _turned(fourth ^ words[index + 3]) * _FACTOR
    lanes[0], lanes[1], lanes[2], lanes[3] = first, second, third, fourth


@njit
def _turned(value: np.uint64) -> np.uint64:
    return value << _TURN | value >> _BACK
