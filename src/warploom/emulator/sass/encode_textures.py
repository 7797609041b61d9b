"""Encodes texture fetches, and accesses to surfaces."""

from __future__ import annotations

import numpy as np

from warploom.compiler.code.instruction import Constant, Imm, Instruction, Operand, Special
from warploom.emulator.records import Kind
from warploom.emulator.sass.records import SassKind
from warploom.emulator.sass.registry import encodes
from warploom.emulator.sass.rows import SassRows
from warploom.emulator.surfaces import DATA_ROW, Boundary
from warploom.emulator.textures import GATHER, INTEGER_COORDINATES

_DIMENSIONS = {"1D": 1, "2D": 2, "3D": 3}
_LAYERED = {"ARRAY_1D": 1, "ARRAY_2D": 2}  # a layer comes before the coordinates
_GATHERED = {"R": 0, "G": 1, "B": 2, "A": 3}
_SURFACES = {"1D": 1, "2D": 2, "3D": 3, "1D_ARRAY": 2, "2D_ARRAY": 3}  # a layer comes behind the coordinates
_NARROW = {"U8": (1, False), "S8": (1, True), "U16": (2, False), "S16": (2, True)}
_UNKNOWN = {"NDV", "AOFFI", "DC", "PTP", "F16", "MS", "CL"}
_WORD_BYTES = 4


def _handle(rows: SassRows, operands: list[Operand]) -> int:
    """The row of the handle: in a register of the lane, in one of the warp with a number behind it, or in a constant bank.

    For a bank, its number and the word are written.
    """
    numbers = [place for place, operand in enumerate(operands) if isinstance(operand, Imm)]
    if not numbers:
        return rows.row(operands[0])
    if len(numbers) == 1:
        return rows.row(operands[numbers[0] - 1])
    bank, word = (operand for operand in operands if isinstance(operand, Imm))
    return rows.row(Constant(bank.bits, word.bits * _WORD_BYTES))


@encodes("TEX", "TLD", "TLD4", "TXD")
def _fetch(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """TEX and TXD filter, TLD reads at whole coordinates, TLD4 gathers four texels. Rows: see `fetch_texels`.

    A channel that is not wanted goes to a row that nobody reads. Textures have one level of detail, so neither the one that is
    asked for nor the derivatives from which it follows matter.
    """
    modifiers = instruction.op.modifiers
    place = next(index for index, source in enumerate(instruction.srcs) if isinstance(source, Special))
    shape, mask = instruction.srcs[place], instruction.srcs[place + 1]
    assert isinstance(shape, Special) and isinstance(mask, Imm)
    layered = shape.name in _LAYERED
    if (not layered and shape.name not in _DIMENSIONS) or not _UNKNOWN.isdisjoint(modifiers):
        raise rows.trouble("this kind of texture is not known")
    dimensions = _LAYERED[shape.name] if layered else _DIMENSIONS[shape.name]
    record["kind"], record["elements"], record["signed"] = Kind.TEXTURE, dimensions, layered
    record["type"] = INTEGER_COORDINATES if instruction.op.name == "TLD" else 0
    if instruction.op.name == "TLD4":
        record["type"], record["size"] = GATHER, next(_GATHERED[word] for word in modifiers if word in _GATHERED)
    record["offset"] = dimensions > 1 or instruction.op.name != "TLD"  # in blocks; a row that TLD reads is plain memory
    record["operation"] = dimensions == 2  # a texture of one dimension is read as a row of two
    coordinates = [rows.row(source) for source in instruction.srcs[: dimensions + layered]]
    if layered:
        record["rows"][4] = coordinates.pop(0)
    record["rows"][0] = _handle(rows, list(instruction.srcs[dimensions + layered : place]))
    wanted = iter(instruction.dsts)
    channels = [rows.row(next(wanted)) if mask.bits >> n & 1 else rows.temporary() for n in range(mask.bits.bit_length())]
    record["writes"] = len(channels)
    record["write_rows"][: len(channels)] = channels
    record["rows"][1:4] = (coordinates + [rows.constant(0)] * 3)[:3]


@encodes("SULD", "SUST")
def _surface(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """Bytes of a surface, at a coordinate that counts bytes. Rows: see `access_surface`."""
    modifiers = instruction.op.modifiers
    if modifiers[:2] != ("D", "BA"):
        raise rows.trouble("only bytes of a surface are known, not its texels")
    name = next(word for word in modifiers if word in _SURFACES)
    narrow = next((_NARROW[word] for word in modifiers if word in _NARROW), (4, False))
    words = 4 if "128" in modifiers else 2 if "64" in modifiers else 1
    coordinates = [rows.row(source) for source in instruction.srcs[: _SURFACES[name]]]
    stores = instruction.op.name == "SUST"
    record["kind"], record["operation"] = SassKind.SURFACE, stores
    record["size"], record["signed"] = narrow
    record["elements"] = words
    record["type"] = Boundary.TRAP if "TRAP" in modifiers else Boundary.ZERO if "IGN" in modifiers else Boundary.CLAMP
    moved = instruction.srcs[len(coordinates) :][:words] if stores else instruction.dsts
    record["rows"][0] = _handle(rows, list(instruction.srcs[len(coordinates) + (words if stores else 0) :]))
    record["rows"][1:4] = (coordinates + [rows.constant(0)] * 3)[:3]
    if name == "1D_ARRAY":
        record["rows"][2], record["rows"][3] = record["rows"][3], record["rows"][2]
    data = [rows.row(register) for register in moved]
    data += [data[-1] if stores else rows.temporary()] * (words - len(data))
    record["rows"][DATA_ROW : DATA_ROW + words] = data
