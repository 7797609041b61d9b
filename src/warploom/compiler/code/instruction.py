"""The vocabulary of machine code: operations, operands, instructions, blocks, and the code of one kernel.

The same classes hold code before and after register allocation. Before it, a register's number is a virtual name of its own bank;
after it (``Code.allocated``), ``R`` numbers are 32-bit registers of the thread, a ``D`` is the aligned pair (n, n + 1), and ``P``
numbers are predicates. Machine code of a real GPU (SASS) has more banks, operands with modifiers, and control bits: its
instructions are those with a `Control`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, NamedTuple


class Bank(Enum):
    """What a register can hold."""

    R = "R"  # 32 bits (also every narrower integer)
    D = "D"  # 64 bits: an aligned pair of 32-bit registers
    P = "P"  # one bit
    Q = "Q"  # 128 bits: four consecutive 32-bit registers
    U = "U"  # the uniform register file of SASS: one value for the whole warp
    UD = "UD"
    UQ = "UQ"
    UP = "UP"  # a uniform predicate
    B = "B"  # a convergence barrier: a mask of lanes
    RZ = "RZ"  # registers that SASS names but that hold nothing: zero, or true; what is written to them is lost
    URZ = "URZ"
    PT = "PT"
    UPT = "UPT"

    __hash__ = object.__hash__  # Enum's own is Python code, and compiling hashes registers all the time


_WORDS = {Bank.R: 1, Bank.D: 2, Bank.Q: 4}  # of a thread's own registers
_LONG_RUN = 8  # registers
_SASS_NAMES = {Bank.D: "R", Bank.Q: "R", Bank.U: "UR", Bank.UD: "UR", Bank.UQ: "UR"}
FIXED_BANKS = frozenset((Bank.RZ, Bank.URZ, Bank.PT, Bank.UPT))


class Reg(NamedTuple):
    """A register operand, virtual or allocated."""

    number: int
    bank: Bank = Bank.R

    def __str__(self) -> str:
        return self.bank.value if self.bank in FIXED_BANKS else f"{self.bank.value}{self.number}"

    @property
    def sass(self) -> str:
        """The register as SASS spells it: a vector by its first register."""
        return str(self) if self.bank in FIXED_BANKS else f"{_SASS_NAMES.get(self.bank, self.bank.value)}{self.number}"

    @property
    def words(self) -> tuple[int, ...]:
        """The 32-bit registers of a thread that an allocated register occupies: none for a predicate or a uniform register."""
        if self.bank is Bank.R:
            return (self.number,)
        return tuple(range(self.number, self.number + _WORDS.get(self.bank, 0)))


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
    """A memory operand: base + offset. Without a base the offset is absolute in its space.

    In SASS a uniform register may be added, and ``scale`` tells how the base is taken: "64" for a pair, "U32" and "S32" for a
    word that is extended, "X4" and the like for one that is multiplied.
    """

    base: Reg | Symbol | Param | None
    offset: int = 0
    uniform: Reg | None = None
    scale: str = ""

    def __str__(self) -> str:
        parts = [str(self.base)] if self.base is not None else []
        if self.offset or not parts:
            parts.append(hex(self.offset))
        return f"[{'+'.join(parts)}]"

    @property
    def sass(self) -> str:
        """The address as SASS spells it, without the descriptor that later architectures write before it."""
        parts = [f"{self.base.sass}{'.' if self.scale else ''}{self.scale}"] if isinstance(self.base, Reg) else []
        if self.uniform is not None:
            parts.append(self.uniform.sass)
        if self.offset or not parts:
            parts.append(hex(self.offset))
        return f"[{'+'.join(parts)}]"


class Constant(NamedTuple):
    """A value in a constant bank of SASS, ``c[bank][register + offset]``."""

    bank: int
    offset: int
    register: Reg | None = None

    def __str__(self) -> str:
        if self.register is None:
            return f"c[{self.bank:#x}][{self.offset:#x}]"
        return f"c[{self.bank:#x}][{self.register.sass}{f'+{self.offset:#x}' if self.offset else ''}]"


class Modified(NamedTuple):
    """An operand of SASS that is changed on its way in: |a|, -a, ~a, !p, or a part of it (``H0_H0``, ``B1``)."""

    operand: Reg | Imm | Constant
    negated: bool = False  # -a
    inverted: bool = False  # ~a, or !p
    absolute: bool = False
    part: str = ""

    def __str__(self) -> str:
        inner = self.operand.sass if isinstance(self.operand, Reg) else str(self.operand)
        inner = f"|{inner}|" if self.absolute else inner
        predicate = isinstance(self.operand, Reg) and self.operand.bank in (Bank.P, Bank.UP, Bank.PT, Bank.UPT)
        sign = "-" if self.negated else "" if not self.inverted else "!" if predicate else "~"
        return f"{sign}{inner}{'.' if self.part else ''}{self.part}"


Operand = Reg | Imm | Special | Param | Symbol | Address | Constant | Modified


def registers_in(operand: Operand) -> tuple[Reg, ...]:
    """The registers that an operand reads."""
    if isinstance(operand, Reg):
        return (operand,)
    if isinstance(operand, Address):
        return tuple(reg for reg in (operand.base, operand.uniform) if isinstance(reg, Reg))
    if isinstance(operand, Modified):
        return registers_in(operand.operand)
    return (operand.register,) if isinstance(operand, Constant) and operand.register is not None else ()


def _sass_text(operand: Operand) -> str:
    if isinstance(operand, Reg | Address):
        return operand.sass
    return hex(operand.bits) if isinstance(operand, Imm) else operand.name if isinstance(operand, Special) else str(operand)


def _sass_texts(operands: Sequence[Operand]) -> Iterator[str]:
    """The texts of operands; long runs of registers, such as accumulators, are drawn together."""
    at = 0
    while at < len(operands):
        first, end = operands[at], at + 1
        if isinstance(first, Reg) and first.bank is Bank.R:
            while end < len(operands) and operands[end] == Reg(first.number + end - at):
                end += 1
        if end - at > _LONG_RUN:
            yield f"{_sass_text(first)}..{_sass_text(operands[end - 1])}"
        else:
            yield from (_sass_text(operand) for operand in operands[at:end])
        at = end


def _renamed(operand: Operand, rename: dict[Reg, Reg]) -> Operand:
    """An operand with other registers; those not in the mapping stay."""
    if isinstance(operand, Reg):
        return rename.get(operand, operand)
    if isinstance(operand, Address):
        base = rename.get(operand.base, operand.base) if isinstance(operand.base, Reg) else operand.base
        uniform = operand.uniform if operand.uniform is None else rename.get(operand.uniform, operand.uniform)
        return operand._replace(base=base, uniform=uniform)
    if isinstance(operand, Modified):
        inner = _renamed(operand.operand, rename)
        assert isinstance(inner, Reg | Imm | Constant)
        return operand._replace(operand=inner)
    if isinstance(operand, Constant) and operand.register is not None:
        return operand._replace(register=rename.get(operand.register, operand.register))
    return operand


CONTROL_COUNTERS = 6  # of a warp, for results and operands of variable latency


class Control(NamedTuple):
    """What the compiler tells the hardware beside each instruction of SASS."""

    stall: int  # cycles before the next instruction of the warp may be issued
    yields: bool  # the scheduler may turn to another warp
    write_barrier: int | None  # the counter that is held until the results are written
    read_barrier: int | None  # the counter that is held until the operands are read
    wait: int  # a mask of the counters that must be free before
    reuse: tuple[bool, bool, bool]  # operands A, B, C are kept in the reuse cache

    def __str__(self) -> str:
        waits = "".join(str(n) if self.wait >> n & 1 else "-" for n in range(CONTROL_COUNTERS))
        read = "-" if self.read_barrier is None else str(self.read_barrier)
        write = "-" if self.write_barrier is None else str(self.write_barrier)
        return f"{waits}:R{read}:W{write}:{'Y' if self.yields else '-'}:S{self.stall:02}"


class Guard(NamedTuple):
    """The predicate under which an instruction executes."""

    predicate: Reg
    negated: bool = False

    def __str__(self) -> str:
        return f"@{'!' if self.negated else ''}{self.predicate}"


class Operation(NamedTuple):
    """What an instruction does, spelt as PTX spells it once types are made explicit.

    ``name`` is PTX's opcode without suffixes (``add``, ``mad``, ``setp``, ``cvt``, ``ld``, ``atom``, ``bra``, ``bar``),
    or one of ours: ``exit``, and what compile-time passes of policies insert (`warploom.compiler.code.classes.add_operation`).
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


