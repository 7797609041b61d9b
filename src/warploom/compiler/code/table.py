"""The static facts of each instruction as one NumPy record: what the timing core and trace analyses read instead of objects."""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import Annotated

import numpy as np

from warploom.base.records import Array, Record, dtype_of, i2, i4, u1, u2, u8
from warploom.compiler.code.classes import OpClass, op_class, unit
from warploom.compiler.code.instruction import Bank, Code, Constant, Imm, Instruction, Reg
from warploom.compiler.code.sass_classes import ATOMICS, BULK_COPIES, FENCES, LOADS, SASS_SPACES, STORES, WARPGROUP_PRODUCTS

MAX_READS = 10  # of a product of matrices with an addend of f32; fma.f64 reads six
MAX_WRITES = 8  # a load of four 64-bit elements


class Space(IntEnum):
    """The memory an access goes to."""

    NONE = 0
    GLOBAL = 1
    LOCAL = 2
    SHARED = 3
    CONST = 4
    PARAM = 5
    TEXTURE = 6
    GENERIC = 7  # resolved per access; the trace says which


class Flag(IntFlag):
    """What an instruction is, beyond its class."""

    LOAD = 1
    STORE = 2
    ATOMIC = 4  # atom and red
    BRANCH = 8
    CONDITIONAL = 16
    EXIT = 32
    BARRIER = 64
    FENCE = 128
    METADATA = 256
    BULK = 512  # a copy of many bytes between device memory and shared memory
    VOLATILE = 2048


class StaticFacts(Record):
    """What is known of one instruction before it is executed."""

    op_class: u1
    unit: u1
    space: u1
    n_reads: u1
    n_writes: u1
    flags: u2
    reads: Annotated[Array[i2], MAX_READS]  # 32-bit registers in operand order; each operand register once per read
    writes: Annotated[Array[i2], MAX_WRITES]
    predicates_read: u8  # bit masks; the guard included
    predicates_written: u8
    payload: u8  # the 64 bits of a metadata instruction
    block: i4


_UNIFORM_PREDICATES, _UNIFORM_BITS = 8, 16  # in the masks of SASS, whose threads have seven predicates
_UNIFORM_WORDS = {Bank.U: 1, Bank.UD: 2, Bank.UQ: 4}
_SPACES = {"generic": Space.GENERIC, "global": Space.GLOBAL, "local": Space.LOCAL, "shared": Space.SHARED}
_SPACES |= {"const": Space.CONST, "param": Space.PARAM}
_FLAGS = {
    "ld": Flag.LOAD,
    "ldu": Flag.LOAD,
    "tex": Flag.LOAD,
    "st": Flag.STORE,
    "atom": Flag.ATOMIC,
    "red": Flag.ATOMIC,
    "bra": Flag.BRANCH,
    "exit": Flag.EXIT,
    "bar": Flag.BARRIER,
    "membar": Flag.FENCE,
    "fence": Flag.FENCE,
    **dict.fromkeys(LOADS, Flag.LOAD),
    **dict.fromkeys(STORES, Flag.STORE),
    **dict.fromkeys(ATOMICS, Flag.ATOMIC),
    **dict.fromkeys(FENCES, Flag.FENCE),
    **dict.fromkeys(BULK_COPIES, Flag.BULK),
    **dict.fromkeys(("BRA", "BRX", "CALL", "RET"), Flag.BRANCH),
    "EXIT": Flag.EXIT,
    "BAR": Flag.BARRIER,
}


def _words(registers: list[Reg], literal: bool) -> list[int]:
    """The 32-bit registers accessed. Literal code counts a 64-bit register as one access, as its model does."""
    values = [register for register in registers if register.bank is not Bank.P]
    if literal:
        return [register.number for register in values]
    return [word for register in values for word in register.words]


