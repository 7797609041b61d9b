"""Encodes floating-point arithmetic, comparisons, conversions and special functions."""

from __future__ import annotations

import numpy as np

from warploom.code.instruction import Imm, Instruction, Modified, Operand
from warploom.emulator.directed_rounding import ROUNDINGS
from warploom.emulator.records import PredicateOperation
from warploom.emulator.sass.encode_integers import combine_predicates, is_zero
from warploom.emulator.sass.registry import encodes
from warploom.emulator.sass.rows import SassRows

_WHOLE = {"TRUNC": "rzi", "FLOOR": "rmi", "CEIL": "rpi"}
_COMPARISONS = ("EQ", "NE", "LT", "LE", "GT", "GE", "EQU", "NEU", "LTU", "LEU", "GTU", "GEU", "NUM", "NAN")


def _rounding(modifiers: tuple[str, ...]) -> int | None:
    """The mode other than to nearest that an instruction asks for."""
    return next((ROUNDINGS[word.lower()] for word in modifiers if word.lower() in ROUNDINGS), None)


def _negative(operand: Operand) -> bool:
    return isinstance(operand, Modified) and operand.negated and not operand.absolute


def _positive(operand: Operand) -> Operand:
    return operand.operand if isinstance(operand, Modified) else operand


def _finish(rows: SassRows, modifiers: tuple[str, ...], kind: str, out: int) -> None:
    """What a result still needs: flushing, saturation."""
    if "FTZ" in modifiers:
        rows.emit(f"flush.{kind}", [out], out)
    if "SAT" in modifiers:
        rows.emit(f"saturate.{kind}", [out], out)


def _value(rows: SassRows, operand: Operand, kind: str, flush: bool) -> int:
    return rows.single(operand, flush) if kind == "f32" else rows.double(operand)


