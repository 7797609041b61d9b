"""A kernel in SASS to the records that compiled functions execute."""

from __future__ import annotations

import numpy as np

from warploom.base.errors import WarploomError
from warploom.base.records import dtype_of
from warploom.compiler.code.classes import is_added
from warploom.compiler.code.instruction import INSERTED, Bank, Code, Instruction, Special
from warploom.compiler.code.table import Flag, static_table
from warploom.emulator.encode import MOST_INSTRUCTIONS, EncodedKernel
from warploom.emulator.lanes import ROW_BYTES
from warploom.emulator.records import Kind, MicroOperation
from warploom.emulator.sass.records import SassInstruction, SassWarp
from warploom.emulator.sass.registry import encoders
from warploom.emulator.sass.rows import SassRows, predicate_number

INSTRUCTION_BYTES = 16


def encode_sass(code: Code) -> EncodedKernel:
    """Encode a kernel. Instructions that the emulator does not know are refused here, not when they are reached."""
    if len(code) > MOST_INSTRUCTIONS:
        raise WarploomError(f"{code.name}: {len(code)} instructions are too many; {MOST_INSTRUCTIONS} is the most.")
    _refuse_unknown(code)
    rows = SassRows(code)
    table = static_table(code)
    starts = code.block_starts()
    landings = _landings(code)
    records = np.zeros(max(len(code), len(landings)), dtype_of(SassInstruction))
    records["landing"][: len(landings)], records["landing"][len(landings) :] = landings, -1
    records["guard"] = records["predicate_out"] = records["condition"] = -1
    records["pc"] = np.arange(len(records))
    for pc, instruction in enumerate(code.instructions()):
        record = records[pc]
        rows.begin(instruction)
        if instruction.guard is not None:
            predicate, negated = instruction.guard
            fixed = predicate.bank in (Bank.PT, Bank.UPT)
            record["guard"] = rows.always if fixed else predicate_number(predicate)
            record["guard_flip"] = 0xFFFFFFFF if negated else 0
        if instruction.target is not None:
            record["target"] = starts[instruction.target]
        record["kind"], record["first"] = Kind.COMPUTE, len(rows.micro)
        _refuse_unnamed(rows, instruction)
        try:
            encode = encoders()["NOP" if is_added(instruction.op) else instruction.op.name]  # what passes of designs insert
            encode(rows, instruction, record)
        except (AssertionError, AttributeError, IndexError, KeyError, StopIteration, TypeError, ValueError) as problem:
            raise rows.trouble("the emulator does not know this form of it") from problem
        record["count"] = len(rows.micro) - record["first"] - record["after"]
        record["uniform"] = _is_uniform(instruction)
        _encode_writes(instruction, record, int(table[pc]["n_writes"]))
        record["accesses"] = bool(table[pc]["flags"] & (Flag.LOAD | Flag.STORE | Flag.ATOMIC))
    return EncodedKernel(
        code=code,
        instructions=records,
        micro=np.array(rows.micro, dtype_of(MicroOperation)) if rows.micro else np.zeros(1, dtype_of(MicroOperation)),
        rows=rows.count,
        registers=rows.registers,
        predicates=rows.predicates,
        always=rows.always,
        specials=rows.specials,
        constants=rows.constants,
        warp=SassWarp,
    )


def _landings(code: Code) -> list[int]:
    """For each instruction that the compiler made, where it is now; -1 if it is gone. What passes put before it comes first."""
    found: dict[int, int] = {}
    pc = 0
    for block in code.blocks:
        inserted: int | None = None  # in this block: what ends the one before is not executed by a jump
        for instruction in block.instructions:
            if instruction.control is None or instruction.address == INSERTED:
                inserted = pc if inserted is None else inserted
            else:
                found[instruction.address // INSTRUCTION_BYTES] = pc if inserted is None else inserted
                inserted = None
            pc += 1
    return [found.get(number, -1) for number in range(max(found, default=-1) + 1)]


def _refuse_unknown(code: Code) -> None:
    """Name the opcodes of a kernel that nobody has taught the emulator."""
    unknown = sorted({i.op.name for i in code.instructions() if not is_added(i.op)} - set(encoders()))
    if unknown:
        names = ", ".join(unknown)
        raise WarploomError(f"{code.source or code.name}: kernel {code.name} uses {names}, which the emulator does not know.")


def _refuse_unnamed(rows: SassRows, instruction: Instruction) -> None:
    """nvdisasm prints ``???3`` or ``INVALID3`` for a modifier that has no name."""
    words = [*instruction.op.modifiers, *(source.name for source in instruction.srcs if isinstance(source, Special))]
    unnamed = [word for word in words if word.startswith(("?", "INVALID"))]
    if unnamed:
        raise rows.trouble(f"{', '.join(unnamed)} is no modifier")


def _is_uniform(instruction: Instruction) -> bool:
    """Whether an instruction is of the uniform datapath: it reads and writes nothing that a lane has of its own."""
    banks = {dst.bank for dst in instruction.dsts}
    return bool(banks) and banks <= {Bank.U, Bank.UD, Bank.UQ, Bank.UP, Bank.URZ, Bank.UPT} and instruction.op.name[0] == "U"


def _encode_writes(instruction: Instruction, record: np.void, shown: int) -> None:
    """The rows of the thread's registers that change, unless the encoder has listed them or the static table shows none of them.

    The trace classifies them.
    """
    written = [word * ROW_BYTES for register in instruction.dsts for word in register.words][:shown]
    record["values"] = len(written)
    record["value_rows"][: len(written)] = written
    if record["writes"] == 0:
        record["writes"] = len(written)
        record["write_rows"][: len(written)] = written
