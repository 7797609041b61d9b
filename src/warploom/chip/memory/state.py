"""The state of the memory system: one record nested in each SM's, one for the chip.

Every field starts as zero and every maximum is fixed, so that one compiled core serves all machines; `new_memory` refuses
a machine that would not fit. Times are core cycles; inside a DRAM channel they are 1/1024 of a core cycle (`TICKS`), because
the DRAM's clock is no multiple of the core's.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from warploom.base.errors import WarploomError
from warploom.base.records import Array, Record, blank_records, dtype_of, field_names, i2, i4, i8, u1, u4
from warploom.chip.machines import Machine
from warploom.chip.machines.limits import (
    MAX_CACHE_LINES,
    MAX_CHANNELS,
    MAX_DRAM_BANKS,
    MAX_L2_LINES,
    MAX_L2_SLICES,
    MAX_MERGED,
    MAX_MSHRS,
    MAX_NEAR_LINES,
    MAX_SMS,
    MAX_WARPS,
)
from warploom.chip.sm.counter import counted
from warploom.chip.sm.layout import MAX_SLOTS, MAX_SUB_CORES

FOREVER = 1 << 60
GOLDEN = 0x9E37_79B1  # 2**32 over the golden ratio: multiples of it are spread evenly
TICKS = 1024
TURNS, SEVERAL = 0x3F, 0x40  # of an atomic: how many lanes meet in a word; whether there are lanes on several words
IN_PART = 0x80  # a store that leaves bytes of a sector as they are
PIPE_ENTRIES = 1024  # accesses of instructions that the unit has accepted; at most 256 of one instruction
OUTBOX_ENTRIES = 1024
REPLY_ENTRIES = 4096
SHARED_ENTRIES = 256
DONE_ENTRIES = 2048
MAX_COPIES = 256  # of many bytes, of an SM
RECENT = 1 << 40  # time stamps of L2 lines: cycles count from here, what came before all of them from 1
POOL_ENTRIES = 1 << 19  # requests inside the memory system
CODE_BASE, CONST_BASE, PARAM_BASE = 0xFC00_0000 >> 5, 0xFD00_0000 >> 5, 0xFE00_0000 >> 5  # first sectors; above all allocations

# Lines of 64 bytes of constants: of bank 0, which launches bring along; as many of banks that programs do not index; of bank 3.
FIRST_CONSTANT_LINES = 128
FIRST_INDEXED_LINE = 2 * FIRST_CONSTANT_LINES
INDEXED_LINES = 1024  # 64 KB
ALL_CONSTANT_LINES = FIRST_INDEXED_LINE + INDEXED_LINES
OPERAND_CONSTANT_SECTORS = 2 * ALL_CONSTANT_LINES

KERNELS, KERNEL_SECTORS = 64, 1 << 13  # 256 KB of addresses for the code of each

# The ways through the load/store unit besides shared memory; all but the last have a cache.
DATA, CONSTANT, TEXTURE, PAST_L1 = 0, 1, 2, 3
PIPES = 4

# What a request asks of L2, and with it what its reply means to the SM.
READ, WRITE, ATOMIC = 0, 1, 2
FILL_DATA, FILL_CONSTANT, FILL_TEXTURE, FILL_CODE, DIRECT, ACKNOWLEDGE, SILENT, COPIED = 0, 1, 2, 3, 4, 5, 6, 7

# Kinds of entries that `ldst_pop_done` hands out.
DONE_LOAD, DONE_STORES = 0, 1

INVALID, RESERVED, VALID, DIRTY = 0, 1, 2, 3


class MissRegister(Record):
    """A line of a first-level cache, or sectors of it, on its way."""

    way: i2
    count: i2  # instructions that wait for it
    first: i2  # of them, mostly the only one
    sectors: u1  # where sectors are fetched: which


class CacheState(Record):
    """A first-level cache."""

    tag: Annotated[Array[u4], MAX_CACHE_LINES]
    state: Annotated[Array[u1], MAX_CACHE_LINES]
    mshr: Annotated[Array[i2], MAX_CACHE_LINES]  # of a reserved line
    used: Annotated[Array[i8], MAX_CACHE_LINES]  # cycle of the last use
    miss: Annotated[Array[MissRegister], MAX_MSHRS]
    mshr_target: Annotated[Array[i2], MAX_MSHRS, MAX_MERGED]
    # where a cache fetches sectors, of each line those that are there and those on their way
    valid: Annotated[Array[u1], MAX_CACHE_LINES]
    arriving: Annotated[Array[u1], MAX_CACHE_LINES]
    sector_mshr: Annotated[Array[i2], MAX_CACHE_LINES, 4]  # of each sector on its way
    mshr_spare: Annotated[Array[i2], MAX_MSHRS]  # a stack of numbers that have been freed
    spare_count: i4
    fresh: i4  # numbers from here on have never been used
    mshrs_used: i4
    accesses: i8
    hits: i8
    misses: i8
    pending_hits: i8
    reservation_failures: i8  # cycles that the head of the pipe stood still
    sectors: i8  # that loads asked for, where sectors are fetched
    sector_hits: i8


class Access(Record):
    """An access of an instruction to one cache line."""

    entered: i8
    line: u4
    slot: i2
    sectors: u1  # mask within the line
    kind: u1  # READ, WRITE, ATOMIC
    warp: u1
    local: u1
    transactions: u1  # of an atomic: one per lane, or one for all lanes in a sector
    lanes: u1  # of an atomic in each transaction: TURNS of lanes and SEVERAL; of constants: how many addresses
    parts: u1  # of a store: 1 if it writes parts of sectors; of constants: 1 if other lines of the instruction come before


class CachePipe(Record):
    """A way through the load/store unit. Its accesses lie elsewhere, so that a look at all pipes is a look at little memory."""

    head: i4
    count: i4
    next_at: i8  # no access reaches the tags before
    blocked_since: i8  # cycle + 1, or 0
    wake: i8  # while blocked: when to try again (a reply tries earlier)
    sent: i8  # requests so far
    leave: Annotated[Array[i8], 64]  # when the last ones left through the port


class Request(Record):
    """What an SM asks of the memory system."""

    cycle: i8  # when it can enter the crossbar; in a slice's queue: when it reaches the tags
    line: u4
    within: u4  # the line's number in its channel
    next: i4
    token: i2  # MSHR, slot or warp, as `reply` says
    sm: u1
    sectors: u1
    kind: u1
    reply: u1
    need: u1  # sectors that have not arrived
    flits: u1  # of each packet
    packets: u1  # that it still takes through the crossbar
    destination: u1  # the port at which it leaves the crossbar
    lanes: u1  # of an atomic: TURNS of lanes and SEVERAL; of a store: IN_PART
    far: u1  # the reply comes from the other half of the chip
    joined: u1  # it travels with the request of another SM of the group, or with the reply to it


class LdstUnit(Record):
    """A load/store unit with its caches and its way to the crossbar."""

    event: i8  # nothing happens in the unit before
    free_at: i8  # the unit takes no instruction before
    port_free: i8  # the SM's way into the crossbar
    texture_free: i8  # the texture unit takes no instruction before
    constant_free: i8  # the same of what looks up constants by index
    constant_fetched: i8  # when it can fetch another line
    constant_until: Annotated[Array[i8], MAX_WARPS]  # when a warp's address that was looked up last has been served
    fixed_sequence: i8
    outbox_head: i4
    outbox_count: i4
    reply_count: i4
    shared_head: i4
    shared_count: i4
    done_head: i4
    done_count: i4
    stores_outstanding: i4  # lines not yet acknowledged, accesses in the pipe included
    store_credits_used: i4  # lines sent and not yet acknowledged
    direct_outstanding: i4  # transactions past the L1
    code_base: i8  # where this launch's code lies, in sectors above CODE_BASE
    code_end: i8  # behind its last sector
    fetch_fills: i8  # lines of code that have arrived: a fetch that waits tries again when this changes
    pending: Annotated[Array[i2], MAX_SLOTS]  # accesses that an instruction waits for
    warp_stores: Annotated[Array[i4], MAX_WARPS]  # lines not yet acknowledged by warp
    copied_lines: i4  # of copies of many bytes: under way
    copy_lines: Annotated[Array[i4], MAX_COPIES]  # of each, and 1 until all have been asked for
    copies_ended: i4  # those of which all has come, until the pipeline takes them
    copy_ended: Annotated[Array[i2], MAX_COPIES]
    outbox: Annotated[Array[Request], OUTBOX_ENTRIES]
    reply_key: Annotated[Array[i8], REPLY_ENTRIES]  # a heap: arrival << 8 | slice
    reply_what: Annotated[Array[i8], REPLY_ENTRIES]
    shared_at: Annotated[Array[i8], SHARED_ENTRIES]
    shared_slot: Annotated[Array[i2], SHARED_ENTRIES]
    shared_free: Annotated[Array[i8], MAX_SUB_CORES]  # the passes of a sub-core's last access end
    done: Annotated[Array[i4], DONE_ENTRIES]
    pipe: Annotated[Array[CachePipe], PIPES]
    access: Annotated[Array[Access], PIPES, PIPE_ENTRIES]  # those in each pipe, as a ring
    l1: CacheState
    l1c: CacheState
    l1t: CacheState
    l1i: CacheState


class LdstCounters(Record):
    """What a load/store unit counts."""

    global_loads: i8 = counted("instructions", "Loads from global memory that the load/store unit took.")
    global_stores: i8 = counted("instructions", "Stores to global memory that the load/store unit took.")
    local_loads: i8 = counted("instructions", "Loads from local memory that the load/store unit took.")
    local_stores: i8 = counted("instructions", "Stores to local memory that the load/store unit took.")
    atomics: i8 = counted("instructions", "Atomic operations on global memory that the load/store unit took.")
    constant_loads: i8 = counted("instructions", "Loads of constants and parameters that the load/store unit took.")
    texture_loads: i8 = counted("instructions", "Texture fetches that the load/store unit took.")
    shared_accesses: i8 = counted("instructions", "Accesses to shared memory that the load/store unit took.")
    shared_conflict_passes: i8 = counted(
        "passes", "Passes in shared memory beyond the first of each access, because lanes meet in banks."
    )
    global_transactions: i8 = counted(
        "transactions", "Lines of global memory that instructions accessed, and transactions of atomic operations."
    )
    local_transactions: i8 = counted("transactions", "Lines of local memory that instructions accessed.")
    l1_write_backs: i8 = counted("lines", "Lines that the L1 data cache wrote to L2 when they were replaced.")
    store_evictions: i8 = counted("lines", "Lines that a store to global memory took out of the L1 data cache.")


class Ldst(LdstUnit, LdstCounters):
    """A load/store unit and its counters."""


class NearCode(Record):
    """The lines of code near all sub-cores of an SM, in front of its instruction cache; a launch finds what others left."""

    line: Annotated[Array[i8], MAX_NEAR_LINES]  # its first sector + 1
    there_at: Annotated[Array[i8], MAX_NEAR_LINES]
    used: Annotated[Array[i8], MAX_NEAR_LINES]
    last_at: i8  # when the last of them comes


class Port(Record):
    """What the memory system sees of an SM."""

    ldst: Ldst
    near: NearCode


class L2Line(Record):
    """A line of L2."""

    used: i8
    waiters: i4  # requests that wait for a fill, as pool index + 1
    valid: u1
    dirty: u1
    pending: u1
    merged: u1
    copied: u1  # sectors of which the half that is not the line's own has a copy


class Slice(Record):
    """A slice of L2."""

    tags_free: i8  # ticks
    atomic_line: u4  # of its last atomic, + 1
    atomic_sectors: u1  # of this line, that atomics have changed since one was on another line
    head: i4  # pool index + 1
    tail: i4
    stalled: i4  # the head could not be served and waits for a fill or for room at the DRAM
    mshrs_used: i4
    queued: i4  # sectors between L2 and the controller


class Joiner(Record):
    """The last read or store of a line by a group of SMs that others can join on their way to L2."""

    until: i8  # its reply is back at the group
    line: u4  # + 1
    sectors: u1
    count: u1  # reads that are joined in it


class Crossbar(Record):
    """One direction of the crossbar."""

    now: i8  # of the last departure
    last: i4  # the input that it was from
    head: Annotated[Array[i4], MAX_SMS]  # queues at the inputs, as pool index + 1
    tail: Annotated[Array[i4], MAX_SMS]
    toward: Annotated[Array[i4], MAX_SMS]  # the output that it goes to
    in_free: Annotated[Array[i8], MAX_SMS]
    out_free: Annotated[Array[i8], MAX_SMS]
    due: Annotated[Array[i8], MAX_SMS]  # the packet at the head of an input cannot go before; FOREVER where there is none


MAX_GROUPS, JOINERS = 16, 1024  # of SMs; of each group: lines that are on their way, by the line's lowest bits
MAX_TRANSFERS = 4096  # of one channel


class Transfer(Record):
    """Sectors of one line between L2 and a DRAM channel."""

    at: i8  # in ticks: arrival at the controller; later the return to L2
    way: i4  # of the L2 line, counted through all sets of all slices; -1 for a write
    row: i4
    next: i4
    sectors: u1
    bursts: u1
    bank: u1
    slice: u1


class DramBank(Record):
    """A bank of a DRAM channel."""

    column_ready: i8
    precharge_ready: i8
    activated: i8
    refresh: i8  # its next refresh begins
    row: i4  # + 1; 0 when none is open
    head: i4  # transfers in order of arrival, as index + 1
    tail: i4
    candidate: i4
    before: i4  # the transfer in front of the candidate


class Channel(Record):
    """A DRAM channel."""

    next_pick: i8  # in ticks
    next_bank: i4
    last_bank: i4
    busy_banks: i8  # bit mask
    credits_used: i4
    last_column: i8
    last_activation: i8
    read_ready: i8
    write_ready: i8
    group_column: Annotated[Array[i8], MAX_DRAM_BANKS]
    bank: Annotated[Array[DramBank], MAX_DRAM_BANKS]
    transfer: Annotated[Array[Transfer], MAX_TRANSFERS]
    spare: i4  # free transfers, as index + 1
    fresh: i4
    waiting_head: i4  # transfers that wait for a credit
    waiting_tail: i4
    arriving_head: i4  # on their way from L2 to the controller
    arriving_tail: i4
    returning_head: i4  # reads on their way back
    returning_tail: i4
    reads: i8
    writes: i8
    bursts: i8
    row_hits: i8
    activations: i8
    busy_ticks: i8


class Memory(Record):
    """Everything behind the SMs' ports: crossbar, L2, DRAM."""

    in_flight: i8  # requests of SMs that have no reply yet
    spare: i4  # free requests, as pool index + 1
    fresh: i4
    warm_clock: i8  # lines that are in L2 as if they had come before all launches, so far
    horizon: i8  # events before this cycle have happened
    slices_per_channel: i8
    interleave_shift: i8  # of line addresses
    slice_shift: i8
    # the DRAM's times in ticks; the machine has them in DRAM cycles
    t_burst: i8
    t_ccd: i8
    t_ccdl: i8
    t_rrd: i8
    t_rcd: i8
    t_ras: i8
    t_rp: i8
    t_rc: i8
    t_cl: i8
    t_wl: i8
    t_cdlr: i8
    t_wr: i8
    t_rtpl: i8
    t_rfc: i8
    t_refi: i8
    # counters
    l2_accesses: i8  # in sectors, as all L2 counters
    l2_misses: i8
    l2_pending_hits: i8
    l2_read_accesses: i8
    l2_read_misses: i8
    l2_write_accesses: i8
    l2_write_misses: i8
    l2_atomic_accesses: i8
    l2_code_accesses: i8  # of code and constants
    l2_write_backs: i8
    l2_stalls: i8
    l2_joined: i8  # sectors of reads that were joined to others before they came to L2
    requests: Crossbar  # from SMs to slices
    replies: Crossbar  # and back
    slice: Annotated[Array[Slice], MAX_L2_SLICES]
    channel: Annotated[Array[Channel], MAX_CHANNELS]
    joiner: Annotated[Array[Joiner], MAX_GROUPS, JOINERS]
    written: Annotated[Array[Joiner], MAX_GROUPS, JOINERS]
    pool: Annotated[Array[Request], POOL_ENTRIES]
    tag: Annotated[Array[u4], MAX_L2_LINES]  # of L2: the line's number in its channel + 1, so that 0 is an empty way
    line: Annotated[Array[L2Line], MAX_L2_LINES]


