"""Tensor cores in machine code: every element of a product is where it belongs, and sums are cut off as described."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from support.matrix_products import multiply
from warploom.chip.context import code_table
from warploom.chip.machines import load_machine
from warploom.compiler.code.instruction import Code
from warploom.compiler.sass.module import SassModule, from_ptx
from warploom.emulator.shape import LaunchShape
from warploom.programs.device import Device

LANES = np.arange(32)
G, T = LANES >> 2, LANES & 3


def _first(matrix: np.ndarray, each: int) -> list[np.ndarray]:
    """The registers of A: `each` elements of a row in a word; rows g and g + 8 alternate."""
    found = []
    for chunk in range(matrix.shape[1] // (4 * each)):
        for upper in range(matrix.shape[0] // 8):
            at = (chunk * 4 + T)[:, None] * each + np.arange(each)
            found.append(np.ascontiguousarray(matrix[(G + 8 * upper)[:, None], at]).view(np.uint32).ravel())
    return found


def _second(matrix: np.ndarray, each: int) -> list[np.ndarray]:
    return _first(np.ascontiguousarray(matrix.T), each)


def _made(module: SassModule, kernel: str, _shape: LaunchShape) -> Code:
    return module.kernel(kernel)


def _result(registers: list[np.ndarray], dtype: Any) -> np.ndarray:
    """The matrix that a warp holds, 16 x 8."""
    found = np.zeros((16, 8), dtype)
    if np.dtype(dtype).itemsize == 2:
        for upper, words in enumerate(registers):
            pairs = words.view(dtype).reshape(32, 2)
            for side in (0, 1):
                found[G + 8 * upper, 2 * T + side] = pairs[:, side]
        return found
    for number, words in enumerate(registers):
        found[G + 8 * (number >> 1), 2 * T + (number & 1)] = words.view(dtype)
    return found


def _places(matrix: np.ndarray) -> list[np.ndarray]:
    """The registers of an addend of 32-bit elements."""
    return [np.ascontiguousarray(matrix[G + 8 * (n >> 1), 2 * T + (n & 1)]).view(np.uint32) for n in range(4)]


RNG = np.random.default_rng(3)


def _small(shape: tuple[int, int]) -> np.ndarray:
    return RNG.integers(-8, 9, shape)


@pytest.mark.parametrize(("inner", "architecture"), [(8, "sm_75"), (8, "sm_80"), (16, "sm_80"), (16, "sm_90")])
def test_products_of_f16(inner: int, architecture: str) -> None:
    """Sums of small whole numbers are exact, so each element must be what NumPy says."""
    a, b, c = _small((16, inner)), _small((inner, 8)), _small((16, 8))
    registers = _first(a.astype(np.float16), 2), _second(b.astype(np.float16), 2)
    got = multiply(
        f"mma.sync.aligned.m16n8k{inner}.row.col.f32.f16.f16.f32", *registers, _places(c.astype(np.float32)), architecture
    )
    assert np.array_equal(_result(got, np.float32), a @ b + c)
    halves = [
        np.ascontiguousarray(c.astype(np.float16)[(G + 8 * n)[:, None], 2 * T[:, None] + [0, 1]]).view("u4").ravel()
        for n in (0, 1)
    ]
    got = multiply(f"mma.sync.aligned.m16n8k{inner}.row.col.f16.f16.f16.f16", *registers, halves, architecture)
    assert np.array_equal(_result(got, np.float16), a @ b + c)


@pytest.mark.parametrize("inner", [8, 16])
def test_products_of_bf16(inner: int) -> None:
    a, b, c = _small((16, inner)), _small((inner, 8)), _small((16, 8))
    narrow = [(m.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16) for m in (a, b)]
    registers = _first(narrow[0], 2), _second(narrow[1], 2), _places(c.astype(np.float32))
    got = multiply(f"mma.sync.aligned.m16n8k{inner}.row.col.f32.bf16.bf16.f32", *registers, "sm_90")
    assert np.array_equal(_result(got, np.float32), a @ b + c)


@pytest.mark.parametrize("inner", [4, 8])
def test_products_of_tf32(inner: int) -> None:
    a, b, c = _small((16, inner)), _small((inner, 8)), _small((16, 8))
    ignored = a.astype(np.float32).view(np.uint32) | 0x1000  # bits that tf32 does not have
    registers = _first(ignored, 1), _second(b.astype(np.float32), 1), _places(c.astype(np.float32))
    got = multiply(f"mma.sync.aligned.m16n8k{inner}.row.col.f32.tf32.tf32.f32", *registers, "sm_90")
    assert np.array_equal(_result(got, np.float32), a @ b + c)


@pytest.mark.parametrize(("inner", "types"), [(16, ("s8", "s8")), (32, ("s8", "u8")), (32, ("u8", "s8"))])
def test_products_of_integers(inner: int, types: tuple[str, str]) -> None:
    kinds = [{"s8": np.int8, "u8": np.uint8}[name] for name in types]
    a, b = (
        RNG.integers(np.iinfo(k).min, np.iinfo(k).max + 1, shape).astype(k)
        for k, shape in zip(kinds, ((16, inner), (inner, 8)), strict=True)
    )
    c = RNG.integers(-(2**31), 2**31, (16, 8))
    registers = _first(a, 4), _second(b, 4), _places(c.astype(np.int32))
    got = multiply(f"mma.sync.aligned.m16n8k{inner}.row.col.s32.{types[0]}.{types[1]}.s32", *registers, "sm_80")
    total = a.astype(np.int64) @ b.astype(np.int64) + c
    assert np.array_equal(_result(got, np.int32), total.astype(np.int32))
    saturated = f"mma.sync.aligned.m16n8k{inner}.row.col.satfinite.s32.{types[0]}.{types[1]}.s32"
    got = multiply(saturated, *registers, "sm_90")
    assert np.array_equal(_result(got, np.int32), np.clip(total, -(2**31), 2**31 - 1))


@pytest.mark.parametrize(("architecture", "kept"), [("sm_80", 24), ("sm_90", 25)])
def test_small_terms_are_cut_off(architecture: str, kept: int) -> None:
    """A product below the last kept bit of the largest term is lost, even where several of them would make up a bit."""
    a, b, c = np.zeros((16, 16), np.float16), np.zeros((16, 8), np.float16), np.zeros((16, 8), np.float32)
    c[:] = 1.0
    a[:, 1:5], b[1:5] = 2.0**-13, 2.0 ** -(kept + 1 - 13)  # four products of half the last kept bit
    a[:8, 0], b[0] = 1.0, -1.0  # 1 - 1: nothing is left of the rows above
    registers = _first(a, 2), _second(b, 2), _places(c)
    got = _result(multiply("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", *registers, architecture), np.float32)
    assert np.all(got[:8] == 0.0) and np.all(got[8:] == 1.0)


def test_products_of_doubles() -> None:
    """Every product is added with one rounding, from the first to the last."""
    a, b, c = RNG.normal(size=(8, 4)), RNG.normal(size=(4, 8)), RNG.normal(size=(8, 8))
    text = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 i, .param .u64 o) {
    .reg .b64 %rd<5>; .reg .b32 %r<3>; .reg .f64 %d<9>;
    ld.param.u64 %rd1, [i]; ld.param.u64 %rd2, [o]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd3, %r0, 32; add.s64 %rd1, %rd1, %rd3;
    ld.global.v2.f64 {%d1, %d2}, [%rd1]; ld.global.v2.f64 {%d3, %d4}, [%rd1 + 16];
    mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d5, %d6}, {%d1}, {%d2}, {%d3, %d4};
    mul.wide.u32 %rd3, %r0, 16; add.s64 %rd2, %rd2, %rd3; st.global.v2.f64 [%rd2], {%d5, %d6}; ret;
}
"""
    given = np.array([[a[n // 4, n % 4], b[n % 4, n // 4], *c[n // 4, 2 * (n % 4) :][:2]] for n in range(32)])
    for architecture in ("sm_80", "sm_90"):
        module = from_ptx(text.replace("sm_90", architecture), "doubles.ptx", architecture)
        device = Device(partial(_made, module), record=None)
        out = device.array(np.zeros((8, 8)))
        device.launch("k", (1,), (32,), device.array(given), out)
        exact = c
        for at in range(4):
            terms = [[(a[i, at], b[at, j], exact[i, j]) for j in range(8)] for i in range(8)]
            exact = np.array([[float(Fraction(x) * Fraction(y) + Fraction(z)) for x, y, z in row] for row in terms])
        assert np.array_equal(out.get(), exact)


def test_infinities_and_nans() -> None:
    a, b, c = np.ones((16, 16), np.float16), np.ones((16, 8), np.float16), np.zeros((16, 8), np.float32)
    a[0, 3], a[1, 3], b[2, 1] = np.inf, np.nan, -np.inf
    registers = _first(a, 2), _second(b, 2), _places(c)
    got = _result(multiply("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", *registers, "sm_90"), np.float32)
    assert got[0, 0] == np.inf and np.isnan(got[0, 1]) and got[2, 1] == -np.inf and got[2, 0] == 16.0
    assert got.view(np.uint32)[1, 0] == 0x7FFFFFFF


LOADS = """.version 8.6
.target sm_80
.address_size 64
.visible .entry k(.param .u64 i, .param .u64 o) {
    .reg .b64 %rd<9>; .reg .b32 %r<32>; .shared .align 16 .b8 s[512];
    ld.param.u64 %rd1, [i]; ld.param.u64 %rd2, [o]; mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd3, %r0, 16; add.s64 %rd1, %rd1, %rd3; ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];
    mov.u32 %r5, s; shl.b32 %r6, %r0, 4; add.s32 %r6, %r6, %r5; st.shared.v4.b32 [%r6], {%r1, %r2, %r3, %r4}; bar.sync 0;
    mul.wide.u32 %rd3, %r0, 4; add.s64 %rd2, %rd2, %rd3;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r6];
    ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r14, %r15}, [%r6];
    movmatrix.sync.aligned.m8n8.trans.b16 %r16, %r13;
    st.global.b32 [%rd2], %r10; st.global.b32 [%rd2 + 128], %r11; st.global.b32 [%rd2 + 256], %r12;
    st.global.b32 [%rd2 + 384], %r13;
    st.global.b32 [%rd2 + 512], %r14; st.global.b32 [%rd2 + 640], %r15; st.global.b32 [%rd2 + 768], %r16; ret;
}
"""


def test_matrices_are_spread_and_transposed() -> None:
    module = from_ptx(LOADS, "loads.ptx", "sm_80")
    device = Device(lambda name, _threads: module.kernel(name), record=None, budget=100_000)
    matrices = np.arange(256, dtype=np.uint16).reshape(4, 8, 8)
    out = device.array(np.zeros(7 * 32, np.uint32))
    device.launch("k", (1,), (32,), device.array(matrices.reshape(-1).view(np.uint32)), out)
    got = out.get().view(np.uint16).reshape(7, 8, 8)  # lane 4 g + t holds the elements 2 t and 2 t + 1 of row g
    assert np.array_equal(got[:4], matrices)
    assert np.array_equal(got[4:6], matrices[:2].transpose(0, 2, 1))
    assert np.array_equal(got[6], matrices[3].T)


PRODUCT = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 o) {
    .reg .b64 %rd<3>; .reg .b32 %r<9>; .reg .f32 %f<5>;
    ld.param.u64 %rd1, [o]; ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1]; ld.global.v2.b32 {%r5, %r6}, [%rd1 + 16];
    ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1 + 32];
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
        {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};
    st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4}; ret;
}
"""


def test_the_core_knows_all_registers_of_a_product() -> None:
    code = from_ptx(PRODUCT, "product.ptx", "sm_90").kernel("k")
    table = code_table(code, load_machine("gtx480"))
    product = next(pc for pc, instruction in enumerate(code.instructions()) if instruction.op.name == "HMMA")
    assert (table[product]["n_reads"], table[product]["n_writes"]) == (10, 4)
