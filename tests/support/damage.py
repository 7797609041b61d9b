"""Ways in which a file is damaged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def flip_first(data: bytes) -> bytes:
    return bytes([data[0] ^ 0x10]) + data[1:]


def flip_middle(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0x01]) + data[middle + 1 :]


def flip_last(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 0x80])


def halve(data: bytes) -> bytes:
    return data[: len(data) // 2]


def empty(data: bytes) -> bytes:
    return b""


def lengthen(data: bytes) -> bytes:
    return data + b"\0\0\0\0"


DAMAGES = (flip_first, flip_middle, flip_last, halve, empty, lengthen)


def damage(file: Path, how: Callable[[bytes], bytes]) -> None:
    """Damage a file that is there."""
    before = file.read_bytes()
    file.write_bytes(how(before))
    assert file.read_bytes() != before