LDST_DTYPE, MEMORY_DTYPE, PORT_DTYPE = dtype_of(Ldst), dtype_of(Memory), dtype_of(Port)
TIMES = tuple(name.removeprefix("t_") for name in field_names(Memory) if name.startswith("t_"))


def new_memory(machine: Machine) -> Any:
    """The chip's memory system, empty and cold, as an array of one record.

    Compiled functions that Python calls often take the array: the address of a record is found by way of a description of all
    its fields, which takes as long as thousands of simulated instructions.
    """
    check_capacity(machine)
    memories = blank_records(1, MEMORY_DTYPE)
    memory = memories[0]
    per_channel = machine.l2.slices // machine.dram.channels
    memory["channel"]["next_pick"] = FOREVER
    memory["requests"]["due"] = memory["replies"]["due"] = FOREVER
    memory["slices_per_channel"] = per_channel
    memory["interleave_shift"] = machine.dram.interleave_bytes.bit_length() - 8
    memory["slice_shift"] = machine.dram.bank_low_bit - 7
    ratio = TICKS * machine.chip.clock_core_mhz / machine.chip.clock_dram_mhz
    for name in TIMES:
        cycles = machine.dram.burst_cycles if name == "burst" else getattr(machine.dram, name)
        memory[f"t_{name}"] = round(cycles * ratio)
    banks = machine.dram.channels * machine.dram.banks  # no two of them are refreshed at the same time if that can be
    turns = np.arange(banks) * GOLDEN % (1 << 32) * int(memory["t_refi"]) >> 32
    memory["channel"]["bank"]["refresh"][: machine.dram.channels, : machine.dram.banks] = turns.reshape(-1, machine.dram.banks)
    return memories


def check_capacity(machine: Machine) -> None:
    """Refuse a machine that can have more under way than the records hold."""
    l1 = machine.l1
    most = l1.mshrs + machine.l1c.mshrs + machine.l1t.mshrs + machine.l1i.mshrs + l1.store_credits + l1.atomic_credits + 2 * 32
    most += machine.bulk.lines
    if most > REPLY_ENTRIES or most * machine.chip.sms > POOL_ENTRIES:
        raise WarploomError(
            f"machine {machine.name}: {machine.chip.sms} SMs with up to {most} requests each (MSHRs, store and atomic credits, "
            f"lines of copies) exceed the {POOL_ENTRIES} that the memory system can hold; reduce `l1.store_credits` or `chip.sms`"
        )
    if machine.dram.queue + machine.l2.slices // machine.dram.channels * (machine.l2.dram_queue + 8) > MAX_TRANSFERS:
        raise WarploomError(f"machine {machine.name}: `dram.queue` and `l2.dram_queue` exceed {MAX_TRANSFERS} sectors a channel")
