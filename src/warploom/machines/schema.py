"""What a machine file may say: one dataclass per table, one field per key, each with its range and its meaning.

The timing core reads a number from the machine's record (`record.MachineRecord`), under the table's prefix followed by the
key. Limits are either physical sense or the fixed maxima of the core's state records.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

MAX_SMS = 160
MAX_WARPS = 64
MAX_CTAS = 32
MAX_SCHEDULERS = 4
MAX_COLLECTORS = 32
MAX_RF_BANKS = 32
MAX_WARP_REGISTERS = 4096
MAX_CACHE_LINES = 2048  # of one first-level cache
MAX_MSHRS = 256
MAX_MERGED = 64
MAX_L1_LATENCY = 128
MAX_L2_SLICES = 128
MAX_L2_LINES = 524288  # of all slices together: 64 MiB
MAX_CHANNELS = 64
MAX_L2_WAYS = 64
MAX_DRAM_BANKS = 16
MAX_QUANTUM = 256
CARVE_OUTS = (0, 8, 16, 32, 64, 100, 132, 164, 196, 228)  # KB of shared memory that a launch can have, as CUDA hands it out
MAX_L0_LINES = 64  # of code, in a sub-core
MAX_PREFETCHED = 16  # lines of its stream buffer
MAX_MEMORY_QUEUE = 16  # memory instructions of a sub-core that have not been handed over
MAX_NEAR_LINES = 512  # of code, for all sub-cores


def number(low: float, high: float, meaning: str, power_of_two: bool = False) -> Any:
    """A field for a number between two bounds, both allowed."""
    return field(metadata={"low": low, "high": high, "meaning": meaning, "power_of_two": power_of_two})


def choice(meaning: str, *names: str) -> Any:
    """A field for one of several words; the record holds its position."""
    return field(metadata={"names": names, "meaning": meaning})


def switch(meaning: str) -> Any:
    """A field for true or false."""
    return field(metadata={"meaning": meaning})


@dataclass(frozen=True, slots=True)
class ChipTable:
    """The chip: how many SMs, and how fast its parts run."""

    PREFIX: ClassVar[str] = ""
    sms: int = number(1, MAX_SMS, "streaming multiprocessors")
    clock_core_mhz: float = number(
        1, 10000, "clock of the SMs; all times in this file are cycles of it unless they say otherwise"
    )
    clock_dram_mhz: float = number(1, 20000, "command clock of the DRAM")
    clock_energy_mhz: float = number(1, 10000, "clock by which leakage power becomes energy per cycle: the one a paper quotes")
    quantum: int = number(
        1, MAX_QUANTUM, "cycles an SM runs ahead of the memory system; no more than the shortest way to L2 and back"
    )
    ctas_launched_per_cycle: int = number(1, MAX_CTAS, "CTAs that an SM can take on in one cycle")
    cta_interval: int = number(1, 1000, "cycles between cycles in which an SM takes on CTAs")
    cta_follow_cycles: int = number(0, 1000, "cycles from the end of a CTA until another can take its place")
    cta_follow_interval: int = number(0, 64, "cycles between CTAs that take the place of others, on the whole chip")


@dataclass(frozen=True, slots=True)
class SmTable:
    """An SM's limits and the front of its pipeline."""

    PREFIX: ClassVar[str] = ""
    warps_per_sm: int = number(1, MAX_WARPS, "resident warps")
    ctas_per_sm: int = number(1, MAX_CTAS, "resident CTAs")
    threads_per_sm: int = number(32, MAX_WARPS * 32, "resident threads")
    registers_per_sm: int = number(1024, MAX_WARP_REGISTERS * 32, "32-bit registers")
    register_rounding: int = number(1, 64, "registers per thread are allocated in steps of this")
    max_registers_per_thread: int = number(8, 255, "registers that an instruction can name")
    uniform_registers: int = number(
        0, 128, "32-bit registers of a warp for values that all its lanes share; 0: such values are in registers of threads"
    )
    shared_bytes: int = number(0, 1 << 20, "shared memory")
    sub_cores: int = number(1, 4, "parts with their own schedulers, collectors, banks and units; a warp belongs to one")
    schedulers: int = number(1, MAX_SCHEDULERS, "warp schedulers in all sub-cores together")
    issue_width: int = number(1, 2, "instructions that a scheduler issues in a cycle, all from one warp")
    fetch_width: int = number(1, 4, "warps fetched for in a cycle")
    decode_width: int = number(1, 8, "instructions that one fetch delivers")
    ibuffer_entries: int = number(1, 8, "decoded instructions buffered per warp")
    branch_cycles: int = number(1, 64, "cycles from the issue of a branch to the fetch behind it")
    lone_warps: bool = switch("warps of CTAs without barriers and shared memory come and go one by one, as those of pixels do")


