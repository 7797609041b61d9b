"""Encodes loads, stores, atomics and texture fetches."""

from __future__ import annotations

import numpy as np

from warploom.compiler.code.instruction import Address, Bank, Instruction, Operand, Reg
from warploom.compiler.code.table import Space
from warploom.emulator.records import MOST_ELEMENTS, AtomicOperation, AtomicType, Kind
from warploom.emulator.rows import Rows

_SPACES = {
    "global": Space.GLOBAL,
    "local": Space.LOCAL,
    "shared": Space.SHARED,
    "const": Space.CONST,
    "param": Space.PARAM,
    "generic": Space.GENERIC,
}
_ATOMIC_TYPES = {
    **{name: AtomicType[name.upper()] for name in ("u32", "s32", "f32", "u64", "s64", "f64", "b16")},
    "b32": AtomicType.U32,
    "b64": AtomicType.U64,
}
_DIMENSIONS = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2}


def encode_access(rows: Rows, instruction: Instruction, record: np.void) -> None:
    """A load, store or atomic."""
    op = instruction.op
    bits = int(op.type[1:])
    record["space"], record["size"], record["elements"] = _SPACES[op.space], bits // 8, op.vector
    record["signed"] = op.type[0] == "s"
    record["polling"] = op.name == "atom" or "volatile" in op.modifiers
    address, *sources = instruction.srcs
    assert isinstance(address, Address)
    _encode_address(rows, address, record)
    if op.name in ("atom", "red"):
        record["kind"] = Kind.ATOMIC
        record["operation"] = AtomicOperation[op.modifiers[0].upper()]
        record["type"] = _ATOMIC_TYPES[op.type]
        words = 2 if bits == 64 else 1
        operands = [rows.row(source, words) for source in sources]
        record["rows"][0] = rows.row(instruction.dsts[0]) if instruction.dsts else -1
        record["rows"][1], record["rows"][2] = operands[0], operands[-1]
        return
    record["kind"] = Kind.LOAD if op.name == "ld" else Kind.STORE
    registers: list[Operand] = list(instruction.dsts) if op.name == "ld" else list(sources)
    wide = bits == 64 or any(isinstance(item, Reg) and item.bank is Bank.D for item in registers)
    if wide and any(isinstance(item, Reg) and item.bank is not Bank.D for item in registers):
        raise rows.trouble("its registers have different widths")
    if len(registers) != op.vector or op.vector > MOST_ELEMENTS:
        raise rows.trouble(f"it needs {op.vector} registers")
    record["wide_registers"] = wide
    record["rows"][: len(registers)] = [rows.row(item, 2 if wide else 1) for item in registers]


def _encode_address(rows: Rows, address: Address, record: np.void) -> None:
    base = address.base
    if base is None:
        record["address"], record["wide_address"] = rows.constant(0), False
    elif isinstance(base, Reg):
        record["address"], record["wide_address"] = rows.row(base), base.bank is Bank.D
    else:
        record["address"] = rows.row(base)  # addresses of variables and pointer parameters lie below 4 GiB
        record["wide_address"] = False
    record["offset"] = address.offset


def encode_texture(rows: Rows, instruction: Instruction, record: np.void) -> None:
    """Rows: the handle, three coordinates, the layer, which PTX names first."""
    op = instruction.op
    if op.space not in _DIMENSIONS:
        raise rows.trouble("textures of this kind are not supported")
    handle, *coordinates = instruction.srcs
    if op.space[0] == "a":
        layer, *coordinates = coordinates
        record["signed"], record["rows"][4] = True, rows.row(layer)
    record["kind"] = Kind.TEXTURE
    record["elements"] = _DIMENSIONS[op.space]
    record["type"] = op.source_type == "s32"
    zero = rows.constant(0)
    places = [rows.row(handle), *(rows.row(coordinate) for coordinate in coordinates[: _DIMENSIONS[op.space]])]
    record["rows"][:4] = (places + [zero] * 3)[:4]
