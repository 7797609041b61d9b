"""The tables of a machine file about the chip, its SMs and their sub-cores (`schema` has all tables)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated

from warploom.base.records import Record, f8, flag, i8
from warploom.chip.machines.keys import choice, number, switch
from warploom.chip.machines.limits import (
    MAX_COLLECTORS,
    MAX_CTAS,
    MAX_L0_LINES,
    MAX_MEMORY_QUEUE,
    MAX_NEAR_LINES,
    MAX_PREFETCHED,
    MAX_QUANTUM,
    MAX_RF_BANKS,
    MAX_SCHEDULERS,
    MAX_SMS,
    MAX_WARP_REGISTERS,
    MAX_WARPS,
)


class BankMapping(IntEnum):
    """The bank group of a register."""

    REGISTER_PLUS_WARP = 0
    REGISTER = 1


class OperandPath(IntEnum):
    """How operands come to the units."""

    COLLECTORS = 0
    PORTS = 1


class Dependences(IntEnum):
    """Who knows of dependences."""

    SCOREBOARD = 0
    CONTROL_BITS = 1


@dataclass(frozen=True, slots=True)
class ChipTable(Record):
    """The chip: how many SMs it has, and how fast its parts run."""

    sms: i8 = number(1, MAX_SMS, "SMs", "Streaming multiprocessors on the chip.")
    clock_core_mhz: f8 = number(
        1, 10000, "MHz", "Clock of the SMs. Cycles in this file are cycles of it unless they say otherwise."
    )
    clock_dram_mhz: f8 = number(1, 20000, "MHz", "Command clock of the DRAM.")
    clock_energy_mhz: f8 = number(
        1,
        10000,
        "MHz",
        "Clock by which leakage power becomes energy per cycle. A paper's machine has the clock that the paper quotes.",
    )
    quantum: i8 = number(
        1,
        MAX_QUANTUM,
        "cycles",
        "How far an SM runs ahead of the memory system in the simulation, at most the shortest way to L2 and back.",
    )
    ctas_launched_per_cycle: i8 = number(1, MAX_CTAS, "CTAs", "CTAs that one SM can be given in the same cycle.")
    cta_interval: i8 = number(1, 1000, "cycles", "Least time between two cycles in which the same SM is given CTAs.")
    cta_follow_cycles: i8 = number(0, 1000, "cycles", "Time from the end of a CTA until another CTA can take its place.")
    cta_follow_interval: i8 = number(
        0,
        64,
        "cycles",
        "Least time, on the whole chip, between two CTAs that take the place of others. 0: there is no limit.",
    )


@dataclass(frozen=True, slots=True)
class SmTable(Record):
    """An SM's limits and the front of its pipeline."""

    warps_per_sm: i8 = number(1, MAX_WARPS, "warps", "Warps that can be resident on an SM.")
    ctas_per_sm: i8 = number(1, MAX_CTAS, "CTAs", "CTAs that can be resident on an SM.")
    threads_per_sm: i8 = number(32, MAX_WARPS * 32, "threads", "Threads that can be resident on an SM.")
    registers_per_sm: i8 = number(1024, MAX_WARP_REGISTERS * 32, "registers", "32-bit registers in an SM's register file.")
    register_rounding: i8 = number(1, 64, "registers", "Registers per thread are rounded up to a multiple of this at launch.")
    max_registers_per_thread: i8 = number(8, 255, "registers", "Registers that an instruction can name.")
    uniform_registers: i8 = number(
        0,
        128,
        "registers",
        "32-bit registers of a warp for values that all its lanes share. 0: such values are in registers of threads.",
    )
    shared_bytes: i8 = number(0, 1 << 20, "bytes", "Shared memory of an SM that CTAs can have in all.")
    sub_cores: i8 = number(
        1,
        4,
        "sub-cores",
        "Parts of an SM with schedulers, collectors, banks and units of their own. A warp belongs to one of them.",
    )
    schedulers: i8 = number(1, MAX_SCHEDULERS, "schedulers", "Warp schedulers of an SM, in all its sub-cores together.")
    issue_width: i8 = number(1, 2, "instructions", "Instructions that a scheduler can issue in a cycle, all from one warp.")
    fetch_width: i8 = number(1, 4, "warps", "Warps of an SM for which instructions are fetched in a cycle.")
    decode_width: i8 = number(1, 8, "instructions", "Instructions of a warp that one fetch delivers at most.")
    ibuffer_entries: i8 = number(1, 8, "instructions", "Decoded instructions that are buffered for each warp.")
    branch_cycles: i8 = number(1, 64, "cycles", "Time from the issue of a branch that is taken to the fetch of what follows it.")
    lone_warps: flag = switch(
        "Warps of CTAs without barriers and shared memory are launched and end one by one, as those of pixels do.", unless=False
    )


