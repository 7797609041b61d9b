"""The state of one SM as one aligned NumPy record: pipeline, register file, counters, and the state of the six policies.

One record with nested records lets compiled code reach everything through one pointer, and lets tests and messages read it
by name. Sizes are fixed maxima; the machine's record says how much of them is used. The load/store unit has a record of its
own beside it (`warploom.chip.memory`), whose type is the same under every design, so that its code is compiled once.
"""

from __future__ import annotations

from typing import Annotated, Any

from warploom.base.records import Array, Lanes, Mask, Record, flag, i2, i4, i8, u1, u2, u4
from warploom.chip.machines.limits import MAX_CTAS, MAX_MEMORY_QUEUE, MAX_RF_BANKS, MAX_SCHEDULERS, MAX_WARP_REGISTERS, MAX_WARPS
from warploom.chip.sm.counter import counted, counters_of
from warploom.compiler.code.table import MAX_READS

MAX_REGISTERS = 512  # names of registers in one kernel: 255 of real code, more in literal code
REGISTER_WORDS = MAX_REGISTERS // 64
MOST_FLUSHED = 128  # values of a scheduler's warps that an upper level may write down at once
SLOT_RESERVE = (
    MAX_SCHEDULERS * MOST_FLUSHED + 32
)  # kept for evictions: more than a flush of all that an SM can have in an upper level
MAX_SLOTS = SLOT_RESERVE + 864  # instructions in flight
PORT_COLLECTORS = 64  # at a port, at most
MAX_SUB_CORES = 4
UNITS = 3  # kinds of them: SP, SFU, MEM of `warploom.compiler.code.classes.Unit`
PORTS = UNITS * MAX_SUB_CORES  # a port is the way from issue to one kind of unit of one sub-core
OPERAND_BITS = (MAX_READS - 1).bit_length()  # of a number that tells the operands of a collector apart
OPERANDS = PORTS * PORT_COLLECTORS << OPERAND_BITS  # of all collectors, numbered through in the queues of the banks
LATCH = 8  # instructions that fit between two stages, at most
DISPATCHED = 64  # between collectors and units, where an encoding puts stages of its own
MAX_UNITS = 16
RING = 1024  # cycles ahead for which write-back is planned; what is later is looked at once in so many cycles
MAX_BARRIERS = 16
MAX_PLACES = 2048  # of the upper level
REQUESTS = OPERANDS + MAX_PLACES  # reads that may wait for banks: for operands, and to fill places
MAX_INJECTED = 256
ROW_WORDS = MAX_WARP_REGISTERS // 64
BYTES = 4  # of a lane: registers that need few of them can share an entry
WHOLE_ENTRY = (1 << BYTES) - 1
DISTANCE_BINS = 16  # of inter-access distances: bin n counts 2**n to 2**(n+1) - 1 cycles

STALLS = ("empty", "fetch", "barrier", "scoreboard", "pipeline", "allocation", "scheduler")
# Why a resident warp did not issue in a cycle; `register_file.observing` says what each means.
WAITS = ("fetch", "barrier", "result", "memory", "pipeline", "allocation", "inactive", "not chosen", "exit")


class Warp(Record):
    """A warp slot."""

    next: i8  # index in the trace of the instruction to issue next
    decoded: i8  # index behind the last instruction in the buffer
    end: i8  # index behind the warp's last instruction
    value: i8  # where the instruction at `next` begins in the trace's other columns
    memory: i8
    sector: i8
    local_base: i8
    age: i8  # how many warps were launched on this SM before it
    decode_at: i8  # when the fetch under way is decoded
    decode_end: i8  # what `decoded` becomes then
    fetch_from: i8  # earliest cycle of the next fetch
    pending: Annotated[Array[Mask], REGISTER_WORDS]  # the scoreboard: registers with a result under way
    long_latency: Annotated[Array[Mask], REGISTER_WORDS]  # those that come from slow memory
    live: Annotated[Array[Mask], REGISTER_WORDS]  # registers whose value will be read
    pending_predicates: Mask
    launched: Lanes  # fewer than 32 in the last warp of a CTA whose threads do not fill it
    cta: i4
    in_flight: i4  # instructions that have been issued and have not ended
    memory_in_flight: i4
    atomics: i4
    wrong_path: flag  # the next fetch goes down the wrong path
    full_group: flag  # the last fetch did not end at a jump


