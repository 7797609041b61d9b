"""Machine code to the records that compiled functions execute.

Every operand becomes a row of the warp: its registers first, then special registers, constants (immediates, parameters,
addresses of variables; the same word in every lane) and temporaries. An instruction that computes becomes one or more
micro-operations; conversions of narrow types, flushing, saturation and the like are micro-operations of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from warploom.base.errors import WarploomError
from warploom.base.records import dtype_of
from warploom.compiler.code.classes import is_added
from warploom.compiler.code.dominators import reconvergence_points
from warploom.compiler.code.instruction import Bank, Code, Constant, Imm, Instruction, Param, Reg, Special, Symbol
from warploom.compiler.code.supplied import NAMES
from warploom.compiler.code.table import Flag, static_table
from warploom.emulator.encode_compute import encode_compute
from warploom.emulator.encode_memory import encode_access, encode_texture
from warploom.emulator.lanes import ROW_BYTES
from warploom.emulator.records import (
    MOST_ELEMENTS,
    BarrierOperation,
    EncodedInstruction,
    Kind,
    MicroOperation,
    ResidentWarp,
    WarpOperation,
)
from warploom.emulator.rows import Rows

MOST_INSTRUCTIONS = 1 << 16  # a trace has 16 bits for an instruction's address
_KINDS = {  # of what there is no more to say
    "bra": Kind.BRANCH,
    "exit": Kind.EXIT,
    "trap": Kind.TRAP,
    "nanosleep": Kind.SLEEP,
    **dict.fromkeys(("membar", "fence", "nop", "prefetch", "brkpt"), Kind.NOTHING),
}
_CLOCKS = ("clock", "clock64", "clock_hi", "globaltimer", "globaltimer_lo", "globaltimer_hi")
_ALL_LANES = Imm(0xFFFF_FFFF)
_VOTES = {"all": WarpOperation.VOTE_ALL, "any": WarpOperation.VOTE_ANY, "uni": WarpOperation.VOTE_UNIFORM}
_SHUFFLES = {
    "up": WarpOperation.SHUFFLE_UP,
    "down": WarpOperation.SHUFFLE_DOWN,
    "bfly": WarpOperation.SHUFFLE_XOR,
    "idx": WarpOperation.SHUFFLE_INDEX,
}
_BARRIERS = {"sync": BarrierOperation.SYNC, "arrive": BarrierOperation.ARRIVE}
_REDUCTIONS = {"popc": BarrierOperation.POPC, "and": BarrierOperation.AND, "or": BarrierOperation.OR}


@dataclass
class EncodedKernel:
    """An encoded kernel: what is the same for all its launches."""

    code: Code
    instructions: np.ndarray
    micro: np.ndarray
    rows: int  # of one warp
    registers: int  # of them, registers of the program
    predicates: int
    always: int  # the predicate that is always true
    specials: dict[str, int]  # row of each special register that the code reads
    constants: list[tuple[int, Imm | Param | Symbol | Constant, int]]  # row, what it holds, which 32-bit word of it
    warp: type[ResidentWarp] = ResidentWarp


def encode(code: Code) -> EncodedKernel:
    """Encode a kernel. Instructions that the emulator does not know are refused here, not when they are reached."""
    if not code.allocated:
        raise WarploomError(f"{code.name}: code must be allocated before it can be executed.")
    if len(code) > MOST_INSTRUCTIONS:
        raise WarploomError(f"{code.name}: {len(code)} instructions are too many; {MOST_INSTRUCTIONS} is the most.")
    rows = Rows(code)
    table = static_table(code)
    starts = code.block_starts()
    meeting = reconvergence_points(code)
    records = np.zeros(len(code), dtype_of(EncodedInstruction))
    records["guard"] = records["predicate_out"] = -1
    records["pc"] = np.arange(len(code))
    for pc, instruction in enumerate(code.instructions()):
        record = records[pc]
        rows.begin(instruction)
        if instruction.guard is not None:
            record["guard"] = instruction.guard.predicate.number
            record["guard_flip"] = 0xFFFFFFFF if instruction.guard.negated else 0
        record["first"] = len(rows.micro)
        _encode_one(rows, instruction, record)
        record["count"] = len(rows.micro) - record["first"]
        _encode_writes(code, instruction, record)
        if instruction.target is not None:
            record["target"] = starts[instruction.target]
            record["reconvergence"] = meeting.get(pc, len(code))
        record["accesses"] = bool(table[pc]["flags"] & (Flag.LOAD | Flag.STORE | Flag.ATOMIC))
        record["uses_clock"] = any(isinstance(src, Special) and src.name in _CLOCKS for src in instruction.srcs)
        if int(record["values"]) != int(table[pc]["n_writes"]):
            raise rows.trouble("its written registers differ from the static table's")
    micro = np.array(rows.micro, dtype_of(MicroOperation)) if rows.micro else np.zeros(1, dtype_of(MicroOperation))
    return EncodedKernel(
        code=code,
        instructions=records,
        micro=micro,
        rows=rows.count,
        registers=rows.registers,
        predicates=rows.temporary_predicate(2),
        always=rows.always,
        specials=rows.specials,
        constants=rows.constants,
    )


def _encode_writes(code: Code, instruction: Instruction, record: np.void) -> None:
    """The rows that change, and those that the trace classifies: in literal code a 64-bit register counts once."""
    values = [register for register in instruction.dsts if register.bank is not Bank.P]
    written = [word * ROW_BYTES for register in values for word in register.words]
    classified = [register.number * ROW_BYTES for register in values] if code.literal else written
    if len(written) > MOST_ELEMENTS:
        raise WarploomError(f"{code.name}: '{instruction}' writes more than {MOST_ELEMENTS} registers.")
    record["writes"], record["values"] = len(written), len(classified)
    record["write_rows"][: len(written)] = written
    record["value_rows"][: len(classified)] = classified


def _encode_one(rows: Rows, instruction: Instruction, record: np.void) -> None:
    op = instruction.op
    if op.name in _FORMS:
        _FORMS[op.name](rows, instruction, record)
    elif op.name in _KINDS or is_added(op):
        record["kind"] = _KINDS.get(op.name, Kind.NOTHING)
    else:
        record["kind"] = Kind.COMPUTE
        encode_compute(rows, instruction)


def _encode_call(rows: Rows, instruction: Instruction, record: np.void) -> None:
    """Rows: the address of the function, then its arguments."""
    record["kind"] = Kind.CALL
    places = [rows.constant(NAMES[instruction.op.modifiers[0]].address, 2)]
    places += [rows.row(source, 1 if isinstance(source, Reg) and source.bank is Bank.R else 2) for source in instruction.srcs]
    record["rows"][: len(places)] = places


def _encode_barrier(rows: Rows, instruction: Instruction, record: np.void) -> None:
    """Rows: id, count (a row of zeros if all threads are meant)."""
    modifiers = instruction.op.modifiers
    if "warp" in modifiers:  # the lanes of a warp never run ahead of each other here
        record["kind"], record["operation"] = Kind.WARP, WarpOperation.MEET
        _encode_members(rows, instruction, record)
        return
    record["kind"] = Kind.BARRIER
    operands = list(instruction.srcs)
    if "red" in modifiers:
        record["operation"] = _REDUCTIONS[modifiers[1]]
        record["predicate_in"] = rows.predicate(operands.pop())
        if instruction.dsts[0].bank is Bank.P:
            record["predicate_out"] = instruction.dsts[0].number
    else:
        record["operation"] = _BARRIERS[modifiers[0]]
    record["rows"][0] = rows.row(operands[0])
    record["rows"][1] = rows.row(operands[1]) if len(operands) > 1 else rows.constant(0)


def _encode_members(rows: Rows, instruction: Instruction, record: np.void) -> None:
    """Row 4: the mask of members that ``.sync`` forms name last, if it may not be full."""
    if instruction.srcs[-1] != _ALL_LANES:
        record["elements"], record["rows"][4] = 1, rows.row(instruction.srcs[-1])


def _encode_exchange(rows: Rows, instruction: Instruction, record: np.void) -> None:
    """Rows: result, then the sources."""
    record["kind"] = Kind.WARP
    op = instruction.op
    words = 2 if op.type == "b64" else 1
    record["size"] = 4 * words
    for dst in instruction.dsts:
        if dst.bank is Bank.P:
            record["predicate_out"] = dst.number
        else:
            record["rows"][0] = rows.row(dst)
    if op.name == "activemask":
        record["operation"] = WarpOperation.ACTIVE
        return
    if "sync" in op.modifiers:
        _encode_members(rows, instruction, record)
    if op.name == "vote":
        mode = next(word for word in op.modifiers if word != "sync")
        record["operation"] = _VOTES.get(mode, WarpOperation.BALLOT)
        record["predicate_in"] = rows.predicate(instruction.srcs[0])
        return
    if op.name == "shfl":
        record["operation"] = _SHUFFLES[next(word for word in op.modifiers if word in _SHUFFLES)]
        record["rows"][1:4] = [rows.row(source) for source in instruction.srcs[:3]]
        return
    record["rows"][1] = rows.row(instruction.srcs[0], words)
    if op.name == "match":
        record["operation"] = WarpOperation.MATCH_ANY if "any" in op.modifiers else WarpOperation.MATCH_ALL
        return
    mode = next(word for word in op.modifiers if word != "sync").upper()
    sign = f"_{'S' if op.type == 's32' else 'U'}" if mode in ("MIN", "MAX") else ""
    record["operation"] = WarpOperation[f"REDUCE_{mode}{sign}"]


_FORMS: dict[str, Callable[[Rows, Instruction, np.void], None]] = {
    **dict.fromkeys(("ld", "st", "atom", "red"), encode_access),
    **dict.fromkeys(("shfl", "vote", "activemask", "match", "redux"), _encode_exchange),
    "tex": encode_texture,
    "bar": _encode_barrier,
    "call": _encode_call,
}
