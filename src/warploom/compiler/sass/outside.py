"""Calls of functions that CUDA supplies: which one it is, and the registers that it reads and writes.

Code fetches the function's address from a constant bank (``MOV R0, 0x48; LDC.64 R6, c[0x4][R0]; CALL.ABS R6``). Which function
it is can be seen from what was last written to the registers, in the order of the text; a call where that fails is refused when
it has to be executed. What is executed depends on the address alone. Calls in linked code name the function themselves.
"""

from __future__ import annotations

from warploom.compiler.code.instruction import Bank, Constant, Imm, Instruction, Modified, Operand, Reg, Symbol
from warploom.compiler.code.supplied import CONVENTIONS, NAMES, RETURN_ADDRESS, Supplied
from warploom.compiler.sass.cubin import Cubin


def give_calls_their_functions(instructions: list[Instruction], cubin: Cubin) -> None:
    """Let calls through absolute addresses name their function, with all registers that it accesses.

    Sources become: the address, the function, arguments, and the address to come back to, if it does come back.
    """
    held: dict[int, int | str] = {}  # what registers hold: a number, or the address of a function
    for instruction in instructions:
        if instruction.op.name == "CALL" and "ABS" in instruction.op.modifiers and instruction.srcs:
            address = instruction.srcs[0]
            name = held.get(address.number) if isinstance(address, Reg) else None
            if isinstance(address, Symbol) and address.name in NAMES:
                name, address = address.name, Imm(NAMES[address.name].address)
            if isinstance(name, str):
                instruction.srcs, instruction.dsts = (address, Symbol(name), *_others(name)), _results(name)
        found = _function(instruction, held, cubin) or _number(instruction)
        for register in instruction.dsts:
            for word in register.words:
                held.pop(word, None)
            if found is not None and register.words:
                held[register.words[0]] = found


def _others(name: str) -> tuple[Reg, ...]:
    if name not in NAMES:
        return ()
    back = () if NAMES[name] is Supplied.ASSERT_FAIL else (RETURN_ADDRESS,)
    return (*CONVENTIONS[NAMES[name]].arguments, *back)


def _results(name: str) -> tuple[Reg, ...]:
    return CONVENTIONS[NAMES[name]].results if name in NAMES else ()


def _function(instruction: Instruction, held: dict[int, int | str], cubin: Cubin) -> str | None:
    """The function whose address an instruction loads from a constant bank, if it does."""
    constant = instruction.srcs[0] if instruction.op.name == "LDC" and "64" in instruction.op.modifiers else None
    if not isinstance(constant, Constant):
        return None
    offset = constant.offset
    if constant.register is not None:
        index = held.get(constant.register.number)
        if not isinstance(index, int):
            return None
        offset += index
    for relocation in cubin.relocations:
        if relocation.section == f".nv.constant{constant.bank}" and relocation.offset == offset:
            return relocation.symbol.name if not relocation.symbol.section else None
    return None


def _number(instruction: Instruction) -> int | None:
    """The number that an instruction moves to a register, if it does: MOV, IMAD.MOV and HFMA2 with zeros."""
    if instruction.op.name not in ("MOV", "IMAD", "HFMA2") or instruction.guard is not None:
        return None
    others = [source for source in instruction.srcs if not isinstance(source, Imm)]
    numbers = [source.bits for source in instruction.srcs if isinstance(source, Imm)]
    return numbers[0] if len(numbers) == 1 and all(map(_is_zero, others)) else None


def _is_zero(operand: Operand) -> bool:
    inner = operand.operand if isinstance(operand, Modified) else operand
    return isinstance(inner, Reg) and inner.bank in (Bank.RZ, Bank.PT)
