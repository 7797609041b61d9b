"""Every operation that rounds, in every direction, against exact arithmetic."""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support import exact_rounding as exact
from support.exact_rounding import FORMATS, Format
from warploom.programs.device import Device

MODES = ("rn", "rz", "rm", "rp")
LANES = 32
OPERATIONS: dict[str, tuple[int, Callable[..., float]]] = {
    "add": (2, exact.add),
    "sub": (2, exact.sub),
    "mul": (2, exact.mul),
    "div": (2, exact.div),
    "fma": (3, exact.fma),
    "rcp": (1, exact.rcp),
    "sqrt": (1, exact.sqrt),
}


@functools.cache
def device(spellings: tuple[str, ...], target: str, source: str, operands: int) -> Device:
    """A kernel in which every thread executes all spellings on its own operands."""
    size = {name: int(name[1:]) // 8 for name in (target, source)}
    parameters = ", ".join(f".param .u64 a{n}" for n in range(operands + len(spellings)))
    text = f".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k({parameters})\n{{\n.reg .b32 i; .reg .b64 p;\n"
    text += f".reg .{source} s<{operands}>; .reg .{target} d;\nmov.u32 i, %tid.x;\n"
    for n in range(operands):
        text += f"ld.param.u64 p, [a{n}]; mad.wide.u32 p, i, {size[source]}, p; ld.global.{source} s{n}, [p];\n"
    names = ", ".join(f"s{n}" for n in range(operands))
    for n, spelling in enumerate(spellings, operands):
        text += (
            f"{spelling} d, {names};\nld.param.u64 p, [a{n}]; mad.wide.u32 p, i, {size[target]}, p; st.global.{target} [p], d;\n"
        )
    return Device(text + "ret;\n}\n", record=None)


def execute(spellings: tuple[str, ...], target: str, source: str, columns: list[list]) -> list[list]:
    """The answers to each spelling for each row of operands."""
    machine = device(spellings, target, source, len(columns))
    kinds = {name: np.dtype(f"{'i' if name[0] == 's' else name[0]}{int(name[1:]) // 8}") for name in (target, source)}
    inputs = [machine.array(np.array(column, kinds[source])) for column in columns]
    outputs = [machine.array(np.zeros(len(columns[0]), kinds[target])) for _ in spellings]
    machine.launch("k", (1,), (len(columns[0]),), *inputs, *outputs)
    return [output.get().tolist() for output in outputs]


def same(got: float, wanted: float) -> bool:
    """Equal numbers, zeros of equal sign, any two NaNs."""
    return (math.isnan(got) and math.isnan(wanted)) or struct.pack("<d", got) == struct.pack("<d", wanted)


@st.composite
def significands(draw: st.DrawFn, form: Format) -> int:
    """Few bits, or few bits short of all, or anything: what gives exact, halfway and nearly halfway results."""
    width = draw(st.integers(1, form.precision))
    pattern = draw(st.sampled_from(("any", "power", "ones")))
    if pattern == "any":
        return draw(st.integers(0, (1 << width) - 1))
    return (1 << width) - (pattern == "ones") + draw(st.integers(-2, 2))


@st.composite
def numbers(draw: st.DrawFn, form: Format) -> float:
    """Zeros, infinities, NaN; numbers of the size of 1, at both ends of the range, and anywhere."""
    special = draw(st.integers(0, 15))
    if special < 4:
        return (0.0, -0.0, draw(st.sampled_from((math.inf, -math.inf, math.nan))), float(form.greatest))[special]
    middle = 1 - form.precision
    exponents = {
        4: st.integers(form.least, form.least + 2 * form.precision),
        5: st.integers(form.largest - form.precision, form.largest),
        6: st.integers(form.least, form.largest),
        7: st.integers(
            form.least // 2 - form.precision, form.least // 2 + form.precision
        ),  # whose products and squares are subnormal
    }
    exponent = draw(exponents.get(special, st.integers(middle - form.precision - 3, middle + form.precision + 3)))
    value = exact.rounded(exact.Fraction(draw(significands(form))) * exact.Fraction(2) ** exponent, form, "rz")
    return -value if draw(st.booleans()) else value


@st.composite
def operand_rows(draw: st.DrawFn, form: Format, operands: int) -> tuple[float, ...]:
    """Independent numbers; the last of three may also be what the product of the others nearly cancels."""
    row = draw(st.tuples(*[numbers(form)] * operands))
    if operands == 3 and draw(st.booleans()):
        row = (*row[:2], -exact.mul(row[0], row[1], form, draw(st.sampled_from(MODES))))
    return row


def rows(form: Format, operands: int) -> st.SearchStrategy[list[tuple[float, ...]]]:
    return st.lists(operand_rows(form, operands), min_size=LANES // 2, max_size=LANES)


def disagreements(spellings: tuple[str, ...], target: str, source: str, table: list[tuple], reference: Callable) -> list[str]:
    """What differs from ``reference(mode, *operands)``."""
    answers = execute(spellings, target, source, [list(column) for column in zip(*table, strict=True)])
    return [
        f"{spelling} of {operands}: {got!r}, not {wanted!r}"
        for mode, spelling, column in zip(MODES, spellings, answers, strict=True)
        for operands, got in zip(table, column, strict=True)
        if not same(got, wanted := reference(mode, *operands))
    ]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_arithmetic(name: str, kind: str) -> None:
    form = FORMATS[kind]
    operands, operation = OPERATIONS[name]
    spellings = tuple(f"{name}.{mode}.{kind}" for mode in MODES)

    @settings(max_examples=25, deadline=None)
    @given(rows(form, operands))
    def check(table: list[tuple[float, ...]]) -> None:
        assert not disagreements(spellings, kind, kind, table, lambda mode, *values: operation(*values, form, mode))

    check()


@settings(max_examples=25, deadline=None)
@given(rows(FORMATS["f32"], 1), rows(FORMATS["f64"], 1))
def test_narrowing(near: list[tuple[float]], table: list[tuple[float]]) -> None:
    """Numbers of f64, and those beside numbers of f32."""
    table = table[: LANES // 2] + [
        (math.nextafter(x, math.copysign(math.inf, i % 2 - 0.5)),) for i, (x,) in enumerate(near[: LANES // 2])
    ]
    spellings = tuple(f"cvt.{mode}.f32.f64" for mode in MODES)

    def reference(mode: str, x: float) -> float:
        return exact.rounded(exact.Fraction(x), FORMATS["f32"], mode, x) if math.isfinite(x) else x

    assert not disagreements(spellings, "f32", "f64", table, reference)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("source", ["u32", "s32", "u64", "s64"])
def test_from_integers(source: str, kind: str) -> None:
    bits, form = int(source[1:]), FORMATS[kind]
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if source[0] == "s" else (0, (1 << bits) - 1)
    near_powers = st.builds(
        lambda p, d, s: min(max(s * (1 << p) + d, low), high), st.integers(0, bits), st.integers(-3, 3), st.sampled_from((1, -1))
    )
    halfway = st.builds(
        lambda m, shift: ((2 * m + 1) << shift) % (high + 1), st.integers(0, (1 << form.precision) - 1), st.integers(0, 40)
    )
    spellings = tuple(f"cvt.{mode}.{kind}.{source}" for mode in MODES)

    @settings(max_examples=25, deadline=None)
    @given(st.lists(st.tuples(st.one_of(near_powers, halfway, st.integers(low, high))), min_size=LANES // 2, max_size=LANES))
    @example([(0,)] * LANES)
    def check(table: list[tuple[int]]) -> None:
        assert not disagreements(spellings, kind, source, table, lambda mode, x: exact.rounded(exact.Fraction(x), form, mode))

    check()


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("target", ["u32", "s32", "u64", "s64"])
def test_to_integers(target: str, kind: str) -> None:
    bits, form = int(target[1:]), FORMATS[kind]
    spellings = tuple(f"cvt.{mode}i.{target}.{kind}" for mode in MODES)

    def reference(mode: str, x: float) -> int:
        return exact.to_integer(x, bits, target[0] == "s", mode, from_f32=kind == "f32")

    @settings(max_examples=15, deadline=None)
    @given(rows(form, 1))
    def check(table: list[tuple[float]]) -> None:
        answers = execute(spellings, target, kind, [[x for (x,) in table]])
        wanted = [[reference(mode, x) for (x,) in table] for mode in MODES]
        assert [[value % (1 << bits) for value in column] for column in answers] == wanted

    check()
