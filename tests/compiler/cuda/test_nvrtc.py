"""CUDA C++ to PTX."""

import importlib.util

import pytest

from warploom.base.errors import WarploomError
from warploom.compiler.backend import Options, compile_kernel
from warploom.compiler.cuda import compile_to_ptx, nvrtc
from warploom.compiler.ptx import parse

SOURCE = """
extern "C" __global__ void scale(float *values, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] *= factor + EXTRA;
}
"""


def test_source_to_code() -> None:
    ptx = compile_to_ptx(SOURCE, "scale.cu", options=["-DEXTRA=1.0f"])
    module = parse(ptx, "scale.cu")
    assert module.target == "sm_75"
    code = compile_kernel(module, "scale", Options())
    assert [(p.type, p.size, p.pointer) for p in code.parameters] == [("u64", 8, True), ("f32", 4, False), ("u32", 4, False)]
    assert code.registers <= 8


def test_architecture() -> None:
    assert ".target sm_90" in compile_to_ptx("__global__ void f() {}", "f.cu", arch="compute_90")


def test_error_shows_the_log_with_file_and_line() -> None:
    with pytest.raises(WarploomError) as caught:
        compile_to_ptx(SOURCE, "dir/scale.cu")
    assert 'dir/scale.cu(5): error: identifier "EXTRA" is undefined' in str(caught.value)


def test_bad_option_is_named() -> None:
    with pytest.raises(WarploomError, match="no-such-option"):
        compile_to_ptx(SOURCE, "scale.cu", options=["--no-such-option"])


def test_binary_is_refused() -> None:
    with pytest.raises(WarploomError, match="binary"):
        compile_to_ptx("\x7fELF\0", "a.cu")


def test_without_the_wheel_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    nvrtc._library.cache_clear()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(WarploomError, match=r"pip install 'warploom\[cuda\]'"):
        compile_to_ptx(SOURCE, "scale.cu")
    monkeypatch.undo()
    nvrtc._library.cache_clear()