@dataclass(frozen=True, slots=True)
class RegisterFile:
    """The banks."""

    PREFIX: ClassVar[str] = "rf_"
    banks: int = number(1, MAX_RF_BANKS, "banks of an SM")
    entries_per_bank: int = number(8, MAX_WARP_REGISTERS, "entries of a bank")
    entry_bytes: int = number(
        16, 128, "width of an entry; a warp register of 128 bytes lies in 128/width neighbouring banks", True
    )
    subarrays_per_bank: int = number(1, 16, "parts of a bank that can be gated apart")
    read_ports: int = number(1, 4, "reads of a bank in a cycle")
    write_ports: int = number(1, 4, "writes of a bank in a cycle")
    single_ported: bool = switch("a bank reads or writes in a cycle, not both; a write goes first")
    mapping: str = choice("the bank group of a register", "register_plus_warp", "register")
    operand_fetch_cycles: int = number(1, 16, "cycles from a bank's grant to the operand in its collector")


@dataclass(frozen=True, slots=True)
class Collectors:
    """The operand collectors, of all sub-cores together."""

    PREFIX: ClassVar[str] = "collectors_"
    sp: int = number(1, MAX_COLLECTORS, "collectors for the SP units")
    sfu: int = number(1, MAX_COLLECTORS, "collectors for the SFU units")
    mem: int = number(1, MAX_COLLECTORS, "collectors for the load/store unit")
    ports_in_sp: int = number(1, 8, "instructions that enter SP collectors in a cycle")
    ports_in_sfu: int = number(1, 8, "instructions that enter SFU collectors in a cycle")
    ports_in_mem: int = number(1, 8, "instructions that enter MEM collectors in a cycle")
    ports_out_sp: int = number(1, 8, "instructions that leave SP collectors in a cycle")
    ports_out_sfu: int = number(1, 8, "instructions that leave SFU collectors in a cycle")
    ports_out_mem: int = number(1, 8, "instructions that leave MEM collectors in a cycle")

    @property
    def total(self) -> int:
        return self.sp + self.sfu + self.mem


@dataclass(frozen=True, slots=True)
class Units:
    """The execution units and the widths around them."""

    PREFIX: ClassVar[str] = "units_"
    sp: int = number(1, 8, "SP units, each a whole warp wide")
    sfu: int = number(1, 8, "SFU units")
    issue_sp: int = number(1, 8, "instructions issued to SP collectors in a cycle")
    issue_sfu: int = number(1, 8, "instructions issued to SFU collectors in a cycle")
    issue_mem: int = number(1, 8, "instructions issued to MEM collectors in a cycle")
    dispatch_sp: int = number(1, 8, "instructions sent from collectors to SP units in a cycle")
    dispatch_sfu: int = number(1, 8, "instructions sent from collectors to SFU units in a cycle")
    dispatch_mem: int = number(1, 8, "instructions sent from collectors to the load/store unit in a cycle")
    writeback_width: int = number(1, 8, "results written back in a cycle")
    forward_cycles: int = number(0, 32, "cycles that forwarding saves a dependent instruction on its way from issue to its unit")


