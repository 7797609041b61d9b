"""Encodes texture fetches."""

from __future__ import annotations

import numpy as np

from warploom.code.instruction import Bank, Constant, Imm, Instruction, Operand, Reg, Special
from warploom.emulator.records import Kind
from warploom.emulator.sass.registry import encodes
from warploom.emulator.sass.rows import SassRows

_DIMENSIONS = {"1D": 1, "2D": 2, "3D": 3}
_WORD_BYTES = 4


def _handle(rows: SassRows, operands: list[Operand]) -> int:
    """The row of the handle: in a uniform register, or in a constant bank whose number and word are written."""
    uniform = next((operand for operand in operands if isinstance(operand, Reg) and operand.bank in (Bank.U, Bank.UD)), None)
    if uniform is not None:
        return rows.row(uniform)
    bank, word = (operand for operand in operands if isinstance(operand, Imm))
    return rows.row(Constant(bank.bits, word.bits * _WORD_BYTES))


@encodes("TEX", "TLD")
def _fetch(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """TEX filters, TLD reads at whole coordinates. Rows: the handle, then three coordinates.

    A channel that is not wanted goes to a row that nobody reads. Textures have one level of detail, so which one is asked for
    does not matter.
    """
    modifiers = instruction.op.modifiers
    place = next(index for index, source in enumerate(instruction.srcs) if isinstance(source, Special))
    shape, mask = instruction.srcs[place], instruction.srcs[place + 1]
    assert isinstance(shape, Special) and isinstance(mask, Imm)
    if shape.name not in _DIMENSIONS or "B" in modifiers:
        raise rows.trouble("this kind of texture is not known")
    if "LL" not in modifiers and "LZ" not in modifiers:
        raise rows.trouble("the level of detail comes from neighbouring lanes")
    dimensions = _DIMENSIONS[shape.name]
    record["kind"], record["elements"], record["type"] = Kind.TEXTURE, dimensions, instruction.op.name == "TLD"
    record["operation"] = dimensions == 2  # a texture of one dimension is read as a row of two
    coordinates = [rows.row(source) for source in instruction.srcs[:dimensions]]
    record["rows"][0] = _handle(rows, list(instruction.srcs[dimensions:place]))
    wanted = iter(instruction.dsts)
    channels = [rows.row(next(wanted)) if mask.bits >> n & 1 else rows.temporary() for n in range(mask.bits.bit_length())]
    record["writes"] = len(channels)
    record["write_rows"][: len(channels)] = channels
    record["rows"][1:4] = (coordinates + [rows.constant(0)] * 3)[:3]
