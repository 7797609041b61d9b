"""Recordings by a library in front of the driver, behind which Warploom's own stands here: it cannot tell that from a real one.

None of this was run on a GPU.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from warploom.base.errors import WarploomError
from warploom.programs.library import DRIVER, IN_FRONT, driver_entries, libraries, noted_functions
from warploom.programs.recording import Recording, RecordingWriter, read_recording
from warploom.programs.selection import chosen_launches
from warploom.programs.steps import Begin, FindKernel, LaunchKernel, Read, Write
from warploom.runs.live import ProgramRun
from warploom.runs.simulate import emulate

Execute = Callable[..., tuple[int, ProgramRun]]
WARPLOOM = [sys.executable, "-c", "from warploom.cli import main; main()"]
PRINTED = {
    "modules": "0 0 2 5 CUDA_ERROR_NOT_FOUND add 0\nCUDA_ERROR_FILE_NOT_FOUND CUDA_ERROR_INVALID_IMAGE\n",
    "launches": "11.5 21.5 51.5 40 8 0 CUDA_ERROR_INVALID_VALUE\n",
    "streams": "0 7 1 time passed CUDA_ERROR_INVALID_HANDLE\n",
    "parallel": "0\n",
}


@pytest.fixture(scope="module")
def program(compiled: Callable[..., Path]) -> Path:
    """A program that is linked with the driver alone."""
    return compiled("driver.c", "-cudart", "none", f"-L{libraries()}", "-lcuda")


@pytest.fixture
def record(
    execute: Execute, program: Path, compiled: Callable[..., Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> Callable[..., tuple[Recording, str]]:
    """Record a part of the program beside a driver, which is ours; the recording, and what was printed."""

    def recorded(part: str, *options: str) -> tuple[Recording, str]:
        path, kernels = tmp_path / f"{part}.wlr", compiled("kernels.cu", "-ptx", "-arch=compute_75")
        command = [*WARPLOOM, "exec", "--real-gpu", "--record", str(path), *options, "--", str(program), part, str(kernels)]
        status, _ = execute(command)
        assert status == 0, capfd.readouterr()
        return read_recording(path), capfd.readouterr().out.removeprefix("CUDA_ERROR_NOT_INITIALIZED ")

    return recorded


def kernels_of(recording: Recording) -> list[str]:
    """The kernels of all launches, in order."""
    names = [step.name for step in recording.of_kind(FindKernel)]
    return [names[step.kernel] for step in recording.of_kind(LaunchKernel)]


@pytest.mark.parametrize("part", PRINTED)
def test_a_recording_replays_to_the_last_byte(record: Callable[..., tuple[Recording, str]], part: str) -> None:
    recording, printed = record(part)
    assert printed == PRINTED[part]
    assert any(step.block.size for step in recording.of_kind(Read))
    assert emulate(str(recording.path)).verified is True


def test_threads_and_streams_are_in_the_order_of_their_calls(record: Callable[..., tuple[Recording, str]]) -> None:
    recording, _ = record("parallel")
    assert kernels_of(recording).count("reversed") == 20
    assert emulate(str(recording.path)).warp_instructions > 0


def test_launches_of_one_kernel_bring_what_they_read_and_no_more(record: Callable[..., tuple[Recording, str]]) -> None:
    whole, _ = record("launches")
    recording, printed = record("launches", "--only", "reversed")
    assert printed == PRINTED["launches"]
    assert kernels_of(recording) == ["reversed"] and set(kernels_of(whole)) > {"reversed"}
    assert sum(step.block.size for step in recording.of_kind(Write)) == 1024
    assert emulate(str(recording.path)).verified is True


def test_launches_by_number_find_what_those_before_have_left(record: Callable[..., tuple[Recording, str]]) -> None:
    """The second and the third launch of `add` see the value of a constant that was set before them."""
    recording, printed = record("modules", "--launches", "1:3")
    assert printed == PRINTED["modules"]
    assert kernels_of(recording) == ["add", "add"]
    assert emulate(str(recording.path)).verified is True


def test_a_recording_ends_at_its_size_limit_and_the_program_does_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    writer = RecordingWriter(tmp_path / "limited.wlr", 150)
    writer.write(Begin("app", False))
    for _ in range(3):
        writer.write(Begin("app" * 20, False))
    assert writer.finish("ended with exit code 0")
    assert capsys.readouterr().err.count("has reached its size limit") == 1
    assert (tmp_path / "limited.wlr").stat().st_size < 300


@pytest.mark.parametrize("words", ["ten", "5:5", "9:2", "1:2:3", "-1:4"])
def test_launches_that_there_cannot_be_are_refused(words: str) -> None:
    with pytest.raises(WarploomError, match="--launches"):
        chosen_launches((), words)


def test_the_numbers_of_launches_are_those_of_kernels_that_are_named() -> None:
    chosen = chosen_launches(("add",), "1:3")
    assert chosen is not None and chosen_launches((), "") is None
    assert [chosen.takes("add", number) for number in range(4)] == [False, True, True, False]
    assert not chosen.takes("other", 1)
    one = chosen_launches((), "7")
    assert one is not None and (one.first, one.last) == (7, 8)


def test_a_machine_without_a_driver_is_told_so(program: Path, tmp_path: Path) -> None:
    command = [*WARPLOOM, "exec", "--real-gpu", "--record", str(tmp_path / "none.wlr"), "--", str(program), "modules", "none"]
    environment = {**os.environ, "WARPLOOM_REAL_DRIVER": str(tmp_path / "none.so")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "none.so: there is no such file" in done.stderr


def test_every_function_of_the_driver_is_handed_on() -> None:
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("there is no nm")
    library = libraries() / IN_FRONT / DRIVER
    listed = subprocess.run([nm, "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True)
    symbols = {entry.symbol for entry in driver_entries()}
    assert {line.split()[-1] for line in listed.stdout.splitlines()} == symbols
    assert noted_functions() < symbols
