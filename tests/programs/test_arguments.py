"""Arguments of a user's kernel, as typed on the command line."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warploom.base.errors import WarploomError
from warploom.programs.arguments import KernelParameter, match_arguments, parse_argument
from warploom.programs.custom import parse_extent
from warploom.programs.device import Device
from warploom.programs.signature import Declared, source_signature

BLUR = [
    KernelParameter("in", "u64", 8, True, "f32"),
    KernelParameter("out", "u64", 8, True, "f32"),
    KernelParameter("n", "u32", 4, False),
]


def _array(text: str, seed: int) -> np.ndarray:
    made = parse_argument(text, seed).array
    assert made is not None
    return made


def arguments(*texts: str) -> list[Any]:
    return [parse_argument(text, position) for position, text in enumerate(texts)]


def test_arrays_by_contents(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(6, dtype=np.int32))
    assert _array("a=f32[4]", 0).tolist() == [0, 0, 0, 0]
    assert _array("a=s32[3]:iota", 0).tolist() == [0, 1, 2]
    assert _array("a=u8[2]:ones", 0).dtype == np.uint8
    assert _array("a=f64[2]:2.5", 0).tolist() == [2.5, 2.5]
    assert _array(f"a=s32[2,3]:{tmp_path}/x.npy", 0).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_random_contents_follow_from_the_seed() -> None:
    first, again, other = (_array("a=f32[100]:random", seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_arguments_go_by_name_in_any_order() -> None:
    values = match_arguments(BLUR, arguments("n=-1", "out=f32[4]", "in=f32[4]:iota"), "blur")
    assert values[0].tolist() == [0, 1, 2, 3]
    assert values[1].tolist() == [0, 0, 0, 0]
    assert values[2] == -1
    assert values[2].dtype == np.int32


def test_arguments_go_by_position_where_names_are_unknown() -> None:
    slots = [KernelParameter("param_0", "u64", 8, False), KernelParameter("param_1", "f32", 4, False)]
    array, scalar = match_arguments(slots, arguments("x=s16[4]", "alpha=0.5"), "scale")
    assert array.dtype == np.int16
    assert scalar == np.float32(0.5)


@pytest.mark.parametrize(
    ("texts", "complaint"),
    [
        (["in=f32[4]", "out=f32[4]"], r"parameter 3 \(n, u32\) has no argument; add --arg 'n=1'"),
        (["out=f32[4]", "n=1"], r"parameter 1 \(in, f32 array\) has no argument"),
        (["in=f32[4]", "out=f32[4]", "n=1", "m=2"], "no parameter 'm'"),
        (["a=f32[4]", "b=f32[4]", "c=1", "d=2"], "argument 'd' is one too many"),
        (["in=f32[4]", "out=f32[4]", "n=f32[4]"], "'n' is an array but parameter 3 is a scalar"),
        (["in=3", "out=f32[4]", "n=1"], "'in' is the number 3 but parameter 1 is a pointer"),
        (["in=s32[4]", "out=f32[4]", "n=1"], "'in' has elements of int32 but the kernel takes a pointer to f32"),
        (["in=f32[4]", "out=f32[4]", "n=1.5"], "'1.5' is not a number of type u32"),
        (["in=f32[4]", "out=f32[4]", "n=99999999999"], "is not a number of type u32"),
        (["in=f32[4]", "in=f32[4]", "n=1"], "'in' is given twice"),
    ],
)
def test_a_missing_extra_or_mistyped_argument_is_named(texts: list[str], complaint: str) -> None:
    with pytest.raises(WarploomError, match=complaint):
        match_arguments(BLUR, arguments(*texts), "blur")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("n", "write name=value"),
        ("n=", "write name=value"),
        ("a=f33[4]", "did you mean 'f32'"),
        ("a=f32[]", "how many elements"),
        ("a=f32[0]", "at least one element"),
        ("a=f32[99999999999]", "at most 2 GiB"),
        ("a=f32[4]:sevens", "contents 'sevens' are not known"),
        ("a=u8[4]:300", "contents '300' are not known"),
        ("a=f32[4]:gone.npy", "there is no file gone.npy"),
        ("a=f32[4", "write an array as"),
    ],
)
def test_a_wrong_argument_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(WarploomError, match=complaint):
        parse_argument(text, 0)


def test_a_file_of_other_type_or_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.arange(6))
    with pytest.raises(WarploomError, match="holds 6 elements of int64, not 4 of float32"):
        parse_argument(f"a=f32[4]:{path}", 0)
    path.write_bytes(b"garbage")
    with pytest.raises(WarploomError, match="cannot be read as a NumPy array"):
        parse_argument(f"a=f32[4]:{path}", 0)


def test_signature_from_source() -> None:
    source = """
    // __global__ void blur(int wrong)
    template <int N> __device__ float f(float x);
    __global__ void __launch_bounds__(256)
    blur(const float* __restrict__ in, /* result */ float *out, unsigned int n, float3 shift, double w[])
    { }
    """
    assert source_signature(source, "blur") == [
        Declared("in", True, "f32"),
        Declared("out", True, "f32"),
        Declared("n", False, "u32"),
        Declared("shift", False, ""),
        Declared("w", True, "f64"),
    ]
    assert source_signature(source, "sharpen") is None
    assert source_signature("__global__ void none() {}", "none") == []


@pytest.mark.parametrize("text", ["", "0", "1,2,3,4", "a", "-1"])
def test_a_wrong_grid_is_refused(text: str) -> None:
    with pytest.raises(WarploomError, match="--grid"):
        parse_extent(text, "grid")


def test_extents() -> None:
    assert parse_extent("64,32", "grid") == (64, 32, 1)
    assert parse_extent("8x8x4", "block") == (8, 8, 4)
    with pytest.raises(WarploomError, match="at most 1024 threads"):
        parse_extent("64,64", "block")


@pytest.mark.parametrize(
    ("what", "text", "complaint"),
    [
        ("grid", "1,1,70000", "at most 65535 blocks along z, this one has 70000"),
        ("grid", "1,65536", "at most 65535 blocks along y"),
        ("grid", "2147483648", "at most 2147483647 blocks along x"),
        ("block", "1,1,65", "at most 64 threads along z"),
        ("block", "1025", "at most 1024 threads along x"),
    ],
)
def test_the_limits_of_cuda_hold(what: str, text: str, complaint: str) -> None:
    with pytest.raises(WarploomError, match=f"--{what} '{text}': .*{complaint}"):
        parse_extent(text, what)
    extent = tuple(int(number) for number in text.split(","))
    grid, block = (extent, (1,)) if what == "grid" else ((1,), extent)
    with pytest.raises(WarploomError, match=f"k: .*{complaint}"):
        Device(".version 8.0\n.target sm_75\n.visible .entry k() { ret; }", record=None).launch("k", grid, block)


def test_the_largest_extents_are_taken() -> None:
    assert parse_extent("2147483647,65535,65535", "grid") == (2147483647, 65535, 65535)
    assert parse_extent("1,16,64", "block") == (1, 16, 64)
