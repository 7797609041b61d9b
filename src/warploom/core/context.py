"""What the compiled core knows of a launch and does not change: machine, design, code, trace, and what follows from them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from warploom.code.classes import OpClass, Unit
from warploom.code.instruction import Code
from warploom.code.table import MAX_WRITES, Flag, Space, static_table
from warploom.errors import WarploomError
from warploom.machines import Machine
from warploom.register_file import CHOICES, Policies
from warploom.register_file.layout import MAX_READS, MAX_REGISTERS, REGISTER_WORDS
from warploom.trace.format import Trace

CODE_FIELDS: list[Any] = [
    ("traits", "u2"),  # `warploom.code.table.Flag`; an attribute `flags` would hide behind NumPy's own
    ("op_class", "u1"),
    ("unit", "u1"),  # 0: resolved at issue
    ("n_reads", "u1"),
    ("n_writes", "u1"),
    ("space", "u1"),
    ("metadata", "?"),
    ("has_memory", "?"),  # has an entry in the trace's memory column
    ("arrives_only", "?"),  # a barrier that does not wait
    ("slow", "?"),  # its result takes long: loads from global, local and texture memory
    ("latency", "i4"),
    ("initiation", "i4"),
    ("reads", "i2", (MAX_READS,)),
    ("writes", "i2", (MAX_WRITES,)),
    ("payload", "u8"),
    ("uses", "u8", (REGISTER_WORDS,)),  # registers read or written
    ("defines", "u8", (REGISTER_WORDS,)),
    ("predicates_used", "u8"),
    ("predicates_written", "u8"),
]
CODE_DTYPE = np.dtype(CODE_FIELDS, align=True)

# Above all allocations of device memory, below the windows of code and constants; see docs/house.md.
LOCAL_FIRST, SPILL_FIRST = 0xF800_0000 >> 5, 0xF000_0000 >> 5

INFO_DTYPE = np.dtype(
    [
        (name, "i8")
        for name in (
            "registers_per_warp",  # physical entries that a warp is given where allocation is static
            "registers",  # names that the code uses
            "literal",
            "words",  # of 64 registers that the scoreboard looks at
            "groups",  # of banks: how many registers can be accessed at once
            "core_groups",  # of one sub-core
            "row_words",
            "entries",
            "warps_per_cta",
            "ctas",
            "cta_limit",
            "local_bytes",  # sectors of a warp's window of local memory
            "local_first",  # sector where the windows begin
            "line_shift",  # instructions of a line of code, as a power of two
            "spill_first",  # sector where the reserved memory of injected spills begins
        )
    ]
)


class Context(NamedTuple):
    """The first argument of every hook after the policy."""

    machine: Any
    design: Policies
    check: Any
    observers: Any
    info: Any
    code: np.ndarray  # one record per pc: `CODE_FIELDS`, and the notes of the six policies
    trace: Any  # addresses of the columns, see `warploom.register_file.columns`


def code_table(code: Code, machine: Machine) -> np.ndarray:
    """The static facts of each instruction as the pipeline wants them: masks, latencies, and which unit it goes to."""
    static = static_table(code)
    table = np.zeros(len(static), CODE_DTYPE)
    table["traits"] = static["flags"]
    for name in ("op_class", "unit", "n_reads", "n_writes", "space", "reads", "writes", "payload"):
        table[name] = static[name]
    highest = max((int(static[name].max(initial=0)) for name in ("reads", "writes")), default=0)
    if highest >= MAX_REGISTERS:
        raise WarploomError(f"kernel {code.name}: it names register {highest}; the core holds {MAX_REGISTERS} per thread")
    table["metadata"] = static["flags"] & Flag.METADATA != 0
    accesses = static["flags"] & (Flag.LOAD | Flag.STORE | Flag.ATOMIC) != 0
    table["has_memory"] = accesses | (static["flags"] & Flag.BARRIER != 0)
    slow = np.isin(static["space"], (Space.GLOBAL, Space.LOCAL, Space.TEXTURE, Space.GENERIC))
    table["slow"] = slow & (static["flags"] & (Flag.LOAD | Flag.ATOMIC) != 0)
    table["unit"][(static["unit"] == Unit.MEM) & ~accesses] = Unit.NONE  # fences and prefetches
    table["unit"][(table["unit"] == Unit.NONE) & (table["n_reads"] > 0)] = Unit.SP  # whatever reads registers collects them
    if machine.compatibility.fetch_when_empty:
        table["unit"][(table["unit"] == Unit.NONE) & ~table["metadata"]] = Unit.SP
    table["predicates_used"] = static["predicates_read"] | static["predicates_written"]
    table["predicates_written"] = static["predicates_written"]
    for pc, row in enumerate(static):
        for register in row["reads"][: row["n_reads"]]:
            table["uses"][pc, register >> 6] |= np.uint64(1 << (int(register) & 63))
        for register in row["writes"][: row["n_writes"]]:
            table["uses"][pc, register >> 6] |= np.uint64(1 << (int(register) & 63))
            table["defines"][pc, register >> 6] |= np.uint64(1 << (int(register) & 63))
    for pc, instruction in enumerate(code.instructions()):
        kind = OpClass(table["op_class"][pc])
        table["latency"][pc] = machine.latency_of(kind, instruction.op.name)
        table["initiation"][pc] = machine.initiation_of(kind, instruction.op.name)
        table["arrives_only"][pc] = instruction.op.name == "bar" and "arrive" in instruction.op.modifiers
    return table


def launch_info(code: Code, table: np.ndarray, trace: Trace, machine: Machine, registers_per_warp: int, cta_limit: int) -> Any:
    """The launch's numbers in one record; ``table`` is the code's."""
    info = np.zeros(1, INFO_DTYPE).view(np.recarray)[0]
    names = 1 + max((int(table[name].max(initial=0)) for name in ("reads", "writes")), default=0)
    file = machine.register_file
    info.groups = file.banks * file.entry_bytes // 128
    info.core_groups = info.groups // machine.sm.sub_cores
    info.entries = machine.warp_registers
    info.row_words = (info.entries // info.groups + 63) // 64
    info.registers_per_warp = registers_per_warp
    info.registers = max(names, code.registers)
    info.literal = code.literal
    info.words = (info.registers + 63) // 64
    info.warps_per_cta = trace.warps_per_cta
    info.ctas = trace.ctas
    info.cta_limit = cta_limit
    info.local_bytes = code.local_bytes  # 32 lanes x bytes / 32 bytes of a sector
    info.local_first = LOCAL_FIRST
    info.spill_first = SPILL_FIRST
    info.line_shift = (machine.l1i.line_bytes // machine.l1i.instruction_bytes).bit_length() - 1
    return info


def with_notes(design: Policies, code: Code, table: np.ndarray, machine: Machine) -> np.ndarray:
    """The table with what each policy has to say about each instruction, as a nested record named after its choice."""
    fields = [(choice, notes_dtype(policy)) for choice, policy in zip(CHOICES, design, strict=True)]
    noted = np.zeros(len(table), np.dtype([*CODE_FIELDS, *fields], align=True))
    for name in CODE_DTYPE.names or ():
        noted[name] = table[name]
    for choice, policy in zip(CHOICES, design, strict=True):
        if hasattr(policy, "annotate"):
            notes = np.asarray(policy.annotate(code, table, machine))
            if notes.dtype != notes_dtype(policy) or len(notes) != len(table):
                raise WarploomError(f"{choice}={policy.NAME}: annotate must return one record of its NOTES per instruction")
            noted[choice] = notes
    return noted


def notes_dtype(policy: Any) -> np.dtype:
    """The record of a policy's NOTES; an unused byte where it has none."""
    return np.dtype(list(getattr(policy, "NOTES", ())) or [("unused", "u1")], align=True)
