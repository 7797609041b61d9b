"""The vocabulary of machine code: operations, operands, instructions, blocks, and the code of one kernel.

The same classes hold code before and after register allocation. Before it, a register's number is a virtual name of its own bank;
after it (``Code.allocated``), ``R`` numbers are 32-bit registers of the thread, a ``D`` is the aligned pair (n, n + 1), and ``P``
numbers are predicates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple


class Bank(Enum):
    """What a register can hold."""

    R = "R"  # 32 bits (also every narrower integer)
    D = "D"  # 64 bits: an aligned pair of 32-bit registers
    P = "P"  # one bit

    __hash__ = object.__hash__  # Enum's own is Python code, and compiling hashes registers all the time


class Reg(NamedTuple):
    """A register operand, virtual or allocated."""

    number: int
    bank: Bank = Bank.R

    def __str__(self) -> str:
        return f"{self.bank.value}{self.number}"

    @property
    def words(self) -> tuple[int, ...]:
        """The 32-bit registers that an allocated register occupies; a predicate occupies none."""
        if self.bank is Bank.R:
            return (self.number,)
        return (self.number, self.number + 1) if self.bank is Bank.D else ()


class Imm(NamedTuple):
    """A constant in the instruction, as raw bits (two's complement, or the IEEE 754 pattern)."""

    bits: int

    def __str__(self) -> str:
        return f"0x{self.bits:x}" if self.bits > 9 else str(self.bits)


class Special(NamedTuple):
    """A special register such as ``tid.x`` or ``laneid``."""

    name: str

    def __str__(self) -> str:
        return f"%{self.name}"


class Param(NamedTuple):
    """A kernel parameter read in place, as hardware reads its constant bank: ``size`` bytes at ``offset``."""

    offset: int
    size: int

    def __str__(self) -> str:
        return f"c[{self.offset:#x}]"


class Symbol(NamedTuple):
    """The address of a module-level variable plus a constant; known when the module is loaded."""

    name: str
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.name}+{self.offset}" if self.offset else self.name


class Address(NamedTuple):
    """A memory operand: base + offset. Without a base the offset is absolute in its space."""

    base: Reg | Symbol | Param | None
    offset: int = 0

    def __str__(self) -> str:
        parts = [str(self.base)] if self.base is not None else []
        if self.offset or not parts:
            parts.append(hex(self.offset))
        return f"[{'+'.join(parts)}]"


Operand = Reg | Imm | Special | Param | Symbol | Address


class Guard(NamedTuple):
    """The predicate under which an instruction executes."""

    predicate: Reg
    negated: bool = False

    def __str__(self) -> str:
        return f"@{'!' if self.negated else ''}{self.predicate}"


class Operation(NamedTuple):
    """What an instruction does, spelt as PTX spells it once types are made explicit.

    ``name`` is PTX's opcode without suffixes (``add``, ``mad``, ``setp``, ``cvt``, ``ld``, ``atom``, ``bra``, ``bar``),
    or one of ours: ``exit``, and what compile-time passes of designs insert (``pir``, ``pbr``, ``acquire``, ``release``).
    """

    name: str
    type: str = ""  # the type operated on or written: "s32", "f64", "b32", "pred"
    source_type: str = ""  # where it differs: the source of cvt and set, the coordinates of tex
    space: str = ""  # of ld, st, atom, red: global, shared, local, const, param, generic; of tex: 1d, 2d, 3d, a1d, a2d
    modifiers: tuple[str, ...] = ()  # in PTX's order: ("rn", "ftz"), ("hi",), ("lt", "and"), ("volatile",), ("sync", "down")
    vector: int = 1  # elements moved by one ld, st or tex

    def __str__(self) -> str:
        vector = f"v{self.vector}" if self.vector > 1 else ""
        parts = (self.name, self.space, *self.modifiers, vector, self.type, self.source_type)
        return ".".join(part for part in parts if part)


