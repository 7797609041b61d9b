"""Programs whose device code is compiled in several files and linked (nvcc -rdc=true), in PTX and in machine code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from warploom.base.errors import WarploomError
from warploom.compiler.sass.cubin import read_cubin
from warploom.compiler.sass.fatbin import read_fatbin
from warploom.runs.live import ProgramRun

HERE = Path(__file__).parent
LINKED = ("-cudart", "shared", "-rdc=true", "-gencode", "arch=compute_75,code=[sm_75,compute_75]")
FILES = ("linked_main.cu", "linked_part.cu")
TOTAL = 7 + 2 * sum(range(32))
VALUES = [3 * i + 5 + (31 - i ^ 1) + i - 11 for i in range(32)]
VALUES[0] += 2 * TOTAL
FIBONACCI = [[0, 1, 1, 2, 3, 5, 8, 13][i & 7] for i in range(32)]

Execute = Callable[..., tuple[int, ProgramRun]]


@pytest.fixture(scope="module", params=[FILES, FILES[::-1]], ids=["main last", "part last"])
def linked(request: pytest.FixtureRequest, compiled: Callable[..., Path]) -> Path:
    """The program, its files in both orders."""
    source, other = request.param
    return compiled(source, *LINKED, str(HERE / other))


def numbers(printed: str) -> list[int]:
    return [int(word) for word in printed.splitlines()[-1].split()[:32]]


@pytest.mark.parametrize("code", ["ptx", "sm_75", "sm_80"])  # linked by Warploom; by nvcc; by Warploom for ptxas
def test_each_name_means_what_the_linker_says(
    linked: Path, code: str, execute: Execute, capfd: pytest.CaptureFixture[str]
) -> None:
    if code != "ptx":
        pytest.importorskip("elftools")
    status, _ = execute([str(linked), "values"], code=code)
    out, err = capfd.readouterr()
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[:3] == [f"first says {TOTAL}", "part prints", f"total {TOTAL}"]
    assert numbers(out) == VALUES
    assert lines[3].endswith(" 3 4 cudaSuccess")


def test_functions_that_call_themselves_run_in_linked_machine_code(
    linked: Path, execute: Execute, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("elftools")
    execute([str(linked), "recursion"], code="sm_75")
    out, err = capfd.readouterr()
    assert (numbers(out), err) == (FIBONACCI, "")


def test_calls_through_pointers_of_linked_code_are_refused_by_name(
    linked: Path, execute: Execute, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("elftools")
    execute([str(linked), "pointers"], code="sm_75")
    out, err = capfd.readouterr()
    assert out.endswith("cudaErrorNotSupported\n")
    assert "CALL.ABS.NOINC" in err and "function pointers" in err and "without -rdc=true" in err


def test_a_cubin_that_was_never_linked_is_refused(linked: Path) -> None:
    pytest.importorskip("elftools")
    data = linked.read_bytes()
    parts, at = [], data.index(b"\x50\xed\x55\xba")
    while at >= 0:
        parts += [entry for entry in read_fatbin(data[at:], "program") if entry.cubin]
        at = data.find(b"\x50\xed\x55\xba", at + 1)
    assert any(entry.linked for entry in parts)
    unlinked = [entry for entry in parts if not entry.linked]
    assert unlinked
    with pytest.raises(WarploomError, match=r"program: this cubin was never linked; compile without -rdc=true"):
        read_cubin(unlinked[0].data, "program")


@pytest.mark.parametrize("beside", ["sm_90,compute_90", "sm_90"])
def test_machine_code_that_needs_too_many_registers_is_made_anew_from_the_ptx_beside_it(
    beside: str, compiled: Callable[..., Path], execute: Execute, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("elftools")
    program = compiled("many_registers.cu", "-cudart", "shared", "-gencode", f"arch=compute_90,code=[{beside}]")
    _, run = execute([str(program)], code="sm_90")
    out, err = capfd.readouterr()
    if "compute_90" in beside:
        assert (out, err) == ("cudaSuccess cudaSuccess 0.75\n", "")
        assert [total.registers <= 255 for total in run.result().kernels] == [True]
    else:
        assert out.startswith("cudaErrorNotSupported cudaErrorNotSupported")
        assert err.count("a cubin is compiled already") == 1 and "machine without uniform registers" in err
