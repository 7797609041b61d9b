"""Which operands may be constants: as on hardware, an instruction holds one besides its registers, and zero is free."""

from __future__ import annotations

from dataclasses import replace

from warploom.compiler.backend.definitions import highest_number
from warploom.compiler.code.classes import OpClass, op_class
from warploom.compiler.code.instruction import Bank, Code, Imm, Instruction, Operand, Operation, Param, Reg, Special, Symbol

_LAUNCH_CONSTANTS = ("ntid", "nctaid")  # special registers that hardware keeps beside the parameters
_FIELDS = {"lop3": (3,), "bfe": (1, 2), "bfi": (2, 3), "shf": (2,), "prmt": (2,), "shfl": (1, 2, 3), "fns": (1, 2)}
_REGISTERS_ONLY = ("st", "atom", "red", "tex")


def is_constant(operand: Operand) -> bool:
    """Whether the operand takes the place of the one constant."""
    if isinstance(operand, Imm):
        return operand.bits != 0
    return isinstance(operand, Param | Symbol | Special)


def foldable(operand: Operand) -> bool:
    """Whether a copy of this operand may be replaced by the operand itself where constants may stand."""
    if isinstance(operand, Special):
        return operand.name.startswith(_LAUNCH_CONSTANTS)
    return isinstance(operand, Imm | Param | Symbol)


def accepts_constant(instruction: Instruction, place: int, constant: Operand) -> bool:
    """Whether the source at `place` may become a constant."""
    op = instruction.op
    if op.name in _REGISTERS_ONLY:
        if op.name == "tex" and place == 0:
            return not isinstance(constant, Imm | Special)
        return op.name == "st" and constant == Imm(0)
    if op.name in ("shfl", "match", "redux", "vote") and place == 0:
        return False
    if op.name == "mov":
        return len(instruction.srcs) == 1 and len(instruction.dsts) == 1
    fields = _FIELDS.get(op.name, ())
    if place in fields or op_class(op) is OpClass.CONTROL:
        return isinstance(constant, Imm)
    if not is_constant(constant):
        return True
    others = (src for other, src in enumerate(instruction.srcs) if other != place and other not in fields)
    return not any(map(is_constant, others))


def becomes_legal(instruction: Instruction) -> bool:
    """Whether `legalise` takes care of a constant that `accepts_constant` refuses."""
    return instruction.op.name not in ("mov", "vote", "match", "redux", "tex")


def _type_at(instruction: Instruction, place: int) -> str:
    """The type with which a constant at `place` is moved to a register."""
    op = instruction.op
    wide = op.type in ("s64", "u64", "b64", "f64") and not (op.name in ("shl", "shr") and place == 1)
    if op.name == "tex":
        wide = False
    if op.name in ("set", "cvt") or (op.name == "slct" and place == 2):
        wide = op.source_type.endswith("64")
    if op.name in ("mul", "mad") and "wide" in op.modifiers:
        wide = place == 2
    return "b64" if wide else "b32"


def split_products(code: Code) -> None:
    """Multiply-adds of one register and two constants become a product and a sum, which addresses can absorb."""
    number = highest_number(code)
    for block in code.blocks:
        made: list[Instruction] = []
        for instruction in block.instructions:
            op, srcs = instruction.op, instruction.srcs
            if op.name == "mad" and op.modifiers == ("lo",) and is_constant(srcs[1]) and is_constant(srcs[2]):
                product = Reg(number, instruction.dsts[0].bank)
                number += 1
                guard, line = instruction.guard, instruction.line
                made.append(Instruction(op._replace(name="mul"), (product,), srcs[:2], guard, line=line))
                instruction = replace(instruction, op=Operation("add", op.type), srcs=(product, srcs[2]))
            made.append(instruction)
        block.instructions = made


def legalise(code: Code) -> None:
    """Move constants to registers where an instruction has too many of them, once for each block that needs it."""
    number = highest_number(code)
    for block in code.blocks:
        made: list[Instruction] = []
        moved: dict[tuple[str, Operand], Reg] = {}
        for instruction in block.instructions:
            op = instruction.op
            constants = [place for place, src in enumerate(instruction.srcs) if is_constant(src) and not _is_field(op, place)]
            room = _room(instruction)
            if len(constants) > room:
                # numbers stay in the instruction before parameters do: a shift by a register would look odd
                constants.sort(key=lambda place: not isinstance(instruction.srcs[place], Imm))
                srcs = list(instruction.srcs)
                for place in constants[room:]:
                    what = (_type_at(instruction, place), srcs[place])
                    if what not in moved:
                        moved[what] = Reg(number, Bank.D if what[0] == "b64" else Bank.R)
                        number += 1
                        made.append(Instruction(Operation("mov", what[0]), (moved[what],), (what[1],), line=instruction.line))
                    srcs[place] = moved[what]
                instruction.srcs = tuple(srcs)
            made.append(instruction)
        block.instructions = made


def _is_field(op: Operation, place: int) -> bool:
    """Whether the place is a field of the instruction rather than an operand, or a texture's handle."""
    return place in _FIELDS.get(op.name, ()) or (op.name == "tex" and place == 0)


def _room(instruction: Instruction) -> int:
    op = instruction.op
    if op_class(op) is OpClass.CONTROL or op.name in ("mov", "vote", "match", "redux", "cvt", "isspacep"):
        return len(instruction.srcs)
    return 0 if op.name == "shfl" or op.name in _REGISTERS_ONLY else 1
