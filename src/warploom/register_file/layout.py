"""The state of one SM as one aligned NumPy record: pipeline, register file, counters, and the state of the six policies.

One record with nested records lets compiled code reach everything through one pointer, and lets tests and messages read it
by name. Sizes are fixed maxima; the machine's record says how much of them is used. The load/store unit has a record of its
own beside it (`warploom.core.memory`), whose type is the same under every design, so that its code is compiled once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from warploom.machines.schema import MAX_CTAS, MAX_RF_BANKS, MAX_SCHEDULERS, MAX_WARP_REGISTERS, MAX_WARPS
from warploom.register_file.combination import Policies
from warploom.register_file.hooks import CHOICES
from warploom.register_file.observing import WAITS, observed_dtype

MAX_REGISTERS = 512  # names of registers in one kernel: 255 of real code, more in literal code
REGISTER_WORDS = MAX_REGISTERS // 64
MAX_SLOTS = 1024  # instructions in flight
SLOT_RESERVE = 160  # kept for evictions: more than one flush of everything that a warp can have in an upper level
MAX_READS = 8
MAX_COLLECTORS = 64  # before one kind of unit of one sub-core
MAX_SUB_CORES = 4
PORTS = 3 * MAX_SUB_CORES  # one way from issue to a kind of unit in each sub-core
OPERANDS = PORTS * MAX_COLLECTORS * MAX_READS  # of all collectors: numbers of their reads in the queues of the banks
LATCH = 8  # instructions that fit between two stages, at most
DISPATCHED = 64  # between collectors and units, where an encoding puts stages of its own
MAX_UNITS = 16
RING = 1024  # cycles ahead for which write-back is planned; later events go round
MAX_BARRIERS = 16
MAX_PLACES = 2048  # of the upper level
REQUESTS = OPERANDS + MAX_PLACES  # reads that may wait for banks: for operands, and to fill places
MAX_INJECTED = 256
ROW_WORDS = MAX_WARP_REGISTERS // 64
DISTANCE_BINS = 16  # of inter-access distances: bin n counts 2**n to 2**(n+1) - 1 cycles

STALLS = ("empty", "fetch", "barrier", "scoreboard", "pipeline", "allocation", "scheduler")

WARP = np.dtype(
    [
        ("next", "i8"),  # place in the trace of the instruction to issue next
        ("decoded", "i8"),  # end of what is in the instruction buffer
        ("end", "i8"),
        ("value", "i8"),  # cursors of the trace's other columns, at `next`
        ("memory", "i8"),
        ("sector", "i8"),
        ("local_base", "i8"),
        ("age", "i8"),  # launch order
        ("decode_at", "i8"),
        ("decode_end", "i8"),  # what `decoded` becomes then
        ("fetch_from", "i8"),  # earliest cycle of the next fetch
        ("pending", "u8", (REGISTER_WORDS,)),  # the scoreboard: registers with a result under way
        ("long_latency", "u8", (REGISTER_WORDS,)),  # those that come from slow memory
        ("live", "u8", (REGISTER_WORDS,)),
        ("pending_predicates", "u8"),
        ("cta", "i4"),
        ("in_flight", "i4"),
        ("memory_in_flight", "i4"),
        ("atomics", "i4"),
        ("wrong_path", "?"),  # the next fetch goes down the wrong path
        ("full_group", "?"),  # the last fetch did not end at a jump
    ],
    align=True,
)

CTA = np.dtype(
    [
        ("number", "i8"),  # in the grid; -1: the slot is free
        ("warps", "u8"),  # warps that have not exited
        ("arrived", "u8", (MAX_BARRIERS,)),
        ("count", "i4", (MAX_BARRIERS,)),
        ("expected", "i4", (MAX_BARRIERS,)),
    ],
    align=True,
)

ENTRY = np.dtype(
    [
        ("last_access", "i8"),
        ("warp", "i2"),
        ("register", "i2"),
        ("readers", "i2"),  # issued instructions that have yet to read it
        ("writers", "i2"),  # issued instructions and evictions that have yet to write it
        ("row", "i2"),  # in its group of banks
        ("group", "u1"),
        ("evictions", "i2"),  # of the writers, those that write an old value down
        ("evicted", "i8"),  # evictions ever begun, which numbers them: they are written in their order
        ("form", "u1"),  # in which the encoding keeps its value; 0: as it is
        ("allocated", "?"),
        ("released", "?"),  # free it when the accesses under way have ended
    ],
    align=True,
)

SLOT = np.dtype(
    [
        ("index", "i8"),  # in the trace
        ("value", "i8"),  # in the value column; -1: none
        ("sector", "i8"),
        ("ready_at", "i8"),
        ("issued_at", "i8"),
        ("mask", "u4"),
        ("pc", "i4"),
        ("warp", "i2"),
        ("memory", "u2"),  # the entry of the memory column
        ("traits", "u2"),  # `warploom.code.table.Flag`
        ("next", "i2"),  # in whatever list it waits
        ("kind", "u1"),
        ("unit", "u1"),
        ("stage", "u1"),  # of write-back: 0 = not yet begun, 1 = waits for banks
        ("n_reads", "u1"),
        ("n_writes", "u1"),
        ("reads_left", "u1"),
        ("writes_left", "u1"),
        ("written", "u1"),  # bit per destination
        ("whole", "u1"),  # bit per destination: lanes that did not execute are written too, merged
        ("reads", "i2", (MAX_READS,)),  # physical entries; -1: not from a bank
        ("writes", "i2", (MAX_READS,)),
        ("read_group", "u1", (MAX_READS,)),
        ("write_group", "u1", (MAX_READS,)),
        ("form", "u1", (MAX_READS,)),  # of each result, as the encoding wants it
        ("registers", "i2", (MAX_READS,)),  # written, by name
        ("sources", "i2", (MAX_READS,)),  # read, by name
        ("places", "i2", (MAX_READS,)),  # of operands that share a read: taken from a place, or filling it
    ],
    align=True,
)

COLLECTOR = np.dtype([("ready_at", "i8"), ("slot", "i2"), ("waiting", "i2")], align=True)
INJECTED = np.dtype([("kind", "i2"), ("warp", "i2"), ("register", "i2"), ("entry", "i2")], align=True)
DELAYED = np.dtype([("at", "i8"), ("request", "i2")], align=True)
FILL = np.dtype([("warp", "i2"), ("register", "i2"), ("entry", "i2")], align=True)
ARRIVING = np.dtype([("at", "i8"), ("place", "i2")], align=True)

COUNTERS = (
    "warp_instructions",
    "issued",  # instructions and injected work
    "metadata",
    "metadata_skipped",
    "moves",
    "expansions",  # encoded entries that a write of some lanes found, read and stored as they are first
    "spills",
    "refills",
    "rf_reads",
    "rf_writes",
    "mrf_reads",
    "mrf_writes",
    "rf_read_lanes",
    "rf_write_lanes",
    "lanes_gated",
    "bank_reads",
    "bank_writes",
    "bank_conflicts",
    "upper_reads",
    "forwarded_reads",
    "upper_writes",
    "write_backs",
    "wakeup_wait_cycles",
    "fetches",
    "wrong_path_fetches",
    "ctas",
    "distance_sum",
    "distance_count",
)

COUNT = np.dtype(
    [
        *((name, "i8") for name in COUNTERS),
        ("stall", "i8", (len(STALLS),)),
        ("active_lanes", "i8", (33,)),
        ("distance", "i8", (DISTANCE_BINS,)),
        ("by_class", "i8", (24,)),
    ],
    align=True,
)

# The shadow checker's notes: what the program means, and what each place really holds.
CHECK = np.dtype(
    [
        ("version", "i4", (MAX_WARPS, MAX_REGISTERS)),  # writes issued so far
        ("entry_warp", "i4", (MAX_WARP_REGISTERS,)),  # ages, so that a warp's successor in its slot is another owner
        ("entry_register", "i2", (MAX_WARP_REGISTERS,)),
        ("entry_version", "i4", (MAX_WARP_REGISTERS,)),
        ("evicted_version", "i4", (MAX_WARP_REGISTERS,)),  # on its way down to the entry
        ("spilled", "i4", (MAX_WARPS, MAX_REGISTERS)),  # the version that went to memory
        ("place_warp", "i4", (MAX_PLACES,)),
        ("place_register", "i2", (MAX_PLACES,)),
        ("place_version", "i4", (MAX_PLACES,)),
        ("expected", "i4", (MAX_SLOTS, MAX_READS)),
        ("made", "i4", (MAX_SLOTS, MAX_READS)),
    ],
    align=True,
)
FAULT = np.dtype(
    [
        ("kind", "i4"),
        ("sm", "i4"),
        ("warp", "i4"),
        ("register", "i4"),
        ("pc", "i4"),
        ("entry", "i4"),
        ("found_warp", "i4"),
        ("found_register", "i4"),
        ("found_version", "i4"),
        ("version", "i4"),
        ("cycle", "i8"),
    ],
    align=True,
)


def state_dtype(policy: Any) -> np.dtype:
    """The sub-record of a policy's state; a policy without one gets a single unused byte, for a record cannot be empty."""
    fields = list(getattr(policy, "STATE", ())) or [("unused", "u1")]
    return np.dtype(fields, align=True)


