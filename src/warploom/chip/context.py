"""Makes the parts of a launch's context (`warploom.chip.sm.context`): the code as a table, and the launch's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from warploom.base.errors import WarploomError
from warploom.base.records import dtype_of, field_names
from warploom.chip.machines import Machine
from warploom.chip.machines.sm_tables import OperandPath
from warploom.chip.memory.state import FIRST_CONSTANT_LINES, FIRST_INDEXED_LINE, INDEXED_LINES
from warploom.chip.pipeline.bulk_state import FROM_SHARED, GROUP_END, NO_COPY, REDUCTION, TO_SHARED
from warploom.chip.pipeline.pipes import (
    Pipe,
    cycles_for_a,
    interval_of,
    latency_of,
    operands_read_again,
    pipe_of,
    quarter_passes_of,
    unit_cycles_of,
)
from warploom.chip.sm import CHOICES, Policies
from warploom.chip.sm.context import INDEXED_CONSTANT, NO_CONSTANT, Info, StaticRow
from warploom.chip.sm.dtypes import code_dtype, notes_dtype
from warploom.chip.sm.layout import MAX_REGISTERS, REGISTER_WORDS
from warploom.compiler.code.classes import OpClass, Unit
from warploom.compiler.code.instruction import CONTROL_COUNTERS, Code, Constant, Control, Imm, Instruction, Modified, Special
from warploom.compiler.code.memory_map import LOCAL_WINDOW, SHARED_WINDOW
from warploom.compiler.code.table import Flag, Space, is_wide, static_table
from warploom.compiler.code.wide import wide_registers
from warploom.emulator.trace.format import Trace

CODE_DTYPE, INFO_DTYPE = dtype_of(StaticRow), dtype_of(Info)

# Above all allocations of device memory, below the windows of code and constants; see docs/house.md.
LOCAL_FIRST, SPILL_FIRST = LOCAL_WINDOW >> 5, SHARED_WINDOW >> 5

NO_CONTROL = Control(1, False, None, None, 0, (False, False, False))
SEEN_BY_ALL = frozenset(("GPU", "SYS"))  # the scopes of a fence that goes beyond its SM
ARRIVES = frozenset(("arrive", "ARV"))  # what a barrier that nobody waits at says, in PTX and in SASS


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
    table["has_memory"] = accesses | (static["flags"] & (Flag.BARRIER | Flag.BULK) != 0)
    slow = np.isin(static["space"], (Space.GLOBAL, Space.LOCAL, Space.TEXTURE, Space.GENERIC))
    table["slow"] = slow & (static["flags"] & (Flag.LOAD | Flag.ATOMIC) != 0)
    table["unit"][(static["unit"] == Unit.MEM) & ~accesses] = Unit.NONE  # fences and prefetches
    table["unit"][(table["unit"] == Unit.NONE) & (table["n_reads"] > 0)] = Unit.SP  # whatever reads registers collects them
    if machine.compatibility.fetch_when_empty:
        table["unit"][(table["unit"] == Unit.NONE) & ~table["metadata"]] = Unit.SP
    table["predicates_used"] = static["predicates_read"] | static["predicates_written"]
    table["predicates_written"] = static["predicates_written"]
    table["defines"] = _register_masks(static["writes"], static["n_writes"])
    table["uses"] = table["defines"] | _register_masks(static["reads"], static["n_reads"])
    kinds = [OpClass(kind) for kind in static["op_class"].tolist()]
    instructions = list(code.instructions())
    named = [(kind, instruction.op.name) for kind, instruction in zip(kinds, instructions, strict=True)]
    table["latency"] = [machine.latency_of(*each) for each in named]
    table["initiation"] = [machine.initiation_of(*each) for each in named]
    table["arrives_only"] = [i.op.name in ("bar", "BAR") and not ARRIVES.isdisjoint(i.op.modifiers) for i in instructions]
    if machine.stages.operands == OperandPath.PORTS:
        for row, kind, instruction in zip(table, kinds, instructions, strict=True):
            _for_ports(row, instruction, kind, machine)
    return table


def _register_masks(registers: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The first so many registers of each row, as a set in words of 64 bits."""
    masks = np.zeros((len(registers), REGISTER_WORDS), np.uint64)
    for column in range(int(counts.max(initial=0))):
        rows = np.flatnonzero(counts > column)
        register = registers[rows, column].astype(np.int64)
        masks[rows, register >> 6] |= np.uint64(1) << (register & 63).astype(np.uint64)
    return masks


