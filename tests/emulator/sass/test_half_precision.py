"""Half precision in machine code, bit for bit against exact arithmetic rounded once."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from support.exact_rounding import Format, rounded
from warploom.compiler.sass.module import SassModule, from_ptx
from warploom.programs.device import Device

F16 = Format("f16", 16, 11, -24, 5)
BF16 = Format("bf16", 16, 8, -133, 120)
NAN = 0x7FFF
THREADS = 512
Pair = Callable[..., float]


def _number(bits: int, form: Format) -> float:
    if form is F16:
        return float(np.uint16(bits).view(np.float16))
    return float(np.uint32(bits << 16).view(np.float32))


def _bits(value: float, form: Format) -> int:
    """The bits of a number that the format has."""
    if math.isnan(value):
        return NAN
    if form is F16:
        return int(np.float16(value).view(np.uint16))
    return int(np.float32(value).view(np.uint32)) >> 16


def _exact(values: tuple[float, ...], form: Format, mode: str = "rn") -> float:
    """x y + z: what it is if all are finite, else what f64 says."""
    x, y, z = values
    if not all(map(math.isfinite, values)):
        return x * y + z
    zero = x * y + z  # the sign of a zero, which f64 gets right where the sum is one
    return rounded(Fraction(x) * Fraction(y) + Fraction(z), form, mode, zero)


def _least(x: float, y: float) -> float:
    if math.isnan(x) or math.isnan(y):
        return y if math.isnan(x) else x
    return min((x, y), key=lambda v: (v, math.copysign(1.0, v)))


def _greatest(x: float, y: float) -> float:
    return -_least(-x, -y)


def _relu(x: float) -> float:
    return x if math.isnan(x) or x > 0 else 0.0


def _saturated(x: float) -> float:
    return min(x, 1.0) if x > 0 else 0.0


def _operations(form: Format) -> dict[str, Pair]:
    """Each PTX opcode on pairs, and what it does to each half."""
    name = form.name

    def fma(x: float, y: float, z: float) -> float:
        return _exact((x, y, z), form)

    found: dict[str, Pair] = {
        f"fma.rn.{name}x2": fma,
        f"add.rn.{name}x2": lambda x, y: fma(x, 1.0, y),
        f"sub.rn.{name}x2": lambda x, y: fma(x, 1.0, -y),
        f"mul.rn.{name}x2": lambda x, y: fma(x, y, math.copysign(0.0, -1.0)),
        f"fma.rn.relu.{name}x2": lambda x, y, z: _relu(fma(x, y, z)),
        f"min.{name}x2": _least,
        f"max.{name}x2": _greatest,
        f"min.NaN.{name}x2": lambda x, y: math.nan if math.isnan(x + y) and (math.isnan(x) or math.isnan(y)) else _least(x, y),
    }
    if form is F16:
        found["fma.rn.sat.f16x2"] = lambda x, y, z: _saturated(fma(x, y, z))
        found["fma.rn.ftz.f16x2"] = lambda x, y, z: _flush(fma(_flush(x), _flush(y), _flush(z)))
    return found


def _flush(x: float) -> float:
    return math.copysign(0.0, x) if abs(x) < 2.0**-14 else x


CASES = {name: (form, emit) for form in (F16, BF16) for name, emit in _operations(form).items()}
CONVERSIONS: dict[str, tuple[str, str, Callable[[np.ndarray, int], list[int]]]] = {}


def _convert_from(kind: str, mode: str, form: Format) -> Callable[[np.ndarray, int], list[int]]:
    def convert(words: np.ndarray, count: int) -> list[int]:
        numbers = words.view({"f32": np.float32, "s32": np.int32, "u32": np.uint32}[kind])[:count]
        return [_converted(float(n), form, mode) for n in numbers]

    return convert


def _converted(number: float, form: Format, mode: str) -> int:
    if math.isnan(number):
        return NAN
    if math.isinf(number) or number == 0:
        return _bits(number, form)
    return _bits(rounded(Fraction(number), form, mode), form)


for _kind in ("f32", "s32", "u32"):
    for _mode in ("rn", "rz", "rm", "rp"):
        if _kind != "f32" or _mode in ("rn", "rz"):
            CONVERSIONS[f"cvt.{_mode}.f16.{_kind}"] = ("f16", _kind, _convert_from(_kind, _mode, F16))
CONVERSIONS["cvt.rn.bf16.f32"] = ("bf16", "f32", _convert_from("f32", "rn", BF16))
CONVERSIONS["cvt.rn.bf16.s32"] = ("bf16", "s32", _convert_from("s32", "rn", BF16))


def _kernel(name: str, body: str) -> str:
    """A kernel that loads three words, computes %r4 and stores it."""
    return f"""