@dataclass(frozen=True, slots=True)
class RegisterFile(Record):
    """The banks of the main register file."""

    banks: i8 = number(1, MAX_RF_BANKS, "banks", "Banks of an SM's register file, in all sub-cores together.")
    entries_per_bank: i8 = number(8, MAX_WARP_REGISTERS, "entries", "Entries of a bank.")
    entry_bytes: i8 = number(
        16,
        128,
        "bytes",
        "Width of a bank's entry. A warp's register of 128 bytes lies in 128 / entry_bytes neighbouring banks.",
        True,
    )
    subarrays_per_bank: i8 = number(1, 16, "subarrays", "Parts of a bank whose power can be gated apart.")
    read_ports: i8 = number(1, 4, "reads", "Reads that a bank serves in a cycle.")
    write_ports: i8 = number(1, 4, "writes", "Writes that a bank takes in a cycle.")
    single_ported: flag = switch("In a cycle a bank either reads or writes, and a write goes first.")
    mapping: Annotated[BankMapping, "i8"] = choice(
        BankMapping,
        "What decides the bank group of a register: its number plus the warp's, or its number alone.",
    )
    operand_fetch_cycles: i8 = number(
        1, 16, "cycles", "Time from the cycle in which a bank reads an operand until it is in its collector.", unless=1
    )


@dataclass(frozen=True, slots=True)
class Collectors(Record):
    """The operand collectors of an SM, in all its sub-cores together, and their ports."""

    sp: i8 = number(1, MAX_COLLECTORS, "collectors", "Operand collectors in front of the SP units.")
    sfu: i8 = number(1, MAX_COLLECTORS, "collectors", "Operand collectors in front of the SFU units.")
    mem: i8 = number(1, MAX_COLLECTORS, "collectors", "Operand collectors in front of the load/store unit.")
    ports_in_sp: i8 = number(1, 8, "instructions", "Instructions that enter SP collectors in a cycle.")
    ports_in_sfu: i8 = number(1, 8, "instructions", "Instructions that enter SFU collectors in a cycle.")
    ports_in_mem: i8 = number(1, 8, "instructions", "Instructions that enter MEM collectors in a cycle.")
    ports_out_sp: i8 = number(1, 8, "instructions", "Instructions that leave SP collectors in a cycle.")
    ports_out_sfu: i8 = number(1, 8, "instructions", "Instructions that leave SFU collectors in a cycle.")
    ports_out_mem: i8 = number(1, 8, "instructions", "Instructions that leave MEM collectors in a cycle.")

    @property
    def total(self) -> int:
        return self.sp + self.sfu + self.mem


@dataclass(frozen=True, slots=True)
class Units(Record):
    """The execution units of an SM, in all its sub-cores together, and the widths around them."""

    sp: i8 = number(1, 8, "units", "SP units, each as wide as a warp.")
    sfu: i8 = number(1, 8, "units", "SFU units.")
    issue_sp: i8 = number(1, 8, "instructions", "Instructions that the latch between issue and the SP collectors holds.")
    issue_sfu: i8 = number(1, 8, "instructions", "Instructions that the latch between issue and the SFU collectors holds.")
    issue_mem: i8 = number(1, 8, "instructions", "Instructions that the latch between issue and the MEM collectors holds.")
    dispatch_sp: i8 = number(
        1, 8, "instructions", "Instructions that go from collectors to SP units in a cycle, at most collectors.ports_out_sp."
    )
    dispatch_sfu: i8 = number(
        1, 8, "instructions", "Instructions that go from collectors to SFU units in a cycle, at most collectors.ports_out_sfu."
    )
    dispatch_mem: i8 = number(
        1,
        8,
        "instructions",
        "Instructions that go from collectors to the load/store unit in a cycle, at most collectors.ports_out_mem.",
    )
    writeback_width: i8 = number(
        1, 8, "instructions", "Instructions of SP and SFU units whose results can be ready in the same cycle."
    )
    forward_cycles: i8 = number(
        0,
        32,
        "cycles",
        "Time that forwarding of results saves an instruction which depends on another, on its way from issue to its unit.",
        unless=0,
    )