class Cta(Record):
    """A CTA slot."""

    number: i8  # in the grid
    warps: Mask  # warps that have not exited
    arrived: Annotated[Array[Mask], MAX_BARRIERS]
    count: Annotated[Array[i4], MAX_BARRIERS]
    expected: Annotated[Array[i4], MAX_BARRIERS]


class Entry(Record):
    """A physical entry of the main register file."""

    last_access: i8
    distance_sum: i8  # cycles between its accesses, those that are far apart left out
    distance_count: i8
    evicted: i8  # evictions ever begun, which numbers them: they are written in their order
    warp: i2
    register: i2
    readers: i2  # issued instructions that have yet to read it
    writers: i2  # issued instructions and evictions that have yet to write it
    evictions: i2  # of the writers, those that write an old value down
    held: u1  # mask of the bytes of each lane that registers have
    form: u1  # in which the encoding keeps its value; 0: as it is
    allocated: flag
    released: flag  # free it when the accesses under way have ended


class Slot(Record):
    """Work in flight: an instruction, or what a policy injected."""

    index: i8  # in the trace
    value: i8  # in the value column; -1: none
    sector: i8
    ready_at: i8
    issued_at: i8
    mask: Lanes
    pc: i4
    warp: i2
    memory: u2  # the entry of the memory column
    traits: u2  # `warploom.compiler.code.table.Flag`
    next: i2  # in whatever list it waits
    kind: u1
    unit: u1
    storing: u1  # 1: its results have been sent to the upper level or to banks, which may be busy
    n_reads: u1
    n_writes: u1
    reads_left: u1
    writes_left: u1
    written: u1  # bit per destination
    whole: u1  # bit per destination: lanes that did not execute are written too, merged
    reads: Annotated[Array[i2], MAX_READS]  # physical entries; -1: not from a bank
    writes: Annotated[Array[i2], MAX_READS]
    read_group: Annotated[Array[u1], MAX_READS]
    write_group: Annotated[Array[u1], MAX_READS]
    form: Annotated[Array[u1], MAX_READS]  # of each result, as the encoding wants it
    registers: Annotated[Array[i2], MAX_READS]  # written, by name
    sources: Annotated[Array[i2], MAX_READS]  # read, by name
    places: Annotated[Array[i2], MAX_READS]  # of operands that share a read: taken from a place, or filling it


class Collector(Record):
    """An operand collector."""

    ready_at: i8
    slot: i2
    waiting: i2


class Injected(Record):
    """Work that a policy has asked for and that has not been issued."""

    kind: i2
    warp: i2
    register: i2
    entry: i2


class Delayed(Record):
    """A read that waits for its entry to wake up."""

    at: i8
    request: i2


class Fill(Record):
    """What is being read for a place of the upper level."""

    warp: i2
    register: i2
    entry: i2


class Arriving(Record):
    """A value on its way to a place of the upper level."""

    at: i8
    place: i2