def _mask(registers: list[Reg]) -> int:
    """Predicates as bits; after them uniform predicates, and uniform registers, several of which share a bit."""
    mask = 0
    for register in registers:
        if register.bank is Bank.P:
            mask |= 1 << register.number
        elif register.bank is Bank.UP:
            mask |= 1 << (_UNIFORM_PREDICATES + register.number)
        elif register.bank in _UNIFORM_WORDS:
            for word in range(register.number, register.number + _UNIFORM_WORDS[register.bank]):
                mask |= 1 << (_UNIFORM_BITS + word % (64 - _UNIFORM_BITS))
    return mask


def _flags(instruction: Instruction, kind: OpClass) -> int:
    flags = Flag.METADATA if kind is OpClass.METADATA else _FLAGS.get(instruction.op.name, Flag(0))
    if flags is Flag.BRANCH and (instruction.guard is not None or (instruction.op.name == "BRA" and instruction.srcs)):
        flags |= Flag.CONDITIONAL
    if _indexed(instruction):
        flags |= Flag.LOAD
    if instruction.op.name == "bar" and "warp" in instruction.op.modifiers:
        flags &= ~Flag.BARRIER  # bar.warp.sync is within the warp
    if any(word in instruction.op.modifiers for word in ("volatile", "STRONG", "MMIO")):
        flags |= Flag.VOLATILE
    return int(flags)


def _indexed(instruction: Instruction) -> bool:
    """Whether a constant of SASS is looked up by a register; one at a fixed place is read like an operand."""
    return instruction.op.name in ("LDC", "ULDC") and any(
        isinstance(src, Constant) and src.register is not None for src in instruction.srcs
    )


def _fits(reads: list[int], writes: list[int]) -> bool:
    return len(reads) <= MAX_READS and len(writes) <= MAX_WRITES


def is_wide(instruction: Instruction, literal: bool) -> bool:
    """Whether an instruction has more registers than a record has room for, or makes its product while its warp goes on."""
    if instruction.op.name in WARPGROUP_PRODUCTS:
        return True
    reads, writes = (_words(list(found), literal) for found in (instruction.reads, instruction.dsts))
    return not _fits(reads, writes)


def static_table(code: Code) -> np.ndarray:
    """One record per instruction, in address order. One with too many registers shows none of them (`compiler/code/wide.py`)."""
    table = np.zeros(len(code), dtype_of(StaticFacts))
    pc = 0
    for number, block in enumerate(code.blocks):
        for instruction in block.instructions:
            row = table[pc]
            kind = op_class(instruction.op)
            if _indexed(instruction):
                kind = OpClass.MEMORY
            elif instruction.op.name in ("CALL", "call") and instruction.dsts:
                kind = OpClass.MOVE  # a function that CUDA supplies: what it returns is written like any other result
            reads, writes = list(instruction.reads), list(instruction.dsts)
            read_words, write_words = _words(reads, code.literal), _words(writes, code.literal)
            if instruction.op.name in WARPGROUP_PRODUCTS or not _fits(read_words, write_words):
                read_words, write_words = [], []
            row["op_class"], row["unit"], row["block"] = kind, unit(kind), number
            row["n_reads"], row["n_writes"] = len(read_words), len(write_words)
            row["reads"][: len(read_words)] = read_words
            row["writes"][: len(write_words)] = write_words
            row["predicates_read"], row["predicates_written"] = _mask(reads), _mask(writes)
            row["flags"] = _flags(instruction, kind)
            if instruction.op.name in ("tex", "tld4", "TEX", "TLD", "TLD4", "TXD"):
                row["space"] = Space.TEXTURE
            elif _indexed(instruction):
                row["space"] = Space.CONST
            elif kind is OpClass.MEMORY:
                row["space"] = _SPACES.get(SASS_SPACES.get(instruction.op.name, instruction.op.space), Space.NONE)
            if kind is OpClass.METADATA:
                row["payload"] = next((source.bits for source in instruction.srcs[:1] if isinstance(source, Imm)), 0)
            pc += 1
    return table
