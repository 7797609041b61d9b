"""Constant displacements go from the arithmetic into the memory operands, so that neighbouring accesses share one base."""

from __future__ import annotations

from warploom.compiler.backend.definitions import Definitions
from warploom.compiler.code.instruction import Address, Code, Imm, Reg

_REACH = 1 << 23  # a displacement has 24 bits with its sign


def fold_displacements(code: Code) -> bool:
    """Replace ``[b]`` by ``[a + c]`` where b = a + c and b is nothing but an address; whether anything changed."""
    definitions = Definitions(code)
    as_address: dict[Reg, int] = {}
    for instruction in code.instructions():
        for src in instruction.srcs:
            if isinstance(src, Address) and isinstance(src.base, Reg):
                as_address[src.base] = as_address.get(src.base, 0) + 1
    sums: dict[Reg, tuple[Reg, int]] = {}
    for register, definition in definitions.only.items():
        op, srcs = definition.op, definition.srcs
        if op.name != "add" or op.modifiers or op.type not in ("s32", "u32", "s64", "u64"):
            continue
        base, constant = srcs
        if not isinstance(base, Reg) or not isinstance(constant, Imm):
            continue
        if not (definitions.steady(register) and definitions.steady(base)) or as_address.get(register) != definitions.uses.get(
            register
        ):
            continue
        bits = int(op.type[1:])
        sums[register] = (base, constant.bits - (constant.bits >> (bits - 1) << bits))
    changed = False
    for instruction in code.instructions():
        for place, src in enumerate(instruction.srcs):
            if isinstance(src, Address):
                folded = _folded(src, sums)
                if folded is not src:
                    instruction.srcs = (*instruction.srcs[:place], folded, *instruction.srcs[place + 1 :])
                    changed = True
    return changed


def _folded(address: Address, sums: dict[Reg, tuple[Reg, int]]) -> Address:
    while isinstance(address.base, Reg) and address.base in sums:
        base, constant = sums[address.base]
        if not -_REACH <= address.offset + constant < _REACH:
            break
        address = Address(base, address.offset + constant)
    return address
