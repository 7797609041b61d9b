"""Operands of half precision: two numbers in a word, of which an instruction may take one twice, or change the signs."""

from __future__ import annotations

from collections.abc import Sequence

from warploom.compiler.code.instruction import Imm, Modified, Operand
from warploom.emulator.sass.rows import SassRows

_FORMATS = {"F16": "f16", "BF16": "bf16", "BF16_V2": "bf16"}
# Which halves an operand names, the upper one first: a selector of PRMT, and the signs that it flips.
_SELECTIONS = {
    "": (0x3210, 0),
    "H1_H0": (0x3210, 0),
    "H0_H0": (0x1010, 0),
    "H1_H1": (0x3232, 0),
    "H0_H1": (0x1032, 0),
    "H0_NH1": (0x1032, 0x8000),
}
_AS_WRITTEN = 0x3210
_SIGNS = 0x80008000


def half_format(modifiers: Sequence[str]) -> str:
    """The format of half precision that an opcode names, or nothing."""
    return next((_FORMATS[word] for word in modifiers if word in _FORMATS), "")


def half_pair(rows: SassRows, operand: Operand, kind: str) -> int:
    """The row of two numbers of a format."""
    inner, part = (operand.operand, operand.part) if isinstance(operand, Modified) else (operand, "")
    row = rows.row(inner)
    if part == "F32":
        row = rows.emit(f"{kind}.f32.rn", [row], rows.temporary())
        part = "H0_H0"
    if part not in _SELECTIONS:
        raise rows.trouble(f"operand {operand} is no pair of halves")
    selector, flipped = _SELECTIONS[part]
    if selector != _AS_WRITTEN:
        row = rows.emit("prmt", [row, row, rows.constant(selector)], rows.temporary())
    if isinstance(operand, Modified):
        if operand.absolute:
            row = rows.emit("and.32", [row, rows.constant(~_SIGNS)], rows.temporary())
        flipped ^= _SIGNS if operand.negated else 0
    if flipped:
        row = rows.emit("xor.32", [row, rows.constant(flipped)], rows.temporary())
    return row


def half_as_single(rows: SassRows, operand: Operand, kind: str) -> int:
    """One number of a format as f32: that in the upper half of the register if the operand says so, else the lower."""
    inner, part = (operand.operand, operand.part) if isinstance(operand, Modified) else (operand, "")
    if part not in ("", "H0", "H1", "H0_H0", "H1_H1") or isinstance(inner, Imm):
        raise rows.trouble(f"operand {operand} is no half")
    row = rows.emit(f"{'high' if part[:2] == 'H1' else 'low'}.{kind}", [rows.row(inner)], rows.temporary())
    if isinstance(operand, Modified) and operand.absolute:
        row = rows.emit("magnitude.f32", [row], rows.temporary())
    if isinstance(operand, Modified) and operand.negated:
        row = rows.emit("flip.f32", [row], rows.temporary())
    return row
