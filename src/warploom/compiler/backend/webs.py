"""Gives every value of virtual code a register of its own, so that unrelated uses of one name do not hold each other's place."""

from __future__ import annotations

from dataclasses import replace

from warploom.compiler.code.instruction import Address, Block, Code, Guard, Operand, Reg
from warploom.compiler.code.values import value_instances


def split_webs(code: Code) -> Code:
    """The code with one virtual register per value instance, numbered in order of definition."""
    values = value_instances(code)
    slot_of = {register: slot for slot, register in enumerate(values.slots.registers)}
    names = [Reg(value.number, values.slots.registers[value.slot].bank) for value in values]
    blocks = []
    pc = 0
    for block in code.blocks:
        instructions = []
        for instruction in block.instructions:

            def read(register: Reg, pc: int = pc) -> Reg:
                return names[values.used[pc, slot_of[register]].number]

            def operand(src: Operand) -> Operand:
                if isinstance(src, Reg):
                    return read(src)
                if isinstance(src, Address) and isinstance(src.base, Reg):
                    return Address(read(src.base), src.offset)
                return src

            guard = instruction.guard
            instructions.append(
                replace(
                    instruction,
                    dsts=tuple(names[values.defined[pc, slot_of[dst]].number] for dst in instruction.dsts),
                    srcs=tuple(operand(src) for src in instruction.srcs),
                    guard=Guard(read(guard.predicate), guard.negated) if guard else None,
                )
            )
            pc += 1
        blocks.append(Block(instructions, block.label))
    return replace(code, blocks=blocks)
