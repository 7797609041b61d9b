"""What counts as a copy: instructions that the allocator can make disappear by a good choice of registers."""

from __future__ import annotations

from warploom.compiler.code.instruction import Bank, Instruction, Reg

Part = tuple[Reg, int]  # a register and which of its 32-bit words; predicates have word 0


def parts(register: Reg) -> list[Part]:
    """The words of a register, virtual or allocated."""
    return [(register, 0), (register, 1)] if register.bank is Bank.D else [(register, 0)]


def is_copy(instruction: Instruction) -> bool:
    """Whether the instruction moves registers unchanged: a move, or packing and unpacking of a 64-bit value."""
    if instruction.op.name != "mov" or not instruction.dsts:
        return False
    if not all(isinstance(src, Reg) for src in instruction.srcs):
        return False
    banks = [dst.bank for dst in instruction.dsts]
    sources = [src.bank for src in instruction.srcs if isinstance(src, Reg)]
    if len(banks) == len(sources) == 1:
        return banks == sources
    return {tuple(banks), tuple(sources)} == {(Bank.D,), (Bank.R, Bank.R)} and instruction.op.type.endswith("64")


def copied_parts(instruction: Instruction) -> list[tuple[Part, Part]]:
    """The words that a copy moves, as (destination, source)."""
    written = [part for dst in instruction.dsts for part in parts(dst)]
    read = [part for src in instruction.srcs if isinstance(src, Reg) for part in parts(src)]
    return list(zip(written, read, strict=True))
