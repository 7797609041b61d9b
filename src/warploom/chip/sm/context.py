"""What every hook is given as ``ctx``: all that does not change during a launch."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from warploom.base.records import Array, Mask, Record, flag, i1, i2, i4, i8, u1, u2, u8
from warploom.chip.machines import MachineRecord
from warploom.chip.machines.limits import MAX_WARP_REGISTERS
from warploom.chip.sm.choices import Policies
from warploom.chip.sm.layout import MAX_READS, REGISTER_WORDS
from warploom.compiler.code.table import MAX_WRITES
from warploom.compiler.code.wide import MAX_RUNS

NO_CONSTANT, INDEXED_CONSTANT = -1, -2  # INDEXED_CONSTANT: the trace says which line an instruction reads


class StaticRow(Record):
    """What the pipeline knows of one instruction of the code."""

    traits: u2  # `warploom.compiler.code.table.Flag`; an attribute `flags` would hide behind NumPy's own
    op_class: u1
    unit: u1  # 0: resolved at issue
    n_reads: u1
    n_writes: u1
    space: u1
    metadata: flag
    has_memory: flag  # has an entry in the trace's memory column
    arrives_only: flag  # a barrier that does not wait
    slow: flag  # its result takes long: loads from global, local and texture memory
    latency: i4
    initiation: i4
    reads: Annotated[Array[i2], MAX_READS]
    writes: Annotated[Array[i2], MAX_WRITES]
    payload: u8
    predicates_used: Mask
    predicates_written: Mask
    # of SASS, where a machine's sub-cores heed control bits
    stall: i2  # cycles before the warp's next instruction
    yields: flag
    wait: u1  # a mask of the counters that must be zero
    write_counter: i1  # held until the results are written; -1: none
    read_counter: i1  # held until the operands are read
    limited_counter: i1  # which DEPBAR waits for
    limit: u1
    pipe: u1  # `warploom.chip.pipeline.pipes.Pipe`
    variable: flag  # of variable latency
    unit_cycles: u1  # for which it keeps the unit of the SM that its pipe leads to; 0: the pipe's unit is the sub-core's own
    read_again: u1  # a mask of the registers that it reads twice
    guarded: flag
    copies: flag  # from device memory to shared memory, past the registers
    bulk: u1  # what it is to the unit for copies of many bytes
    constant: i2  # the line of the constant that it reads like an operand, or one of the two above
    # of instructions with more registers than fit above, which name none there: `warploom.compiler.code.wide`
    wide: flag
    run_first: Annotated[Array[i2], MAX_RUNS]  # registers that are read before anything is written
    run_count: Annotated[Array[i2], MAX_RUNS]
    addend: i2  # the first register of it; -1: none
    result: i2
    results: i2
    quarter_passes: i4  # that four warps together make in shared memory for it, each of them a quarter
    cycles_for_a: i4  # of a warpgroup, until its product can begin
    # of long arrays mostly the beginning is looked at, so they come last
    uses: Annotated[Array[Mask], REGISTER_WORDS]  # registers read or written
    defines: Annotated[Array[Mask], REGISTER_WORDS]


class CodeRow(StaticRow):
    """An instruction with what each policy noted about it (`NOTES`)."""

    scheduler: Any
    allocation: Any
    hierarchy: Any
    encoding: Any
    power: Any
    gating: Any


class Info(Record):
    """The numbers of a launch."""

    registers_per_warp: i8  # physical entries that a warp is given where allocation is static
    registers: i8  # names that the code uses
    literal: i8
    words: i8  # of 64 registers that the scoreboard looks at
    groups: i8  # of banks: how many registers can be accessed at once
    core_groups: i8  # of one sub-core
    row_words: i8
    entries: i8
    group_of_entry: Annotated[Array[u1], MAX_WARP_REGISTERS]  # of banks; the same in all SMs
    row_of_entry: Annotated[Array[i2], MAX_WARP_REGISTERS]  # in its group
    warps_per_cta: i8
    threads_per_cta: i8
    ctas: i8
    cta_limit: i8
    local_bytes: i8  # sectors of a warp's window of local memory
    local_first: i8  # sector where the windows begin
    line_shift: i8  # instructions of a line of code, as a power of two
    spill_first: i8  # sector where the reserved memory of injected spills begins
    code_lines: i8  # of the instruction cache


class Columns(Record):
    """The addresses of the trace's columns; `warploom.chip.sm.columns` reads them."""

    pc: i8
    mask: i8
    value: i8
    memory: i8
    sector: i8
    lanes: i8
    last: i8
    start: i8


class Context(NamedTuple):
    """The first argument of every hook after the policy."""

    machine: MachineRecord
    design: Policies
    check: Any  # the shadow checker, or none
    observers: Any
    info: Info
    code: Array[CodeRow]  # by pc
    trace: Columns
    stages: Any  # the stages of the machine's sub-cores: `warploom.chip.stages`
