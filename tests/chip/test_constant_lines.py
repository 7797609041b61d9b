"""Which line of 64 bytes an operand in a constant bank lies in: what lies in one line is there together."""

from __future__ import annotations

import pytest

from warploom.chip.context import constant_line
from warploom.chip.memory.state import FIRST_CONSTANT_LINES, FIRST_INDEXED_LINE, INDEXED_LINES
from warploom.chip.sm.context import INDEXED_CONSTANT, NO_CONSTANT
from warploom.compiler.code.instruction import Constant, Instruction, Modified, Operation, Reg

LINE = 64


def line_of(*sources: Constant | Modified | Reg, name: str = "FADD") -> int:
    return constant_line(Instruction(Operation(name), (Reg(0),), sources))


@pytest.mark.parametrize("bank", [0, 2, 3, 4])
def test_a_line_has_64_bytes(bank: int) -> None:
    first = line_of(Constant(bank, 0))
    assert [line_of(Constant(bank, offset)) - first for offset in (4, LINE - 4, LINE, 2 * LINE - 4, 2 * LINE)] == [0, 0, 1, 1, 2]


def test_banks_have_lines_of_their_own() -> None:
    assert line_of(Constant(0, LINE)) == 1
    assert line_of(Constant(4, LINE)) == FIRST_CONSTANT_LINES + 1
    assert line_of(Constant(3, LINE)) == FIRST_INDEXED_LINE + 1
    assert line_of(Constant(3, INDEXED_LINES * LINE)) == FIRST_INDEXED_LINE


def test_the_first_constant_counts_also_one_whose_sign_is_turned() -> None:
    assert line_of(Reg(1), Modified(Constant(0, 2 * LINE), negated=True), Constant(0, 5 * LINE)) == 2


def test_what_is_looked_up_by_a_register_is_known_to_the_trace_or_a_load() -> None:
    assert line_of(Constant(3, 0, Reg(5)), name="ULDC") == INDEXED_CONSTANT
    assert line_of(Constant(3, 0, Reg(5)), name="LDC") == NO_CONSTANT
    assert line_of(Reg(1)) == NO_CONSTANT
