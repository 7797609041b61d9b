"""Encodes floating-point arithmetic, comparisons and special functions."""

from __future__ import annotations

import numpy as np

from warploom.compiler.code.instruction import Instruction, Modified, Operand
from warploom.emulator.directed_rounding import ROUNDINGS
from warploom.emulator.records import PredicateOperation
from warploom.emulator.sass.encode_integers import combine_predicates
from warploom.emulator.sass.half_operands import half_as_single, half_format
from warploom.emulator.sass.registry import encodes
from warploom.emulator.sass.rows import SassRows

COMPARISONS = ("EQ", "NE", "LT", "LE", "GT", "GE", "EQU", "NEU", "LTU", "LEU", "GTU", "GEU", "NUM", "NAN")
_SCALES = ("D2", "D4", "D8", "M2", "M4", "M8")  # the first factor divided or multiplied
_ROUNDED = tuple(word.upper() for word in ROUNDINGS)


def rounding_of(modifiers: tuple[str, ...]) -> int | None:
    """The mode other than to nearest that an instruction asks for."""
    return next((ROUNDINGS[word.lower()] for word in modifiers if word.lower() in ROUNDINGS), None)


def _negative(operand: Operand) -> bool:
    return isinstance(operand, Modified) and operand.negated and not operand.absolute


def positive(operand: Operand) -> Operand:
    """An operand without its sign and the like."""
    return operand.operand if isinstance(operand, Modified) else operand


def finish(rows: SassRows, modifiers: tuple[str, ...], kind: str, out: int) -> None:
    """What a result still needs: flushing, saturation."""
    if "FTZ" in modifiers:
        rows.emit(f"flush.{kind}", [out], out)
    if "SAT" in modifiers:
        rows.emit(f"saturate.{kind}", [out], out)


def float_of(rows: SassRows, operand: Operand, kind: str, flush: bool) -> int:
    """The row of a number of f32 or f64."""
    return rows.single(operand, flush) if kind == "f32" else rows.double(operand)


def _form(instruction: Instruction) -> tuple[str, tuple[str, ...], bool]:
    """Which numbers, the modifiers, and whether subnormal numbers are flushed."""
    modifiers = instruction.op.modifiers
    return "f64" if instruction.op.name[0] == "D" else "f32", modifiers, "FTZ" in modifiers


