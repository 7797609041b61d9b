"""Encodes the products of tensor cores, and the transposition of a matrix that a warp holds."""

from __future__ import annotations

import numpy as np

from warploom.compiler.code.instruction import Imm, Instruction, Modified, Operand
from warploom.compiler.sass.matrix_shapes import LONGEST_VECTOR, MatrixShape, matrix_shape
from warploom.emulator.lanes import ROW_BYTES
from warploom.emulator.sass.encode_floats import positive
from warploom.emulator.sass.encode_integers import is_predicate
from warploom.emulator.sass.matrices import SPARSE, Element, MatrixFlag
from warploom.emulator.sass.records import SassKind
from warploom.emulator.sass.registry import encodes
from warploom.emulator.sass.rows import SassRows

# Products of 16-bit elements that are added at a time, and bits that are kept behind the point, by architecture: Turing, then
# Ampere and Ada, then Hopper. Of tf32 there are half as many products at a time.
SUMS = {75: (4, 24), 80: (8, 24), 86: (8, 24), 87: (8, 24), 89: (8, 24), 90: (16, 25)}
NUMBERS = {"BF16": Element.BF16, "TF32": Element.TF32}
SMALL_NUMBERS = {"E4M3": Element.E4M3, "E5M2": Element.E5M2}
SIGNED = ("S8", "S4")
INTEGERS = ("S8", "U8", "S4", "U4")
_SIGN32, _SIGNS16 = 0x80000000, 0x80008000
_ADDEND = 3  # among a product's operands


def _shape(rows: SassRows, instruction: Instruction, known: set[str]) -> MatrixShape:
    shape = matrix_shape(instruction.op.name, instruction.op.modifiers)
    words = {word for word in instruction.op.modifiers if not word[0].isdigit()}
    if shape is None or not words <= known:
        raise rows.trouble("the emulator does not know this product of matrices")
    return shape


def _first_row(rows: SassRows, operand: Operand, words: int, signs: tuple[int, ...]) -> int:
    """Where a matrix begins. One with other signs is copied; `signs` has the bits that are signs, word by word and over again."""
    first = rows.row(positive(operand), words)
    if not isinstance(operand, Modified) or not (operand.negated or operand.absolute or operand.inverted):
        return first
    if operand.inverted or not signs:
        raise rows.trouble("the emulator does not know this product of matrices")
    copy = rows.vector(words)
    for word in range(words):
        row, sign = first + word * ROW_BYTES, signs[word % len(signs)]
        if operand.absolute:
            row = rows.emit("and.32", [row, rows.constant(~sign)], rows.temporary())
        turned = rows.constant(sign if operand.negated else 0)
        rows.emit("xor.32", [row, turned], copy + word * ROW_BYTES)
    return copy


def _encode_product(
    rows: SassRows, instruction: Instruction, record: np.void, shape: MatrixShape, signs: tuple[int, ...] = ()
) -> None:
    """Rows: the result, A, B, the addend. `signs`: which bits of a word of A and B are signs, if they may be turned."""
    record["kind"] = SassKind.MATRIX_PRODUCT
    written = [word * ROW_BYTES for register in instruction.dsts for word in register.words]
    record["writes"], record["write_rows"][: len(written)] = len(written), written
    record["rows"][0] = rows.result(instruction.dsts[0])
    at = 0
    for number, words in enumerate(shape.words, 1):
        of_numbers = signs if number < _ADDEND or shape.element_bits == 64 else ()
        record["rows"][number] = _first_row(rows, instruction.srcs[at], words, of_numbers)
        at += len(range(0, words, LONGEST_VECTOR))
    record["matrix_rows"], record["elements"], record["size"] = shape.rows, shape.chunks, shape.element_bits
    record["wide_registers"] = shape.result_words == shape.rows // 4
    if any(is_predicate(source) for source in instruction.srcs):
        raise rows.trouble("the emulator does not know this product of matrices")
    if shape.sparse:
        _encode_sparsity(rows, instruction, record)


def _encode_sparsity(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """The row of masks that tell which elements of A are there, and which lanes' masks count."""
    if record["size"] not in (8, 16, 32):
        raise rows.trouble("the emulator does not know sparse matrices of such elements")
    selector = instruction.srcs[-1]
    assert isinstance(selector, Imm)
    record["rows"][4], record["type"] = rows.row(instruction.srcs[-2]), selector.bits
    record["matrices"] = SPARSE


@encodes("HMMA")
def _multiply_numbers(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    shape = _shape(rows, instruction, {"F16", "F32", "BF16", "TF32", "SP"})
    kind = next((NUMBERS[word] for word in instruction.op.modifiers if word in NUMBERS), Element.F16)
    _encode_product(rows, instruction, record, shape, (_SIGN32,) if kind == Element.TF32 else (_SIGNS16,))
    record["operation"] = record["second_operation"] = kind
    assert rows.code.binary is not None
    length, record["sum_bits"] = SUMS[rows.code.binary.architecture]
    record["sum_length"] = (length // 2 if kind == Element.TF32 else length) * (2 if shape.sparse else 1)


@encodes("QMMA")
def _multiply_small_numbers(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """How they are summed was not measured; it is taken to be like halves, twice as many at a time."""
    _encode_product(rows, instruction, record, _shape(rows, instruction, {"F16", "F32", *SMALL_NUMBERS}))
    small = (SMALL_NUMBERS[word] for word in instruction.op.modifiers if word in SMALL_NUMBERS)
    record["operation"], record["second_operation"] = small
    assert rows.code.binary is not None
    length, record["sum_bits"] = SUMS[rows.code.binary.architecture]
    record["sum_length"] = 2 * length


@encodes("IMMA")
def _multiply_integers(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    modifiers = instruction.op.modifiers
    _encode_product(rows, instruction, record, _shape(rows, instruction, {*INTEGERS, "SAT", "SP"}))
    record["operation"] = record["second_operation"] = Element.INTEGER
    kinds = [word for word in modifiers if word in INTEGERS]
    if len({word[1] for word in kinds}) != 1:
        raise rows.trouble("its matrices have elements of different sizes")
    first, second = (word in SIGNED for word in kinds)
    record["signed"] = first * MatrixFlag.FIRST_SIGNED | second * MatrixFlag.SECOND_SIGNED
    if "SAT" in modifiers:
        record["signed"] |= MatrixFlag.SATURATED


@encodes("BMMA")
def _count_bits(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """How many bits two rows of bits have in common, or in how many they differ."""
    _encode_product(rows, instruction, record, _shape(rows, instruction, {"AND", "XOR", "POPC"}))
    record["operation"] = Element.BITS_AND if "AND" in instruction.op.modifiers else Element.BITS_XOR
    record["second_operation"] = record["operation"]
    record["size"] = 32  # a word of bits is one element


@encodes("DMMA")
def _multiply_doubles(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    shape = _shape(rows, instruction, set())
    _encode_product(rows, instruction, record, shape, (0, _SIGN32))
    record["operation"] = Element.F64


@encodes("MOVM")
def _transpose(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    if set(instruction.op.modifiers) != {"16", "MT88"}:
        raise rows.trouble("the emulator does not know this movement")
    record["kind"] = SassKind.MATRIX_TRANSPOSE
    record["rows"][0], record["rows"][1] = rows.result(instruction.dsts[0]), rows.row(instruction.srcs[0])