def sm_dtype(design: Policies, checked: bool, observers: tuple[Any, ...] = ()) -> np.dtype:
    """The record of one SM under a design, with those of its observers."""
    fields: list[Any] = [
        ("number", "i8"),
        ("cycle", "i8"),  # the next cycle to simulate
        ("next_event", "i8"),
        ("last_progress", "i8"),
        ("ages", "i8"),
        ("last_fetched", "i8"),
        # sets of warps
        ("resident", "u8"),
        ("active", "u8"),
        ("known_active", "u8"),  # `active` as the hierarchy was told
        ("ready", "u8", (4,)),  # by unit: next instruction decoded, no hazard
        ("blocked", "u8"),
        ("held", "u8"),
        ("woken", "u8"),
        ("at_barrier", "u8"),
        ("fetchable", "u8"),
        ("fetching", "u8"),
        ("no_code", "u8"),  # wait for a line of code
        ("fills_seen", "i8"),
        ("waiting", "u8"),  # warps of which the scheduler was told that they wait
        ("exiting", "u8"),  # all issued, nothing in flight
        ("draining", "u8"),  # the same, but for stores that have not been acknowledged
        ("stalled_memory", "u8"),  # wait for their own memory accesses (fences, atomics)
        ("scheduler_warps", "u8", (MAX_SCHEDULERS,)),
        ("ctas_resident", "i8"),
        ("last_exit", "i8"),  # of a CTA
        ("pending_count", "i8"),  # CTAs given to this SM that start in the coming cycles
        ("pending_cta", "i8", (MAX_CTAS,)),
        ("pending_at", "i8", (MAX_CTAS,)),
        ("stall_reason", "i8", (MAX_SCHEDULERS,)),
        # for observers only
        ("stall_pc", "i8", (MAX_SCHEDULERS,)),  # where a scheduler could not issue
        ("issued_now", "u8"),  # warps that were issued in this cycle
        ("crowded", "u8"),  # warps that are ready, but the way to their unit is full
        ("slow", "u8"),  # of those that are blocked, which wait for memory
        ("finished", "u8"),  # warps that have issued all
        ("waits", "u8", (len(WAITS),)),  # by reason, as observers were told
        # the register file
        ("allocated", "i8"),
        ("allocated_since", "i8"),
        ("allocated_cycles", "i8"),
        ("allocated_peak", "i8"),
        ("live", "i8"),
        ("live_since", "i8"),
        ("live_cycles", "i8"),
        ("state_entries", "i8", (3,)),
        ("state_cycles", "i8", (3,)),
        ("state_since", "i8"),
        ("free_rows", "u8", (MAX_RF_BANKS, ROW_WORDS)),
        ("queue_head", "i2", (MAX_RF_BANKS,)),
        ("queue_tail", "i2", (MAX_RF_BANKS,)),
        ("queue_length", "i2", (MAX_RF_BANKS,)),
        ("queue_next", "i2", (REQUESTS,)),
        ("queued_groups", "u8"),
        ("writes_in_cycle", "u1", (MAX_RF_BANKS,)),
        ("written_groups", "u8"),
        ("delayed_count", "i8"),
        ("delayed", DELAYED, (REQUESTS,)),
        # collectors, latches, units
        ("collector", COLLECTOR, (PORTS * MAX_COLLECTORS,)),
        ("collector_last", "i2", (PORTS,)),
        ("latch_size", "i2", (PORTS,)),  # instructions that fit between issue and the collectors
        ("ports_in", "i2", (PORTS,)),  # instructions that enter and leave the collectors in a cycle
        ("ports_out", "i2", (PORTS,)),
        ("scheduler_core", "i2", (MAX_SCHEDULERS,)),
        ("collector_free", "u8", (PORTS,)),
        ("collector_full", "u8", (PORTS,)),  # all operands there
        ("issued", "i2", (PORTS, LATCH)),  # waiting for a collector
        ("issued_count", "i2", (PORTS,)),
        ("dispatched", "i2", (PORTS, DISPATCHED)),  # waiting for a unit
        ("dispatched_count", "i2", (PORTS,)),
        ("in_latches", "i8"),  # instructions in all latches together
        ("in_dispatch", "i8"),
        ("unit_first", "i2", (PORTS,)),
        ("unit_count", "i2", (PORTS,)),
        ("unit_free_at", "i8", (MAX_UNITS,)),
        ("last_memory_port", "i8"),
        # write-back
        ("ring_head", "i2", (RING,)),
        ("ring_results", "u1", (RING,)),
        ("ring_busy", "u8", (RING // 64,)),
        ("write_head", "i2"),
        ("write_tail", "i2"),
        ("free_slot_count", "i8"),
        ("free_slot", "i2", (MAX_SLOTS,)),
        ("injected_head", "i8"),
        ("injected_count", "i8"),
        ("injected_in_flight", "i8"),
        ("injected", INJECTED, (MAX_INJECTED,)),
        # movement up, and reads that several operands share
        ("fill", FILL, (MAX_PLACES,)),  # what is being read for a place
        ("arriving", ARRIVING, (MAX_PLACES,)),  # read and on the way, in order
        ("arriving_head", "i8"),
        ("arriving_count", "i8"),
        ("issuing", "i8"),  # the slot of the instruction that is being issued
        ("place_read", "i2", (MAX_PLACES,)),  # 1: the value of the place is being read for an operand
        ("place_waiting", "i2", (MAX_PLACES,)),  # 1 + the first read of a list that waits for it
        ("place_value", "i8", (MAX_PLACES,)),  # where in the value column the contents of an upper-level place come from
        ("sectors", "u4", (256,)),  # of the memory instruction that is being handed over
        ("lanes", "u4", (256,)),
        ("fault", FAULT),
        ("count", COUNT),
        ("warp", WARP, (MAX_WARPS,)),
        ("cta", CTA, (MAX_CTAS,)),
        ("slot", SLOT, (MAX_SLOTS,)),
        ("entry", ENTRY, (MAX_WARP_REGISTERS,)),
        ("map", "i2", (MAX_WARPS, MAX_REGISTERS)),
        *((choice, state_dtype(policy)) for choice, policy in zip(CHOICES, design, strict=True)),
        ("observed", observed_dtype(observers)),
    ]
    if checked:
        fields.append(("check", CHECK))
    return np.dtype(fields, align=True)
