"""Encodes conversions between numbers of all types."""

from __future__ import annotations

import numpy as np

from warploom.compiler.code.instruction import Instruction, Modified, Operand
from warploom.emulator.half_operations import ROUNDINGS
from warploom.emulator.sass.encode_floats import finish, float_of, positive, rounding_of
from warploom.emulator.sass.half_operands import half_as_single, half_format
from warploom.emulator.sass.registry import encodes
from warploom.emulator.sass.rows import SassRows

_WHOLE = {"TRUNC": "rzi", "FLOOR": "rmi", "CEIL": "rpi"}
_INTEGERS = ("S64", "U64", "U32", "S32", "U16", "S16", "U8", "S8")
_FLOATS = {"F64": "f64", "F32": "f32", "F16": "f16", "BF16": "bf16"}


def _integer_type(modifiers: tuple[str, ...]) -> str:
    return next((word for word in modifiers if word in _INTEGERS), "S32")


def _half_rounding(modifiers: tuple[str, ...]) -> str:
    """The rounding that a conversion to half precision asks for."""
    return next((word.lower() for word in modifiers if word.lower() in ROUNDINGS), "rn")


def _single_or_double(rows: SassRows, operand: Operand, modifiers: tuple[str, ...]) -> tuple[int, str]:
    """A number as f64 if it is one, else as f32, which holds every number of half precision; and which of the two."""
    half = half_format(modifiers)
    if half and "FTZ" in modifiers:
        raise rows.trouble("the emulator does not know this conversion")
    if half:
        return half_as_single(rows, operand, half), "f32"
    kind = "f64" if "F64" in modifiers else "f32"
    return float_of(rows, operand, kind, "FTZ" in modifiers), kind


def _to_half(rows: SassRows, source: int, source_type: str, half: str, rounding: str, out: int) -> None:
    """f32, f64 or an integer to half precision, rounded once."""
    if source_type in ("s64", "u64"):
        source = rows.emit("sticky.64", [source], rows.temporary())
    if source_type not in ("f32", "f64"):
        source = rows.emit(f"f64.{source_type}", [source], rows.temporary())
    if source_type != "f32":
        source = rows.emit("odd.f32.f64", [source], rows.temporary())
    rows.emit(f"{half}.f32.{rounding}", [source], out)


