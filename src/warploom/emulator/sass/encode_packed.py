"""Encodes least and greatest integers, and what works on the bytes and halves of words."""

from __future__ import annotations

import numpy as np

from warploom.compiler.code.instruction import Bank, Instruction, Operand, Reg
from warploom.emulator.sass.encode_integers import is_zero, plain_sum, two_integers
from warploom.emulator.sass.registry import encodes
from warploom.emulator.sass.rows import SassRows

_HALVES = {"S16x2": "s16x2", "U16x2": "u16x2"}
_EXTREMES = ("U32", "RELU", *_HALVES)


def _kind(instruction: Instruction) -> str:
    """The integers that are compared."""
    found = next((_HALVES[word] for word in instruction.op.modifiers if word in _HALVES), None)
    return found or ("u32" if "U32" in instruction.op.modifiers else "s32")


def _value(rows: SassRows, instruction: Instruction, operand: Operand) -> int:
    """An integer, or two of 16 bits."""
    return two_integers(rows, operand) if _kind(instruction).endswith("x2") else rows.word(operand)


@encodes("IMNMX", "VIMNMX", "UIMNMX", only=_EXTREMES)
def _minimum(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    """The lesser or greater of two, and predicates that say whether it is the first: of halves the lower one comes first."""
    x, y, least = instruction.srcs
    first, second = _value(rows, instruction, x), _value(rows, instruction, y)
    register, *predicates = instruction.dsts
    places = [rows.predicate_result(predicate) for predicate in predicates]
    answers = [_is_first(rows, instruction, first, second, least, part) for part in range(len(places))]
    _extreme(rows, instruction, first, second, least, rows.result(register))
    _rectify(rows, instruction, rows.result(register))
    rows.answer(answers, places)


def _is_first(rows: SassRows, instruction: Instruction, x: int, y: int, least: Operand, part: int) -> int:
    """Whether the first is the lesser or greater, or equal; of halves, one of them is moved to the top to compare it."""
    kind = _kind(instruction)
    if kind.endswith("x2"):
        name, by = ("and.32", 0xFFFF0000) if part == 1 else ("shl.32", 16)
        x, y = (rows.emit(name, [row, rows.constant(by)], rows.temporary()) for row in (x, y))
    condition = rows.predicate(least)
    rows.require(condition in (rows.always, rows.never))
    answer = rows.spare_predicate()
    rows.emit(f"{'le' if condition == rows.always else 'ge'}.{kind[0]}32", [x, y], predicate_out=answer)
    return answer


def _extreme(rows: SassRows, instruction: Instruction, x: int, y: int, least: Operand, out: int) -> None:
    """The lesser where the last operand holds, else the greater."""
    kind = _kind(instruction)
    condition = rows.predicate(least)
    if condition in (rows.always, rows.never):
        rows.emit(f"{'min' if condition == rows.always else 'max'}.{kind}", [x, y], out)
        return
    lesser = rows.emit(f"min.{kind}", [x, y], rows.temporary())
    greater = rows.emit(f"max.{kind}", [x, y], rows.temporary())
    rows.emit("selp.32", [lesser, greater], out, predicate=condition)


def _rectify(rows: SassRows, instruction: Instruction, out: int) -> None:
    """What is negative becomes zero."""
    if "RELU" in instruction.op.modifiers:
        rows.emit(f"max.{_kind(instruction)}", [out, rows.constant(0)], out)


@encodes("VIMNMX3", only=_EXTREMES)
def _minimum_of_three(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    x, y, z, least = instruction.srcs
    both, out = rows.temporary(), rows.result(instruction.dsts[0])
    first, second, third = (_value(rows, instruction, operand) for operand in (x, y, z))
    _extreme(rows, instruction, first, second, least, both)
    _extreme(rows, instruction, both, third, least, out)
    _rectify(rows, instruction, out)


@encodes("VIADDMNMX", only=_EXTREMES)
def _sum_and_minimum(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    x, y, z, least = instruction.srcs
    total, out = rows.temporary(), rows.result(instruction.dsts[0])
    if _kind(instruction).endswith("x2"):
        rows.emit("add.16x2", [two_integers(rows, x), two_integers(rows, y)], total)
    else:
        plain_sum(rows, [source for source in (x, y) if not is_zero(source)], total)
    _extreme(rows, instruction, total, _value(rows, instruction, z), least, out)
    _rectify(rows, instruction, out)


@encodes("VABSDIFF4", only=("U8", "ACC"))
def _absolute_differences(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    """Of four bytes each; or the sum of these differences and a third operand."""
    modifiers = instruction.op.modifiers
    first, second, third = (rows.word(source) for source in instruction.srcs)
    rows.require("ACC" in modifiers or instruction.srcs[2] == Reg(0, Bank.RZ), "the emulator does not know this difference")
    name, out = f"differences.{'u' if 'U8' in modifiers else 's'}8", rows.result(instruction.dsts[0])
    bytes_ = rows.emit(name, [first, second], rows.temporary() if "ACC" in modifiers else out)
    if "ACC" in modifiers:
        rows.emit("dp4a.uu", [bytes_, rows.constant(0x01010101), third], out)


@encodes("IDP")
def _dot(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    kind, *words = instruction.op.modifiers
    half = next((word.lower() for word in words if word in ("LO", "HI")), "lo")
    first, second = (word[0].lower() for word in words if word[0] in "SU")
    name = f"dp4a.{first}{second}" if kind == "4A" else f"dp2a.{half}.{first}{second}"
    rows.emit(name, [rows.word(source) for source in instruction.srcs], rows.result(instruction.dsts[0]))
