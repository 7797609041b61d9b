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
}
_INTEGER_BITS = {"S8": 8, "U8": 8, "S4": 4, "U4": 4}
_LANES_ALONG = 4


class MatrixShape(NamedTuple):
    """The shape of one instruction's product."""

    rows: int
    inner: int
    element_bits: int
    result_words: int  # registers of a lane

    @property
    def chunks(self) -> int:
        """How many registers of B a lane has."""
        return self.inner * self.element_bits // (_LANES_ALONG * 32)

    @property
    def words(self) -> tuple[int, int, int]:
        """How many registers of A, B and the addend a lane has."""
        return self.rows // 8 * self.chunks, self.chunks, self.result_words


def matrix_shape(name: str, modifiers: tuple[str, ...]) -> MatrixShape | None:
    """The shape of HMMA, IMMA, BMMA or DMMA; none if it is not known."""
    size = next((_SIZES[word] for word in modifiers if word in _SIZES), None)
    if size is None:
        return None
    rows, inner = size
    if name == "HMMA":
        single = "F32" in modifiers
        return MatrixShape(rows, inner, 32 if "TF32" in modifiers else 16, rows // 4 if single else rows // 8)
    if name == "DMMA":  # numbers and results of 64 bits take pairs of registers
        return MatrixShape(rows, inner, 64, rows // 2)
    bits = 1 if name == "BMMA" else next((_INTEGER_BITS[word] for word in modifiers if word in _INTEGER_BITS), 8)
    return MatrixShape(rows, inner, bits, rows // 4)
