"""Fat binaries: raw and compressed entries are found, whatever the size of their headers, and damage is a sentence."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.errors import WarploomError
from warploom.programs.beside import BesideGpu
from warploom.programs.fatbinary import read_fat_binary
from warploom.programs.library import error_table, exported_functions
from warploom.programs.properties import layout
from warploom.programs.protocol import OPERATIONS
from warploom.programs.runtime import Runtime

TEXT = b".version 8.0\n.target sm_75\n" * 20


def entry(kind: int, data: bytes, architecture: int, header: int, flags: int = 0, whole: int = 0) -> bytes:
    packed = len(data) if flags else 0
    padded = data.ljust(-(-len(data) // 8) * 8, b"\0")
    head = struct.pack("<HHIQIIHHIIIQQQ", kind, 0x0101, header, len(padded), packed, 0, 0, 8, architecture, 0, 0, flags, 0, whole)
    return head.ljust(header, b"\0") + padded


def container(*entries: bytes) -> bytes:
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def test_entries_of_every_kind() -> None:
    lz4, zstandard = pytest.importorskip("lz4.block"), pytest.importorskip("zstandard")
    data = container(
        entry(1, TEXT, 75, 64),
        entry(1, lz4.compress(TEXT, store_size=False), 80, 72, 0x2000, len(TEXT)),
        entry(1, zstandard.compress(TEXT), 90, 128, 0x8000, len(TEXT)),
        entry(2, b"\x7fELF....", 90, 64),
        entry(64, b"something else", 90, 64),
    )
    found = read_fat_binary(data, "program")
    assert [(each.kind, each.architecture) for each in found] == [("ptx", 75), ("ptx", 80), ("ptx", 90), ("cubin", 90)]
    assert {each.text for each in found[:3]} == {TEXT.decode()}


def test_containers_may_follow_each_other() -> None:
    data = container() + container(entry(1, TEXT, 75, 64))
    assert [each.text for each in read_fat_binary(data, "program")] == [TEXT.decode()]


@given(cut=st.integers(1, 200), flip=st.integers(0, 2000))
def test_damage_is_a_sentence(cut: int, flip: int) -> None:
    whole = container(entry(1, TEXT, 75, 64), entry(2, b"\x7fELF....", 90, 72))
    spoilt = bytearray(whole)
    spoilt[flip % len(whole)] ^= 0xFF
    for data in (whole[:-cut], bytes(spoilt)):
        try:
            read_fat_binary(data, "program")
        except WarploomError as problem:
            assert str(problem).startswith("program: ")


@pytest.mark.parametrize(("major", "size"), [(11, 728), (12, 1032), (13, 1008)])
def test_device_properties_have_the_size_of_their_version(major: int, size: int) -> None:
    assert layout(major).itemsize == size
    assert layout(major).fields is not None and layout(major).fields["warpSize"][1] == 308


def test_the_tables_of_the_library_are_whole() -> None:
    assert error_table()[700][0] == "cudaErrorIllegalAddress"
    assert all(len(exported_functions(major)) > 380 for major in (11, 12, 13))
    assert "cudaLaunchKernel" in exported_functions(11) and "__cudaLaunchKernel" not in exported_functions(11)
    for operation in OPERATIONS:
        assert hasattr(Runtime, operation.name) or hasattr(BesideGpu, operation.name), operation.name
