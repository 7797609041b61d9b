"""Machine code that cannot be used: one sentence and exit code 2, whatever is wrong with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from warploom.cli.app import run_command
from warploom.sass import module
from warploom.sass.disassembly import Section, listing

CUBIN = Path(__file__).parents[1] / "data" / "h200" / "cubin" / "vecadd.cubin"
ARRAYS = [word for name in "abc" for word in ("--arg", f"{name}=f32[1024]:ones")]
LAUNCH = ["--grid", "4", "--block", "256", "--emulate-only", *ARRAYS, "--arg", "n=1024"]


def _refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert run_command(words) == 2
    err = capsys.readouterr().err
    assert "Traceback" not in err
    return err


@pytest.mark.parametrize("share", [0.0, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999])
def test_a_truncated_cubin(share: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = CUBIN.read_bytes()
    file = tmp_path / "short.cubin"
    file.write_bytes(data[: int(len(data) * share)])
    assert "short.cubin" in _refused(["run", str(file), *LAUNCH], capsys)


def test_another_architecture(capsys: pytest.CaptureFixture[str]) -> None:
    assert "machine code for sm_90, not for sm_75" in _refused(["run", str(CUBIN), *LAUNCH, "--code", "sm_75"], capsys)


def test_a_kernel_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert "no kernel 'vecmul'" in _refused(["run", str(CUBIN), *LAUNCH, "--kernel", "vecmul"], capsys)


def test_a_file_that_is_no_cubin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "text.cubin"
    file.write_text("not a cubin")
    assert "this is not a cubin" in _refused(["run", str(file), *LAUNCH], capsys)


@pytest.mark.parametrize("design", ["baseline", "rfv", "regmutex"])
def test_an_opcode_that_nobody_knows(design: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def strange(cubin: bytes, place: str) -> dict[str, Section]:
        sections = listing(cubin, place)
        for section in sections.values():
            section.lines = [replace(line, text=line.text.replace("FADD", "FROBNICATE")) for line in section.lines]
        return sections

    monkeypatch.setattr(module, "listing", strange)
    assert "uses FROBNICATE" in _refused(["run", str(CUBIN), *LAUNCH, "--design", design], capsys)