def _for_ports(row: Any, instruction: Instruction, kind: OpClass, machine: Machine) -> None:
    """What sub-cores without collectors want to know of an instruction: its pipe, its control bits, the constant it reads."""
    row["constant"] = constant_line(instruction)
    if row["constant"] == INDEXED_CONSTANT:
        row["unit"] = Unit.SP  # it is issued when its line is there, and nothing else is asked for it
    wide = is_wide(instruction, literal=False)
    if wide:
        _note_runs(row, instruction)
    pipe = pipe_of(instruction, kind, int(row["unit"]), wide)
    row["bulk"] = bulk_work(instruction) if machine.bulk.lines > 0 else NO_COPY
    if row["bulk"] != NO_COPY:
        pipe, row["unit"] = Pipe.COPIES, Unit.SP
    if pipe is Pipe.NONE:
        row["unit"] = Unit.NONE
    row["pipe"] = pipe
    row["latency"] = latency_of(instruction, kind, pipe, wide, machine)
    row["initiation"] = interval_of(instruction, kind, pipe, wide, machine, int(row["n_reads"]))
    row["unit_cycles"] = unit_cycles_of(instruction, machine)
    row["read_again"] = operands_read_again(instruction)
    row["guarded"] = instruction.guard is not None
    control = instruction.control or NO_CONTROL
    row["stall"], row["yields"], row["wait"] = control.stall, control.yields, control.wait
    if instruction.op.name in ("BSYNC", "WARPSYNC"):
        row["stall"] = max(control.stall, machine.sub_core.sync_cycles)
    if instruction.op.name == "MEMBAR" and not SEEN_BY_ALL.isdisjoint(instruction.op.modifiers):
        row["stall"] = max(control.stall, machine.sub_core.fence_cycles)
    elif instruction.op.name == "MEMBAR":  # an SM's accesses are in order: for its CTA nothing is to be waited for
        row["traits"] = int(row["traits"]) & ~int(Flag.FENCE)
    waits_for_copies = instruction.op.name == "LDGDEPBAR"
    written = control.write_barrier is not None and (pipe is not Pipe.NONE or waits_for_copies)  # else it ends as it is issued
    row["write_counter"] = control.write_barrier if written else -1
    if wide and (group := _group_counter(instruction)) >= 0:
        row["write_counter"] = group
    row["read_counter"] = -1 if control.read_barrier is None else control.read_barrier
    held = control.write_barrier is not None or control.read_barrier is not None
    row["variable"] = held or wide or pipe in (Pipe.SPECIAL, Pipe.LANES, Pipe.CONSTANTS, Pipe.MEMORY, Pipe.PRODUCTS, Pipe.COPIES)
    row["copies"] = instruction.op.name == "LDGSTS"
    row["limited_counter"], row["limit"] = limited_counter(instruction)


def bulk_work(instruction: Instruction) -> int:
    """What an instruction is to the unit for copies of many bytes."""
    name, modifiers = instruction.op.name, instruction.op.modifiers
    if name == "UTMALDG" or (name == "UBLKCP" and modifiers[0] == "S"):
        return TO_SHARED
    if name in ("UBLKRED", "UTMAREDG"):
        return REDUCTION
    if name in ("UBLKCP", "UTMASTG"):
        return FROM_SHARED
    return GROUP_END if name == "UTMACMDFLUSH" else NO_COPY


def _note_runs(row: Any, instruction: Instruction) -> None:
    """Where the registers of an instruction with many of them are."""
    registers = wide_registers(instruction)
    row["wide"] = True
    for number, (first, count) in enumerate(registers.operands):
        row["run_first"][number], row["run_count"][number] = first, count
    row["addend"], row["result"], row["results"] = registers.addend, registers.result, registers.results
    row["quarter_passes"] = quarter_passes_of(instruction)
    row["cycles_for_a"] = cycles_for_a(instruction)


