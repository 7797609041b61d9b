"""Which part of a product of matrices each lane holds, for the opcodes of tensor cores.

In a warp, lane 4 g + t holds of A the rows g and g + 8, of B the column g, of the result the rows g and g + 8 in the columns
2 t and 2 t + 1. A register of A or B holds as many neighbouring elements of a row or column as fit: t says which; a further
register is four lanes' worth further along. Registers of A for the rows g and g + 8 alternate.
"""

from __future__ import annotations

from typing import NamedTuple

_SIZES = {  # rows of A, elements of the inner dimension; the result has eight columns
    "1684": (16, 4),
    "1688": (16, 8),
    "16816": (16, 16),
    "16832": (16, 32),
    "16864": (16, 64),
    "168128": (16, 128),
    "168256": (16, 256),
    "8816": (8, 16),
    "8832": (8, 32),
    "88128": (8, 128),
    "884": (8, 4),  # of f64
    "8x8x4": (8, 4),
    "16x8x4": (16, 4),
    "16x8x8": (16, 8),
    "16x8x16": (16, 16),
}
_INTEGER_BITS = {"S8": 8, "U8": 8, "S4": 4, "U4": 4}
_LANES_ALONG = 4
LONGEST_VECTOR = 4  # registers that one operand can be; more of them are several operands


class MatrixShape(NamedTuple):
    """The shape of one instruction's product."""

    rows: int
    inner: int
    element_bits: int
    result_words: int  # registers of a lane
    sparse: bool = False  # of A only half of the elements are there; a further operand tells which

    @property
    def chunks(self) -> int:
        """How many registers of B a lane has."""
        return self.inner * self.element_bits // (_LANES_ALONG * 32)

    @property
    def words(self) -> tuple[int, int, int]:
        """How many registers of A, B and the addend a lane has."""
        there = self.chunks // 2 if self.sparse else self.chunks
        return self.rows // 8 * there, self.chunks, self.result_words


def matrix_shape(name: str, modifiers: tuple[str, ...]) -> MatrixShape | None:
    """The shape of HMMA, IMMA, BMMA or DMMA; none if it is not known."""
    size = next((_SIZES[word] for word in modifiers if word in _SIZES), None)
    if size is None:
        return None
    rows, inner = size
    sparse = "SP" in modifiers
    if name == "HMMA":
        words = rows // 4 if "F32" in modifiers else rows // 8
        return MatrixShape(rows, inner, 32 if "TF32" in modifiers else 16, words, sparse)
    if name == "QMMA":
        return MatrixShape(rows, inner, 8, rows // 4 if "F32" in modifiers else rows // 8)
    if name == "DMMA":  # numbers and results of 64 bits take pairs of registers
        return MatrixShape(rows, inner, 64, rows // 2)
    bits = 1 if name == "BMMA" else next((_INTEGER_BITS[word] for word in modifiers if word in _INTEGER_BITS), 8)
    return MatrixShape(rows, inner, bits, rows // 4, sparse)


class WarpgroupShape(NamedTuple):
    """The shape of a product of a warpgroup (``HGMMA.64x256x16.F32``); each of its four warps has sixteen of the 64 rows."""

    columns: int
    inner: int
    result_words: int  # registers of a lane


def warpgroup_shape(modifiers: tuple[str, ...]) -> WarpgroupShape | None:
    """The shape of HGMMA, QGMMA, IGMMA or BGMMA; none if it is not known."""
    sizes = modifiers[0].split("x") if modifiers else []
    if len(sizes) != 3 or sizes[0] != "64" or not all(size.isdigit() for size in sizes):
        return None
    columns, inner = int(sizes[1]), int(sizes[2])
    return WarpgroupShape(columns, inner, columns // 4 if "F16" in modifiers[1:2] else columns // 2)
