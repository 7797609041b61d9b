"""Programs of CUDA 11 and 12: the name of their library, versions of its symbols, structures, launches, both compressions."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from warploom.programs.library import NAMES, libraries
from warploom.programs.linkage import check_program
from warploom.programs.properties import layout
from warploom.runs.live import ProgramRun

HERE = Path(__file__).parent
KERNEL = 'extern "C" __global__ void add(int *data, int by) { data[threadIdx.x] += by; }\n'


@pytest.fixture(scope="module")
def fat_binaries(nvcc: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The kernel, compressed as old and as new compilers do it."""
    folder = tmp_path_factory.mktemp("fat")
    (folder / "add.cu").write_text(KERNEL)
    made = {}
    for name, mode in (("LZ4", "speed"), ("zstd", "default")):
        made[name] = folder / f"{name}.fatbin"
        way = ["-fatbin", f"--compress-mode={mode}", "-gencode", "arch=compute_75,code=compute_75"]
        done = subprocess.run([*nvcc, *way, "-o", str(made[name]), str(folder / "add.cu")], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return made


@pytest.mark.parametrize("major", [11, 12])
def test_a_program_of_an_older_runtime_runs(
    major: int,
    fat_binaries: dict[str, Path],
    execute: Callable[..., tuple[int, ProgramRun]],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    program = tmp_path / f"program{major}"
    link = [f"-DMAJOR={major}", "-o", str(program), str(HERE / "versions.c"), f"-L{libraries()}", f"-l:{NAMES[major]}"]
    subprocess.run(["cc", "-w", *link], check=True)
    check_program(str(program))
    versions = subprocess.run(["objdump", "-T", str(program)], capture_output=True, text=True).stdout
    assert f"({NAMES[major]})" in versions or f" {NAMES[major]} " in versions  # its symbols have the version of the library
    for compression, binary in fat_binaries.items():
        status, run = execute([str(program), str(binary), compression])
        size = layout(major).itemsize
        wanted = f"{compression} cudaSuccess, warps of 32, properties of {size} bytes, 100 131\n"
        assert (status, capfd.readouterr().out) == (0, wanted)
        assert [total.launches for total in run.result().kernels] == [1]
