"""Encodes the products of tensor cores, and the transposition of a matrix that a warp holds."""

from __future__ import annotations

import numpy as np

from warploom.code.instruction import Instruction, Operand
from warploom.emulator.sass.encode_floats import positive
from warploom.emulator.sass.matrices import Element, MatrixFlag
from warploom.emulator.sass.records import SassKind
from warploom.emulator.sass.registry import encodes
from warploom.emulator.sass.rows import SassRows
from warploom.sass.matrix_shapes import MatrixShape, matrix_shape

# Products of 16-bit elements that are added at a time, and bits that are kept behind the point, by architecture: Turing, then
# Ampere and Ada, then Hopper. Of tf32 there are half as many products at a time.
_SUMS = {75: (4, 24), 80: (8, 24), 86: (8, 24), 87: (8, 24), 89: (8, 24), 90: (16, 25)}
_NUMBERS = {"BF16": Element.BF16, "TF32": Element.TF32}
_SIGNED = ("S8", "S4")
_INTEGERS = ("S8", "U8", "S4", "U4")


def _shape(rows: SassRows, instruction: Instruction, known: set[str]) -> MatrixShape:
    shape = matrix_shape(instruction.op.name, instruction.op.modifiers)
    if shape is None or not set(instruction.op.modifiers[1:]) <= known:
        raise rows.trouble("the emulator does not know this product of matrices")
    return shape


def _encode_product(rows: SassRows, instruction: Instruction, record: np.void, shape: MatrixShape) -> None:
    """Rows: the result, A, B, the addend."""
    operands: list[Operand] = [positive(source) for source in instruction.srcs]
    record["kind"] = SassKind.MATRIX_PRODUCT
    record["rows"][0] = rows.result(instruction.dsts[0])
    record["rows"][1:4] = [rows.row(operand, words) for operand, words in zip(operands[:3], shape.words, strict=True)]
    record["matrix_rows"], record["elements"], record["size"] = shape.rows, shape.chunks, shape.element_bits
    record["wide_registers"] = shape.result_words == shape.rows // 4


@encodes("HMMA")
def _multiply_numbers(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    shape = _shape(rows, instruction, {"F16", "F32", "BF16", "TF32"})
    _encode_product(rows, instruction, record, shape)
    record["operation"] = next((_NUMBERS[word] for word in instruction.op.modifiers if word in _NUMBERS), Element.F16)
    assert rows.code.binary is not None
    length, record["sum_bits"] = _SUMS[rows.code.binary.architecture]
    record["sum_length"] = length // 2 if record["operation"] == Element.TF32 else length


@encodes("IMMA")
def _multiply_integers(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    modifiers = instruction.op.modifiers
    _encode_product(rows, instruction, record, _shape(rows, instruction, {*_INTEGERS, "SAT"}))
    record["operation"] = Element.INTEGER
    first, second = (word in _SIGNED for word in modifiers if word in _INTEGERS)
    record["signed"] = first * MatrixFlag.FIRST_SIGNED | second * MatrixFlag.SECOND_SIGNED
    if "SAT" in modifiers:
        record["signed"] |= MatrixFlag.SATURATED


@encodes("BMMA")
def _count_bits(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """How many bits two rows of bits have in common, or in how many they differ."""
    _encode_product(rows, instruction, record, _shape(rows, instruction, {"AND", "XOR", "POPC"}))
    record["operation"] = Element.BITS_AND if "AND" in instruction.op.modifiers else Element.BITS_XOR


@encodes("DMMA")
def _multiply_doubles(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    shape = _shape(rows, instruction, set())
    _encode_product(rows, instruction, record, shape)
    record["operation"] = Element.F64


@encodes("MOVM")
def _transpose(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    if set(instruction.op.modifiers) != {"16", "MT88"}:
        raise rows.trouble("the emulator does not know this movement")
    record["kind"] = SassKind.MATRIX_TRANSPOSE
    record["rows"][0], record["rows"][1] = rows.result(instruction.dsts[0]), rows.row(instruction.srcs[0])
