"""The libraries in the place of cuBLAS and cuBLASLt: products by kernels of ours agree with NumPy's."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from support.executed import kernels_of
from warploom.programs.library import PRODUCTS, libraries, product_functions
from warploom.runs.live import ProgramRun

PROGRAM = Path(__file__).parent / "cublas_programs.py"
TILES = ("64x64", "128x128")
Execute = Callable[..., tuple[int, ProgramRun]]


@pytest.mark.parametrize("code", ["ptx", "sm_90"])
def test_products_in_full_width_agree_with_numpy(execute: Execute, code: str, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("elftools")
    parts = ("single", "wide", "vectors", "batches")
    status, run = execute([sys.executable, str(PROGRAM), *parts], code=code)
    assert (status, capfd.readouterr().out) == (0, "".join(f"{part}: agrees\n" for part in parts))
    assert kernels_of(run) == {f"warploom_gemm_{kind}_{tile}" for kind in ("f32", "f64") for tile in TILES}


def test_products_on_tensor_cores_agree_with_numpy(execute: Execute, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("elftools")
    status, run = execute([sys.executable, str(PROGRAM), "tensors", "described"], code="sm_90", machine="hopper")
    assert (status, capfd.readouterr().out) == (0, "tensors: agrees\ndescribed: agrees\n")
    families = {f"warploom_gemm_{kind}_{tile}" for kind in ("f16", "bf16") for tile in TILES}
    layouts = {f"{family}_{layout}" for family in families for layout in ("nn", "nt", "tn", "tt")}
    assert layouts <= kernels_of(run)


def test_what_the_libraries_cannot_do_has_a_sentence(execute: Execute, capfd: pytest.CaptureFixture[str]) -> None:
    status, run = execute([sys.executable, str(PROGRAM), "refused"])
    out, err = capfd.readouterr()
    assert (status, out, kernels_of(run)) == (0, "15 15 7\nrefused: agrees\n", set())
    assert "cublasGemmEx for these types of matrices, which is not supported; it gets CUBLAS_STATUS_NOT_SUPPORTED\n" in err
    assert "cublasStrsm_v2, which is not supported" in err


@pytest.mark.parametrize("version", PRODUCTS)
def test_every_public_function_of_cublas_is_exported_under_its_version(version: int) -> None:
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("there is no nm")
    for name, exports in zip(PRODUCTS[version], ("exports.txt", "exports-lt.txt"), strict=True):
        command = [nm, "-D", "--defined-only", "--with-symbol-versions", str(libraries() / name)]
        listed = subprocess.run(command, capture_output=True, text=True, check=True)
        symbols = {line.split()[-1] for line in listed.stdout.splitlines()} - {name}
        assert {symbol.replace("@@", "@") for symbol in symbols} == {f"{each}@{name}" for each in product_functions(exports)}
