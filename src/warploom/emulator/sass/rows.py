"""The rows of a warp that runs SASS: registers of its threads, then uniform registers, each with one value in all lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from warploom.compiler.code.instruction import Bank, Constant, Imm, Instruction, Modified, Operand, Reg
from warploom.emulator.lanes import ROW_BYTES
from warploom.emulator.records import PredicateOperation
from warploom.emulator.rows import OPERATIONS, Rows
from warploom.emulator.sass.floats_lanes import FLOATS
from warploom.emulator.sass.functions import FUNCTIONS
from warploom.emulator.sass.records import SassFamily
from warploom.emulator.sass.words_lanes import WORDS

_PREDICATES = 8  # of a thread; those of the warp follow
_UNIFORM_WORDS = {Bank.U: 1, Bank.UD: 2, Bank.UQ: 4}
_TEMPORARY_PREDICATES = 6
SASS_OPERATIONS: dict[str, tuple[int, int]] = {
    **{name: (int(family), number) for name, (family, number) in OPERATIONS.items()},
    **{operation.name: (int(SassFamily.WORDS), number) for number, operation in enumerate(WORDS)},
    **{operation.name: (int(SassFamily.FLOATS), number) for number, operation in enumerate(FLOATS)},
    **{name: (int(SassFamily.FUNCTIONS), number) for number, name in enumerate(FUNCTIONS)},
}


@dataclass
class SassRows(Rows):
    """`Rows` that knows the operands of SASS."""

    first_uniform: int = 0
    _taken_predicates: int = 0
    constant_words: dict[tuple[Constant, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        registers = [reg for i in self.code.instructions() for reg in (*i.dsts, *i.reads)]
        self.first_uniform = max((word for reg in registers for word in reg.words), default=-1) + 1
        uniform = [reg.number + _UNIFORM_WORDS[reg.bank] for reg in registers if reg.bank in _UNIFORM_WORDS]
        self.registers = self.count = self.first_uniform + max(uniform, default=0)
        self._first_predicate = 2 * _PREDICATES

    @property
    def predicates(self) -> int:
        """How many predicates a warp has, with temporaries."""
        return self.temporary_predicate(_TEMPORARY_PREDICATES) + 1

    @property
    def reduced_predicate(self) -> int:
        """The answer of a reducing barrier, until it is fetched."""
        return self.temporary_predicate(_TEMPORARY_PREDICATES)

    @cached_property
    def reduced_row(self) -> int:
        """The count of a reducing barrier, until it is fetched."""
        return self._new(1)

    def begin(self, instruction: Instruction) -> None:
        super().begin(instruction)
        self._taken_predicates = 0

    def vector(self, words: int) -> int:
        """Reserve `words` consecutive rows for use within one instruction."""
        return self._new(words)

    def spare_predicate(self) -> int:
        """A predicate for use within one instruction."""
        self._taken_predicates += 1
        if self._taken_predicates > _TEMPORARY_PREDICATES:
            raise self.trouble("it needs too many predicates at a time")
        return self.temporary_predicate(self._taken_predicates - 1)

    def row(self, operand: Operand, words: int = 1) -> int:
        if isinstance(operand, Reg):
            if operand.bank in _UNIFORM_WORDS:
                return (self.first_uniform + operand.number) * ROW_BYTES
            if operand.bank in (Bank.RZ, Bank.URZ):
                return self.constant(0, max(words, 2))
            if operand.bank in (Bank.UP, Bank.PT, Bank.UPT):
                raise self.trouble("a predicate stands where a register is needed")
        if isinstance(operand, Constant):
            return self._constant_row(operand, words)
        return super().row(operand, words)

    def _constant_row(self, operand: Constant, words: int) -> int:
        if operand.register is not None:
            raise self.trouble("a constant is looked up by a register")
        if (operand, words) not in self.constant_words:
            first = self.constant_words[operand, words] = self._new(words)
            self.constants += [(first + word * ROW_BYTES, operand, word) for word in range(words)]
        return self.constant_words[operand, words]

    def result(self, register: Reg) -> int:
        """Where a result goes; what is written to a register that holds nothing goes to a row that nobody reads."""
        return self.temporary() if register.bank in (Bank.RZ, Bank.URZ) else self.row(register)

    # Operands with their modifiers.

    def word(self, operand: Operand) -> int:
        """An integer of 32 bits."""
        if not isinstance(operand, Modified):
            return self.row(operand)
        if operand.absolute or operand.part:
            raise self.trouble(f"operand {operand} is no plain integer")
        row = self.row(operand.operand)
        if operand.negated or operand.inverted:
            row = self.emit("neg.32" if operand.negated else "not.32", [row], self.temporary())
        return row

    def single(self, operand: Operand, flush: bool = False) -> int:
        """A number of f32."""
        return self._float(operand, "f32", 1, flush)

    def double(self, operand: Operand) -> int:
        """A number of f64; a constant in the instruction is its upper word."""
        return self._float(operand, "f64", 2, False)

    def _float(self, operand: Operand, kind: str, words: int, flush: bool) -> int:
        inner = operand.operand if isinstance(operand, Modified) else operand
        if isinstance(inner, Imm) and words == 2:
            row = self.constant(inner.bits << 32, 2)
        else:
            row = self.row(inner, words)
        if isinstance(operand, Modified):
            if operand.part:
                raise self.trouble(f"operand {operand} is no plain number")
            if operand.absolute:
                row = self.emit(f"magnitude.{kind}", [row], self.temporary())
            if operand.negated:
                row = self.emit(f"flip.{kind}", [row], self.temporary())
        return self.emit(f"flush.{kind}", [row], self.temporary()) if flush else row

    def predicate(self, operand: Operand) -> int:
        inner, inverted = (operand.operand, operand.inverted) if isinstance(operand, Modified) else (operand, False)
        if isinstance(operand, Modified) and operand.part == "SIGN":  # the sign of a register
            sign = self.spare_predicate()
            self.emit("bit", [self.row(inner), self.constant(31)], predicate_out=sign)
            return self.emit_predicate(PredicateOperation.NOT, [sign], sign) if inverted else sign
        if not isinstance(inner, Reg):
            raise self.trouble(f"operand {operand} stands where a predicate is needed")
        if inner.bank in (Bank.PT, Bank.UPT):
            return self.never if inverted else self.always
        if inner.bank not in (Bank.P, Bank.UP):
            raise self.trouble(f"operand {operand} stands where a predicate is needed")
        number = predicate_number(inner)
        return self.emit_predicate(PredicateOperation.NOT, [number], self.spare_predicate()) if inverted else number

    def predicate_result(self, register: Reg) -> int:
        """The predicate that is written; -1 for one that holds nothing."""
        return predicate_number(register) if register.bank in (Bank.P, Bank.UP) else -1

    def answer(self, answers: Sequence[int], places: Sequence[int]) -> None:
        """Put temporary predicates where they belong; a place of -1 holds nothing."""
        for answer, place in zip(answers, places, strict=True):
            if place >= 0:
                self.emit_predicate(PredicateOperation.MOVE, [answer], place)

    def emit(
        self,
        name: str,
        sources: list[int],
        out: int = 0,
        *,
        predicate: int = 0,
        predicate_out: int = -1,
        rounding: int | None = None,  # a mode of `ROUNDINGS`; none: to nearest
    ) -> int:
        if rounding is not None:
            name, sources = f"directed.{name}", [*sources, self.constant(rounding)]
        family, number = SASS_OPERATIONS[name]
        a, b, c, d = [*sources, 0, 0, 0, 0][:4]
        self.micro.append((family, number, a, b, c, d, out, predicate, predicate_out))
        return out

    def emit_table(self, table: int, sources: list[int], out: int) -> int:
        """Append a function of three predicates, given by its table."""
        a, b, c = sources
        self.micro.append((SassFamily.TABLE, table, a, b, c, 0, 0, 0, out))
        return out


def predicate_number(register: Reg) -> int:
    """The number of a predicate among those of a warp."""
    return register.number + (_PREDICATES if register.bank is Bank.UP else 0)