EXITS = frozenset(("exit", "trap", "EXIT", "BPT", "KILL"))
"""Names of the operations that end a thread."""
BRANCHES = frozenset(("bra", "BRA", "BRX", "BRXU", "JMP", "JMX", "CALL", "RET"))
"""Names of the operations that go elsewhere, to ``target`` or to one of ``targets``."""
WAITS = frozenset(("BSYNC", "WARPSYNC", "YIELD", "NANOSLEEP", "ENDCOLLECTIVE", "BAR"))
"""Names of the operations of SASS at which some lanes of a warp may wait while others go on."""
INSERTED = -1
"""The address of an instruction of SASS that a pass put in: no jump of the compiler's means it."""
_LEAVING = EXITS | BRANCHES
_CONDITIONAL = frozenset(("BRA", "JMP", "EXIT"))  # what SASS may give a condition other than a guard
_ASKING_FOR_LANES = frozenset(("DIV", "CONV"))  # modifiers of a branch taken if lanes are elsewhere, or if none is


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
    targets: tuple[int, ...] = ()  # of an indirect branch, call or return: the blocks that it may go to
    control: Control | None = None  # of SASS alone
    address: int = 0  # of SASS: where the compiler put it, in bytes; code keeps such addresses in registers to come back to

    def __str__(self) -> str:
        if self.control is not None:
            return self._sass()
        operands = [str(dst) for dst in self.dsts] + [str(src) for src in self.srcs]
        if self.target is not None:
            operands.append(f"B{self.target}")
        text = f"{self.op} {', '.join(operands)}".rstrip()
        return f"{self.guard} {text}" if self.guard else text

    def _sass(self) -> str:
        """The text of a SASS instruction; a branch shows its block."""
        operands = [*_sass_texts(self.dsts), *_sass_texts(self.srcs)]
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
            else:
                yield from registers_in(src)

    def with_registers(self, rename: dict[Reg, Reg]) -> Instruction:
        """A copy whose registers are renamed; those not in the mapping stay."""

        guard = self.guard
        if guard is not None:
            guard = Guard(rename.get(guard.predicate, guard.predicate), guard.negated)
        dsts = tuple(rename.get(dst, dst) for dst in self.dsts)
        return replace(self, dsts=dsts, srcs=tuple(_renamed(src, rename) for src in self.srcs), guard=guard)

    @property
    def ends_block(self) -> bool:
        """Whether control may leave the block here."""
        return self.op.name in _LEAVING

    @property
    def falls_through(self) -> bool:
        """Whether control may reach the next instruction."""
        if self.guard is not None or self.op.name not in _LEAVING:
            return True
        if self.op.name == "CALL":
            return self.target is None and not self.targets  # a function that is not part of the code comes back
        # SASS may name a further condition as an operand, or ask without one whether lanes of the warp are elsewhere.
        return self.op.name in _CONDITIONAL and (bool(self.srcs) or not _ASKING_FOR_LANES.isdisjoint(self.op.modifiers))


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


class Binary(NamedTuple):
    """What a kernel in SASS needs of its launch beyond what all code needs."""

    architecture: int  # 90 for sm_90
    parameter_offset: int  # in constant bank 0
    banks: tuple[tuple[int, str], ...] = ()  # constant banks and the variables that hold them
    cluster: tuple[int, int, int] | None = None  # blocks that the kernel wants to be resident together


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
    predicates: int = 0
    allocated: bool = False
    narrow: bool = False  # addresses are 32 bits wide
    literal: bool = False  # one machine instruction for each of PTX; a 64-bit register counts as one access
    spill_loads: int = 0
    spill_stores: int = 0
    required_block: tuple[int, int, int] | None = None  # .reqntid
    threads: int = 0  # of a CTA, in the launches that it was compiled for; 0 where that is not known
    dynamic_shared_bytes: int = 0  # of shared memory that these launches ask for beyond `shared_bytes`
    source: str = ""  # the file it came from, for messages
    annotations: Mapping[str, Any] = field(default_factory=dict)  # what policies' passes note for their hardware; any names
    binary: Binary | None = None  # of SASS alone

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