@encodes("I2I")
def _between_integers(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    """To a narrower integer, the nearest that it can hold."""
    modifiers = instruction.op.modifiers
    target, source = (word for word in modifiers if word[0] in "SU" and word[1:].isdigit())
    if "SAT" not in modifiers or source[1:] != "32":
        raise rows.trouble("only conversions from 32 bits to the nearest narrower number are known")
    _nearest(rows, rows.word(instruction.srcs[0]), target, source[0].lower(), rows.result(instruction.dsts[0]))


def _nearest(rows: SassRows, value: int, target: str, sign: str, out: int) -> int:
    """The number of a narrower type that is nearest to an integer of 32 bits."""
    bits = int(target[1:])
    least = 0 if target[0] == "U" else -(1 << bits - 1)
    most = (1 << bits) - 1 if target[0] == "U" else (1 << bits - 1) - 1
    below = rows.emit(f"min.{sign}32", [value, rows.constant(most)], rows.temporary())
    return rows.emit(f"max.{sign}32", [below, rows.constant(max(least, 0) if sign == "u" else least)], out)


def _integer(rows: SassRows, operand: Operand, type_: str) -> int:
    """An integer of a narrow type, from the part of the register that is named."""
    part = operand.part if isinstance(operand, Modified) else ""
    if isinstance(operand, Modified) and part and operand != Modified(operand.operand, part=part):
        raise rows.trouble(f"operand {operand} is no part of a register")
    row = rows.row(positive(operand)) if part else rows.word(operand)
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
    type_ = _integer_type(modifiers)
    operand = instruction.srcs[0]
    if type_ in ("S64", "U64"):
        source, spelling = rows.row(positive(operand), 2), type_.lower()
        if isinstance(operand, Modified):
            raise rows.trouble("the 64-bit operand has a sign of its own")
    else:
        source, spelling = _integer(rows, operand, type_), f"{'s' if type_[0] == 'S' else 'u'}32"
    out = rows.result(instruction.dsts[0])
    half = half_format(modifiers)
    if half:
        _to_half(rows, source, spelling, half, _half_rounding(modifiers), out)
    else:
        rows.emit(f"{kind}.{spelling}", [source], out, rounding=rounding_of(modifiers))


@encodes("F2I")
def _to_integer(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    modifiers = instruction.op.modifiers
    mode = next((_WHOLE[word] for word in modifiers if word in _WHOLE), "rni")
    source, kind = _single_or_double(rows, instruction.srcs[0], modifiers)
    whole = rows.emit(f"{mode}.{kind}", [source], rows.temporary())
    rows.emit(f"{_integer_type(modifiers).lower()}.{kind}", [whole], rows.result(instruction.dsts[0]))


@encodes("FRND")
def _round(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    modifiers = instruction.op.modifiers
    mode = next((_WHOLE[word] for word in modifiers if word in _WHOLE), "rni")
    out = rows.result(instruction.dsts[0])
    source, kind = _single_or_double(rows, instruction.srcs[0], modifiers)
    rows.emit(f"{mode}.{kind}", [source], out)
    finish(rows, modifiers, kind, out)
    half = half_format(modifiers)
    if half:
        rows.emit(f"{half}.f32.rn", [out], out)


@encodes("F2F")
def _between_floats(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    modifiers = instruction.op.modifiers
    types = [_FLOATS[word] for word in modifiers if word in _FLOATS]
    if len(types) != 2 or types[0] == types[1]:
        raise rows.trouble("only conversions from one type of number to another are known here")
    target, source = types
    out = rows.result(instruction.dsts[0])
    operand = instruction.srcs[0]
    if source in ("f16", "bf16"):
        value, source = half_as_single(rows, operand, source), "f32"
    else:
        value = float_of(rows, operand, source, "FTZ" in modifiers and source == "f32")
    if target in ("f16", "bf16"):
        _to_half(rows, value, source, target, _half_rounding(modifiers), out)
        if "SAT" in modifiers:
            rows.emit(f"saturate2.{target}", [out], out)
        return
    rows.emit("mov.32" if source == target else f"{target}.{source}", [value], out, rounding=rounding_of(modifiers))
    if target == "f32":
        finish(rows, modifiers, target, out)


@encodes("F2FP")
def _pack(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    """Two numbers of f32 to a pair of halves, the first into the upper one."""
    modifiers = instruction.op.modifiers
    if (small := next((word for word in modifiers if word in ("E4M3", "E5M2")), None)) is not None:
        _small_numbers(rows, instruction, small.lower())
        return
    if "TF32" in modifiers:
        _tensor_number(rows, instruction)
        return
    if not set(modifiers) <= {"F16", "BF16", "F32", "PACK_AB", "RZ", "RELU"} or "PACK_AB" not in modifiers:
        raise rows.trouble("the emulator does not know this conversion")
    half = half_format(modifiers) or "f16"
    upper, lower = (rows.single(source) for source in instruction.srcs[:2])
    out = rows.result(instruction.dsts[0])
    if "RZ" in modifiers:
        low = rows.emit(f"{half}.f32.rz", [lower], rows.temporary())
        high = rows.emit(f"{half}.f32.rz", [upper], rows.temporary())
        rows.emit("prmt", [low, high, rows.constant(0x5410)], out)
    else:
        rows.emit(f"pack.{half}", [lower, upper], out)
    if "RELU" in modifiers:
        rows.emit(f"relu2.{half}", [out], out)


def _tensor_number(rows: SassRows, instruction: Instruction) -> None:
    """f32 rounded to TF32, which has ten bits of fraction: what PTX calls cvt.rn.tf32.f32, with its NaN, 0x7fffffff."""
    words = set(instruction.op.modifiers) - {"TF32", "F32", "PACK_B"}
    if not words <= {"RZ", "RELU"}:
        raise rows.trouble("the emulator does not know this conversion")
    value, is_nan = rows.single(instruction.srcs[0]), rows.spare_predicate()
    rounded = value
    if "RZ" not in words:  # to the nearest, of two equally near to the even one; a carry goes on into the exponent
        last = rows.emit("shr.u32", [value, rows.constant(13)], rows.temporary())
        odd = rows.emit("and.32", [last, rows.constant(1)], rows.temporary())
        half = rows.emit("add.32", [odd, rows.constant(0xFFF)], rows.temporary())
        rounded = rows.emit("add.32", [value, half], rows.temporary())
    cut = rows.emit("and.32", [rounded, rows.constant(0xFFFFE000)], rows.temporary())
    rows.emit("nan.f32", [value, value], predicate_out=is_nan)
    out = rows.result(instruction.dsts[0])
    rows.emit("selp.32", [rows.constant(0x7FFFFFFF), cut], out, predicate=is_nan)
    if "RELU" in words:
        rows.emit("max.s32", [out, rows.constant(0)], out)


def _small_numbers(rows: SassRows, instruction: Instruction, small: str) -> None:
    """To two numbers of 8 bits, with the lower half of the last operand above them, or from two of them to halves."""
    words = set(instruction.op.modifiers) - {small.upper()}
    out = rows.result(instruction.dsts[0])
    if words == {"SATFINITE", "F32", "PACK_AB_MERGE_C"}:
        upper, lower, above = instruction.srcs
        pair = rows.emit(f"pack.{small}", [rows.single(upper), rows.single(lower)], rows.temporary())
        rows.emit("prmt", [pair, rows.word(above), rows.constant(0x5410)], out)
    elif words == {"SATFINITE", "F16", "UNPACK_B_MERGE_C"}:
        halves, above = instruction.srcs
        pair = rows.emit(f"pack.{small}.f16", [rows.row(halves)], rows.temporary())
        rows.emit("prmt", [pair, rows.word(above), rows.constant(0x5410)], out)
    elif words == {"F16", "UNPACK_B"}:
        source = instruction.srcs[0]
        if isinstance(source, Modified) and source != Modified(source.operand, part=source.part):
            raise rows.trouble("the emulator does not know this conversion")
        row = rows.row(positive(source))
        if isinstance(source, Modified) and source.part == "H1":
            row = rows.emit("shr.u32", [row, rows.constant(16)], rows.temporary())
        rows.emit(f"unpack.{small}", [row], out)
    else:
        raise rows.trouble("the emulator does not know this conversion")


@encodes("F2IP", "I2IP")
def _pack_bytes(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    """Two numbers to the nearest bytes, the second into the lowest; the lower half of the third is put above them."""
    modifiers = instruction.op.modifiers
    from_float = instruction.op.name == "F2IP"
    type_ = modifiers[0]
    if type_ not in ("U8", "S8") or modifiers[1] != ("F32" if from_float else "S32") or "RELU" in modifiers:
        raise rows.trouble("the emulator does not know this conversion")
    upper, lower, above = instruction.srcs[:3]
    packed = []
    for source in (lower, upper):
        if from_float:
            mode = next((_WHOLE[word] for word in modifiers if word in _WHOLE), "rni")
            whole = rows.emit(f"{mode}.f32", [rows.single(source)], rows.temporary())
            packed.append(rows.emit(f"{type_.lower()}.f32", [whole], rows.temporary()))
        else:
            packed.append(_nearest(rows, rows.word(source), type_, "s", rows.temporary()))
    both = rows.emit("prmt", [*packed, rows.constant(0x40)], rows.temporary())
    rows.emit("prmt", [both, rows.word(above), rows.constant(0x5410)], rows.result(instruction.dsts[0]))
