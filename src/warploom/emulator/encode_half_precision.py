"""Encodes PTX's half precision: f16 in the lower half of a register, f16x2 in both.

Numbers are computed in pairs; of a single one only the lower half counts: what lies above it does not matter on the way in, and
is zeros on the way out.
"""

from __future__ import annotations

from warploom.compiler.code.instruction import Bank, Instruction, Operand, Operation, Reg
from warploom.emulator.records import PredicateOperation
from warploom.emulator.rows import Rows

HALVES = ("f16", "f16x2")
_ARITHMETIC = {"add": "add2", "mul": "mul2", "fma": "fma2", "min": "min2", "max": "max2"}
_SIGNS, _MAGNITUDES = 0x80008000, 0x7FFF7FFF
_HALF_BITS = 16
_COMBINATIONS = {"and": PredicateOperation.AND, "or": PredicateOperation.OR, "xor": PredicateOperation.XOR}


def is_half(op: Operation) -> bool:
    """Whether an operation computes with half precision."""
    return op.type in HALVES or op.source_type in HALVES


def encode_half(rows: Rows, instruction: Instruction) -> None:
    """Append the micro-operations of an instruction with half precision."""
    op = instruction.op
    if op.name == "cvt":
        _convert(rows, instruction)
    elif op.name == "setp":
        _compare(rows, instruction)
    else:
        _compute(rows, instruction)


def _flushed(rows: Rows, op: Operation, operand: Operand) -> int:
    row = rows.row(operand)
    return rows.emit("flush2.f16", [row], rows.temporary()) if "ftz" in op.modifiers else row


def _compute(rows: Rows, instruction: Instruction) -> None:
    op = instruction.op
    out = rows.row(instruction.dsts[0])
    sources = [_flushed(rows, op, source) for source in instruction.srcs]
    if op.name in ("neg", "abs"):  # -0 is added: it changes nothing but NaNs, which become the usual one
        bits = ("xor.32", _SIGNS) if op.name == "neg" else ("and.32", _MAGNITUDES)
        changed = rows.emit(bits[0], [sources[0], rows.constant(bits[1])], rows.temporary())
        rows.emit("add2.f16", [changed, rows.constant(_SIGNS)], out)
    elif op.name == "sub":
        negative = rows.emit("xor.32", [sources[1], rows.constant(_SIGNS)], rows.temporary())
        rows.emit("add2.f16", [sources[0], negative], out)
    elif op.name in _ARITHMETIC:
        name = f"{_ARITHMETIC[op.name]}{'.NaN' if 'NaN' in op.modifiers else ''}.f16"
        rows.emit(name, sources, out)
    else:
        raise rows.trouble("the emulator does not know it for half precision")
    if "ftz" in op.modifiers:
        rows.emit("flush2.f16", [out], out)
    if "sat" in op.modifiers:
        rows.emit("saturate2.f16", [out], out)
    if op.type == "f16":
        rows.emit("trim.u", [out, rows.constant(32 - _HALF_BITS)], out)


def _single(rows: Rows, op: Operation, operand: Operand) -> int:
    """The f32 of a number of half precision."""
    return rows.emit("low.f16", [_flushed(rows, op, operand)], rows.temporary())


def _compare(rows: Rows, instruction: Instruction) -> None:
    op, dsts = instruction.op, instruction.dsts
    name = op.modifiers[0]
    operands = [_single(rows, op, source) for source in instruction.srcs[:2]]
    result = rows.temporary_predicate(0)
    rows.emit(f"{name}.f32", operands, predicate_out=result)
    combine = next((_COMBINATIONS[word] for word in op.modifiers if word in _COMBINATIONS), None)
    values = [result]
    if len(dsts) > 1:
        values.append(rows.emit_predicate(PredicateOperation.NOT, [result], rows.temporary_predicate(1)))
    if combine is not None:
        other = rows.predicate(instruction.srcs[2])
        for value in values:
            rows.emit_predicate(combine, [value, other], value)
    for dst, value in zip(dsts, values, strict=False):
        rows.emit_predicate(PredicateOperation.MOVE, [value], dst.number)


def _convert(rows: Rows, instruction: Instruction) -> None:
    op, operand, register = instruction.op, instruction.srcs[0], instruction.dsts[0]
    if isinstance(register, Reg) and register.bank is Bank.D and op.type != "f64" and op.type[1:] != "64":
        raise rows.trouble("its register is wider than its type")
    out = rows.row(register)
    if op.type in HALVES:
        _to_half(rows, op, operand, out)
        return
    value = _single(rows, op, operand)
    mode = next((word for word in op.modifiers if word in ("rni", "rzi", "rmi", "rpi")), None)
    if op.type == "f64":
        rows.emit("f64.f32", [value], out)
    elif op.type == "f32":
        rows.emit("mov.32" if mode is None else f"{mode}.f32", [value], out)
        if "sat" in op.modifiers:
            rows.emit("saturate.f32", [out], out)
    else:
        whole = rows.emit(f"{mode or 'rzi'}.f32", [value], rows.temporary())
        rows.emit(f"{op.type}.f32", [whole], out)


def _to_half(rows: Rows, op: Operation, operand: Operand, out: int) -> None:
    """f32, f64, an integer or half precision itself, rounded once."""
    source = op.source_type
    rounding = next((word for word in op.modifiers if word in ("rn", "rz", "rm", "rp")), "rn")
    whole = next((word for word in op.modifiers if word in ("rni", "rzi", "rmi", "rpi")), None)
    if source in HALVES:
        value = _single(rows, op, operand)
        value = rows.emit(f"{whole}.f32", [value], value) if whole else value
    elif source == "f32":
        value = rows.row(operand)
        value = rows.emit("flush.f32", [value], rows.temporary()) if "ftz" in op.modifiers else value
    else:
        value = _double(rows, source, operand)
        value = rows.emit("odd.f32.f64", [value], rows.temporary())
    rows.emit(f"f16.f32.{rounding}", [value], out)
    if "sat" in op.modifiers:
        rows.emit("saturate2.f16", [out], out)
    rows.emit("trim.u", [out, rows.constant(32 - _HALF_BITS)], out)


def _double(rows: Rows, source: str, operand: Operand) -> int:
    """An f64, or an integer as f64 with what it cannot hold told by its last bit."""
    if source == "f64":
        return rows.row(operand, 2)
    bits, sign = int(source[1:]), "s" if source[0] == "s" else "u"
    value = rows.row(operand, 2 if bits == 64 else 1)
    if bits == 64:
        value = rows.emit("sticky.64", [value], rows.temporary())
    elif bits < 32:
        value = rows.emit(f"trim.{sign}", [value, rows.constant(32 - bits)], rows.temporary())
    return rows.emit(f"f64.{sign}{max(bits, 32)}", [value], rows.temporary())