@encodes("FADD", "DADD")
def _add(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    kind = "f32" if instruction.op.name == "FADD" else "f64"
    modifiers = instruction.op.modifiers
    flush = "FTZ" in modifiers
    x, y = instruction.srcs
    out = rows.result(instruction.dsts[0])
    if _negative(y):
        name, sources = "sub", [x, _positive(y)]
    elif _negative(x):
        name, sources = "sub", [y, _positive(x)]
    else:
        name, sources = "add", [x, y]
    rows.emit(f"{name}.{kind}", [_value(rows, s, kind, flush) for s in sources], out, rounding=_rounding(modifiers))
    _finish(rows, modifiers, kind, out)


@encodes("FMUL", "DMUL")
def _multiply(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    kind = "f32" if instruction.op.name == "FMUL" else "f64"
    modifiers = instruction.op.modifiers
    flush = "FTZ" in modifiers
    x, y = instruction.srcs
    out = rows.result(instruction.dsts[0])
    sources = [_value(rows, x, kind, flush), _value(rows, y, kind, flush)]
    scale = next((word for word in modifiers if word in ("D2", "D4", "D8", "M2", "M4", "M8")), "")
    if scale:  # the first operand is scaled by a power of two, without rounding
        factor = int(scale[1]) if scale[0] == "M" else 1 / int(scale[1])
        bits = int(np.float32(factor).view(np.uint32))
        sources[0] = rows.emit("mul.f32", [sources[0], rows.constant(bits)], rows.temporary())
    rows.emit(f"mul.{kind}", sources, out, rounding=_rounding(modifiers))
    _finish(rows, modifiers, kind, out)


@encodes("FFMA", "DFMA")
def _multiply_add(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    kind = "f32" if instruction.op.name == "FFMA" else "f64"
    modifiers = instruction.op.modifiers
    flush, rounding = "FTZ" in modifiers, _rounding(modifiers)
    x, y, z = instruction.srcs
    out = rows.result(instruction.dsts[0])
    product, addend = _negative(x) != _negative(y), _negative(z)
    factors = [_value(rows, _positive(s) if _negative(s) else s, kind, flush) for s in (x, y)]
    if rounding is not None and (product or addend):  # the rounded operations have no forms with signs
        if product:
            factors[0] = rows.emit(f"flip.{kind}", [factors[0]], rows.temporary())
        rows.emit(f"fma.{kind}", [*factors, _value(rows, z, kind, flush)], out, rounding=rounding)
    else:
        last = _value(rows, _positive(z) if addend else z, kind, flush)
        name = f"fma{'.-p' if product else ''}{'.-c' if addend else ''}.{kind}"
        rows.emit(name, [*factors, last], out, rounding=rounding)
    _finish(rows, modifiers, kind, out)


@encodes("FSETP", "DSETP")
def _compare(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    kind = "f32" if instruction.op.name == "FSETP" else "f64"
    modifiers = instruction.op.modifiers
    flush = "FTZ" in modifiers
    x, y, other = instruction.srcs
    name = next(word for word in modifiers if word in (*_COMPARISONS, "MIN", "MAX", "T", "F"))
    result = rows.spare_predicate()
    sources = [_value(rows, x, kind, flush), _value(rows, y, kind, flush)]
    if name in ("T", "F"):
        rows.emit_predicate(PredicateOperation.MOVE, [rows.always if name == "T" else rows.never], result)
    elif name in ("MIN", "MAX"):
        # Whether the first number is the one to take, and whether both are NaNs; code chooses by these two.
        first, second = (rows.predicate_result(dst) for dst in instruction.dsts)
        rows.emit(f"take.{name.lower()}.{kind}", sources, predicate_out=result)
        if rows.predicate(other) != rows.always:
            raise rows.trouble("it is combined with another predicate")
        both = rows.spare_predicate()
        rows.emit(f"nans.{kind}", sources, predicate_out=both)
        for answer, place in ((result, first), (both, second)):
            if place >= 0:
                rows.emit_predicate(PredicateOperation.MOVE, [answer], place)
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
    name = next(word for word in modifiers if word in _COMPARISONS)
    if "AND" not in modifiers or rows.predicate(other) != rows.always:
        raise rows.trouble("it is combined with another predicate")
    result = rows.spare_predicate()
    rows.emit(f"{name.lower()}.f32", [rows.single(x, flush), rows.single(y, flush)], predicate_out=result)
    true = rows.constant(0x3F800000 if "BF" in modifiers else 0xFFFFFFFF)
    rows.emit("selp.32", [true, rows.constant(0)], rows.result(instruction.dsts[0]), predicate=result)


@encodes("I2I")
def _between_integers(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    """To a narrower integer, the nearest that it can hold."""
    modifiers = instruction.op.modifiers
    target, source = (word for word in modifiers if word[0] in "SU" and word[1:].isdigit())
    if "SAT" not in modifiers or source[1:] != "32":
        raise rows.trouble("only conversions from 32 bits to the nearest narrower number are known")
    bits, sign = int(target[1:]), source[0].lower()
    least = 0 if target[0] == "U" else -(1 << bits - 1)
    most = (1 << bits) - 1 if target[0] == "U" else (1 << bits - 1) - 1
    out = rows.result(instruction.dsts[0])
    value = rows.emit(f"min.{sign}32", [rows.word(instruction.srcs[0]), rows.constant(most)], rows.temporary())
    rows.emit(f"max.{sign}32", [value, rows.constant(max(least, 0) if sign == "u" else least)], out)


@encodes("FMNMX")
def _minimum(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    modifiers = instruction.op.modifiers
    flush = "FTZ" in modifiers
    x, y, least = instruction.srcs
    sources = [rows.single(x, flush), rows.single(y, flush)]
    out = rows.result(instruction.dsts[0])
    nan = "NaN." if "NAN" in modifiers else ""
    condition = rows.predicate(least)
    if condition in (rows.always, rows.never):
        rows.emit(f"{'min' if condition == rows.always else 'max'}.{nan}f32", sources, out)
    else:
        lesser = rows.emit(f"min.{nan}f32", sources, rows.temporary())
        greater = rows.emit(f"max.{nan}f32", sources, rows.temporary())
        rows.emit("selp.32", [lesser, greater], out, predicate=condition)
    _finish(rows, modifiers, "f32", out)


@encodes("FSEL")
def _select(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    x, y, condition = instruction.srcs
    flush = "FTZ" in instruction.op.modifiers
    sources = [rows.single(x, flush), rows.single(y, flush)]
    rows.emit("selp.32", sources, rows.result(instruction.dsts[0]), predicate=rows.predicate(condition))


@encodes("FCHK")
def _check(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    x, y = instruction.srcs
    rows.emit("fchk", [rows.single(x), rows.single(y)], predicate_out=rows.predicate_result(instruction.dsts[0]))


@encodes("MUFU")
def _function(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    name = instruction.op.modifiers[0].lower()
    if name in ("rcp64h", "rsq64h"):
        source = rows.word(instruction.srcs[0])
    else:
        source = rows.single(instruction.srcs[0])
    out = rows.result(instruction.dsts[0])
    try:
        rows.emit(f"mufu.{name}", [source], out)
    except KeyError:
        raise rows.trouble("the emulator does not know this function") from None
    if "SAT" in instruction.op.modifiers:
        rows.emit("saturate.f32", [out], out)


def _integer(rows: SassRows, operand: Operand, type_: str) -> int:
    """An integer of a narrow type, from the part of the register that is named."""
    part = operand.part if isinstance(operand, Modified) else ""
    row = rows.row(_positive(operand)) if part else rows.word(operand)
    bits = int(type_[1:])
    if bits == 32:
        return row
    at = 8 * int(part[1]) if part[:1] == "B" else 16 * int(part[1]) if part[:1] == "H" else 0
    if at:
        row = rows.emit("shr.u32", [row, rows.constant(at)], rows.temporary())
    sign = "s" if type_[0] == "S" else "u"
    return rows.emit(f"trim.{sign}", [row, rows.constant(32 - bits)], rows.temporary())


@encodes("I2F", "I2FP")
def _from_integer(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    modifiers = instruction.op.modifiers
    kind = "f64" if "F64" in modifiers else "f32"
    if "F16" in modifiers:
        raise rows.trouble("half precision is not known here")
    type_ = next((word for word in modifiers if word in ("S64", "U64", "U32", "S32", "U16", "S16", "U8", "S8")), "S32")
    operand = instruction.srcs[0]
    if type_ in ("S64", "U64"):
        source, spelling = rows.row(_positive(operand), 2), type_.lower()
        if isinstance(operand, Modified):
            raise rows.trouble("the 64-bit operand has a sign of its own")
    else:
        source, spelling = _integer(rows, operand, type_), f"{'s' if type_[0] == 'S' else 'u'}32"
    rows.emit(f"{kind}.{spelling}", [source], rows.result(instruction.dsts[0]), rounding=_rounding(modifiers))


@encodes("F2I")
def _to_integer(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    modifiers = instruction.op.modifiers
    kind = "f64" if "F64" in modifiers else "f32"
    if "F16" in modifiers:
        raise rows.trouble("half precision is not known here")
    type_ = next((word for word in modifiers if word in ("S64", "U64", "U32", "S32", "U16", "S16", "U8", "S8")), "S32")
    mode = next((_WHOLE[word] for word in modifiers if word in _WHOLE), "rni")
    source = _value(rows, instruction.srcs[0], kind, "FTZ" in modifiers)
    whole = rows.emit(f"{mode}.{kind}", [source], rows.temporary())
    rows.emit(f"{type_.lower()}.{kind}", [whole], rows.result(instruction.dsts[0]))


@encodes("FRND")
def _round(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    modifiers = instruction.op.modifiers
    kind = "f64" if "F64" in modifiers else "f32"
    if "F16" in modifiers:
        raise rows.trouble("half precision is not known here")
    mode = next((_WHOLE[word] for word in modifiers if word in _WHOLE), "rni")
    out = rows.result(instruction.dsts[0])
    rows.emit(f"{mode}.{kind}", [_value(rows, instruction.srcs[0], kind, "FTZ" in modifiers)], out)
    _finish(rows, modifiers, kind, out)


@encodes("F2F")
def _between_floats(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    modifiers = instruction.op.modifiers
    types = [word.lower() for word in modifiers if word in ("F64", "F32")]
    if len(types) != 2 or types[0] == types[1]:
        raise rows.trouble("only conversions between f32 and f64 are known here")
    target, source = types
    out = rows.result(instruction.dsts[0])
    value = _value(rows, instruction.srcs[0], source, "FTZ" in modifiers and source == "f32")
    rows.emit(f"{target}.{source}", [value], out, rounding=_rounding(modifiers))
    if target == "f32":
        _finish(rows, modifiers, target, out)


def is_constant_halves(instruction: Instruction) -> bool:
    """Whether a fused multiply-add of halves only brings a constant: -0 x 0 + constant."""
    sources = instruction.srcs
    return len(sources) == 3 and is_zero(sources[0]) and is_zero(sources[1]) and isinstance(sources[2], Imm)