@encodes("FADD", "DADD", only=("FTZ", "SAT", *_ROUNDED))
def _add(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    kind, modifiers, flush = _form(instruction)
    x, y = instruction.srcs
    out = rows.result(instruction.dsts[0])
    if _negative(y):
        name, sources = "sub", [x, positive(y)]
    elif _negative(x):
        name, sources = "sub", [y, positive(x)]
    else:
        name, sources = "add", [x, y]
    rows.emit(f"{name}.{kind}", [float_of(rows, s, kind, flush) for s in sources], out, rounding=rounding_of(modifiers))
    finish(rows, modifiers, kind, out)


@encodes("FMUL", "DMUL", only=("FTZ", "SAT", *_SCALES, *_ROUNDED))
def _multiply(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    kind, modifiers, flush = _form(instruction)
    x, y = instruction.srcs
    out = rows.result(instruction.dsts[0])
    sources = [float_of(rows, x, kind, flush), float_of(rows, y, kind, flush)]
    scale = next((word for word in modifiers if word in _SCALES), "")
    if scale:  # the first operand is scaled by a power of two, without rounding
        factor = int(scale[1]) if scale[0] == "M" else 1 / int(scale[1])
        bits = int(np.float32(factor).view(np.uint32))
        sources[0] = rows.emit("mul.f32", [sources[0], rows.constant(bits)], rows.temporary())
    rows.emit(f"mul.{kind}", sources, out, rounding=rounding_of(modifiers))
    finish(rows, modifiers, kind, out)


@encodes("FFMA", "DFMA", only=("FTZ", "SAT", *_ROUNDED))
def _multiply_add(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    kind, modifiers, flush = _form(instruction)
    rounding = rounding_of(modifiers)
    x, y, z = instruction.srcs
    out = rows.result(instruction.dsts[0])
    product, addend = _negative(x) != _negative(y), _negative(z)
    factors = [float_of(rows, positive(s) if _negative(s) else s, kind, flush) for s in (x, y)]
    if rounding is not None and (product or addend):  # the rounded operations have no forms with signs
        if product:
            factors[0] = rows.emit(f"flip.{kind}", [factors[0]], rows.temporary())
        rows.emit(f"fma.{kind}", [*factors, float_of(rows, z, kind, flush)], out, rounding=rounding)
    else:
        last = float_of(rows, positive(z) if addend else z, kind, flush)
        name = f"fma{'.-p' if product else ''}{'.-c' if addend else ''}.{kind}"
        rows.emit(name, [*factors, last], out, rounding=rounding)
    finish(rows, modifiers, kind, out)


@encodes("FSETP", "DSETP")
def _compare(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    kind, modifiers, flush = _form(instruction)
    x, y, other = instruction.srcs
    name = next(word for word in modifiers if word in (*COMPARISONS, "MIN", "MAX", "T", "F"))
    result = rows.spare_predicate()
    sources = [float_of(rows, x, kind, flush), float_of(rows, y, kind, flush)]
    if name in ("T", "F"):
        rows.emit_predicate(PredicateOperation.MOVE, [rows.always if name == "T" else rows.never], result)
    elif name in ("MIN", "MAX"):
        rows.require("AND" in modifiers, "it is combined with another predicate")
        # Whether the first number is the one to take, and whether both are NaNs; code chooses by these two.
        first, second = (rows.predicate_result(dst) for dst in instruction.dsts)
        rows.emit(f"take.{name.lower()}.{kind}", sources, predicate_out=result)
        rows.require(rows.predicate(other) == rows.always, "it is combined with another predicate")
        both = rows.spare_predicate()
        rows.emit(f"nans.{kind}", sources, predicate_out=both)
        rows.answer((result, both), (first, second))
        return
    else:
        rows.emit(f"{name.lower()}.{kind}", sources, predicate_out=result)
    combine_predicates(rows, instruction, result, other)


@encodes("FSET")
def _set(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    """A comparison whose answer is 1.0, or all ones, or zero."""
    modifiers = instruction.op.modifiers
    flush = "FTZ" in modifiers
    x, y, other = instruction.srcs
    name = next(word for word in modifiers if word in COMPARISONS)
    plain = "AND" in modifiers and rows.predicate(other) == rows.always
    rows.require(plain, "it is combined with another predicate")
    result = rows.spare_predicate()
    rows.emit(f"{name.lower()}.f32", [rows.single(x, flush), rows.single(y, flush)], predicate_out=result)
    true = rows.constant(0x3F800000 if "BF" in modifiers else 0xFFFFFFFF)
    rows.emit("selp.32", [true, rows.constant(0)], rows.result(instruction.dsts[0]), predicate=result)


def _with_both_signs(rows: SassRows, instruction: Instruction, out: int) -> None:
    """XORSIGN: a magnitude gets the product of the operands' signs; a NaN stays as it is."""
    x, y = instruction.srcs[:2]
    if not all(isinstance(operand, Modified) and operand.absolute and not operand.negated for operand in (x, y)):
        raise rows.trouble("the emulator knows XORSIGN of absolute values only")
    differ = rows.emit("xor.32", [rows.single(positive(x)), rows.single(positive(y))], rows.temporary())
    sign = rows.emit("and.32", [differ, rows.constant(0x80000000)], rows.temporary())
    number = rows.spare_predicate()
    rows.emit("num.f32", [out, out], predicate_out=number)
    signed = rows.emit("or.32", [out, sign], rows.temporary())
    rows.emit("selp.32", [signed, out], out, predicate=number)


@encodes("FMNMX", only=("FTZ", "NAN", "XORSIGN"))
def _minimum(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    modifiers = instruction.op.modifiers
    flush = "FTZ" in modifiers
    x, y, least = instruction.srcs
    sources = [rows.single(x, flush), rows.single(y, flush)]
    result = rows.result(instruction.dsts[0])
    out = rows.temporary() if "XORSIGN" in modifiers else result  # the result may be an operand
    nan = "NaN." if "NAN" in modifiers else ""
    condition = rows.predicate(least)
    if condition in (rows.always, rows.never):
        rows.emit(f"{'min' if condition == rows.always else 'max'}.{nan}f32", sources, out)
    else:
        lesser = rows.emit(f"min.{nan}f32", sources, rows.temporary())
        greater = rows.emit(f"max.{nan}f32", sources, rows.temporary())
        rows.emit("selp.32", [lesser, greater], out, predicate=condition)
    if "XORSIGN" in modifiers:
        _with_both_signs(rows, instruction, out)
        rows.emit("mov.32", [out], result)
    finish(rows, modifiers, "f32", result)


@encodes("FSEL")
def _select(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    """A number whose sign is changed is a NaN like any other that is computed: it has no sign."""
    x, y, condition = instruction.srcs
    flush = "FTZ" in instruction.op.modifiers
    sources = [rows.single(x, flush), rows.single(y, flush)]
    for number, operand in enumerate((x, y)):
        if isinstance(operand, Modified):
            sources[number] = rows.emit("canonical.f32", [sources[number]], rows.temporary())
    rows.emit("selp.32", sources, rows.result(instruction.dsts[0]), predicate=rows.predicate(condition))


@encodes("FCHK")
def _check(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    x, y = instruction.srcs
    rows.emit("fchk", [rows.single(x), rows.single(y)], predicate_out=rows.predicate_result(instruction.dsts[0]))


@encodes("MUFU")
def _function(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    name, *others = instruction.op.modifiers
    name = name.lower()
    half = half_format(others)
    if half:
        source = half_as_single(rows, instruction.srcs[0], half)
    else:  # the sign of a number of 64 bits lies in its upper word, where that of one of 32 bits lies
        source = rows.single(instruction.srcs[0])
    out = rows.result(instruction.dsts[0])
    try:
        rows.emit(f"mufu.{name}", [source], out)
    except KeyError:
        raise rows.trouble("the emulator does not know this function") from None
    if half:
        rows.emit(f"{half}.f32.rn", [out], out)
    if "SAT" in instruction.op.modifiers:
        rows.emit("saturate.f32", [out], out)