@dataclass(frozen=True, slots=True)
class Stages:
    """Which stages a sub-core has between fetch and write-back; the numbers count where there are no collectors."""

    PREFIX: ClassVar[str] = "stage_"
    operands: str = choice(
        "how operands come to the units: through collectors, or through read ports that are reserved ahead", "collectors", "ports"
    )
    dependences: str = choice(
        "who knows of dependences: a scoreboard, or the compiler with stall counts and six counters a warp",
        "scoreboard",
        "control_bits",
    )
    read_cycles: int = number(1, 8, "cycles in which an instruction of fixed latency reads its operands")
    memory_queue: int = number(1, MAX_MEMORY_QUEUE, "memory instructions that a sub-core holds until the shared unit takes them")
    memory_interval: int = number(1, 64, "cycles between two memory instructions of a sub-core")
    store_interval: int = number(1, 64, "the same where the first is a store, which hands over a value too")
    global_interval: int = number(0, 64, "the same for device memory, whose addresses have 64 bits; 0: no difference is made")
    value_interval: int = number(0, 64, "cycles more for each register that a store or an atomic brings there")
    shared_interval: int = number(1, 64, "cycles between two memory instructions in the unit that sub-cores share")
    global_read_cycles: int = number(1, 64, "cycles from a sub-core's queue to the shared unit for device memory")
    shared_read_cycles: int = number(1, 64, "the same for shared memory")
    variable_queue: int = number(1, 16, "instructions that wait in front of the unit for exchange between lanes")
    special_held_cycles: int = number(
        0, 64, "cycles after its turn in the unit for functions that one of its two places stays taken"
    )
    variable_read_cycles: int = number(
        0, 32, "cycles by which an instruction of variable latency reads its operands later than one of fixed latency"
    )
    double_pass_cycles: int = number(
        1, 32, "cycles after which the rest of an instruction for FP64 passes to its operands, in which nothing else does"
    )
    uniform_cycles: int = number(1, 64, "cycles between two instructions of the uniform datapath")
    special_register_cycles: int = number(1, 512, "issue of S2R to the issue of an instruction that waits for it")
    special_uniform_cycles: int = number(1, 512, "the same for S2UR")
    constant_cycles: int = number(1, 512, "the same for LDC, where the constant is in the cache")
    reduction_cycles: int = number(1, 512, "the same for REDUX, which adds up over the lanes")
    special_interval: int = number(1, 64, "cycles between two S2R or two LDC of a sub-core, and in the SM's units for them")
    special_uniform_interval: int = number(1, 64, "cycles between two S2UR of a sub-core")
    wide_product_cycles: int = number(1, 64, "cycles between two products of integers with 64 bits in a sub-core")
    tensor_cycles: int = number(1, 512, "cycles between two products of matrices (16 x 8 x 16, half precision) in a sub-core")
    product_queue: int = number(1, 64, "products of many registers that a sub-core takes before the first is through")
    product_columns: int = number(1, 64, "columns of a warpgroup's product that a sub-core makes in a cycle")
    product_cycles: int = number(1, 512, "from the cycle in which a warpgroup's columns have been made to their registers")
    product_register_cycles: int = number(1, 512, "least cycles between two products of warpgroups with A in registers")
    double_products: int = number(1, 1024, "products of doubles that a sub-core's tensor core adds up in a cycle")
    double_product_cycles: int = number(1, 512, "cycles to the result of a product of doubles, beside those of making it")
    large_double_product_cycles: int = number(1, 512, "the same for one of 16 rows, from the cycle in which it has been made")
    double_product_interval: int = number(1, 512, "least cycles between two products of doubles in a sub-core")
    sparse_cycles: int = number(1, 512, "cycles between two sparse products (16 x 8 x 32, half precision) in a sub-core")
    barrier_interval: int = number(1, 16, "cycles between two warps that go on when all have arrived at their barrier")
    barrier_cycles: int = number(1, 60, "cycles that a warp goes on after its turn at an open barrier")
    sync_cycles: int = number(1, 15, "issue of BSYNC, where lanes meet again or a warp turns to others, to what follows it")
    fence_cycles: int = number(1, 4096, "issue of MEMBAR for the whole chip, where nothing is under way, to what follows it")
    launch_cycles: int = number(0, 4096, "from the arrival of a CTA at an SM to the fetch of its first instruction")
    exit_cycles: int = number(0, 4096, "from the end of a CTA's last warp until the SM is free of it")
    stores_awaited: bool = switch("a warp ends when its stores have been acknowledged, not when they have left")


