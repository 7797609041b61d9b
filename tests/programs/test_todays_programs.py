"""Programs in Python that use the driver: kernels in Triton's language, of numba-cuda and of cuda-python, beside NumPy.

Both come with the extra `today` (some 1.9 GB), which `make verify` installs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from warploom.runs.live import ProgramRun

HERE = Path(__file__).parent
Execute = Callable[..., tuple[int, ProgramRun]]
TRITON_KERNELS = {"_add", "_softmax", "_layer_norm", "_matmul", "_described_matmul", "_describing_matmul", "_attention"}
NUMBA = """stream True True
atomics True
reduce True
mapped_array [2.0, 2.0, 2.0, 2.0]
managed_array [2.0, 2.0, 2.0, 2.0]
device (9, 0)
"""
pytestmark = pytest.mark.slow


def test_triton_kernels_agree_with_numpy(
    execute: Execute, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("triton")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    status, run = execute([sys.executable, str(HERE / "triton_kernels.py")], code="sm_90a", machine="hopper")
    assert status == 0, capfd.readouterr()
    assert {total.kernel for total in run.result().kernels} == TRITON_KERNELS


def test_a_program_with_numba_cuda_agrees_with_numpy(execute: Execute, capfd: pytest.CaptureFixture[str]) -> None:
    if find_spec("numba_cuda") is None:
        pytest.skip("numba-cuda is not installed")
    status, _ = execute([sys.executable, str(HERE / "numba_programs.py")], code="sm_90a", machine="hopper")
    assert (status, capfd.readouterr().out) == (0, NUMBA)


def test_a_program_with_cuda_python_agrees_with_numpy(execute: Execute, capfd: pytest.CaptureFixture[str]) -> None:
    if find_spec("cuda") is None or find_spec("cuda.core") is None:
        pytest.skip("cuda-python is not installed")
    status, _ = execute([sys.executable, str(HERE / "cuda_core_programs.py")], code="sm_90a", machine="hopper")
    assert (status, capfd.readouterr().out) == (0, "device (9, 0)\nstream True\ngraph True\n")
