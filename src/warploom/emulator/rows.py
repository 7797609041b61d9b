"""The rows of a warp: where operands lie, and the micro-operations that work on them."""

from __future__ import annotations

from dataclasses import dataclass, field

from warploom.base.errors import WarploomError
from warploom.compiler.code.instruction import (
    Bank,
    Code,
    Constant,
    Imm,
    Instruction,
    Operand,
    Operation,
    Param,
    Reg,
    Special,
    Symbol,
)
from warploom.emulator.directed_rounding import DIRECTED
from warploom.emulator.float_operations import CONVERSIONS, FLOAT32, FLOAT64
from warploom.emulator.half_operations import HALVES
from warploom.emulator.integer_operations import INTEGER32, INTEGER64
from warploom.emulator.lanes import ROW_BYTES
from warploom.emulator.records import Family, PredicateOperation
from warploom.emulator.special_functions import SPECIAL

_WIDE_SPECIALS = ("clock64", "globaltimer", "gridid")
_TABLES = {
    Family.INTEGER32: INTEGER32,
    Family.INTEGER64: INTEGER64,
    Family.FLOAT32: FLOAT32,
    Family.FLOAT64: FLOAT64,
    Family.CONVERT: CONVERSIONS,
    Family.DIRECTED: DIRECTED,
    Family.HALVES: HALVES,
}
OPERATIONS: dict[str, tuple[Family, int]] = {
    operation.name: (family, number) for family, table in _TABLES.items() for number, operation in enumerate(table)
} | {name: (Family.SPECIAL, number) for number, name in enumerate(SPECIAL)}


@dataclass
class Rows:
    """Hands out rows and collects micro-operations while one kernel is encoded."""

    code: Code
    count: int = 0
    registers: int = 0
    specials: dict[str, int] = field(default_factory=dict)
    constants: list[tuple[int, Imm | Param | Symbol | Constant, int]] = field(default_factory=list)
    micro: list[tuple] = field(default_factory=list)
    _known: dict[tuple[Operand, int], int] = field(default_factory=dict)
    _temporaries: list[int] = field(default_factory=list)
    _taken: int = 0
    _first_predicate: int = 0
    current: Instruction = field(default_factory=lambda: Instruction(Operation("nop")))  # what is being encoded

    def __post_init__(self) -> None:
        words = [word for i in self.code.instructions() for reg in (*i.dsts, *i.reads) for word in reg.words]
        named = [reg.number for i in self.code.instructions() for reg in (*i.dsts, *i.reads) if reg.bank is Bank.P]
        self.registers = self.count = max(words, default=-1) + 1
        self._first_predicate = max(named, default=-1) + 1

    # Predicates after those of the program: always false, always true, two temporaries.
    @property
    def never(self) -> int:
        return self._first_predicate

    @property
    def always(self) -> int:
        return self._first_predicate + 1

    def temporary_predicate(self, number: int) -> int:
        return self._first_predicate + 2 + number

    def _new(self, words: int) -> int:
        self.count += words
        return (self.count - words) * ROW_BYTES

    def begin(self, instruction: Instruction) -> None:
        """A new instruction: its temporaries may be those of the one before."""
        self.current = instruction
        self._taken = 0

    def temporary(self) -> int:
        """A pair of rows for use within one instruction."""
        if self._taken == len(self._temporaries):
            self._temporaries.append(self._new(2))
        self._taken += 1
        return self._temporaries[self._taken - 1]

    def constant(self, bits: int, words: int = 1) -> int:
        """The row of a number."""
        return self.row(Imm(bits & ((1 << 32 * words) - 1)), words)

    def row(self, operand: Operand, words: int = 1) -> int:
        """Where an operand lies, as a byte offset into the warp's rows."""
        if isinstance(operand, Reg):
            if operand.bank is Bank.P:
                raise self.trouble("a predicate stands where a register is needed")
            return operand.number * ROW_BYTES
        if isinstance(operand, Special):
            if operand.name not in self.specials:
                self.specials[operand.name] = self._new(2 if operand.name in _WIDE_SPECIALS else 1)
            if words == 2 and operand.name not in _WIDE_SPECIALS:
                raise self.trouble(f"%{operand.name} has 32 bits")
            return self.specials[operand.name]
        if isinstance(operand, Imm | Param | Symbol):
            words = 2 if isinstance(operand, Param) and operand.size == 8 else words
            if (operand, words) not in self._known:
                first = self._known[operand, words] = self._new(words)
                self.constants += [(first + word * ROW_BYTES, operand, word) for word in range(words)]
            return self._known[operand, words]
        raise self.trouble(f"operand {operand} cannot be read as a value")

    def predicate(self, operand: Operand) -> int:
        """The number of a predicate operand."""
        if isinstance(operand, Reg) and operand.bank is Bank.P:
            return operand.number
        if isinstance(operand, Imm):
            return self.always if operand.bits & 1 else self.never
        raise self.trouble(f"operand {operand} stands where a predicate is needed")

    def trouble(self, what: str) -> WarploomError:
        """An instruction that cannot be executed."""
        place = f"{self.code.source}:{self.current.line}: " if self.code.source and self.current.line else f"{self.code.name}: "
        return WarploomError(f"{place}'{self.current}' cannot be executed: {what}.")

    def require(self, known: bool, lacking: str = "the emulator does not know this form of it") -> None:
        """Refuse the instruction unless something holds."""
        if not known:
            raise self.trouble(lacking)

    def emit(
        self,
        name: str,
        sources: list[int],
        out: int = 0,
        *,
        predicate: int = 0,
        predicate_out: int = -1,
    ) -> int:
        """Append a micro-operation by name; returns the row that it writes."""
        family, number = OPERATIONS[name]
        a, b, c, d = [*sources, 0, 0, 0, 0][:4]
        self.micro.append((family, number, a, b, c, d, out, predicate, predicate_out))
        return out

    def emit_predicate(self, operation: PredicateOperation, sources: list[int], out: int) -> int:
        """Append a micro-operation on predicates; returns the predicate that it writes."""
        a, b = [*sources, 0][:2]
        self.micro.append((Family.PREDICATE, operation, a, b, 0, 0, 0, 0, out))
        return out
