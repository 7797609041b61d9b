"""How many bits the values of a kernel can need: an upper bound for each, from the instructions that define it.

A value of w bits is one whose bits from w on are zero whatever the input is. The bound of a value is the largest that one of its
definitions gives from the bounds of what it reads; values that depend on each other in a loop grow until they are stable. Only
PTX's operations on 32-bit integers are understood: everything else, all of SASS among it, counts as 32 bits.
"""

from __future__ import annotations

from collections.abc import Callable

from warploom.compiler.code.instruction import Bank, Code, Imm, Instruction, Operand, Operation, Reg, Special
from warploom.compiler.code.slots import PREDICATES
from warploom.compiler.code.values import Value, Values

WHOLE = 32
_OF_TYPE = {"u8": 8, "u16": 16, "u32": WHOLE}  # of loads and conversions, which fill the rest with zeros
# CUDA's limits: 1,024 threads a CTA, of which at most 64 along z, and 65,535 CTAs along y and z.
_OF_SPECIAL = {
    "tid.x": 10,
    "tid.y": 10,
    "tid.z": 6,
    "ntid.x": 11,
    "ntid.y": 11,
    "ntid.z": 7,
    "ctaid.y": 16,
    "ctaid.z": 16,
    "nctaid.y": 16,
    "nctaid.z": 16,
    "laneid": 5,
}
_COUNTED = frozenset(("popc", "clz"))  # 0 to 32 of a word


def value_widths(code: Code, values: Values) -> list[int]:
    """The bound of each value in bits, by its number; what is read without ever being written, predicates too, has all 32."""
    instructions = list(code.instructions())
    widths = [0 if value.definitions and value.slot < PREDICATES else WHOLE for value in values]
    dependents: dict[int, set[int]] = {}
    for (pc, _), read in values.used.items():
        for register in instructions[pc].dsts:
            for word in register.words:
                dependents.setdefault(read.number, set()).add(values.defined[pc, word].number)
    pending = [value for value in values if widths[value.number] < WHOLE]
    while pending:
        value = pending.pop()
        width = max(_width(instructions[pc], pc, value, values, widths) for pc in value.definitions)
        if width > widths[value.number]:
            widths[value.number] = width
            pending += [values.values[number] for number in dependents.get(value.number, ()) if widths[number] < WHOLE]
    return widths


def _width(instruction: Instruction, pc: int, value: Value, values: Values, widths: list[int]) -> int:
    """The bound of what one definition writes."""
    if len(instruction.dsts) != 1 or instruction.dsts[0].bank is not Bank.R:
        return WHOLE

    def of(operand: Operand) -> int:
        if isinstance(operand, Imm):
            return min(WHOLE, operand.bits.bit_length())
        if isinstance(operand, Special):
            return _OF_SPECIAL.get(operand.name, WHOLE)
        if isinstance(operand, Reg) and operand.bank is Bank.R:
            return widths[values.used[pc, operand.number].number]
        return WHOLE

    return max(0, min(WHOLE, _of_operation(instruction.op, instruction.srcs, of)))


def _of_operation(op: Operation, srcs: tuple[Operand, ...], of: Callable[[Operand], int]) -> int:
    if op.name == "ld":
        return _OF_TYPE.get(op.type, WHOLE) if op.vector == 1 else WHOLE
    if op.name == "cvt":
        limit = min(_OF_TYPE.get(op.type, WHOLE), _OF_TYPE.get(op.source_type, WHOLE))
        return min(of(srcs[0]), limit) if not op.modifiers and op.type in _OF_TYPE and op.source_type in _OF_TYPE else WHOLE
    if op.name in _COUNTED and op.type == "b32":
        return 6
    if op.type not in ("u32", "s32", "b32") or (op.modifiers and op.modifiers != ("lo",)):
        return WHOLE
    if op.name == "mov":
        return of(srcs[0]) if len(srcs) == 1 else WHOLE
    if op.name == "selp":
        return max(of(srcs[0]), of(srcs[1]))
    if op.name == "and":
        return min(of(srcs[0]), of(srcs[1]))
    if op.name in ("or", "xor"):
        return max(of(srcs[0]), of(srcs[1]))
    if op.name == "shl" and isinstance(srcs[1], Imm):
        return of(srcs[0]) + srcs[1].bits
    if op.name == "add":
        return max(of(srcs[0]), of(srcs[1])) + 1
    if op.name == "mul":
        return of(srcs[0]) + of(srcs[1])
    if op.name == "mad":
        return max(of(srcs[0]) + of(srcs[1]), of(srcs[2])) + 1
    if op.type == "s32":
        return WHOLE
    if op.name == "shr":
        return of(srcs[0]) - srcs[1].bits if isinstance(srcs[1], Imm) else of(srcs[0])
    if op.name in ("div", "rem") and isinstance(srcs[1], Imm) and srcs[1].bits:  # by zero: all ones
        return of(srcs[0])
    if op.name == "min":
        return min(of(srcs[0]), of(srcs[1]))
    if op.name == "max":
        return max(of(srcs[0]), of(srcs[1]))
    return WHOLE