def _group_counter(instruction: Instruction) -> int:
    """The counter of groups of products that an instruction ends one of, behind those of control bits; -1: none."""
    groups = (source.name for source in instruction.srcs if isinstance(source, Special) and source.name.startswith("gsb"))
    return next((CONTROL_COUNTERS + int(name[3:]) for name in groups), -1)


def limited_counter(instruction: Instruction) -> tuple[int, int]:
    """The counter that DEPBAR.LE or WARPGROUP.DEPBAR.LE waits for and the value that lets it go on; (-1, 0): none."""
    if instruction.op.name == "WARPGROUP" and "DEPBAR" in instruction.op.modifiers:
        return _group_counter(instruction), next(source.bits for source in instruction.srcs if isinstance(source, Imm))
    if instruction.op.name != "DEPBAR":
        return -1, 0
    counters = [source for source in instruction.srcs if isinstance(source, Special) and source.name.startswith("SB")]
    limits = [source for source in instruction.srcs if isinstance(source, Imm)]
    if not counters or not limits:
        return -1, 0
    return int(counters[0].name[2:]), limits[0].bits


def constant_line(instruction: Instruction) -> int:
    """The line of 64 bytes of the first constant that an instruction reads like an operand, over all banks; NO_CONSTANT: none.

    INDEXED_CONSTANT: ULDC looks it up by a register, and the trace knows which it is. An LDC that does is a load.
    """
    for source in instruction.srcs:
        constant = source.operand if isinstance(source, Modified) else source
        if not isinstance(constant, Constant):
            continue
        if constant.register is not None:
            return INDEXED_CONSTANT if instruction.op.name == "ULDC" else NO_CONSTANT
        line = constant.offset >> 6
        if constant.bank == 0:
            return line % FIRST_CONSTANT_LINES
        if constant.bank == 3:
            return FIRST_INDEXED_LINE + line % INDEXED_LINES
        return FIRST_CONSTANT_LINES + line % FIRST_CONSTANT_LINES
    return NO_CONSTANT


def launch_info(code: Code, table: np.ndarray, trace: Trace, machine: Machine, registers_per_warp: int, cta_limit: int) -> Any:
    """The launch's numbers in one record; ``table`` is the code's."""
    info = np.zeros(1, INFO_DTYPE).view(np.recarray)[0]
    names = 1 + max((int(table[name].max(initial=0)) for name in ("reads", "writes")), default=0)
    file = machine.register_file
    info.groups = file.banks * file.entry_bytes // 128
    info.core_groups = info.groups // machine.sm.sub_cores
    info.entries = machine.warp_registers
    entries = np.arange(info.entries)
    info.group_of_entry[: info.entries], info.row_of_entry[: info.entries] = entries % info.groups, entries // info.groups
    info.row_words = (info.entries // info.groups + 63) // 64
    info.registers_per_warp = registers_per_warp
    info.registers = max(names, code.registers)
    info.literal = code.literal
    info.words = (info.registers + 63) // 64
    info.warps_per_cta = trace.warps_per_cta
    info.threads_per_cta = trace.block[0] * trace.block[1] * trace.block[2]
    info.ctas = trace.ctas
    info.cta_limit = cta_limit
    info.local_bytes = code.local_bytes  # 32 lanes x bytes / 32 bytes of a sector
    info.local_first = LOCAL_FIRST
    info.spill_first = SPILL_FIRST
    info.code_lines = -(-len(table) * machine.l1i.instruction_bytes // machine.l1i.line_bytes)
    info.line_shift = (machine.l1i.line_bytes // machine.l1i.instruction_bytes).bit_length() - 1
    return info


def with_notes(design: Policies, code: Code, table: np.ndarray, machine: Machine) -> np.ndarray:
    """The table with what each policy has to say about each instruction, as a nested record named after its choice."""
    noted = np.zeros(len(table), code_dtype(design))
    for name in field_names(StaticRow):
        noted[name] = table[name]
    for choice, policy in zip(CHOICES, design, strict=True):
        if hasattr(policy, "annotate"):
            notes = np.asarray(policy.annotate(code, table, machine))
            if notes.dtype != notes_dtype(policy) or len(notes) != len(table):
                raise WarploomError(f"{choice}={policy.NAME}: annotate must return one record of its NOTES per instruction")
            noted[choice] = notes
    return noted
