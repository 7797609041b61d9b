"""Instructions with more registers than a record of the tables names: products of matrices.

Their registers are runs of neighbours, so that a record can hold where each run begins and how long it is. They are accessed in
pieces, while the product is made.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from warploom.compiler.code.instruction import Code, Instruction, Modified, Reg, registers_in
from warploom.compiler.code.sass_classes import WARPGROUP_PRODUCTS
from warploom.compiler.code.table import is_wide

MAX_RUNS = 4  # of operands: A, B, the addend and what tells the places of a sparse A's elements


class Wide(NamedTuple):
    """The registers of such an instruction, each run as its first register and their number."""

    operands: tuple[tuple[int, int], ...]  # read before anything is written
    addend: int  # the first register that is read as the result's of the same place is made; -1: none
    result: int
    results: int


def _runs(words: Iterable[int]) -> tuple[tuple[int, int], ...]:
    runs: list[tuple[int, int]] = []
    for word in words:
        if runs and word == sum(runs[-1]):
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((word, 1))
    return tuple(runs)


def _words(registers: Iterable[Reg]) -> list[int]:
    return [word for register in registers for word in register.words]


def wide_registers(instruction: Instruction) -> Wide:
    """The registers of a product of matrices. Only those of warpgroups read their addend piece by piece."""
    results = _words(instruction.dsts)
    result = results[0] if results else -1
    if instruction.op.name not in WARPGROUP_PRODUCTS:
        return Wide(_runs(_words(instruction.reads)), -1, result, len(results))
    described = next(n for n, source in enumerate(instruction.srcs) if isinstance(source, Modified) and source.part)
    before, behind = (
        _words(register for source in sources for register in registers_in(source))
        for sources in (instruction.srcs[:described], instruction.srcs[described + 1 :])
    )
    return Wide(_runs(before), behind[0] if behind else -1, result, len(results))


def first_wide(code: Code) -> Instruction | None:
    """The first instruction of a code that has more registers than a record names; None: all fit."""
    return next((instruction for instruction in code.instructions() if is_wide(instruction, code.literal)), None)
