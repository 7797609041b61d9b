"""Encodes branches, calls, convergence barriers and barriers of the CTA."""

from __future__ import annotations

import numpy as np

from warploom.compiler.code.instruction import Bank, Imm, Instruction, Modified, Operand, Reg, Symbol
from warploom.compiler.code.supplied import CONVENTIONS, NAMES
from warploom.emulator.records import BarrierOperation, Kind, PredicateOperation
from warploom.emulator.sass.encode_integers import is_predicate
from warploom.emulator.sass.records import RETURN_ROW, SassKind
from warploom.emulator.sass.registry import encodes
from warploom.emulator.sass.rows import SassRows, predicate_number

_GROUPS = {"COLLECTIVE": SassKind.COLLECTIVE, "EXCLUSIVE": SassKind.EXCLUSIVE}  # forms of WARPSYNC
_REDUCTIONS = {"POPC": BarrierOperation.POPC, "AND": BarrierOperation.AND, "OR": BarrierOperation.OR}


def _encode_condition(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """A further predicate that must hold for a branch."""
    for condition in filter(is_predicate, instruction.srcs):
        inner, inverted = (condition.operand, condition.inverted) if isinstance(condition, Modified) else (condition, False)
        assert isinstance(inner, Reg)
        record["condition"] = rows.always if inner.bank in (Bank.PT, Bank.UPT) else predicate_number(inner)
        record["condition_flip"] = 0xFFFFFFFF if inverted else 0


@encodes("BRA", "JMP")
def _branch(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    rows.require(instruction.target is not None, "it leaves the kernel")
    record["kind"] = Kind.BRANCH
    modifiers = instruction.op.modifiers
    if "DIV" in modifiers or "CONV" in modifiers:
        record["kind"], record["operation"] = SassKind.DIVERGED, "CONV" in modifiers
        operands = [source for source in instruction.srcs if not is_predicate(source)]
        record["rows"][0] = rows.word(operands[0]) if operands else rows.constant(0xFFFFFFFF)
    elif "ANY" in modifiers:
        record["kind"] = SassKind.BRANCH_ANY
    _encode_condition(rows, instruction, record)


@encodes("CALL")
def _call(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """The caller has put the address to return to into registers, so a call is a branch."""
    outside = next((source for source in instruction.srcs if isinstance(source, Symbol)), None)
    if outside is not None and outside.name in NAMES:
        _call_supplied(rows, instruction, record)
        return
    if outside is not None:
        raise rows.trouble(f"function {outside.name} is not in the file")
    if instruction.target is None:
        _through_registers(rows, instruction, record)
    else:
        record["kind"] = Kind.BRANCH


def _call_supplied(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """A function that CUDA supplies. Rows: its address, the arguments; last the address to come back to, or -1."""
    address, function, *others = instruction.srcs
    assert isinstance(function, Symbol)
    arguments = CONVENTIONS[NAMES[function.name]].arguments
    record["kind"] = SassKind.CALL_SUPPLIED
    places = [rows.row(address, 2), *(rows.row(argument) for argument in others)]
    record["rows"][: len(arguments) + 1] = places[: len(arguments) + 1]
    record["rows"][RETURN_ROW] = places[-1] if len(places) > len(arguments) + 1 else -1


@encodes("LEPC")
def _own_address(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    """The address of a place in the code, or of the instruction itself."""
    place = instruction.srcs[-1] if instruction.srcs else Imm(instruction.address)
    assert isinstance(place, Imm)
    rows.emit("mov.64", [rows.constant(place.bits, 2)], rows.result(instruction.dsts[0]))


@encodes("RET", "BRX")
def _through_registers(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """The pair of registers holds an address that is counted from a place in the code, or from its beginning."""
    start = instruction.srcs[-1]
    if not isinstance(start, Imm):
        raise rows.trouble("calls of linked code through function pointers are not supported; compile without -rdc=true")
    record["kind"] = SassKind.JUMP
    record["rows"][0], record["wide_registers"] = rows.row(instruction.srcs[0], 2), True
    record["offset"] = start.bits


@encodes("EXIT")
def _exit(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    record["kind"] = Kind.EXIT
    _encode_condition(rows, instruction, record)


def _barrier_register(rows: SassRows, operand: Operand) -> int:
    if not isinstance(operand, Reg) or operand.bank is not Bank.B:
        raise rows.trouble(f"{operand} is no convergence barrier")
    return operand.number


@encodes("BSSY")
def _set_meeting(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    record["kind"], record["barrier"] = SassKind.BSSY, _barrier_register(rows, instruction.dsts[0])


@encodes("BSYNC")
def _meet(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    record["kind"] = SassKind.BSYNC
    record["barrier"] = _barrier_register(rows, next(s for s in instruction.srcs if not is_predicate(s)))
    _encode_condition(rows, instruction, record)


@encodes("BREAK")
def _leave_meeting(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    record["kind"] = SassKind.BREAK
    record["barrier"] = _barrier_register(
        rows, next(reg for reg in (*instruction.dsts, *instruction.srcs) if not is_predicate(reg))
    )
    _encode_condition(rows, instruction, record)


@encodes("BMOV")
def _move_barrier(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    target, source = instruction.dsts[0], instruction.srcs[0]
    if target.bank is Bank.B:
        record["kind"], record["barrier"] = SassKind.REGISTER_TO_BARRIER, target.number
        record["rows"][0] = rows.word(source)
        return
    record["kind"], record["barrier"] = SassKind.BARRIER_TO_REGISTER, _barrier_register(rows, source)
    record["rows"][0] = rows.result(target)
    record["operation"] = "CLEAR" in instruction.op.modifiers


@encodes("WARPSYNC")
def _synchronise(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    modifiers = instruction.op.modifiers
    record["kind"] = next((_GROUPS[word] for word in modifiers if word in _GROUPS), SassKind.WARPSYNC)
    operands = [*(dst for dst in instruction.dsts), *instruction.srcs]
    rows.require(not any(map(is_predicate, operands)), "the emulator does not know its predicate")
    record["rows"][0] = rows.word(operands[0]) if operands and "ALL" not in modifiers else rows.constant(0xFFFFFFFF)


@encodes("ENDCOLLECTIVE")
def _end_collective(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    rows.require(not instruction.srcs, "the emulator does not know its predicate")
    record["kind"] = SassKind.END_COLLECTIVE


@encodes("BAR")
def _barrier(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """Rows: id, count of threads (zeros if all are meant)."""
    modifiers = instruction.op.modifiers
    operands = [source for source in instruction.srcs if not is_predicate(source)]
    record["kind"] = Kind.BARRIER
    if "RED" in modifiers:  # the answer is fetched later, by B2R
        record["operation"] = next(_REDUCTIONS[word] for word in modifiers if word in _REDUCTIONS)
        record["predicate_in"] = rows.predicate(next(source for source in instruction.srcs if is_predicate(source)))
        record["predicate_out"] = -1 if "POPC" in modifiers else rows.reduced_predicate
        record["write_rows"][0] = rows.reduced_row
        _encode_barrier_number(rows, record, operands)
        return
    rows.require("SYNC" in modifiers or "ARV" in modifiers, "the emulator does not know this barrier")
    record["operation"] = BarrierOperation.SYNC if "SYNC" in modifiers else BarrierOperation.ARRIVE
    _encode_barrier_number(rows, record, operands)


def _encode_barrier_number(rows: SassRows, record: np.void, operands: list[Operand]) -> None:
    known = all(isinstance(operand, Imm | Reg) for operand in operands)
    rows.require(known, "its operands are neither numbers nor registers")
    record["rows"][0] = rows.row(operands[0])
    record["rows"][1] = rows.row(operands[1]) if len(operands) > 1 else rows.constant(0)


@encodes("B2R")
def _fetch_reduction(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    """What a reducing barrier has found: a count into a register, an answer into a predicate."""
    rows.require("RESULT" in instruction.op.modifiers)
    for dst in instruction.dsts:
        if dst.bank is Bank.R:
            rows.emit("mov.32", [rows.reduced_row], rows.row(dst))
        elif dst.bank is Bank.P:
            rows.emit_predicate(PredicateOperation.MOVE, [rows.reduced_predicate], rows.predicate_result(dst))
