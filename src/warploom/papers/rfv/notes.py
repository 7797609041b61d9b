"""What the hardware knows of each instruction: its look-ups in the renaming table, and which operands its flags release."""

from __future__ import annotations

import numpy as np

from warploom.base.records import Record, dtype_of, u1
from warploom.compiler.code.instruction import Code
from warploom.papers.rfv.lifetimes import exempt_registers
from warploom.papers.rfv.release_flags import FLAG_BITS, value_operands
from warploom.papers.rfv.release_points import decoded_flags, most_held
from warploom.papers.rfv.renaming import table_conflicts


class Notes(Record):
    """What is noted of one instruction."""

    dead: u1  # a bit for each 32-bit register read: it is released
    lookups: u1  # accesses of the renaming table
    conflicts: u1  # cycles that they take beyond the first
    exempt: u1  # registers of the code below this number are not renamed
    held: u1  # renamed registers that a warp has at once, at most


def annotated(code: Code, table: np.ndarray) -> np.ndarray:
    """A record for each instruction of the code."""
    notes = np.zeros(len(table), dtype_of(Notes))
    instructions = list(code.instructions())
    exempt = exempt_registers(code)
    for pc, row in enumerate(table):
        reads, writes = (row[name][: row[count]].tolist() for name, count in (("reads", "n_reads"), ("writes", "n_writes")))
        renamed = [register for register in (*reads, *writes) if register >= exempt]
        notes[pc]["lookups"] = len(renamed)
        notes[pc]["conflicts"] = table_conflicts(reads, exempt)
    for pc, flags, _ in decoded_flags(code):
        place = 0
        for operand, register in enumerate(value_operands(instructions[pc])):
            words = len(register.words)
            if operand < FLAG_BITS and flags >> operand & 1:
                notes[pc]["dead"] |= ((1 << words) - 1) << place
            place += words
    notes["exempt"] = exempt
    notes["held"] = most_held(code)
    return notes
