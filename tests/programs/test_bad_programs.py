"""What cannot be done for a program is one sentence; the program ends with its own exit code, and leaves nothing running."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from warploom.programs.library import libraries

WARPLOOM = [sys.executable, "-c", "from warploom.cli import main; main()"]
OWN_CODE, REFUSED = 7, 2
TOLD = {
    "device": (101, "asks for device 1, but there is one, device 0"),
    "table": (500, "asks the driver for what only NVIDIA's has; link it with: nvcc -cudart shared"),
    "call": (801, "calls cuMipmappedArrayGetLevel, which is not supported"),
}


@pytest.fixture(scope="module")
def program(compiled: Callable[..., Path]) -> Path:
    """A program that is linked with the driver alone."""
    return compiled("asking.c", "-cudart", "none", f"-L{libraries()}", "-lcuda")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a command line of exec to its end."""
    return subprocess.run(
        [*WARPLOOM, "exec", "--emulate-only", *command], capture_output=True, text=True, timeout=120, check=False
    )


def running(program: Path) -> list[str]:
    """The processes that execute a file."""
    links = [process / "exe" for process in Path("/proc").iterdir() if process.name.isdecimal()]
    found = []
    for link in links:
        try:
            found += [link.parent.name] if link.resolve() == program.resolve() else []
        except OSError:  # it has ended, or belongs to somebody else
            continue
    return found


@pytest.mark.parametrize("what", TOLD)
def test_what_is_not_there_is_told_once_and_the_program_ends_as_it_wants(program: Path, what: str) -> None:
    code, sentence = TOLD[what]
    done = run("--", str(program), what)
    assert (done.returncode, done.stdout) == (OWN_CODE, f"{code}\n{code}\n")
    assert len(done.stderr.splitlines()) == 1 and sentence in done.stderr
    assert running(program) == []


def test_code_for_another_chip_is_one_sentence(compiled: Callable[..., Path]) -> None:
    pytest.importorskip("elftools")
    program = compiled("driver.c", "-cudart", "none", f"-L{libraries()}", "-lcuda")
    cubin = compiled("kernels.cu", "-cubin", "-arch=sm_90")
    done = run("--code", "sm_80", "--", str(program), "launches", str(cubin))
    assert done.returncode == 1  # the program's own, which ends when a call fails
    assert len(done.stderr.splitlines()) == 1 and "neither PTX nor machine code for sm_80, but sm_90" in done.stderr
    assert running(program) == []


def test_a_stripped_program_with_the_runtime_inside_is_not_begun(compiled: Callable[..., Path], tmp_path: Path) -> None:
    strip = shutil.which("strip")
    if strip is None:
        pytest.skip("there is no strip")
    program = tmp_path / "stripped"
    shutil.copy(compiled("features.cu", "-cudart", "static", "-arch=compute_75"), program)
    subprocess.run([strip, str(program)], check=True)
    done = run("--", str(program), "symbols")
    assert (done.returncode, done.stdout) == (REFUSED, "")
    assert len(done.stderr.splitlines()) == 1 and "its symbols were stripped; link it with: nvcc -cudart shared" in done.stderr
    assert running(program) == []