class Counters(Record):
    """What is counted, one number each."""

    warp_instructions: i8 = counted("instructions", "Instructions of the program that were issued, each once for a warp.")
    issued: i8 = counted("instructions", "Instructions that were issued, and work that policies put in.")
    metadata: i8 = counted("instructions", "Metadata instructions, which a policy's compile pass put in, that warps came to.")
    metadata_skipped: i8 = counted(
        "instructions", "Metadata instructions that were not fetched, for the policy had them at hand."
    )
    moves: i8 = counted("instructions", "Moves of a register onto itself that an encoding put in front of a write of some lanes.")
    expansions: i8 = counted(
        "entries", "Encoded entries that a write of some lanes found, and that were read and stored as they are first."
    )
    spills: i8 = counted("registers", "Registers that a policy's hardware stored to memory.")
    refills: i8 = counted("registers", "Registers that a policy's hardware loaded back from memory.")
    rf_reads: i8 = counted("accesses", "Reads of registers by instructions, wherever their values were.")
    rf_writes: i8 = counted("accesses", "Writes of registers by instructions, wherever their values went.")
    mrf_reads: i8 = counted("accesses", "Reads of entries of the main register file.")
    mrf_writes: i8 = counted("accesses", "Writes of entries of the main register file.")
    rf_read_lanes: i8 = counted("lanes", "Lanes that were read in the main register file, gated ones left out.")
    rf_write_lanes: i8 = counted("lanes", "Lanes that were written in the main register file, gated ones left out.")
    lanes_gated: i8 = counted("lanes", "Lanes of accesses to the main register file that gating left out.")
    bank_reads: i8 = counted(
        "accesses", "Reads of single banks: a read of an entry that lies over several banks counts once for each."
    )
    bank_writes: i8 = counted(
        "accesses", "Writes of single banks: a write of an entry that lies over several banks counts once for each."
    )
    bank_conflicts: i8 = counted(
        "cycles", "Cycles that reads and writes waited for ports of their banks, added up over all that waited."
    )
    upper_reads: i8 = counted("accesses", "Reads of operands in the upper level of the register file.")
    forwarded_reads: i8 = counted("accesses", "Reads that took a value on its way and not from an entry or a place.")
    upper_writes: i8 = counted("accesses", "Writes of results to the upper level of the register file.")
    write_backs: i8 = counted("registers", "Registers written from the upper level back to their entries.")
    wakeup_wait_cycles: i8 = counted(
        "cycles", "Cycles that reads waited for their entries to wake up, added up over all that waited."
    )
    fetches: i8 = counted("accesses", "Times that the instruction cache was asked for a warp's next instructions.")
    wrong_path_fetches: i8 = counted(
        "accesses", "Fetches of what follows a taken branch in the code, only in machines with compatibility.fetch_when_empty."
    )
    ctas: i8 = counted("CTAs", "CTAs that were launched.")


class Count(Counters):
    """The counters, and those that are tables."""

    stall: Annotated[Array[i8], len(STALLS)]
    active_lanes: Annotated[Array[i8], 33]
    distance: Annotated[Array[i8], DISTANCE_BINS]
    by_class: Annotated[Array[i8], 24]


COUNTERS = counters_of(Counters)


class Check(Record):
    """The shadow checker's notes: what the program means, and what entries and places really hold."""

    version: Annotated[Array[i4], MAX_WARPS, MAX_REGISTERS]  # writes issued so far
    # by entry and byte of its lanes; warps by age, so that a warp's successor in its slot is another owner
    entry_warp: Annotated[Array[i4], MAX_WARP_REGISTERS, BYTES]
    entry_register: Annotated[Array[i2], MAX_WARP_REGISTERS, BYTES]
    entry_version: Annotated[Array[i4], MAX_WARP_REGISTERS, BYTES]
    evicted_version: Annotated[Array[i4], MAX_WARP_REGISTERS]  # on its way down to the entry
    spilled: Annotated[Array[i4], MAX_WARPS, MAX_REGISTERS]  # the version that went to memory
    place_warp: Annotated[Array[i4], MAX_PLACES]
    place_register: Annotated[Array[i2], MAX_PLACES]
    place_version: Annotated[Array[i4], MAX_PLACES]
    expected: Annotated[Array[i4], MAX_SLOTS, MAX_READS]
    made: Annotated[Array[i4], MAX_SLOTS, MAX_READS]
    # masks of the bytes of their entries, as they were at issue
    read_bytes: Annotated[Array[u1], MAX_SLOTS, MAX_READS]
    written_bytes: Annotated[Array[u1], MAX_SLOTS, MAX_READS]

    # how often pieces of issued products have yet to read and to write a register
    to_read: Annotated[Array[u1], MAX_WARPS, MAX_REGISTERS]
    to_write: Annotated[Array[u1], MAX_WARPS, MAX_REGISTERS]


