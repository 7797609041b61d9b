"""Whatever kernels are made of, they are read in one way, and are the same kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from warploom.base.errors import WarploomError
from warploom.compiler.cuda import compile_to_ptx
from warploom.compiler.sass.fatbin import FatEntry, ptx_entry
from warploom.compiler.sass.module import SassModule, from_ptx
from warploom.programs.source import PTX, Source

CUDA = 'extern "C" __global__ void fill(int *p, int value)\n{\n    p[threadIdx.x] = value;\n}\n'


@pytest.fixture(scope="module")
def text() -> str:
    return compile_to_ptx(CUDA, "fill.cu", line_numbers=True)


@pytest.fixture(scope="module")
def cubin(text: str) -> bytes:
    pytest.importorskip("elftools")
    return from_ptx(text, "fill", "sm_90").make(None)


def test_a_text_and_the_file_that_holds_it_are_one_source(tmp_path: Path, text: str) -> None:
    for name, contents in (("fill.cu", CUDA), ("fill.ptx", text)):
        path = tmp_path / name
        path.write_text(contents)
        assert Source.of_file(str(path), ("-DN=1",)) == Source.of_text(contents, str(path), ("-DN=1",))
        assert list(Source.of_file(str(path)).kernels(PTX).kernels) == ["fill"]


def test_cuda_and_its_ptx_are_the_same_kernels(text: str) -> None:
    source = Source.of_text(CUDA, "fill.cu")
    assert source.compiled(PTX) == text.encode() == Source.of_text(text, "fill.cu").compiled(PTX)
    assert source.lines(PTX) == CUDA.splitlines() and Source.of_text(text, "fill.cu").lines(PTX) == text.splitlines()
    assert source.digest != Source.of_text(text, "fill.cu").digest


def test_a_cubin_is_taken_before_the_ptx_beside_it(text: str, cubin: bytes) -> None:
    source = Source("app", images=(ptx_entry(text), FatEntry(True, 90, cubin)))
    assert source.compiled("sm_90") == cubin and source.lines("sm_90") == []
    assert source.compiled("sm_80") != cubin and source.lines("sm_80") == text.splitlines()
    kernels = source.kernels("sm_90")
    assert isinstance(kernels, SassModule)
    limited = kernels.kernel("fill", 24)
    assert limited.name == "fill", "under a limit of registers, it is made of the PTX"


@pytest.mark.parametrize(("asked", "code"), [(None, "sm_90"), ("sm_80", "sm_80"), (PTX, PTX)])
def test_the_newest_machine_code_is_usual_where_there_is_some(text: str, cubin: bytes, asked: str | None, code: str) -> None:
    assert Source("app", images=(ptx_entry(text), FatEntry(True, 90, cubin))).code_for(asked, "sm_75") == code
    assert Source.of_text(text, "fill").code_for(asked, "sm_75") == (asked or "sm_75")


def test_a_cubin_runs_on_newer_chips_of_its_generation(text: str) -> None:
    pytest.importorskip("elftools")
    eighty = Source("old", images=(FatEntry(True, 80, from_ptx(text, "fill", "sm_80").make(None)),))
    assert list(eighty.kernels("sm_86").kernels) == ["fill"]
    with pytest.raises(WarploomError, match="old: it holds neither PTX nor machine code for sm_90, but sm_80"):
        eighty.kernels("sm_90")


def test_what_is_not_there_is_said_with_what_is(cubin: bytes, tmp_path: Path) -> None:
    alone = Source("app", images=(FatEntry(True, 90, cubin),))
    with pytest.raises(WarploomError, match=r"app: it holds no PTX but machine code \(sm_90\); choose that with --code"):
        alone.kernels(PTX)
    with pytest.raises(WarploomError, match="no code for a known architecture in it; it holds sm_35"):
        Source("app", images=(FatEntry(True, 35, bytes(64)),)).code_for(None, PTX)
    with pytest.raises(WarploomError, match=r"gone\.cu: there is no such file"):
        Source.of_file("gone.cu")
    (tmp_path / "binary.cu").write_bytes(b"\xff\xfe")
    with pytest.raises(WarploomError, match="this is not text"):
        Source.of_file(str(tmp_path / "binary.cu"))
    (tmp_path / "empty.cu").write_text("")
    assert not Source.of_file(str(tmp_path / "empty.cu")).kernels(PTX).kernels
