"""What the parser makes of PTX text: typed, with every name resolved. Registers are still virtual, addresses symbolic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from warploom.compiler.ptx.opcodes import Opcode


class Register(NamedTuple):
    """A virtual register; ``number`` is its own within the function, whatever scope declared it."""

    number: int
    type: str
    name: str


class PtxConstant(NamedTuple):
    """A constant as raw bits of its operand's width."""

    bits: int


class SpecialRegister(NamedTuple):
    """A read-only register such as ``tid.x``."""

    name: str


class FunctionName(NamedTuple):
    """A function where a value should stand."""

    name: str
    kernel: bool = False


class Negated(NamedTuple):
    """A predicate operand spelt ``!p``."""

    predicate: Register


class Sink(NamedTuple):
    """The destination ``_``: the value is not wanted."""


@dataclass(eq=False, slots=True)
class PtxParameter:
    """A parameter of a kernel or function, or the ``.param`` variable that a caller stages it in. Compared by identity."""

    name: str
    type: str  # "b8" for an array of bytes
    size: int
    alignment: int
    offset: int = 0
    pointer: bool = False  # has a .ptr attribute
    register: Register | None = None  # parameters in the register space


@dataclass(eq=False, slots=True)
class PtxVariable:
    """A variable in memory. Compared by identity: scopes may repeat names."""

    name: str
    space: str  # "global", "const", "shared", "local" or "texref"
    size: int  # 0 for an array whose size the launch gives
    alignment: int
    extern: bool = False
    data: bytes = b""
    pointers: tuple[tuple[int, PtxVariable, int, int], ...] = ()  # (offset, variable, addend, bytes)
    problem: str = ""  # why it cannot be used, if something in it is not supported


class SymbolAddress(NamedTuple):
    """The address of a variable plus a constant."""

    variable: PtxVariable
    offset: int = 0


class ParameterAddress(NamedTuple):
    """The address of a parameter, which some functions take to index into a struct."""

    parameter: PtxParameter
    offset: int = 0


class MemoryOperand(NamedTuple):
    """A memory operand. Without a base the offset is absolute."""

    base: Register | PtxVariable | PtxParameter | None
    offset: int = 0


class Label(NamedTuple):
    """A branch target: the position in `Function.body` of the instruction that it precedes."""

    name: str
    position: int


class Vector(NamedTuple):
    """Several operands in braces."""

    elements: tuple[Register | PtxConstant | Sink, ...]


class Texel(NamedTuple):
    """The bracketed operand of a texture instruction."""

    texture: Register | PtxVariable
    coordinates: tuple[Register | PtxConstant, ...]


Value = Register | PtxConstant | SpecialRegister | SymbolAddress | ParameterAddress
Operand = Value | MemoryOperand | Label | Vector | Negated | Sink | Texel


@dataclass(slots=True)
class Call:
    """What a ``call`` names."""

    function: str
    returns: tuple[PtxParameter | Register, ...]
    arguments: tuple[PtxParameter | Register | PtxConstant, ...]


@dataclass(slots=True)
class PtxInstruction:
    """One PTX instruction. Destinations come first among the operands, as in the text."""

    opcode: Opcode
    operands: tuple[Operand, ...]
    line: int  # of the module's file; 0 where it is not known
    guard: tuple[Register, bool] | None = None  # and whether it is negated
    call: Call | None = None
    targets: tuple[Label, ...] = ()  # of brx.idx


@dataclass(slots=True)
class Body:
    """What stands between the braces of a function."""

    instructions: list[PtxInstruction] = field(default_factory=list)
    variables: list[PtxVariable] = field(default_factory=list)  # declared inside
    labels: set[int] = field(default_factory=set)  # positions among the instructions that a label names
    register_count: int = 0
    problem: str = ""  # why it cannot be compiled, if something in it is wrong or not supported


@dataclass(slots=True)
class Function:
    """A kernel (``entry``) or a device function. Its body is read when it is first asked for."""

    name: str
    entry: bool
    line: int
    parameters: list[PtxParameter] = field(default_factory=list)
    returns: list[PtxParameter] = field(default_factory=list)
    required_block: tuple[int, int, int] | None = None
    read_body: Callable[[], Body] | None = None  # None where the function is only declared
    _content: Body | None = None

    @property
    def defined(self) -> bool:
        """Whether it has a body."""
        return self.read_body is not None

    @property
    def was_read(self) -> bool:
        """Whether anybody has needed the body so far."""
        return self._content is not None

    @property
    def content(self) -> Body:
        """The body; an empty one where the function is only declared."""
        if self._content is None:
            self._content = self.read_body() if self.read_body is not None else Body()
        return self._content

    @property
    def body(self) -> list[PtxInstruction]:
        """The instructions of the body."""
        return self.content.instructions

    @property
    def problem(self) -> str:
        """Why the function cannot be compiled; empty if it can."""
        return self.content.problem


@dataclass(slots=True)
class Module:
    """A parsed PTX file."""

    file: str
    version: tuple[int, int]
    target: str
    address_size: int = 64
    variables: dict[str, PtxVariable] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)  # those that kernels may call
    kernels: dict[str, Function] = field(default_factory=dict)
    ptx: str = ""  # the text
    mapped: bool = False  # the file is not the text but the source that it was compiled from, and lines are the source's

    def place(self, line: int) -> str:
        """``file:line`` as messages begin."""
        return f"{self.file}:{line}" if line else self.file

    def statement(self, instruction: PtxInstruction) -> str:
        """An instruction as messages show it: its line of the text without the comment, or its opcode alone."""
        if self.mapped or not instruction.line:
            return instruction.opcode.text
        return self.ptx.split("\n", instruction.line)[instruction.line - 1].split("//")[0].strip()