class FoundFault(Record):
    """The first fault that the shadow checker found; `kind` 0: none."""

    kind: i4
    sm: i4
    warp: i4
    register: i4
    pc: i4
    entry: i4
    found_warp: i4
    found_register: i4
    found_version: i4
    version: i4
    cycle: i8


class Sm(Record):
    """One SM. The last fields depend on the design and on who watches; `register_file.dtypes` puts in their dtypes."""

    number: i8
    cycle: i8  # the next cycle to simulate
    next_event: i8
    last_progress: i8
    ages: i8  # warps launched so far
    last_fetched: i8
    # sets of warps
    resident: Mask
    active: Mask  # may be chosen by their scheduler
    known_active: Mask  # `active` as the hierarchy was told
    ready: Annotated[Array[Mask], 4]  # by unit: next instruction decoded, no hazard
    blocked: Mask  # their next instruction waits for a result
    held: Mask  # refused by `may_issue`, until `services.wake`
    woken: Mask  # to be sorted into ready and blocked
    at_barrier: Mask
    fetchable: Mask  # have room in their instruction buffer
    fetching: Mask
    no_code: Mask  # wait for a line of code
    fills_seen: i8  # lines of code that had arrived when `no_code` was looked at last
    waiting: Mask  # warps of which the scheduler was told that they wait
    exiting: Mask  # all their instructions have ended
    draining: Mask  # all have ended, but some stores have not been acknowledged
    stalled_memory: Mask  # wait for their own memory accesses (fences, atomics)
    scheduler_warps: Annotated[Array[Mask], MAX_SCHEDULERS]
    ctas_resident: i8
    cta_slots: Mask  # those that hold a CTA
    last_exit: i8  # of a CTA
    busy_since: i8  # has had CTAs
    busy_cycles: i8  # with CTAs, up to the last time that there were none
    resident_cycles: i8  # of all warps, from launch to exit
    pending_count: i8  # CTAs given to this SM that start in the coming cycles
    pending_cta: Annotated[Array[i8], MAX_CTAS]
    pending_at: Annotated[Array[i8], MAX_CTAS]
    cta_from: i8  # this SM is given no CTA before
    vacant_count: i8  # places of CTAs that have ended which cannot be taken yet
    vacant_at: Annotated[Array[i8], MAX_CTAS]  # when they can, soonest first
    stall_reason: Annotated[Array[i8], MAX_SCHEDULERS]
    # for observers only
    stall_pc: Annotated[Array[i8], MAX_SCHEDULERS]  # the pc of the instruction that waits
    issued_now: Mask  # warps that were issued in this cycle
    crowded: Mask  # warps that are ready, but the way to their unit is full
    slow: Mask  # of those that are blocked, which wait for memory
    finished: Mask  # warps that have issued all
    waits: Annotated[Array[Mask], len(WAITS)]  # by reason, as observers were told
    # the register file
    allocated: i8  # entries; entries x cycles are added up until `allocated_since`
    allocated_since: i8
    allocated_cycles: i8
    allocated_peak: i8
    entries_used: i8  # entries from here on have never held a register
    live: i8  # registers whose value will be read
    live_since: i8
    live_cycles: i8
    state_entries: Annotated[Array[i8], 3]  # by power state: `services.ON`, `DROWSY`, `OFF`
    state_cycles: Annotated[Array[i8], 3]
    state_since: i8
    free_rows: Annotated[Array[Mask], MAX_RF_BANKS, ROW_WORDS]
    # reads that wait for each bank group, as lists; a request is the number of an operand, or OPERANDS + a place
    queue_head: Annotated[Array[i2], MAX_RF_BANKS]
    queue_tail: Annotated[Array[i2], MAX_RF_BANKS]
    queue_length: Annotated[Array[i2], MAX_RF_BANKS]
    queued_groups: Mask
    writes_in_cycle: Annotated[Array[u1], MAX_RF_BANKS]
    written_groups: Mask
    delayed_count: i8  # reads whose entry is waking up
    # collectors, latches, units
    collector_last: Annotated[Array[i2], PORTS]
    latch_size: Annotated[Array[i2], PORTS]  # instructions that fit between issue and the collectors
    ports_in: Annotated[Array[i2], PORTS]  # instructions that enter and leave the collectors in a cycle
    ports_out: Annotated[Array[i2], PORTS]
    scheduler_core: Annotated[Array[i2], MAX_SCHEDULERS]
    collector_free: Annotated[Array[Mask], PORTS]
    collector_full: Annotated[Array[Mask], PORTS]  # all operands there
    issued: Annotated[Array[i2], PORTS, max(LATCH, MAX_MEMORY_QUEUE)]  # waiting for a collector, or memory instructions for ports
    issued_count: Annotated[Array[i2], PORTS]
    dispatched: Annotated[Array[i2], PORTS, DISPATCHED]  # waiting for a unit
    dispatched_count: Annotated[Array[i2], PORTS]
    in_latches: i8  # instructions in all latches together
    in_dispatch: i8
    unit_first: Annotated[Array[i2], PORTS]
    unit_count: Annotated[Array[i2], PORTS]
    unit_free_at: Annotated[Array[i8], MAX_UNITS]
    last_memory_port: i8
    # write-back
    # work that goes on at a later cycle, as a list for each of the next RING cycles
    ring_head: Annotated[Array[i2], RING]
    ring_results: Annotated[Array[u1], RING]
    ring_busy: Annotated[Array[Mask], RING // 64]
    write_head: i2
    write_tail: i2
    free_slot_count: i8
    free_slot: Annotated[Array[i2], MAX_SLOTS]
    injected_head: i8
    injected_count: i8
    injected_in_flight: i8
    injected: Annotated[Array[Injected], MAX_INJECTED]
    arriving_head: i8
    arriving_count: i8
    issuing: i8  # the slot of the instruction that is being issued
    sectors: Annotated[Array[u4], 256]  # of the memory instruction that is being handed over
    lanes: Annotated[Array[u4], 256]
    fault: FoundFault
    count: Count
    warp: Annotated[Array[Warp], MAX_WARPS]
    cta: Annotated[Array[Cta], MAX_CTAS]
    slot: Annotated[Array[Slot], MAX_SLOTS]
    entry: Annotated[Array[Entry], MAX_WARP_REGISTERS]
    map: Annotated[Array[i2], MAX_WARPS, MAX_REGISTERS]
    bytes_of: Annotated[Array[u1], MAX_WARPS, MAX_REGISTERS]  # mask of those that a register has in its entry
    # long arrays of which little is used, apart from what every cycle looks at
    queue_next: Annotated[Array[i2], REQUESTS]
    delayed: Annotated[Array[Delayed], REQUESTS]
    collector: Annotated[Array[Collector], PORTS * PORT_COLLECTORS]
    fill: Annotated[Array[Fill], MAX_PLACES]  # what is being read for a place
    arriving: Annotated[Array[Arriving], MAX_PLACES]  # read and on the way, in order
    place_read: Annotated[Array[i2], MAX_PLACES]  # 1: the value of the place is being read for an operand
    place_waiting: Annotated[Array[i2], MAX_PLACES]  # 1 + the first read of a list that waits for it
    place_value: Annotated[Array[i8], MAX_PLACES]  # where in the value column the contents of an upper-level place come from
    # the states of the six policies: `STATE` of each
    scheduler: Any
    allocation: Any
    hierarchy: Any
    encoding: Any
    power: Any
    gating: Any
    observed: Any  # the records of observers
    stages: Any  # what the stages of the machine's sub-cores keep


class CheckedSm(Sm):
    """An SM in a run with the shadow checker."""

    check: Check
