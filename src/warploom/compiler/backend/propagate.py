"""Copies and constants go to where they are used; negations of predicates go into guards."""

from __future__ import annotations

from collections.abc import Callable

from warploom.compiler.backend.constants import accepts_constant, becomes_legal, foldable
from warploom.compiler.backend.definitions import Definitions
from warploom.compiler.backend.fold import simplified
from warploom.compiler.code.graph import flow_graph
from warploom.compiler.code.instruction import Address, Bank, Code, Guard, Imm, Instruction, Operand, Param, Reg, Symbol
from warploom.compiler.code.loops import loop_depths


def propagate(code: Code) -> bool:
    """One round over the whole code; whether anything changed."""
    definitions = Definitions(code)
    replacement = _replacements(definitions)
    negation = {
        register: instruction.srcs[0]
        for register, instruction in definitions.only.items()
        if instruction.op.name == "not" and register.bank is Bank.P and _both_steady(definitions, register, instruction)
    }
    depths = loop_depths(flow_graph(code))
    depth_of = {
        dst: depths[number]
        for number, block in enumerate(code.blocks)
        for instruction in block.instructions
        if instruction.op.name == "mov"
        for dst in instruction.dsts
    }
    changed = False
    for number, block in enumerate(code.blocks):
        depth = depths[number]

        def near(register: Reg, depth: int = depth) -> bool:
            return depth_of[register] >= depth

        for instruction in block.instructions:
            if replacement and _replace_sources(instruction, replacement, near):
                changed = True
            changed |= _replace_guard(instruction, replacement, negation)
            simpler = simplified(instruction)
            while simpler is not None:
                instruction.op, instruction.srcs = simpler
                changed = True
                simpler = simplified(instruction)
    return changed


def _both_steady(definitions: Definitions, register: Reg, instruction: Instruction) -> bool:
    source = instruction.srcs[0]
    return isinstance(source, Reg) and definitions.steady(register) and definitions.steady(source)


def _replacements(definitions: Definitions) -> dict[Reg, Operand]:
    """What each copied register is a copy of, chains followed to their ends."""
    direct: dict[Reg, Operand] = {}
    for register, instruction in definitions.only.items():
        if instruction.op.name != "mov" or len(instruction.srcs) != 1 or len(instruction.dsts) != 1:
            continue
        source = instruction.srcs[0]
        if isinstance(source, Reg):
            if source.bank is register.bank and _both_steady(definitions, register, instruction):
                direct[register] = source
        elif register.bank is not Bank.P and foldable(source):
            direct[register] = source
    final: dict[Reg, Operand] = {}
    for register in direct:
        source = direct[register]
        while isinstance(source, Reg) and source in direct:
            source = direct[source]
        final[register] = source
    return final


def _replace_sources(instruction: Instruction, replacement: dict[Reg, Operand], near: Callable[[Reg], bool]) -> bool:
    """A constant is made where it is used rather than kept in a register, unless the use is in a deeper loop."""
    changed = False
    for place, src in enumerate(instruction.srcs):
        if isinstance(src, Reg):
            new = replacement.get(src)
            if new is None:
                continue
            fits = isinstance(new, Reg) or accepts_constant(instruction, place, new)
            if not fits and not (near(src) and becomes_legal(instruction)):
                continue
        elif isinstance(src, Address) and isinstance(src.base, Reg):
            base = replacement.get(src.base)
            moved = None if base is None else _address(base, src.offset)
            if moved is None:
                continue
            new = moved
        else:
            continue
        instruction.srcs = (*instruction.srcs[:place], new, *instruction.srcs[place + 1 :])
        changed = True
    return changed


def _address(base: Operand, offset: int) -> Address | None:
    if isinstance(base, Imm):
        bits = base.bits & 0xFFFFFFFFFFFFFFFF
        return Address(None, (bits + offset) & 0xFFFFFFFF)
    if isinstance(base, Symbol):
        return Address(Symbol(base.name), base.offset + offset)
    return Address(base, offset) if isinstance(base, Reg | Param) else None


def _replace_guard(instruction: Instruction, replacement: dict[Reg, Operand], negation: dict[Reg, Operand]) -> bool:
    guard = instruction.guard
    if guard is None:
        return False
    new = replacement.get(guard.predicate)
    if isinstance(new, Reg):
        instruction.guard = Guard(new, guard.negated)
        return True
    positive = negation.get(guard.predicate)
    if isinstance(positive, Reg):
        instruction.guard = Guard(positive, not guard.negated)
        return True
    return False