@dataclass(frozen=True, slots=True)
class L0I:
    """A sub-core's own instruction cache with its stream buffer, and one that sub-cores share in front of the SM's."""

    PREFIX: ClassVar[str] = "l0i_"
    lines: int = number(0, MAX_L0_LINES, "lines, as long as those of the SM's instruction cache")
    prefetched: int = number(0, MAX_PREFETCHED, "lines behind a miss that the stream buffer asks for")
    miss_cycles: int = number(1, 1000, "cycles from a miss to an instruction from the cache behind it")
    near_lines: int = number(0, MAX_NEAR_LINES, "lines near all sub-cores, in sets of four; 0: the SM's cache is behind each")
    near_interval: int = number(1, 1000, "cycles between two lines that come to it from the SM's instruction cache")
    near_miss_cycles: int = number(1, 1000, "cycles that a line takes from there")


@dataclass(frozen=True, slots=True)
class Shared:
    """Shared memory."""

    PREFIX: ClassVar[str] = "shared_"
    banks: int = number(32, 32, "banks; the emulator counts conflicts for 32")
    latency: int = number(1, 1000, "cycles of an access without conflicts")
    cycles_per_pass: int = number(1, 64, "cycles that one conflict-free pass keeps the memory busy")
    pause_cycles: int = number(0, 64, "cycles between passes of one sub-core, in which those of others are made")
    pairs: bool = switch(
        "a load of 8 or 16 bytes whose lanes share in pairs all over the warp takes two groups of lanes at a time"
    )


@dataclass(frozen=True, slots=True)
class Cache:
    """A first-level cache."""

    PREFIX: ClassVar[str] = ""
    sets: int = number(1, MAX_CACHE_LINES, "sets", True)
    ways: int = number(1, MAX_CACHE_LINES, "ways")
    line_bytes: int = number(32, 128, "bytes of a line", True)
    hashed: bool = switch("the set index folds in upper address bits")
    latency: int = number(1, MAX_L1_LATENCY, "cycles from the unit to the tags and data")
    mshrs: int = number(1, MAX_MSHRS, "lines on their way")
    merged: int = number(1, MAX_MERGED, "accesses that wait for one line")
    miss_queue: int = number(1, 64, "requests that wait for the crossbar")


@dataclass(frozen=True, slots=True)
class L1(Cache):
    """The data cache: write-evict for global, write-back for local memory, no allocation by stores."""

    PREFIX: ClassVar[str] = "l1_"
    store_credits: int = number(1, 512, "lines that an SM may have stored and not yet seen acknowledged")
    atomic_credits: int = number(1, 512, "transactions past the L1 (atomic, volatile) that an SM may have under way")
    unified: bool = switch("what a launch's CTAs take of shared memory is taken from it, in the steps of CARVE_OUTS")
    sectored: bool = switch("a miss fetches the sectors that are asked for, not the whole line; stores leave lines in place")


@dataclass(frozen=True, slots=True)
class L1I(Cache):
    """The instruction cache."""

    PREFIX: ClassVar[str] = "l1i_"
    instruction_bytes: int = number(4, 16, "bytes of an instruction", True)
    brought: int = number(0, 256, "lines of a launch's code that are in L2 when it begins")
    prefetched: int = number(0, 64, "lines behind one that is missing which are fetched with it")
    kept: bool = switch("a launch finds what earlier launches of the same code left in it")


@dataclass(frozen=True, slots=True)
class L1C(Cache):
    """The constant cache, which kernel parameters also go through."""

    PREFIX: ClassVar[str] = "l1c_"
    first_cycles: int = number(0, 1000, "cycles more for the first use of a line that a launch brings along")
    behind_cycles: int = number(0, 1000, "cycles that a line takes from the cache for code; 0: lines come from L2 instead")
    behind_latency: int = number(0, 1000, "cycles more until the data of such a line are there")
    address_cycles: int = number(0, 64, "cycles of the unit for each address that lanes want; 0: one for each line")
    again_cycles: int = number(0, 64, "cycles from one address of an instruction to the next")


