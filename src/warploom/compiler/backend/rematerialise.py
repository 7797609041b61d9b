"""Values that are cheaper to compute again than to keep: constants, special registers, parameters."""

from __future__ import annotations

from warploom.compiler.code.classes import OpClass, op_class
from warploom.compiler.code.instruction import Address, Code, Instruction, Operand, Reg, Special

_CHANGING_SPECIALS = ("clock", "globaltimer")
_LANE_DEPENDENT = ("vote", "activemask", "match")  # the result depends on which lanes execute it


def _constant(operand: Operand) -> bool:
    if isinstance(operand, Reg):
        return False
    if isinstance(operand, Address):
        return not isinstance(operand.base, Reg)
    return not (isinstance(operand, Special) and operand.name.startswith(_CHANGING_SPECIALS))


def repeatable(instruction: Instruction) -> bool:
    """Whether the instruction gives the same result wherever and however often a thread executes it."""
    op = instruction.op
    if instruction.guard is not None or len(instruction.dsts) != 1 or op.name in _LANE_DEPENDENT:
        return False
    kind = op_class(op)
    if kind is OpClass.MEMORY:
        if op.name != "ld" or op.vector > 1 or op.space not in ("param", "const") or "volatile" in op.modifiers:
            return False
    elif kind in (OpClass.CONTROL, OpClass.METADATA, OpClass.SHUFFLE):
        return False
    return all(map(_constant, instruction.srcs))


def repeatable_values(code: Code) -> dict[Reg, Instruction]:
    """The values of web-split code of which every definition is the same repeatable instruction, with that instruction."""
    found: dict[Reg, Instruction | None] = {}
    for instruction in code.instructions():
        for dst in instruction.dsts:
            if dst not in found:
                found[dst] = instruction if repeatable(instruction) else None
            else:
                first = found[dst]
                if first is not None and (
                    not repeatable(instruction) or (first.op, first.srcs) != (instruction.op, instruction.srcs)
                ):
                    found[dst] = None
    return {register: instruction for register, instruction in found.items() if instruction is not None}