@dataclass(slots=True)
class Instruction:
    """One machine instruction.

    ``dsts`` are registers written; ``srcs`` operands in PTX's order (the memory operand of ld, st, atom is an `Address`).
    Conventions that PTX's text leaves implicit:

    * carry: ``add.cc`` has a predicate as its second destination, ``addc`` one as its last source (and both for ``addc.cc``);
    * ``setp`` may have two destinations (the result and its complement) and, with a combiner, a predicate as third source;
    * ``bra`` has its target block in ``target``; it is conditional exactly if it has a guard;
    * ``shfl`` may have a predicate as second destination; ``vote`` and ``setp`` write predicates, ``vote.ballot`` a register;
    * a predicate source that is negated in PTX is made positive by the lowering (an extra ``not``, folded where possible).
    """

    op: Operation
    dsts: tuple[Reg, ...] = ()
    srcs: tuple[Operand, ...] = ()
    guard: Guard | None = None
    target: int | None = None  # the block that a branch goes to: its index in Code.blocks
    line: int = 0  # the line of the source text, 0 when made by a pass

    def __str__(self) -> str:
        operands = [str(dst) for dst in self.dsts] + [str(src) for src in self.srcs]
        if self.target is not None:
            operands.append(f"B{self.target}")
        text = f"{self.op} {', '.join(operands)}".rstrip()
        return f"{self.guard} {text}" if self.guard else text

    @property
    def reads(self) -> Iterator[Reg]:
        """Every register read, guard first, bases of addresses included, repeated where read twice."""
        if self.guard is not None:
            yield self.guard.predicate
        for src in self.srcs:
            if isinstance(src, Reg):
                yield src
            elif isinstance(src, Address) and isinstance(src.base, Reg):
                yield src.base

    def with_registers(self, rename: dict[Reg, Reg]) -> Instruction:
        """A copy whose registers are renamed; those not in the mapping stay."""

        def renamed(operand: Operand) -> Operand:
            if isinstance(operand, Reg):
                return rename.get(operand, operand)
            if isinstance(operand, Address) and isinstance(operand.base, Reg):
                return Address(rename.get(operand.base, operand.base), operand.offset)
            return operand

        guard = self.guard
        if guard is not None:
            guard = Guard(rename.get(guard.predicate, guard.predicate), guard.negated)
        dsts = tuple(rename.get(dst, dst) for dst in self.dsts)
        return replace(self, dsts=dsts, srcs=tuple(map(renamed, self.srcs)), guard=guard)

    @property
    def ends_block(self) -> bool:
        """Whether control may leave the block here."""
        return self.op.name in ("bra", "exit", "trap")

    @property
    def falls_through(self) -> bool:
        """Whether control may reach the next instruction."""
        return self.guard is not None or self.op.name not in ("bra", "exit", "trap")


@dataclass(slots=True)
class Block:
    """A basic block: entered at its first instruction, left after its last. Falls through to the next block of the list."""

    instructions: list[Instruction] = field(default_factory=list)
    label: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A kernel parameter as the launch must supply it."""

    name: str
    type: str  # PTX type of a scalar ("u64", "f32"); "b8" for a struct of `size` bytes
    offset: int
    size: int
    pointer: bool = False  # known to be a device address (a .ptr attribute, or every use is as an address)


@dataclass(frozen=True, slots=True)
class Variable:
    """A module-level variable."""

    name: str
    space: str  # "global", "const", "shared", "local" or "texref"
    size: int
    alignment: int = 4
    data: bytes = b""  # initial contents; shorter than size means zeros after it
    pointers: tuple[tuple[int, Symbol, int], ...] = ()  # (offset, symbol, bytes): addresses to fill in at load


@dataclass(slots=True)
class Code:
    """The machine code of one kernel and all that is needed to launch it."""

    name: str
    blocks: list[Block]
    parameters: tuple[Parameter, ...] = ()
    variables: tuple[Variable, ...] = ()  # those of const and global space that the kernel refers to, and texture references
    shared_bytes: int = 0  # static shared memory; its variables' addresses are already absolute in the code
    local_bytes: int = 0  # per thread, spills included
    registers: int = 0  # 32-bit registers per thread, once allocated (in literal mode: as the launch description says)
    base_registers: int = 0  # of these, the lowest that a warp owns all its life where code acquires the others; 0: all
    exempt_registers: int = 0  # of these, the lowest, which are not renamed where registers are
    predicates: int = 0
    allocated: bool = False
    narrow: bool = False  # addresses are 32 bits wide
    literal: bool = False  # one machine instruction for each of PTX; a 64-bit register counts as one access
    spill_loads: int = 0
    spill_stores: int = 0
    required_block: tuple[int, int, int] | None = None  # .reqntid
    threads: int = 0  # of a CTA, in the launches that it was compiled for; 0 where that is not known
    source: str = ""  # the file it came from, for messages

    def instructions(self) -> Iterator[Instruction]:
        """All instructions in layout order; the position in this order is the instruction's address (pc)."""
        for block in self.blocks:
            yield from block.instructions

    def __len__(self) -> int:
        return sum(len(block.instructions) for block in self.blocks)

    def block_starts(self) -> list[int]:
        """The pc of each block's first instruction, and the total at the end."""
        starts = [0]
        for block in self.blocks:
            starts.append(starts[-1] + len(block.instructions))
        return starts