.visible .entry {name}(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 o) {{
    .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 %f<5>; .reg .b16 %h<9>; .reg .pred %p<3>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u64 %rd4, [o];
    mov.u32 %r8, %tid.x; mul.wide.u32 %rd8, %r8, 4;
    add.s64 %rd1, %rd1, %rd8; add.s64 %rd2, %rd2, %rd8; add.s64 %rd3, %rd3, %rd8; add.s64 %rd4, %rd4, %rd8;
    ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd2]; ld.global.u32 %r3, [%rd3];
    {body}
    st.global.u32 [%rd4], %r4; ret;
}}
"""


def _source() -> str:
    text = [".version 8.6\n.target sm_90\n.address_size 64\n"]
    for number, name in enumerate(CASES):
        sources = "%r1, %r2, %r3" if name.startswith("fma") else "%r1, %r2"
        text.append(_kernel(f"arithmetic{number}", f"{name} %r4, {sources};"))
    for number, name in enumerate(CONVERSIONS):
        source = "%r1" if not name.endswith("f32") else "%f1"
        text.append(_kernel(f"conversion{number}", f"mov.b32 %f1, %r1; {name} %h1, {source}; mov.b32 %r4, {{%h1, %h1}};"))
    widen = "mov.b32 {%h1, %h2}, %r1;"
    text.append(_kernel("widen_f16", f"{widen} cvt.f32.f16 %f1, %h2; mov.b32 %r4, %f1;"))
    text.append(_kernel("whole", f"{widen} cvt.rni.s32.f16 %r4, %h1;"))
    text.append(_kernel("less", "set.lt.f16x2.f16x2 %r4, %r1, %r2;"))
    text.append(_kernel("mask", "set.gtu.u32.f16 %r4, %h1, %h2;".replace("set", f"{widen} set")))
    return "".join(text)


@pytest.fixture(scope="module")
def module() -> SassModule:
    return from_ptx(_source(), "halves.ptx", "sm_90")


@pytest.fixture(scope="module")
def words() -> list[np.ndarray]:
    """Three operands: all pairs of some special halves, then random bits, then numbers of like size, whose sums cancel."""
    rng = np.random.default_rng(7)
    special = [
        0x0000,
        0x8000,
        0x0001,
        0x83FF,
        0x3C00,
        0xBC01,
        0x7BFF,
        0xFC00,
        0x7C00,
        0x7E01,
        0x0400,
        0x3F80,
        0xFF7F,
        0x5555,
        0x0080,
    ]
    found = []
    for _ in range(3):
        halves = rng.integers(0, 1 << 16, 2 * THREADS, np.uint16)
        halves[:256] = rng.choice(np.array(special, np.uint16), 256)
        halves[512:] = 0x3C00 + rng.integers(-200, 200, 512) | rng.integers(0, 2, 512) << 15
        found.append(halves.view(np.uint32).copy())
    return found


def _run(module: SassModule, kernel: str, words: list[np.ndarray]) -> np.ndarray:
    device = Device(lambda name, _threads: module.kernel(name), record=None, budget=1_000_000)
    out = device.array(np.zeros(THREADS, np.uint32))
    device.launch(kernel, (1,), (THREADS,), *(device.array(array) for array in words), out)
    return out.get()


@pytest.mark.parametrize("name", CASES)
def test_arithmetic_is_rounded_once(name: str, module: SassModule, words: list[np.ndarray]) -> None:
    form, emit = CASES[name]
    got = _run(module, f"arithmetic{list(CASES).index(name)}", words).view(np.uint16)
    operands = words if name.startswith("fma") else words[:2]
    pairs = zip(*(array.view(np.uint16).tolist() for array in operands), strict=True)
    wanted = [_bits(emit(*(_number(bits, form) for bits in group)), form) for group in pairs]
    assert got.tolist() == wanted


@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversions_to_half_precision(name: str, module: SassModule, words: list[np.ndarray]) -> None:
    _, kind, convert = CONVERSIONS[name]
    numbers = words[0].copy()
    if kind == "f32":
        near = np.random.default_rng(1).normal(0, 1e3, 200).astype(np.float32)
        numbers[100:300] = near.view(np.uint32)
        numbers[300:310] = np.array(
            [65504, 65519.99, 65520, -65536, 1e-8, 5.9604645e-8, 2.9802322e-8, 6e-5, 1e38, 3.4e38], np.float32
        ).view("u4")
    else:
        numbers[:200] &= 0x1FFFF
    got = _run(module, f"conversion{list(CONVERSIONS).index(name)}", [numbers, *words[1:]])
    assert (got & 0xFFFF).tolist() == convert(numbers, THREADS)


def test_every_half_becomes_a_single(module: SassModule) -> None:
    for first in range(0, 1 << 16, 1 << 14):
        halves = np.arange(first, first + THREADS, dtype=np.uint32)
        got = _run(module, "widen_f16", [halves << 16] * 3)
        numbers = halves.astype(np.uint16).view(np.float16).astype(np.float32)
        assert got.tolist() == np.where(np.isnan(numbers), 0x7FFFFFFF, numbers.view(np.uint32)).tolist()


def test_whole_numbers(module: SassModule, words: list[np.ndarray]) -> None:
    numbers = words[0].view(np.uint16)[::2].view(np.float16).astype(np.float64)
    most, least = 2**31 - 1, -(2**31)
    wanted = [0 if math.isnan(x) else most if x > most else least if x < least else int(np.rint(x)) for x in numbers.tolist()]
    assert _run(module, "whole", words).view(np.int32).tolist() == wanted


def test_comparisons(module: SassModule, words: list[np.ndarray]) -> None:
    x, y = (array.view(np.float16) for array in words[:2])
    less = np.where(x < y, np.float16(1), np.float16(0)).view(np.uint32)
    assert _run(module, "less", words).tolist() == less.tolist()
    low, high = x[::2], x[1::2]
    greater = np.where(~(low <= high), 0xFFFFFFFF, 0)
    assert _run(module, "mask", words).tolist() == greater.tolist()
