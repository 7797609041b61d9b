"""Programs that use CUDA's driver interface: each part of one prints what hardware would let it print."""

from __future__ import annotations

import resource
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from warploom.base.errors import WarploomError
from warploom.programs.library import driver_entries, error_table, libraries
from warploom.programs.replay import recorded_program
from warploom.runs.live import ProgramRun
from warploom.runs.simulate import emulate

HERE = Path(__file__).parent
Execute = Callable[..., tuple[int, ProgramRun]]
PARTS = {
    "modules": "0 0 2 5 CUDA_ERROR_NOT_FOUND add 0\nCUDA_ERROR_FILE_NOT_FOUND CUDA_ERROR_INVALID_IMAGE\n",
    "launches": "11.5 21.5 51.5 40 8 0 CUDA_ERROR_INVALID_VALUE\n",
    "memory": "1 4096 512 2 1 1 -2 CUDA_ERROR_INVALID_VALUE\n"
    "0 1020304 1021122 1ffffff 7 7 1020304 1020304 CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE\n"
    "1 CUDA_ERROR_OUT_OF_MEMORY\n",
    "contexts": "1 1 0 1 CUDA_ERROR_INVALID_CONTEXT CUDA_SUCCESS 0 CUDA_ERROR_INVALID_CONTEXT\n",
    "streams": "0 7 1 time passed CUDA_ERROR_INVALID_HANDLE\n",
    "kernels": "1 16384 1024 1 20000 3 3 512 CUDA_ERROR_INVALID_VALUE\n",
    "entries": "1 0 1 CUDA_ERROR_NOT_FOUND 0 1 CUDA_ERROR_NOT_FOUND 2 13000\n",
    "errors": "CUDA_SUCCESS CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered, ?\n",
    "graphs": "1 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED 0 4 1 0\n3 0 CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE 20 254 0\n3 4\n",
    "mapped": "2 CUDA_ERROR_INVALID_VALUE 0 7 7 CUDA_ERROR_INVALID_VALUE 7 CUDA_ERROR_INVALID_VALUE 1 CUDA_ERROR_OUT_OF_MEMORY\n",
    "parallel": "0\n",
    "standing": "400 0\n",
    "tensors": "CUDA_SUCCESS CUDA_ERROR_INVALID_VALUE 0\n",
    "missing": "CUDA_ERROR_NOT_SUPPORTED\nCUDA_ERROR_NOT_SUPPORTED\n",
}
HEARD = {  # on standard error
    "modules": "neither a fat binary nor a cubin nor PTX",
    "memory": "do not fit device memory",
    "errors": "kernel far_away",
    "mapped": "no part of an allocation",
    "tensors": "more than the 64 within which pieces are exchanged",
    "missing": "cuMipmappedArrayGetLevel",
}


@pytest.fixture(scope="module")
def program(compiled: Callable[..., Path]) -> Path:
    """A program that is linked with the driver alone."""
    return compiled("driver.c", "-cudart", "none", f"-L{libraries()}", "-lcuda")


@pytest.fixture(scope="module")
def kernels(compiled: Callable[..., Path]) -> Callable[[str], Path]:
    """The kernels that it loads, as PTX, a cubin or a fat binary."""
    architectures = {"ptx": "compute_75", "cubin": "sm_90a", "fatbin": "sm_90"}
    return lambda form: compiled("kernels.cu", f"-{form}", f"-arch={architectures[form]}")


@pytest.mark.parametrize("part", PARTS)
def test_a_driver_program_prints_what_it_should(
    execute: Execute, program: Path, kernels: Callable[[str], Path], part: str, capfd: pytest.CaptureFixture[str]
) -> None:
    status, _ = execute([str(program), part, str(kernels("ptx"))])
    out, err = capfd.readouterr()
    assert (status, out) == (0, "CUDA_ERROR_NOT_INITIALIZED " + PARTS[part])
    assert HEARD.get(part, "") in err and bool(err) == (part in HEARD)


