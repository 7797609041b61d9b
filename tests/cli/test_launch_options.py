"""What a launch from the command line can be given besides arrays and numbers, and what becomes of its outputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warploom.cli.app import run_command

SOURCE = """
__constant__ float factors[2];
__device__ int shift;
struct Pair { char c; float f; };
__global__ void mix(const float *in, float *out, const float *extra, bool twice, Pair pair) {
    int i = threadIdx.x;
    float value = in[i] * factors[0] + factors[1] + shift + pair.f + pair.c;
    out[i] = twice ? 2 * value : value;
    if (extra) out[i] += extra[i];
}
__global__ void before(const float *in, float *out) { out[threadIdx.x] = in[(int)threadIdx.x - 1]; }
__global__ void sample(cudaTextureObject_t image, float *out) { out[threadIdx.x] = tex1Dfetch<float>(image, threadIdx.x); }
"""
MIX = [
    "--kernel",
    "mix",
    "--grid",
    "1",
    "--block",
    "32",
    "--arg",
    "in=f32[32]:iota",
    "--arg",
    "out=f32[32]",
    "--arg",
    "extra=NULL",
]
MIX += ["--arg", "twice=true", "--arg", "pair={s8:3, f32:0.5}", "--emulate-only"]


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "own.cu"
    path.write_text(SOURCE)
    return str(path)


def test_symbols_structures_null_and_bool(source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "factors.npy", np.array([2, 10], np.float32))
    right = tmp_path / "right.npy"
    np.save(right, 2 * (np.arange(32, dtype=np.float32) * 2 + 10 + 100 + 0.5 + 3))
    given = ["--symbol", f"factors=f32[2]:{tmp_path}/factors.npy", "--symbol", "shift=100"]
    kept = tmp_path / "out.npy"
    assert run_command(["run", source, *MIX, *given, "--save", f"out={kept}", "--expect", f"out={right}"]) == 0
    assert "nobody" not in capsys.readouterr().err
    assert (np.load(kept) == np.load(right)).all()
    np.save(right, np.zeros(32, np.float32))
    assert run_command(["run", source, *MIX, *given, "--expect", f"out={right}"]) == 1


@pytest.mark.parametrize("code", ["ptx", "sm_75"])
def test_a_constant_that_nobody_set_is_named(source: str, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    if code != "ptx":
        pytest.importorskip("elftools")
    assert run_command(["run", source, *MIX, "--code", code]) == 0
    assert "the constant factors" in capsys.readouterr().err
    assert run_command(["run", source, *MIX, "--code", code, "--symbol", "factors=f32[2]:ones"]) == 0
    assert "nobody" not in capsys.readouterr().err


def test_lenient_memory_lets_a_near_miss_through(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    launch = [
        "--kernel",
        "before",
        "--grid",
        "1",
        "--block",
        "32",
        "--arg",
        "in=f32[32]",
        "--arg",
        "out=f32[32]",
        "--emulate-only",
    ]
    assert run_command(["run", source, *launch]) == 2
    assert "reads 4 bytes" in capsys.readouterr().err
    assert run_command(["run", source, *launch, "--memory", "lenient"]) == 0


def test_a_texture_is_an_argument(source: str, tmp_path: Path) -> None:
    kept = tmp_path / "out.npy"
    launch = ["--kernel", "sample", "--grid", "1", "--block", "32", "--arg", "image=tex:f32[32]:iota", "--arg", "out=f32[32]"]
    assert run_command(["run", source, *launch, "--emulate-only", "--save", f"out={kept}"]) == 0
    assert np.load(kept).tolist() == list(range(32))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (["--symbol", "factor=1.0"], "uses no such variable"),
        (["--symbol", "shift=f32[2]"], "8 bytes were given, but the variable has 4"),
        (["--save", "out"], "write the array and a .npy file"),
        (["--expect", "nothing=x.npy"], "there is no parameter"),
        (["--expect", "out=gone.npy"], "cannot be read"),
        (["--memory", "soft"], "choose strict or lenient"),
    ],
)
def test_mistakes_are_a_sentence(source: str, capsys: pytest.CaptureFixture[str], wrong: list[str], words: str) -> None:
    assert run_command(["run", source, *MIX, *wrong]) == 2
    assert words in capsys.readouterr().err


def test_a_structure_must_have_the_parameters_size(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    smaller = [text.replace("pair={s8:3, f32:0.5}", "pair={s8:3}") for text in MIX]
    assert run_command(["run", source, *smaller]) == 2
    assert "take 1 bytes, but the parameter has 8" in capsys.readouterr().err
