"""Fat binaries: the cubin of an architecture, or PTX, out of NVIDIA's container."""

from __future__ import annotations

import struct
from pathlib import Path

import lz4.block
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from warploom.base.errors import WarploomError
from warploom.cli.app import run_command
from warploom.compiler.sass.fatbin import best_cubin, read_fatbin
from warploom.compiler.sass.module import ARCHITECTURES, from_ptx
from warploom.compiler.sass.toolchain import _run

PTX = """.version 8.0
.target sm_75
.address_size 64
.visible .entry fill(.param .u64 out)
{
    .reg .b64 %rd<4>;
    .reg .b32 %r<3>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd3, %rd2, %rd3;
    st.global.u32 [%rd3], %r1;
    ret;
}
"""
LAUNCH = ["--grid", "1", "--block", "32", "--arg", "out=s32[32]", "--emulate-only"]


def _entry(kind: int, architecture: int, data: bytes, flags: int = 0, packed: bytes = b"", header: int = 64) -> bytes:
    payload = packed or data
    payload += b"\0" * (-len(payload) % 8)
    sizes = (len(payload), len(packed), 0, 0, 0, architecture, 0, 0, flags, 0, len(data))
    return struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, header, *sizes).ljust(header, b"\0") + payload


def _container(*entries: bytes) -> bytes:
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, sum(map(len, entries))) + b"".join(entries)


def test_an_unknown_compression_is_refused_and_not_taken_for_the_contents() -> None:
    with pytest.raises(WarploomError, match=r"x\.fatbin: the fat binary is compressed in an unknown way \(flags 0x4000\)"):
        read_fatbin(_container(_entry(1, 75, PTX.encode(), 0x4000, b"packed")), "x.fatbin")


def test_compressed_and_plain_entries() -> None:
    text = PTX.encode()
    packed = _container(
        _entry(1, 75, text),
        _entry(1, 80, text, 0x2000, lz4.block.compress(text, store_size=False)),
        _entry(1, 90, text, 0x8000, zstandard.compress(text)),
    )
    entries = read_fatbin(packed, "x.fatbin")
    assert [entry.architecture for entry in entries] == [75, 80, 90]
    assert {entry.data.rstrip(b"\0") for entry in entries} == {text}


def test_the_newest_cubin_or_the_one_asked_for() -> None:
    entries = read_fatbin(_container(_entry(2, 80, b"eighty"), _entry(2, 90, b"ninety"), _entry(1, 90, b"text")), "x")
    found = {code: best_cubin(entries, code) for code in ARCHITECTURES}
    names = {code: entry.data.rstrip(b"\0").decode() for code, entry in found.items() if entry is not None}
    assert names == {
        "sm_80": "eighty",
        "sm_86": "eighty",
        "sm_87": "eighty",
        "sm_89": "eighty",
        "sm_90": "ninety",
        "sm_90a": "ninety",
    }


def test_what_nvidias_own_tool_makes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, cubin, fat = tmp_path / "fill.ptx", tmp_path / "fill.cubin", tmp_path / "fill.fatbin"
    text.write_text(PTX)
    cubin.write_bytes(from_ptx(PTX, "fill.ptx", "sm_90").make(None))
    images = [f"--image3=kind=elf,sm=90,file={cubin}", f"--image3=kind=ptx,sm=90,file={text}"]
    _run("fatbinary", "fill", f"--create={fat}", "-64", *images)
    for code in ([], ["--code", "sm_90"], ["--code", "sm_80"], ["--code", "ptx"]):
        assert run_command(["run", str(fat), *LAUNCH, *code]) == 0, code
    fat.write_bytes(fat.read_bytes()[:200])
    capsys.readouterr()
    assert run_command(["run", str(fat), *LAUNCH]) == 2
    assert "fatbin" in capsys.readouterr().err


def test_headers_of_entries_have_several_sizes_and_other_kinds_are_passed_over() -> None:
    found = read_fatbin(
        _container(_entry(1, 75, b"text", header=72), _entry(64, 90, b"other"), _entry(2, 90, b"code", header=128)), "x"
    )
    assert [(each.cubin, each.architecture) for each in found] == [(False, 75), (True, 90)]
    assert found[0].text == "text"


def test_containers_may_follow_each_other() -> None:
    assert [each.text for each in read_fatbin(_container() + _container(_entry(1, 75, b"text")) + bytes(64), "x")] == ["text"]


@given(cut=st.integers(1, 200), place=st.integers(0, 2000), byte=st.integers(1, 255))
def test_damage_is_a_sentence(cut: int, place: int, byte: int) -> None:
    whole = _container(_entry(1, 75, PTX.encode()), _entry(2, 90, b"\x7fELF....", header=72))
    spoilt = bytearray(whole)
    spoilt[place % len(whole)] ^= byte
    for data in (whole[:-cut], bytes(spoilt)):
        try:
            read_fatbin(data, "program")
        except WarploomError as problem:
            assert str(problem).startswith("program: ")


def test_a_header_without_a_size_is_damage_and_no_endless_loop() -> None:
    with pytest.raises(WarploomError, match="damaged"):
        read_fatbin(struct.pack("<IHHQ", 0xBA55ED50, 1, 0, 0), "x")