@dataclass(frozen=True, slots=True)
class Stages(Record):
    """Which stages an SM has between fetch and write-back, and how warps begin and end."""

    operands: Annotated[OperandPath, "i8"] = choice(
        OperandPath, "How operands come to the units: through operand collectors, or through read ports that are reserved ahead."
    )
    dependences: Annotated[Dependences, "i8"] = choice(
        Dependences,
        "Who knows of dependences: a scoreboard, or the compiler with stall counts and six counters for each warp.",
    )
    launch_cycles: i8 = number(
        0, 4096, "cycles", "Time from the arrival of a CTA at an SM to the fetch of its first instruction."
    )
    exit_cycles: i8 = number(0, 4096, "cycles", "Time from the end of a CTA's last warp until the SM is free of it.")
    stores_awaited: flag = switch("A warp ends when its stores have been acknowledged, and not when they have left.")


@dataclass(frozen=True, slots=True)
class SubCore(Record):
    """A sub-core that reads operands through reserved ports, and the units that sub-cores share (`stages.operands = "ports"`)."""

    control_cycles: i8 = number(
        1, 8, "cycles", "Time from the issue of an instruction to the stage that reserves its read ports."
    )
    fetch_cycles: i8 = number(0, 8, "cycles", "Time of fetch and decoding behind a taken branch, beside sm.branch_cycles.")
    read_cycles: i8 = number(1, 8, "cycles", "Cycles in which an instruction of fixed latency reads its operands.")
    memory_queue: i8 = number(
        1, MAX_MEMORY_QUEUE, "instructions", "Memory instructions that a sub-core holds until the unit that all share takes them."
    )
    memory_interval: i8 = number(1, 64, "cycles", "Time between two memory instructions of a sub-core, the first of them a load.")
    store_interval: i8 = number(
        1,
        64,
        "cycles",
        "Time between two memory instructions of a sub-core, the first of them a store, which hands over a value too.",
    )
    global_interval: i8 = number(
        0,
        64,
        "cycles",
        "The same where the first accesses device memory, whose addresses have 64 bits. 0: it is as any other.",
    )
    value_interval: i8 = number(
        0, 64, "cycles", "Extra time for each register that a store or an atomic operation brings to device memory."
    )
    shared_interval: i8 = number(1, 64, "cycles", "Time between two memory instructions in the unit that sub-cores share.")
    global_read_cycles: i8 = number(
        1, 64, "cycles", "Time from a sub-core's queue to the shared unit for an access to device memory."
    )
    shared_read_cycles: i8 = number(
        1, 64, "cycles", "Time from a sub-core's queue to the shared unit for an access to shared memory."
    )
    variable_queue: i8 = number(
        1,
        16,
        "instructions",
        "Instructions of a sub-core that wait in front of the units for exchange between lanes and for constants.",
    )
    special_held_cycles: i8 = number(
        0,
        64,
        "cycles",
        "Time after its turn in the unit for functions (MUFU and conversions) that an instruction keeps one of its two places.",
    )
    variable_read_cycles: i8 = number(
        0,
        32,
        "cycles",
        "Time by which an instruction of variable latency reads its operands later than one of fixed latency.",
    )
    double_pass_cycles: i8 = number(
        1,
        32,
        "cycles",
        "Time after which the second half of an FP64 instruction passes to its operands; nothing else passes in that cycle.",
    )
    uniform_cycles: i8 = number(1, 64, "cycles", "Time between two instructions of the uniform datapath of a sub-core.")
    special_register_cycles: i8 = number(
        1,
        512,
        "cycles",
        "Time from the issue of S2R, which reads a special register, to the issue of an instruction that needs it.",
    )
    special_uniform_cycles: i8 = number(
        1,
        512,
        "cycles",
        "Time from the issue of S2UR, S2R's kind for uniform registers, to the issue of an instruction that needs it.",
    )
    constant_cycles: i8 = number(
        1,
        512,
        "cycles",
        "Time from the issue of LDC, where the constant is in the cache, to the issue of an instruction that needs it.",
    )
    reduction_cycles: i8 = number(
        1,
        512,
        "cycles",
        "Time from the issue of REDUX, which adds up over the lanes, to the issue of an instruction that needs it.",
    )
    special_interval: i8 = number(
        1, 64, "cycles", "Time between two S2R, or two LDC, of a sub-core, and between two in the SM's unit for them."
    )
    special_uniform_interval: i8 = number(1, 64, "cycles", "Time between two S2UR of a sub-core.")
    wide_product_cycles: i8 = number(
        1, 64, "cycles", "Time between two multiplications of integers with a result of 64 bits in a sub-core."
    )
    tensor_cycles: i8 = number(
        1, 512, "cycles", "Time between two products of matrices (16 x 8 x 16, half precision) in a sub-core's tensor core."
    )
    product_queue: i8 = number(
        1, 64, "products", "Products of many registers that a sub-core takes before the first of them is through."
    )
    product_columns: i8 = number(1, 64, "columns", "Columns of a warpgroup's product that a sub-core makes in a cycle.")
    product_cycles: i8 = number(
        1,
        512,
        "cycles",
        "Time from the cycle in which columns of a warpgroup's product have been made until they are in registers.",
    )
    product_register_cycles: i8 = number(
        1, 512, "cycles", "Least time between two products of warpgroups whose matrix A is in registers."
    )
    double_products: i8 = number(1, 1024, "products", "Products of two doubles that a sub-core's tensor core adds up in a cycle.")
    double_product_cycles: i8 = number(
        1, 512, "cycles", "Time to the result of a product of matrices of doubles, beside the time of making it."
    )
    large_double_product_cycles: i8 = number(
        1, 512, "cycles", "The same for a product with 16 rows, from the cycle in which it has been made."
    )
    double_product_interval: i8 = number(
        1, 512, "cycles", "Least time between two products of matrices of doubles in a sub-core."
    )
    sparse_cycles: i8 = number(
        1, 512, "cycles", "Time between two sparse products of matrices (16 x 8 x 32, half precision) in a sub-core."
    )
    barrier_interval: i8 = number(1, 16, "cycles", "Time between two warps that go on when all have arrived at their barrier.")
    barrier_cycles: i8 = number(1, 60, "cycles", "Time from a warp's turn at an open barrier until it issues again.")
    sync_cycles: i8 = number(
        1, 15, "cycles", "Time from the issue of BSYNC, where diverged lanes meet again, to the issue of what follows it."
    )
    fence_cycles: i8 = number(
        1,
        4096,
        "cycles",
        "Time from the issue of MEMBAR for the whole chip, where nothing is under way, to the issue of what follows it.",
    )


