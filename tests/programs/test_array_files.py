"""Arrays of people's files: what is no array, or less than it says, is refused with the reason and takes no memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warploom.cli.app import run_command
from warploom.programs.array_files import read_npy


def header(shape: str, kind: str = "<f4") -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}}}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(
    "data",
    [
        header("(1099511627776,)"),
        header("(1180591620717411303424,)"),
        header("(-5,)"),
        header("(4,)") + b"\0" * 15,
        header("(1,)", "|O") + b"cos\nsystem\n",
        header("(" * 3000 + ")" * 3000),
        b"",
        b"PK\x03\x04",
        b"\x93NUMPY\x09\x00",
    ],
    ids=["2^40", "2^70", "negative", "short", "pickled", "brackets", "empty", "zip", "version"],
)
def test_what_is_no_array_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.npy").write_bytes(data)
    with pytest.raises(ValueError, match=r"^it cannot be read as a NumPy array: [^\n]+$"):
        read_npy(tmp_path / "a.npy")


def test_several_arrays_are_not_one(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", a=np.zeros(3))
    with pytest.raises(ValueError, match="cannot be read as a NumPy array"):
        read_npy(tmp_path / "a.npz")


def test_an_array_is_read_whole(tmp_path: Path) -> None:
    wanted = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    np.save(tmp_path / "a.npy", wanted)
    read = read_npy(tmp_path / "a.npy")
    assert type(read) is np.ndarray and np.array_equal(read, wanted) and read.flags.writeable


@pytest.mark.parametrize("option", [["--arg", "x=f32[256]:{}"], ["--arg", "x=f32[256]", "--expect", "x={}"]])
def test_on_the_command_line_it_is_one_sentence(option: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, kernel = tmp_path / "a.npy", tmp_path / "k.ptx"
    file.write_bytes(header("(1099511627776,)"))
    kernel.write_text(".version 6.4\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 x) { ret; }\n")
    words = [word.format(file) for word in option]
    assert run_command(["run", str(kernel), "--grid", "1", "--block", "32", *words]) == 2
    error = capsys.readouterr().err
    assert f"{file}: it cannot be read as a NumPy array" in error and error.count("\n") == 1