@pytest.mark.parametrize(("form", "code"), [("cubin", "sm_90a"), ("cubin", "sm_90"), ("fatbin", "sm_90")])
@pytest.mark.parametrize("part", ["modules", "launches", "standing"])
def test_machine_code_is_loaded_in_all_its_forms(
    execute: Execute,
    program: Path,
    kernels: Callable[[str], Path],
    form: str,
    code: str,
    part: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("elftools")
    status, run = execute([str(program), part, str(kernels(form))], code=code)
    assert (status, capfd.readouterr().out) == (0, "CUDA_ERROR_NOT_INITIALIZED " + PARTS[part])
    assert all(total.warp_instructions > 0 for total in run.result().kernels)


REFUSED = "cuMemAlloc(&where, 100 * gib): CUDA_ERROR_OUT_OF_MEMORY\n"
LARGE = "143155 0 CUDA_ERROR_OUT_OF_MEMORY 100\n31 0 7 0\n"


def test_memory_of_an_h200_is_there_and_costs_what_is_touched(
    execute: Execute,
    program: Path,
    kernels: Callable[[str], Path],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("elftools")
    recorded = tmp_path / "large.wlr"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    command = [str(program), "large", str(kernels("fatbin"))]
    status, _ = execute(command, record=recorded, code="sm_90", machine="hopper")
    assert (status, capfd.readouterr().out) == (0, "CUDA_ERROR_NOT_INITIALIZED " + LARGE)
    assert emulate(recorded_program(str(recorded), "sm_90"), machine="hopper").verified is True
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 20  # KiB
    with pytest.raises(WarploomError, match="code made of PTX has addresses of 32 bits"):
        emulate(recorded_program(str(recorded), "ptx"))


def test_code_with_narrow_addresses_has_the_memory_that_they_reach(
    execute: Execute, program: Path, kernels: Callable[[str], Path], capfd: pytest.CaptureFixture[str]
) -> None:
    for machine, mebibytes in (("gtx480", 1536), ("hopper", 2560)):
        status, _ = execute([str(program), "large", str(kernels("ptx"))], machine=machine)
        assert (status, capfd.readouterr().out) == (1, f"CUDA_ERROR_NOT_INITIALIZED {mebibytes} 0{REFUSED}")


def test_a_cubin_for_another_chip_is_refused_in_a_sentence(
    execute: Execute, program: Path, kernels: Callable[[str], Path], capfd: pytest.CaptureFixture[str]
) -> None:
    status, _ = execute([str(program), "modules", str(kernels("cubin"))], code="sm_80")
    out, err = capfd.readouterr()
    assert (status, "cuModuleLoad" in out, "CUDA_ERROR_INVALID_IMAGE" in out) == (1, True, True)
    assert "neither PTX nor machine code for sm_80, but sm_90" in err


def test_the_tables_of_the_driver_are_whole() -> None:
    entries = driver_entries()
    assert len({entry.symbol for entry in entries}) == len(entries) - 1 == 637  # one has two names
    assert [entry.symbol for entry in entries if entry.name == "cuMemAlloc"] == ["cuMemAlloc", "cuMemAlloc_v2"]
    assert error_table("driver")[700] == ("CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered")


def test_every_function_of_the_driver_is_exported_and_no_private_table() -> None:
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("there is no nm")
    listed = subprocess.run(
        [nm, "-D", "--defined-only", str(libraries() / "libcuda.so.1")], capture_output=True, text=True, check=True
    )
    assert {line.split()[-1] for line in listed.stdout.splitlines()} == {entry.symbol for entry in driver_entries()}


def test_the_runtime_hands_to_the_driver_what_it_leaves_to_it(
    execute: Execute, compiled: Callable[..., Path], kernels: Callable[[str], Path], capfd: pytest.CaptureFixture[str]
) -> None:
    program = compiled("runtime_to_driver.cu")
    status, _ = execute([str(program), str(kernels("ptx"))])
    assert (status, capfd.readouterr().out) == (
        0,
        "cudaSuccess 0 1 1 1\n1048576 cudaSuccess cudaSuccess cudaSuccess\ncudaSuccess 1 cudaSuccess 31 0 cudaSuccess\n",
    )
