"""Machine code that cannot be used: one sentence and exit code 2, whatever is wrong with it."""

from __future__ import annotations

import io
import struct
from dataclasses import replace
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from support.places import DATA
from warploom.base.errors import WarploomError
from warploom.cli.app import run_command
from warploom.compiler.sass import disassembly, module
from warploom.compiler.sass.cubin import read_cubin
from warploom.compiler.sass.disassembly import Listing, Section
from warploom.emulator.launch import RunningLaunch
from warploom.programs.device import Device

CUBIN = DATA / "h200" / "cubin" / "vecadd.cubin"
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
    assert "it holds neither PTX nor machine code for sm_75, but sm_90" in _refused(
        ["run", str(CUBIN), *LAUNCH, "--code", "sm_75"], capsys
    )


def test_a_kernel_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert "no kernel 'vecmul'" in _refused(["run", str(CUBIN), *LAUNCH, "--kernel", "vecmul"], capsys)


def test_a_file_that_is_no_cubin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "text.cubin"
    file.write_text("not a cubin")
    assert "this is not a cubin" in _refused(["run", str(file), *LAUNCH], capsys)


def _with_stack(amount: int) -> bytes:
    """The cubin, whose kernel says that it needs so much stack."""
    cubin = read_cubin(CUBIN.read_bytes(), "vecadd.cubin")
    facts = cubin.sections[".nv.info"]
    least = facts.index(bytes([4, 0x12, 8, 0]))  # the attribute with its size; then the symbol, then the amount
    changed = facts[: least + 8] + amount.to_bytes(4, "little") + facts[least + 12 :]
    return CUBIN.read_bytes().replace(facts, changed)


@pytest.mark.parametrize("amount", [1 << 20, 2**31 - 1, 2**31, 2**32 - 2])
def test_a_stack_that_no_machine_has(amount: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "deep.cubin"
    file.write_bytes(_with_stack(amount))
    said = _refused(["run", str(file), *LAUNCH], capsys)
    assert f"{-(-amount // 16) * 16} bytes of local memory; 524288 are the most" in said


def test_a_stack_whose_depth_the_compiler_does_not_know(tmp_path: Path) -> None:
    """All ones mean that functions call themselves: the kernel has the stack that CUDA gives by default."""
    file = tmp_path / "recursive.cubin"
    file.write_bytes(_with_stack(2**32 - 1))
    assert run_command(["run", str(file), *LAUNCH]) == 0


@pytest.mark.parametrize("size", [1 << 20, 1 << 31, 1 << 40])
def test_shared_memory_that_no_machine_has(size: int) -> None:
    """No room is made for zeros that a file only counts."""
    tiled = CUBIN.with_name("matmul_tiled.cubin")
    data, elf = bytearray(tiled.read_bytes()), ELFFile(io.BytesIO(tiled.read_bytes()))
    number = next(n for n, section in enumerate(elf.iter_sections()) if section.name.startswith(".nv.shared.mat"))
    struct.pack_into("<Q", data, elf["e_shoff"] + number * elf["e_shentsize"] + 32, size)  # where a header has the size
    made = module.from_cubin(bytes(data), "tiled.cubin")
    device = Device(lambda kernel, _shape: made.kernel(kernel), record=None)
    with pytest.raises(WarploomError, match=f"{size} bytes of shared memory were asked for|nvdisasm refuses it"):
        name = made.kernels[0]
        device.launch(name, (1,), (16, 16), *(bytes(parameter.size) for parameter in made.kernel(name).parameters))


def test_too_little_memory_is_a_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def none_left(*_: object) -> None:
        raise MemoryError("Unable to allocate 128. GiB")

    monkeypatch.setattr(RunningLaunch, "run", none_left)
    assert "there is not enough memory (Unable to allocate 128. GiB)" in _refused(["run", str(CUBIN), *LAUNCH], capsys)


@pytest.mark.parametrize("design", ["baseline", "rfv", "regmutex"])
def test_an_opcode_that_nobody_knows(design: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class Strange(Listing):
        def __getitem__(self, name: str) -> Section:
            section = super().__getitem__(name)
            lines = [replace(line, text=line.text.replace("FADD", "FROBNICATE")) for line in section.lines]
            return replace(section, lines=lines)

    monkeypatch.setattr(disassembly, "Listing", Strange)
    assert "uses FROBNICATE" in _refused(["run", str(CUBIN), *LAUNCH, "--design", design], capsys)
