"""Arithmetic on constants, and operations that a constant makes simpler. Integers only: what lowering itself leaves behind."""

from __future__ import annotations

from collections.abc import Callable

from warploom.compiler.code.instruction import Imm, Instruction, Operand, Operation, Symbol

_BITS = {f"{kind}{bits}": bits for kind in "usb" for bits in (8, 16, 32, 64)}


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


_BINARY: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}
_COMMUTATIVE = ("add", "mul", "and", "or", "xor")


def _copy(bits: int, source: Operand) -> tuple[Operation, tuple[Operand, ...]]:
    return Operation("mov", f"b{bits}"), (source,)


def _constant(value: int, bits: int) -> tuple[Operation, tuple[Operand, ...]]:
    return _copy(bits, Imm(value & ((1 << bits) - 1)))


def simplified(instruction: Instruction) -> tuple[Operation, tuple[Operand, ...]] | None:
    """A simpler operation with the same result, or None."""
    op, srcs = instruction.op, instruction.srcs
    bits = _BITS.get(op.type)
    if bits is None or len(instruction.dsts) != 1 or not srcs:
        return None
    name = op.name
    if name == "cvt":
        return _conversion(op, srcs[0])
    if name == "mul" or name == "mad":
        return _product(op, srcs, bits)
    if op.modifiers or len(srcs) != 2:
        return None
    left, right = srcs
    if isinstance(left, Imm) and not isinstance(right, Imm) and name in _COMMUTATIVE:
        return op, (right, left)
    if name in ("shl", "shr"):
        return _shift(op, left, right, bits)
    if name not in _BINARY or not isinstance(right, Imm):
        return None
    if isinstance(left, Imm):
        return _constant(_BINARY[name](left.bits, right.bits), bits)
    if isinstance(left, Symbol) and name in ("add", "sub"):
        offset = _signed(right.bits, bits)
        return _copy(bits, Symbol(left.name, left.offset + (offset if name == "add" else -offset)))
    if right.bits == 0:
        return _constant(0, bits) if name == "and" else _copy(bits, left)
    if name == "and" and right.bits == (1 << bits) - 1:
        return _copy(bits, left)
    if name == "sub":
        return Operation("add", op.type), (left, Imm(-right.bits & ((1 << bits) - 1)))
    return None


def _shift(op: Operation, left: Operand, right: Operand, bits: int) -> tuple[Operation, tuple[Operand, ...]] | None:
    if not isinstance(right, Imm):
        return None
    if right.bits == 0:
        return _copy(bits, left)
    if not isinstance(left, Imm):
        return None
    amount = min(right.bits, bits)
    if op.name == "shl":
        return _constant(left.bits << amount, bits)
    value = _signed(left.bits, bits) if op.type[0] == "s" else left.bits
    return _constant(value >> amount, bits)


def _product(op: Operation, srcs: tuple[Operand, ...], bits: int) -> tuple[Operation, tuple[Operand, ...]] | None:
    if op.modifiers not in (("lo",), ("wide",)):
        return None
    left, right, *rest = srcs
    wide = op.modifiers == ("wide",)
    result = 2 * bits if wide else bits
    if isinstance(left, Imm) and not isinstance(right, Imm):
        return op, (right, left, *rest)
    if not isinstance(right, Imm):
        if rest == [Imm(0)]:
            return op._replace(name="mul"), (left, right)
        return None
    factor = _signed(right.bits, bits) if op.type[0] == "s" else right.bits
    if isinstance(left, Imm):
        product = (_signed(left.bits, bits) if op.type[0] == "s" else left.bits) * factor
        if not rest:
            return _constant(product, result)
        return Operation("add", f"{op.type[0]}{result}"), (rest[0], Imm(product & ((1 << result) - 1)))
    if rest:
        if rest == [Imm(0)]:
            return op._replace(name="mul"), (left, right)
        return (Operation("add", op.type), (left, rest[0])) if factor == 1 and not wide else None
    if factor == 0:
        return _constant(0, result)
    if wide:
        return None
    if factor == 1:
        return _copy(bits, left)
    if factor > 0 and factor & (factor - 1) == 0:
        return Operation("shl", f"b{bits}"), (left, Imm(factor.bit_length() - 1))
    return None


def _conversion(op: Operation, source: Operand) -> tuple[Operation, tuple[Operand, ...]] | None:
    if op.modifiers or op.source_type not in _BITS:
        return None
    bits, source_bits = _BITS[op.type], _BITS[op.source_type]
    if isinstance(source, Imm):
        value = source.bits & ((1 << source_bits) - 1)
        return _constant(_signed(value, source_bits) if op.source_type[0] == "s" else value, bits) if bits >= 16 else None
    if bits == source_bits and bits >= 32:
        return _copy(bits, source)
    return None
