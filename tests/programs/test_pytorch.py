"""PyTorch without a GPU: its own kernels, products by ours, whole layers, compared with PyTorch on the CPU.

It comes with the extra `torch` (3 GB to download, 5.4 GB installed), which `make verify` installs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from support.executed import kernels_of
from warploom.programs.library import OUR_KERNELS
from warploom.runs.live import ProgramRun

HERE = Path(__file__).parent
Execute = Callable[..., tuple[int, ProgramRun]]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed: pip install 'warploom[torch]'"),
]
PROGRAMS = {  # with how many lines they print
    "torch_operators.py": 34,
    "torch_block.py 128 float32": 26,
    "torch_block.py 128 bfloat16": 26,
    "torch_layers.py 64": 10,
    "torch_compiled.py": 1,
}


@pytest.mark.parametrize("words", PROGRAMS)
def test_pytorch_on_the_device_agrees_with_pytorch_on_the_cpu(
    execute: Execute, words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    program, *options = words.split()
    status, run = execute([sys.executable, str(HERE / program), *options], code="sm_90", machine="hopper")
    out, err = capfd.readouterr()
    assert status == 0, err
    lines = out.splitlines()
    assert len(lines) == PROGRAMS[words] and all(": agrees (" in line for line in lines), out
    assert kernels_of(run)


def test_the_result_names_which_kernels_were_ours(execute: Execute) -> None:
    status, run = execute([sys.executable, str(HERE / "torch_operators.py"), "products"], code="sm_90", machine="hopper")
    assert status == 0
    assert {name for name in kernels_of(run) if name.startswith(OUR_KERNELS)} == {"warploom_gemm_f32_64x64"}
