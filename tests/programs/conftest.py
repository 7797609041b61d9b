"""CUDA programs for the tests: compiled once in a session by nvcc, the machine's own or a wheel's."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from warploom.chip.machines import load_machine
from warploom.designs import design
from warploom.programs.process import ProcessOrigin
from warploom.programs.recorder import Recorder
from warploom.programs.recording import RecordingWriter
from warploom.programs.runtime import Runtime
from warploom.programs.server import run_program
from warploom.runs.live import ProgramRun
from warploom.runs.spec import RunSpec

HERE = Path(__file__).parent


def nvcc_command() -> list[str]:
    """nvcc, or a reason to skip."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    if shutil.which("nvcc"):
        return ["nvcc"]
    for folder in map(Path, sys.path):
        wheel = folder / "nvidia" / "cu13"
        library = wheel / "lib" / "libcudart.so"
        if (wheel / "bin" / "nvcc").is_file() and library.exists():
            return [str(wheel / "bin" / "nvcc"), f"-L{wheel / 'lib'}"]
    pytest.skip("there is no nvcc, neither on the PATH nor from the wheels nvidia-cuda-nvcc and nvidia-cuda-runtime")


@pytest.fixture(scope="session")
def nvcc() -> list[str]:
    """How nvcc is called."""
    return nvcc_command()


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compile a source of this folder, each way of compiling once."""
    made: dict[tuple[str, ...], Path] = {}

    def make(source: str, *options: str) -> Path:
        ways = options or ("-cudart", "shared", "-gencode", "arch=compute_75,code=compute_75")
        if (source, *ways) not in made:
            target = tmp_path_factory.mktemp("programs") / Path(source).stem
            done = subprocess.run([*nvcc_command(), "-o", str(target), *ways, str(HERE / source)], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            made[source, *ways] = target
        return made[source, *ways]

    return make


@pytest.fixture(scope="session")
def features(compiled: Callable[..., Path]) -> Path:
    """The program with many parts."""
    return compiled("features.cu")


Execute = Callable[..., tuple[int, ProgramRun]]


@pytest.fixture(scope="session")
def execute() -> Execute:
    """Run a program as `warploom exec` does, in this process; its exit code, and what its launches came to."""

    def run_it(
        command: list[str], record: Path | None = None, code: str = "ptx", timed: bool = False, machine: str = "gtx480"
    ) -> tuple[int, ProgramRun]:
        run = ProgramRun(
            RunSpec(ProcessOrigin(tuple(command)), design("baseline"), load_machine(machine).scaled(1), code=code, timed=timed)
        )
        writer = RecordingWriter(record) if record is not None else None

        def make_runtime() -> Runtime:
            return Runtime(run.settings(), command[0], Recorder(writer) if writer is not None else None)

        status = run_program(command, make_runtime)
        if writer is not None:
            writer.finish(f"ended with exit code {status}")
        return status, run

    return run_it