@dataclass(frozen=True, slots=True)
class L0I(Record):
    """A sub-core's own instruction cache with its stream buffer, and a cache near all sub-cores in front of the SM's."""

    lines: i8 = number(0, MAX_L0_LINES, "lines", "Lines of a sub-core's cache, as long as those of the SM's instruction cache.")
    prefetched: i8 = number(0, MAX_PREFETCHED, "lines", "Lines behind the one that is needed which the stream buffer asks for.")
    miss_cycles: i8 = number(1, 1000, "cycles", "Time that a line takes from the cache behind to the sub-core's.")
    near_lines: i8 = number(
        0,
        MAX_NEAR_LINES,
        "lines",
        "Lines of the cache near all sub-cores. 0: there is none, and the SM's instruction cache is behind each sub-core's.",
    )
    near_ways: i8 = number(1, 16, "ways", "Ways of the cache near all sub-cores.")
    near_interval: i8 = number(1, 1000, "cycles", "Time between two lines that come to the near cache from the SM's cache.")
    near_miss_cycles: i8 = number(1, 1000, "cycles", "Time that a line takes from the SM's instruction cache to the near cache.")


@dataclass(frozen=True, slots=True)
class Bulk(Record):
    """The unit of an SM for copies of many bytes (cp.async.bulk), and barriers in shared memory that count them (mbarrier)."""

    lines: i8 = number(
        0,
        2048,
        "lines",
        "Lines of copies that an SM can have under way. 0: copies, and waits for barriers in shared memory, take no time.",
    )
    line_cycles: f8 = number(0, 64, "cycles", "Time between two lines that the unit asks for.")
    read_cycles: i8 = number(0, 1000, "cycles", "Time from the issue of a copy to shared memory until it has read its registers.")
    load_cycles: i8 = number(
        0, 1000, "cycles", "Time from the issue of a copy to shared memory until it asks for its first line."
    )
    store_cycles: i8 = number(
        0, 1000, "cycles", "Time from the issue of a copy from shared memory until it sends its first line."
    )
    phase_cycles: i8 = number(
        0, 1000, "cycles", "Time from the last arrival at a barrier in shared memory until waiting warps see it."
    )


@dataclass(frozen=True, slots=True)
class Compatibility(Record):
    """Peculiarities of one simulator, on only in machines that are compared with it."""

    fetch_when_empty: flag = switch("Fetch for a warp starts only when its instruction buffer is empty.", unless=False)
    unlisted_operations_take_one_cycle: flag = switch(
        "Fma, moves, logic, compares and conversions have latency and initiation 1, whatever those tables say.", unless=False
    )
    shared_atomics_in_parallel: flag = switch(
        "Atomic operations on the same word of shared memory are not made one after the other.", unless=False
    )
    sector_atomics_in_parallel: flag = switch(
        "Atomic operations of a warp on different words of a sector are one transaction.", unless=False
    )
    sectors_travel_alone: flag = switch(
        "Each sector read has a DRAM burst and a packet to the SM of its own, and each one written an acknowledgement.",
        unless=False,
    )
