"""Host programs in Python: the page's examples print what it says, and what is wrong is said in a sentence."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warploom as wl
from support.places import ROOT
from warploom.base.errors import WarploomError

PAGE = (ROOT / "docs" / "how-to" / "python.md").read_text("utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n((?:    [^\n]*\n)+)", PAGE, re.DOTALL)
TWO = """
__constant__ int step = 5;
__device__ int seen[3];
__global__ void count(int *out) { out[threadIdx.x] += step; seen[threadIdx.x] = out[threadIdx.x]; }
template <typename T> __device__ T twice(T x) { return x + x; }
__global__ void doubled(int *out) { out[threadIdx.x] = twice(out[threadIdx.x]); }
"""


def numba_or_skip() -> None:
    cuda = pytest.importorskip("numba.cuda")
    try:
        cuda.compile_ptx(lambda: None, (), cc=(7, 5))
    except Exception as problem:
        pytest.skip(f"Numba has no NVVM here ({problem})")


def test_the_examples_of_the_page_print_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(EXAMPLES) == 3
    names: dict[str, Any] = {}
    for code, printed in EXAMPLES:
        if "numba" in code:
            numba_or_skip()
        exec(code, names)  # the examples build on each other, as a reader would type them
        assert capsys.readouterr().out == re.sub("^    ", "", printed, flags=re.MULTILINE)


@pytest.mark.parametrize("code", ["ptx", "sm_75"])
def test_variables_are_read_and_set_by_name(code: str) -> None:
    if code != "ptx":
        pytest.importorskip("elftools")
    device = wl.Device(TWO, code=code, record=None)
    out = device.array(np.arange(3, dtype=np.int32))
    assert device.symbol("step", np.int32).get().tolist() == [5]
    device.launch("count", (1,), (3,), out)
    device.symbol("step", np.int32, 1).set([100])
    device.launch("count", (1,), (3,), out)
    device.launch("doubled(int*)", (1,), (3,), out)
    assert out.get().tolist() == [210, 212, 214]
    assert device.symbol("seen", np.int32, (3, 1)).get().tolist() == [[105], [106], [107]]


def test_modules_keep_their_variables_apart() -> None:
    device = wl.Device(record=None)
    modules = [device.raw_module(TWO) for _ in range(2)]
    for number, module in enumerate(modules):
        module.get_global("step", np.int32).set([10 + number])
    for number, module in enumerate(modules):
        out = np.zeros(3, np.int32)
        module.get_function("count")((1,), (3,), (out,))
        assert out.tolist() == [10 + number] * 3
        assert module.get_global("seen", np.int32).get().tolist() == [10 + number] * 3


def test_a_program_in_machine_code_with_a_module_of_its_own() -> None:
    pytest.importorskip("elftools")

    def host(gpu: Any, _inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        out = gpu.array(np.zeros(3, np.int32))
        gpu.launch("count", (1,), (3,), out)
        gpu.raw_module(TWO).get_function("doubled")((1,), (3,), (out,))
        return {"out": out.get()}

    right = {"out": np.full(3, 10, np.int32)}
    for code in ("ptx", "sm_75"):
        assert wl.emulate(wl.program("two modules", TWO, host, reference=right, code=code)).verified is True
    assert wl.emulate(wl.program("wrong", TWO, host, reference={"out": np.zeros(3, np.int32)})).verified is False


def test_a_program_of_a_file_and_of_sizes(tmp_path: Path) -> None:
    path = tmp_path / "two.cu"
    path.write_text(TWO)

    def host(gpu: Any, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        out = gpu.array(inputs["out"])
        gpu.launch("doubled", (1,), (len(inputs["out"]),), out)
        return {"out": out.get()}

    program = wl.program(
        "sized",
        path,
        host,
        lambda size: {"out": np.arange({"tiny": 4}.get(size, 8), dtype=np.int32)},
        lambda i: {"out": 2 * i["out"]},
    )
    assert wl.emulate(program, size="tiny").verified is True
    assert wl.emulate(program, size="tiny").size == "tiny"


def test_numba_gives_scalars_and_arrays_of_several_dimensions() -> None:
    numba_or_skip()
    from numba import cuda

    @cuda.jit
    def fill(out: Any, a: Any, flag: Any, n: Any) -> None:
        i, j = cuda.grid(2)  # type: ignore[call-arg, var-annotated]
        if flag and i < n:
            out[i, j] = a * out.shape[1] + i * 10 + j

    device = wl.Device(record=None)
    out = np.zeros((3, 4), np.float64)
    device.launch(fill, (1, 1), (3, 4), out, 0.5, np.bool_(True), 2)
    assert out.tolist() == [[2, 3, 4, 5], [12, 13, 14, 15], [0, 0, 0, 0]]
    with pytest.raises(WarploomError, match="fill: argument 1: give an array or a number"):
        device.launch(fill, (1, 1), (3, 4), out, "half", True, 2)


def test_what_is_wrong_is_said() -> None:
    device = wl.Device(TWO, record=None)
    with pytest.raises(WarploomError, match="there is no variable 'stap'; did you mean 'step'"):
        device.symbol("stap")
    with pytest.raises(WarploomError, match=r"variable step: it has 4 bytes, too few for int32\[2\]"):
        device.symbol("step", np.int32, 2)
    with pytest.raises(WarploomError, match="variable step: 8 bytes were given for 4"):
        device.symbol("step", np.int32).set([1, 2])
    with pytest.raises(WarploomError, match="there is no kernel 'cound'"):
        device.launch("cound", (1,), (3,))
    with pytest.raises(WarploomError, match="made without kernels"):
        wl.Device(record=None).launch("count", (1,), (1,))
    with pytest.raises(WarploomError, match="module 1"):
        device.raw_module("__global__ void broken( {")


def test_a_real_device_says_what_it_needs() -> None:
    try:
        import cupy  # noqa: F401
    except ImportError:
        with pytest.raises(WarploomError, match="RealDevice needs a GPU and CuPy"):
            from warploom.programs import RealDevice  # noqa: F401
