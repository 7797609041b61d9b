"""Encodes products of warpgroups, and what goes on around them."""

from __future__ import annotations

import numpy as np

from warploom.compiler.code.instruction import Bank, Instruction, Modified, Reg
from warploom.compiler.sass.matrix_shapes import warpgroup_shape
from warploom.emulator.records import Kind
from warploom.emulator.sass.encode_matrices import INTEGERS, NUMBERS, SIGNED, SMALL_NUMBERS, SUMS
from warploom.emulator.sass.matrices import Element, MatrixFlag
from warploom.emulator.sass.records import SassKind
from warploom.emulator.sass.registry import encodes
from warploom.emulator.sass.rows import SassRows
from warploom.emulator.sass.warpgroups import ROWS, Transposed

_BITS_OF_A_ROW = 256  # of A that one product takes
_SMALL_SUM = (32, 13)  # products of numbers of 8 bits at a time, and the bits that are kept of them and of their sum
_WORDS = {"tnspA", "tnspB", "negA", "negB"}


def _encode_product(rows: SassRows, instruction: Instruction, record: np.void, known: set[str], bits: int) -> None:
    """Rows: the result, A or -1, the descriptors, the addend or -1. One without a result only ends a group of products.

    `bits`: those of an element.
    """
    if instruction.dsts[0].bank is Bank.RZ:
        record["kind"] = Kind.NOTHING
        return
    shape = warpgroup_shape(instruction.op.modifiers)
    if shape is None or not set(instruction.op.modifiers[1:]) <= known or shape.inner * bits != _BITS_OF_A_ROW:
        raise rows.trouble("the emulator does not know this product of matrices")
    at = next(number for number, source in enumerate(instruction.srcs) if isinstance(source, Modified) and source.part)
    described, behind = instruction.srcs[at], instruction.srcs[at + 1 :]
    assert isinstance(described, Modified)
    words = set(described.part.split(".")[1:])
    rows.require(words <= _WORDS, "the emulator does not know this description of matrices")
    counts = next(number for number, source in enumerate(behind) if not _is_register(source))
    record["kind"], record["matrix_rows"], record["elements"] = SassKind.WARPGROUP_PRODUCT, ROWS, shape.columns
    record["rows"][0] = rows.row(instruction.dsts[0])
    record["rows"][1] = rows.row(instruction.srcs[0]) if at else -1
    record["rows"][2] = rows.row(described.operand)
    record["rows"][3] = rows.row(behind[0]) if counts and behind[0] != Reg(0, Bank.RZ) else -1
    record["predicate_in"] = rows.predicate(behind[counts])
    record["type"] = ("tnspA" in words) * Transposed.FIRST | ("tnspB" in words) * Transposed.SECOND
    record["wide_registers"] = shape.result_words == shape.columns // 2
    negated = described.negated or "negA" in words
    record["signed"] = negated * MatrixFlag.FIRST_NEGATED | ("negB" in words) * MatrixFlag.SECOND_NEGATED


def _is_register(source: object) -> bool:
    return isinstance(source, Reg) and source.bank in (Bank.R, Bank.RZ)


@encodes("HGMMA")
def _multiply_numbers(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    kind = next((NUMBERS[word] for word in instruction.op.modifiers if word in NUMBERS), Element.F16)
    bits = 32 if kind == Element.TF32 else 16
    _encode_product(rows, instruction, record, {"F16", "F32", *NUMBERS}, bits)
    record["operation"] = record["second_operation"] = kind
    record["size"] = bits
    assert rows.code.binary is not None
    length, record["sum_bits"] = SUMS[rows.code.binary.architecture]
    record["sum_length"] = length // 2 if kind == Element.TF32 else length


@encodes("QGMMA")
def _multiply_small_numbers(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    _encode_product(rows, instruction, record, {"F16", "F32", *SMALL_NUMBERS}, 8)
    record["operation"], record["second_operation"] = (
        SMALL_NUMBERS[word] for word in instruction.op.modifiers if word in SMALL_NUMBERS
    )
    record["size"] = 8
    record["sum_length"], record["sum_bits"] = _SMALL_SUM


@encodes("IGMMA")
def _multiply_integers(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    modifiers = instruction.op.modifiers
    _encode_product(rows, instruction, record, {*INTEGERS, "SAT"}, 8)
    record["operation"] = record["second_operation"] = Element.INTEGER
    record["size"] = 8
    first, second = (word in SIGNED for word in modifiers if word in INTEGERS)
    record["signed"] = first * MatrixFlag.FIRST_SIGNED | second * MatrixFlag.SECOND_SIGNED
    if "SAT" in modifiers:
        record["signed"] |= MatrixFlag.SATURATED


@encodes("BGMMA")
def _count_bits(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    _encode_product(rows, instruction, record, {"AND", "POPC"}, 1)
    record["operation"] = record["second_operation"] = Element.BITS_AND
    record["size"] = 32  # a word of bits is one element