@dataclass(frozen=True, slots=True)
class L1T(Cache):
    """The texture cache; where the data cache fetches sectors, textures share it, and this is the way to it."""

    PREFIX: ClassVar[str] = "l1t_"
    filter_cycles: int = number(0, 1000, "cycles more of a fetch that filters texels, where textures share the data cache")
    word_cycles: int = number(0, 1000, "cycles more of a fetch there for each cycle after the first that four of its lanes take")


@dataclass(frozen=True, slots=True)
class Interconnect:
    """The crossbar between SMs and L2 slices."""

    PREFIX: ClassVar[str] = "xbar_"
    latency: int = number(1, 1000, "cycles one way without contention")
    flit_bytes: int = number(8, 256, "bytes that a port moves in a cycle")
    header_bytes: int = number(0, 64, "bytes of a packet besides its data")
    store_cycles: int = number(0, 64, "cycles that an SM's port takes for a sector that it stores; 0: those of its bytes")
    mask_cycles: int = number(0, 64, "cycles more for a line of whose sectors parts are stored")
    taken_cycles: int = number(0, 64, "cycles in which an SM's port takes a reply, whatever its bytes; 0: those of its bytes")
    groups: int = number(0, 16, "groups of SMs whose reads of the same sectors are joined on their way to L2; 0: none are")
    joined: int = number(1, 64, "reads of data that are joined at most")
    joined_code: int = number(1, 64, "reads of code and constants that are joined at most")
    buffered: bool = switch("a packet that waits for its port holds up none behind it that go elsewhere")

    def flits(self, data_bytes: int) -> int:
        """Cycles that a packet keeps a port busy."""
        return max(1, -(-(self.header_bytes + data_bytes) // self.flit_bytes))


@dataclass(frozen=True, slots=True)
class L2:
    """The second-level cache: write-back, allocated on a miss, written without a fetch, fetched by 32-byte sectors."""

    PREFIX: ClassVar[str] = "l2_"
    slices: int = number(1, MAX_L2_SLICES, "slices")
    sets: int = number(1, 4096, "sets of a slice", True)
    ways: int = number(1, MAX_L2_WAYS, "ways")
    dirty_ways: int = number(
        1, MAX_L2_WAYS, "ways of a set whose lines are not yet in DRAM; of more, the least recently used is written there"
    )
    line_bytes: int = number(128, 128, "bytes of a line")
    latency: int = number(1, 1000, "cycles from the crossbar to the tags")
    reply_latency: int = number(0, 1000, "cycles from data or tags to the crossbar")
    hashed: bool = switch("the set index folds in upper address bits")
    sectors_per_cycle: int = number(1, 4, "sectors of one line that a slice reads in a cycle")
    line_write_cycles: float = number(1, 16, "cycles in which a slice writes a whole line; parts of it take their share")
    part_write_cycles: float = number(0, 16, "cycles more for a store that leaves bytes of a sector as they are")
    fetched: int = number(1, 2, "neighbouring sectors that are fetched together", True)
    far_cycles: int = number(0, 1000, "cycles more to slices in the other half of the chip, unless the SM's half has a copy")
    mshrs: int = number(1, 4096, "sectors on their way")
    atomic_cycles: float = number(1, 64, "cycles that an atomic operation of one lane keeps a slice busy")
    atomic_row_cycles: float = number(1, 64, "the same of several lanes, which are on other words of a sector")
    atomic_again_cycles: float = number(
        1, 64, "the same on the line of the slice's last one, or of the next lane on the same word"
    )
    atomic_latency: int = number(0, 1000, "cycles more from the tags to the answer of an atomic operation")
    atomic_sectors: bool = switch("lanes of an atomic instruction that meet in a sector travel together")
    merged: int = number(1, 64, "requests that wait for one line")
    dram_queue: int = number(1, 1024, "sectors that wait for room at the DRAM controller")


@dataclass(frozen=True, slots=True)
class Dram:
    """The DRAM channels. Timing values are cycles of the DRAM's command clock."""

    PREFIX: ClassVar[str] = "dram_"
    channels: int = number(1, MAX_CHANNELS, "channels; each serves the same number of slices")
    interleave_bytes: int = number(128, 4096, "neighbouring bytes in one channel", True)
    banks: int = number(1, MAX_DRAM_BANKS, "banks of a channel", True)
    bank_groups: int = number(1, MAX_DRAM_BANKS, "groups of banks", True)
    hashed: bool = switch("which channel a block is in depends on all of its address, so that no stride meets only a few")
    bank_low_bit: int = number(
        7, 31, "address bit (within the channel) of the bank number's lowest bit, which also picks the slice"
    )
    bank_high_bit: int = number(7, 31, "address bit of the bank number's next bit")
    row_bit: int = number(7, 31, "lowest address bit of the row number")
    latency: int = number(0, 10000, "core cycles from L2 to the controller")
    queue: int = number(1, 4096, "sectors that the controller holds, those on their way back included")
    burst_bytes: int = number(32, 128, "bytes of a burst", True)
    burst_cycles: float = number(0.25, 64, "cycles of the data bus that a burst takes")
    ccd: int = number(1, 100, "column command to column command")
    ccdl: int = number(1, 100, "the same within a bank group")
    rrd: int = number(1, 100, "activation to activation of another bank")
    rcd: int = number(1, 200, "activation to column command")
    ras: int = number(1, 400, "activation to precharge")
    rp: int = number(1, 200, "precharge to activation")
    rc: int = number(1, 600, "activation to activation of the same bank")
    cl: int = number(1, 200, "read command to data")
    wl: int = number(1, 200, "write command to data")
    cdlr: int = number(1, 200, "end of written data to read command")
    wr: int = number(1, 200, "end of written data to precharge")
    rtpl: int = number(1, 200, "read command to precharge")
    rfc: int = number(0, 10000, "how long the refresh of a bank takes; 0: there is no refresh")
    refi: int = number(1, 1_000_000, "from one refresh of a bank to the next")


@dataclass(frozen=True, slots=True)
class Bulk:
    """The unit of an SM for copies of many bytes (cp.async.bulk), and barriers in shared memory that count them (mbarrier)."""

    PREFIX: ClassVar[str] = "bulk_"
    lines: int = number(
        0, 2048, "lines that an SM can have under way; 0: such copies and waits for barriers in shared memory take no time"
    )
    line_cycles: float = number(0, 64, "cycles between two lines that the unit asks for")
    read_cycles: int = number(0, 1000, "cycles from the issue of a copy until it has read its registers")
    load_cycles: int = number(0, 1000, "cycles from the issue of a copy to shared memory until it asks for its first line")
    store_cycles: int = number(0, 1000, "cycles from the issue of a copy from shared memory until it sends its first line")
    phase_cycles: int = number(0, 1000, "cycles from the last arrival at a barrier in shared memory until waits see it")


@dataclass(frozen=True, slots=True)
class Fixed:
    """The simple memory that replaces caches, crossbar and DRAM where `model` says so."""

    PREFIX: ClassVar[str] = "fixed_"
    model: str = choice("which memory the machine has", "hierarchy", "fixed")
    latency: int = number(1, 10000, "cycles of an access to device memory")
    bytes_per_cycle: int = number(1, 4096, "bytes that an SM moves to or from it in a cycle")
    texture_latency: int = number(1, 10000, "cycles of a texture access")
    texture_lanes_per_cycle: int = number(1, 32, "lanes that the texture unit serves in a cycle")


@dataclass(frozen=True, slots=True)
class Compatibility:
    """Peculiarities of one simulator, on only in machines that are compared with it."""

    PREFIX: ClassVar[str] = "compat_"
    fetch_when_empty: bool = switch("fetch for a warp starts only when its instruction buffer is empty")
    unlisted_operations_take_one_cycle: bool = switch(
        "fma, moves, logic, compares and conversions have latency and initiation 1, whatever [latency] says"
    )
    shared_atomics_in_parallel: bool = switch("atomics on the same word of shared memory are not serialised")
    sector_atomics_in_parallel: bool = switch("atomics of a warp on different words of a sector are one transaction")
    sectors_travel_alone: bool = switch(
        "every 32-byte sector read takes a DRAM burst and a packet to the SM of its own, every one written an acknowledgement"
    )
