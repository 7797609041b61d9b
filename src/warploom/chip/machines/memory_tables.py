"""The tables of a machine file about memory: shared memory, caches, crossbar, L2, DRAM (`schema` has all tables)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated

from warploom.base.records import Record, f8, flag, i8
from warploom.chip.machines.keys import choice, number, switch
from warploom.chip.machines.limits import (
    MAX_CACHE_LINES,
    MAX_CHANNELS,
    MAX_DRAM_BANKS,
    MAX_L1_LATENCY,
    MAX_L2_SLICES,
    MAX_L2_WAYS,
    MAX_MERGED,
    MAX_MSHRS,
    MAX_TAG_BANKS,
)


class MemoryModel(IntEnum):
    """Which memory a machine has."""

    HIERARCHY = 0
    FIXED = 1


@dataclass(frozen=True, slots=True)
class Shared(Record):
    """Shared memory."""

    banks: i8 = number(32, 32, "banks", "Banks of shared memory. The emulator counts conflicts for 32.")
    latency: i8 = number(1, 1000, "cycles", "Time of an access without conflicts, from the unit to its data.")
    cycles_per_pass: i8 = number(1, 64, "cycles", "Time for which one pass without conflicts keeps the memory busy.")
    pause_cycles: i8 = number(0, 64, "cycles", "Time between passes of one sub-core, in which those of others are made.")
    pairs: flag = switch(
        "A load of 8 or 16 bytes in which neighbouring lanes all share addresses in pairs serves two groups of lanes at a time."
    )


@dataclass(frozen=True, slots=True)
class CacheLevel(Record):
    """A first-level cache."""

    sets: i8 = number(1, MAX_CACHE_LINES, "sets", "Sets of the cache.", True)
    ways: i8 = number(1, MAX_CACHE_LINES, "ways", "Ways: lines of a set.")
    line_bytes: i8 = number(32, 128, "bytes", "Length of a line.", True)
    hashed: flag = switch("Upper bits of the address are folded into the number of the set.")
    latency: i8 = number(1, MAX_L1_LATENCY, "cycles", "Time from the unit to the tags and the data.")
    mshrs: i8 = number(1, MAX_MSHRS, "misses", "Miss registers: misses that can be on their way.")
    merged: i8 = number(1, MAX_MERGED, "accesses", "Accesses that can wait for one miss.")
    miss_queue: i8 = number(1, 64, "requests", "Requests that can wait for the SM's port into the crossbar.")


@dataclass(frozen=True, slots=True)
class L1(CacheLevel):
    """The data cache: write-evict for global memory, write-back for local memory, no allocation by stores."""

    tag_banks: i8 = number(
        1, MAX_TAG_BANKS, "banks", "Banks of the tags where the cache fetches sectors. Each looks up one line in a cycle."
    )
    direct_queue: i8 = number(
        1, 64, "accesses", "Accesses past the cache (atomic, volatile) that wait for credits before the unit takes no more."
    )
    store_credits: i8 = number(1, 512, "lines", "Lines that an SM may have stored and not yet seen acknowledged.")
    atomic_credits: i8 = number(
        1, 512, "transactions", "Transactions past the cache (atomic, volatile) that an SM may have under way."
    )
    unified: flag = switch(
        "Shared memory of the resident CTAs is taken from the cache, in the steps in which CUDA hands it out (`CARVE_OUTS`)."
    )
    sectored: flag = switch("A miss fetches the sectors that are asked for and not the whole line. Stores leave lines in place.")


@dataclass(frozen=True, slots=True)
class L1I(CacheLevel):
    """The instruction cache of an SM."""

    instruction_bytes: i8 = number(4, 16, "bytes", "Length of an instruction in memory.", True)
    brought: i8 = number(0, 256, "lines", "Lines of a launch's code that are in L2 when it begins.")
    prefetched: i8 = number(0, 64, "lines", "Lines behind a missing one which are fetched with it.")
    kept: flag = switch("A launch finds what earlier launches of the same code left in the cache.")


@dataclass(frozen=True, slots=True)
class L1C(CacheLevel):
    """The constant cache, which kernel parameters go through too."""

    first_cycles: i8 = number(
        0, 1000, "cycles", "Extra time for the first use of a line of constants that instructions read as operands."
    )
    behind_cycles: i8 = number(
        0,
        1000,
        "cycles",
        "Time that a line takes the way from the cache for code. 0: lines come from L2 instead.",
    )
    behind_latency: i8 = number(0, 1000, "cycles", "Extra time until the data of such a line are there.")
    address_cycles: i8 = number(
        0, 64, "cycles", "Time of the unit for each address that the lanes of an instruction have. 0: one cycle for each line."
    )
    again_cycles: i8 = number(0, 64, "cycles", "Time from one address of an instruction to the next.")


@dataclass(frozen=True, slots=True)
class L1T(CacheLevel):
    """The texture cache. Where the data cache fetches sectors, textures share it, and this table is the way to it."""

    filter_cycles: i8 = number(
        0, 1000, "cycles", "Extra time of a fetch that filters texels, where textures share the data cache."
    )
    word_cycles: i8 = number(
        0, 1000, "cycles", "Extra time of a fetch there for each cycle after the first that four of its lanes take."
    )


@dataclass(frozen=True, slots=True)
class Interconnect(Record):
    """The crossbar between SMs and L2 slices."""

    latency: i8 = number(1, 1000, "cycles", "Time of one way through the crossbar where nothing else is under way.")
    flit_bytes: i8 = number(8, 256, "bytes", "Length of a flit: what a port moves in a cycle.")
    header_bytes: i8 = number(0, 64, "bytes", "Length of a packet without its data.")
    store_cycles: i8 = number(
        0, 64, "cycles", "Time that an SM's port takes for each sector that it stores. 0: as long as the bytes take."
    )
    mask_cycles: i8 = number(0, 64, "cycles", "Extra time for a stored line in which only parts of sectors are written.")
    taken_cycles: i8 = number(
        0, 64, "cycles", "Time that an SM's port takes for a reply, whatever its length. 0: as long as the bytes take."
    )
    groups: i8 = number(
        0,
        16,
        "groups",
        "Groups of SMs whose reads of the same sectors are joined on their way to L2. 0: none are joined.",
    )
    joined: i8 = number(1, 64, "requests", "Reads of data, or stores, that are joined to one request at most.")
    joined_code: i8 = number(1, 64, "requests", "Reads of code and constants that are joined to one request at most.")
    buffered: flag = switch("A packet that waits for its port does not hold up those behind it that go elsewhere.")

    def flits(self, data_bytes: int) -> int:
        """Cycles that a packet keeps a port busy."""
        return max(1, -(-(self.header_bytes + data_bytes) // self.flit_bytes))


@dataclass(frozen=True, slots=True)
class L2(Record):
    """The second-level cache: write-back, allocated on a miss, written without a fetch, fetched by sectors of 32 bytes."""

    slices: i8 = number(1, MAX_L2_SLICES, "slices", "Slices of the cache, each with a port of the crossbar.")
    sets: i8 = number(1, 4096, "sets", "Sets of a slice.", True)
    ways: i8 = number(1, MAX_L2_WAYS, "ways", "Ways: lines of a set.")
    dirty_ways: i8 = number(
        1,
        MAX_L2_WAYS,
        "ways",
        "Lines of a set that may differ from DRAM. With one more, the least recently used of them is written there.",
        unless=MAX_L2_WAYS,
    )
    line_bytes: i8 = number(128, 128, "bytes", "Length of a line.")
    latency: i8 = number(1, 1000, "cycles", "Time from the crossbar to the tags of a slice.")
    reply_latency: i8 = number(0, 1000, "cycles", "Time from the tags or the data to the crossbar.")
    hashed: flag = switch("Upper bits of the address are folded into the number of the set.")
    sectors_per_cycle: i8 = number(1, 4, "sectors", "Sectors of one line that a slice reads in a cycle.")
    line_write_cycles: f8 = number(
        1, 16, "cycles", "Time for which a stored line keeps its slice busy. Parts of a line take their share."
    )
    part_write_cycles: f8 = number(0, 16, "cycles", "Extra time for a store that leaves some bytes of its sectors as they are.")
    fetched: i8 = number(1, 2, "sectors", "Neighbouring sectors that are fetched together from DRAM.", True)
    far_cycles: i8 = number(
        0,
        1000,
        "cycles",
        "Extra time of a reply from a slice in the other half of the chip, unless the SM's half has a copy. 0: there is one L2.",
        unless=0,
    )
    mshrs: i8 = number(1, 4096, "sectors", "Sectors of a slice that can be on their way from DRAM.")
    atomic_cycles: f8 = number(1, 64, "cycles", "Time for which an atomic operation of one lane keeps its slice busy.")
    atomic_row_cycles: f8 = number(
        1, 64, "cycles", "Time for which an atomic operation of several lanes on different words of a sector does."
    )
    atomic_again_cycles: f8 = number(
        1, 64, "cycles", "Time for which one on the line of the slice's last one does, and each further lane on the same word."
    )
    atomic_latency: i8 = number(0, 1000, "cycles", "Extra time from the tags to the answer of an atomic operation.")
    atomic_sectors: flag = switch("Lanes of an atomic instruction that meet in a sector travel together.")
    merged: i8 = number(1, 64, "requests", "Requests that can wait for one line.")
    dram_queue: i8 = number(1, 1024, "sectors", "Sectors of a slice that can wait for room at the DRAM controller.")


@dataclass(frozen=True, slots=True)
class Dram(Record):
    """The DRAM channels. Times are cycles of the DRAM's command clock."""

    mebibytes: i8 = number(64, 1 << 18, "MiB", "Device memory that programs under `exec` have.")
    channels: i8 = number(1, MAX_CHANNELS, "channels", "Channels. Each serves the same number of L2 slices.")
    interleave_bytes: i8 = number(128, 4096, "bytes", "Neighbouring bytes of memory that lie in one channel.", True)
    banks: i8 = number(1, MAX_DRAM_BANKS, "banks", "Banks of a channel.", True)
    bank_groups: i8 = number(1, MAX_DRAM_BANKS, "groups", "Groups into which the banks of a channel fall.", True)
    hashed: flag = switch("The channel of a block depends on all of its address, so that no stride meets only a few channels.")
    bank_low_bit: i8 = number(
        7, 31, "bit", "Bit of the address within a channel that is the bank number's lowest; it picks the slice, too."
    )
    bank_high_bit: i8 = number(7, 31, "bit", "Bit of the address within a channel that is the bank number's next one.")
    row_bit: i8 = number(7, 31, "bit", "Lowest bit of the row number in the address within a channel.")
    latency: i8 = number(0, 10000, "cycles", "Time from L2 to the controller, in cycles of the SMs' clock.")
    queue: i8 = number(1, 4096, "sectors", "Sectors that a controller can hold, those on their way back to L2 included.")
    burst_bytes: i8 = number(32, 128, "bytes", "Length of a burst.", True)
    burst_cycles: f8 = number(0.25, 64, "DRAM cycles", "Time for which a burst keeps the data bus busy.")
    ccd: i8 = number(1, 100, "DRAM cycles", "Time from one column command to the next (tCCD).")
    ccdl: i8 = number(1, 100, "DRAM cycles", "Time from one column command to the next in the same bank group (tCCDL).")
    rrd: i8 = number(1, 100, "DRAM cycles", "Time from one activation to that of another bank (tRRD).")
    rcd: i8 = number(1, 200, "DRAM cycles", "Time from an activation to a column command (tRCD).")
    ras: i8 = number(1, 400, "DRAM cycles", "Time from an activation to the precharge of the bank (tRAS).")
    rp: i8 = number(1, 200, "DRAM cycles", "Time from a precharge to an activation of the bank (tRP).")
    rc: i8 = number(1, 600, "DRAM cycles", "Time from one activation of a bank to its next (tRC).")
    cl: i8 = number(1, 200, "DRAM cycles", "Time from a read command to its data (tCL).")
    wl: i8 = number(1, 200, "DRAM cycles", "Time from a write command to its data (tWL).")
    cdlr: i8 = number(1, 200, "DRAM cycles", "Time from the end of written data to a read command (tCDLR).")
    wr: i8 = number(1, 200, "DRAM cycles", "Time from the end of written data to the precharge of the bank (tWR).")
    rtpl: i8 = number(1, 200, "DRAM cycles", "Time from a read command to the precharge of the bank (tRTP).")
    rfc: i8 = number(0, 10000, "DRAM cycles", "Time that the refresh of a bank takes (tRFC). 0: there is no refresh.", unless=0)
    refi: i8 = number(
        1, 1_000_000, "DRAM cycles", "Time from one refresh of a bank to the next (tREFI), where there is one.", unless=1
    )


@dataclass(frozen=True, slots=True)
class MemoryTable(Record):
    """Which memory the machine has, and the numbers of the simple one, which replaces caches, crossbar and DRAM."""

    model: Annotated[MemoryModel, "i8"] = choice(
        MemoryModel, "Whether memory has caches, crossbar and DRAM, or is simple: a bandwidth for each SM, then a fixed latency."
    )
    latency: i8 = number(1, 10000, "cycles", "Time of an access to device memory in the simple memory.")
    bytes_per_cycle: i8 = number(1, 4096, "bytes", "Bytes that an SM moves to or from the simple memory in a cycle.")
    texture_latency: i8 = number(1, 10000, "cycles", "Time of a texture access in the simple memory.")
    texture_lanes_per_cycle: i8 = number(1, 32, "lanes", "Lanes that the texture unit serves in a cycle, with the simple memory.")
