"""What a machine file may say: one class per table, one field per key, each with its unit, its range and its meaning.

A table is both what Python holds of a loaded file (``machine.l2.latency``) and a record that compiled code reads
(``ctx.machine.l2.latency``). To add a key, write its line in a table (`sm_tables`, `memory_tables`) and its value in the files.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated

from warploom.base.records import Array, Record, dtype_of, field_types, i8
from warploom.chip.machines.keys import Key, key_of
from warploom.chip.machines.memory_tables import L1, L1C, L1I, L1T, L2, Dram, Interconnect, MemoryTable, Shared
from warploom.chip.machines.sm_tables import (
    L0I,
    Bulk,
    ChipTable,
    Collectors,
    Compatibility,
    RegisterFile,
    SmTable,
    Stages,
    SubCore,
    Units,
)
from warploom.compiler.code.classes import OpClass

CLASSES = len(OpClass)
OF_PORTS = ("sub_core", "l0i", "bulk")  # the tables of machines whose `stages.operands` is `ports`; others have none of them


@dataclass(frozen=True, kw_only=True)
class MachineTables(Record):
    """The tables of a machine file, in its order."""

    chip: ChipTable
    sm: SmTable
    register_file: RegisterFile
    collectors: Collectors
    units: Units
    stages: Stages
    sub_core: SubCore
    l0i: L0I
    shared: Shared
    l1: L1
    l1i: L1I
    l1c: L1C
    l1t: L1T
    interconnect: Interconnect
    l2: L2
    dram: Dram
    bulk: Bulk
    memory: MemoryTable
    compatibility: Compatibility


class MachineRecord(MachineTables):
    """What compiled code reads of a machine: its tables, and a few numbers that follow from them."""

    latency: Annotated[Array[i8], CLASSES]  # by class of operation, compatibility applied
    initiation: Annotated[Array[i8], CLASSES]
    banks_per_register: i8
    flits: Annotated[Array[i8], 5]  # of a packet with so many sectors of data


MACHINE_DTYPE = dtype_of(MachineRecord)
TABLES: dict[str, type] = field_types(MachineTables)
OPERATIONS = {
    OpClass.MOVE: "a move, a selection or a vote",
    OpClass.LOGIC: "a logical operation, a shift or an access to bit fields",
    OpClass.COMPARE: "a comparison",
    OpClass.CONVERT: "a conversion",
    OpClass.INT_ADD: "an addition of integers",
    OpClass.INT_MINMAX: "a minimum or maximum of integers",
    OpClass.INT_MUL: "a multiplication of integers",
    OpClass.INT_MAD: "a multiplication and addition of integers",
    OpClass.INT_DIV: "a division of integers",
    OpClass.SHUFFLE: "an exchange between lanes",
    OpClass.F32_ADD: "an addition in single precision",
    OpClass.F32_MINMAX: "a minimum or maximum in single precision",
    OpClass.F32_MUL: "a multiplication in single precision",
    OpClass.F32_MAD: "a multiplication and addition in single precision",
    OpClass.F32_DIV: "a division, reciprocal or square root in single precision with IEEE rounding",
    OpClass.F64_ADD: "an addition in double precision",
    OpClass.F64_MINMAX: "a minimum or maximum in double precision",
    OpClass.F64_MUL: "a multiplication in double precision",
    OpClass.F64_MAD: "a multiplication and addition in double precision",
    OpClass.F64_DIV: "a division, reciprocal or square root in double precision",
    OpClass.SFU: "an approximate function (sine, logarithm and the like)",
    OpClass.MEMORY: "a memory instruction, without what the memory takes",
    OpClass.CONTROL: "a branch, a barrier or an exit",
    OpClass.METADATA: "an instruction of a policy's own, which is never issued",
}


def _of_class(sentence: str) -> dict[OpClass, Key]:
    """The keys of a table by class of operation; a sentence says what the table holds of each."""
    return {kind: Key("cycles", sentence.format(what), 1, 2000) for kind, what in OPERATIONS.items()}


BY_CLASS = {
    "latency": _of_class("Time from the operands of {} to its result."),
    "initiation": _of_class("Time from {} to the next instruction in the same unit."),
}
KEYS: dict[str, Key] = {f"{table}.{item.name}": key_of(item) for table, kind in TABLES.items() for item in fields(kind)} | {
    f"{table}.{kind.name.lower()}": key for table, keys in BY_CLASS.items() for kind, key in keys.items()
}
