"""What compiled functions of the emulator work on: the encoded program, a warp's state, and the state of the whole machine."""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated

from warploom.base.records import Array, Lanes, Record, i4, i8, u8
from warploom.emulator.trace.format import MOST_COUNTED

MOST_ELEMENTS = 8  # registers that one instruction loads, stores or writes
STACK_DEPTH = 66  # every entry splits a warp further, so there are never more
BARRIERS = 16
COUNTS = 5  # numbers for each instruction that is counted: warps, lanes, lanes whose guard held, warps and lanes that repeated it


class Kind(IntEnum):
    """How an instruction is executed."""

    COMPUTE = 0
    LOAD = 1
    STORE = 2
    ATOMIC = 3
    BRANCH = 4
    EXIT = 5
    BARRIER = 6
    WARP = 7  # lanes look at each other
    TEXTURE = 8
    NOTHING = 9
    SLEEP = 10
    TRAP = 11
    CALL = 12  # of a function that CUDA supplies


class Family(IntEnum):
    """Which function executes a micro-operation."""

    INTEGER32 = 0
    INTEGER64 = 1
    FLOAT32 = 2
    FLOAT64 = 3
    CONVERT = 4
    DIRECTED = 5
    SPECIAL = 6
    PREDICATE = 7
    HALVES = 8


class PredicateOperation(IntEnum):
    """Micro-operations on predicates."""

    AND = 0
    OR = 1
    XOR = 2
    NOT = 3
    MOVE = 4


class AtomicOperation(IntEnum):
    ADD = 0
    MIN = 1
    MAX = 2
    AND = 3
    OR = 4
    XOR = 5
    EXCH = 6
    CAS = 7
    INC = 8
    DEC = 9


class AtomicType(IntEnum):
    U32 = 0
    S32 = 1
    F32 = 2
    U64 = 3
    S64 = 4
    F64 = 5
    B16 = 6
    F16X2 = 7
    BF16X2 = 8


class WarpOperation(IntEnum):
    SHUFFLE_UP = 0
    SHUFFLE_DOWN = 1
    SHUFFLE_XOR = 2
    SHUFFLE_INDEX = 3
    VOTE_ALL = 4
    VOTE_ANY = 5
    VOTE_UNIFORM = 6
    BALLOT = 7
    ACTIVE = 8
    MATCH_ANY = 9
    MATCH_ALL = 10
    REDUCE_ADD = 11
    REDUCE_MIN_S = 12
    REDUCE_MIN_U = 13
    REDUCE_MAX_S = 14
    REDUCE_MAX_U = 15
    REDUCE_AND = 16
    REDUCE_OR = 17
    REDUCE_XOR = 18
    MEET = 19  # nothing but that lanes name each other


class BarrierOperation(IntEnum):
    SYNC = 0
    ARRIVE = 1
    POPC = 2
    AND = 3
    OR = 4


class Fault(IntEnum):
    """Why a launch was stopped."""

    NONE = 0
    BOUNDS = 1
    ALIGNMENT = 2
    DEADLOCK = 3
    BUDGET = 4
    TRAP = 5
    TEXTURE = 6
    BARRIER_ID = 7
    READ_ONLY = 8
    ENCODING = 9
    BARRIER_COUNT = 10
    LOG_TOO_LONG = 11
    JUMP = 12  # an indirect branch leaves the code
    ASSERTION = 13
    SURFACE = 14
    TENSOR_MAP = 15
    MEMBERS = 16  # a lane names members without itself
    UNRECORDED = 17  # an instruction does more than the trace has fields for


class ReturnReason(IntEnum):
    """Why compiled code returns to Python."""

    FINISHED = 0
    LOG_FULL = 1
    SLOTS_FULL = 2
    FAULT = 3
    PAUSED = 4
    CALL = 5  # of a function that Python executes
    EVENTS_FULL = 6  # a watched launch has to have its events judged


class MicroOperation(Record):
    """What compiled code executes on the rows of a warp."""

    family: i4
    number: i8
    a: i8  # byte offsets of rows within the warp's rows; numbers of predicates in the family PREDICATE
    b: i8
    c: i8
    d: i8
    out: i8
    predicate_in: i4
    predicate_out: i4  # -1: none


class EncodedInstruction(Record):
    """An instruction as compiled code reads it."""

    kind: i4
    guard: i4  # a predicate, or -1
    guard_flip: Lanes  # all ones for a negated guard
    first: i4  # its micro-operations
    count: i4
    writes: i4  # rows written
    values: i4  # rows classified in the trace
    write_rows: Annotated[Array[i8], MOST_ELEMENTS]
    value_rows: Annotated[Array[i8], MOST_ELEMENTS]
    target: i4
    reconvergence: i4
    accesses: i4  # 1: has an entry in the trace's memory column
    space: i4
    size: i4  # bytes of one element
    elements: i4
    signed: i4
    wide_registers: i4  # the registers of the elements have 64 bits
    wide_address: i4
    device_only: i4  # an atomic that is done in device memory only: code asks where it is
    polling: i4  # volatile or atomic: a warp may be waiting for another one
    address: i8  # the row of the base
    offset: i8
    rows: Annotated[Array[i8], MOST_ELEMENTS]  # registers loaded or stored; operands of warp operations, textures, barriers
    operation: i4
    type: i4
    predicate_in: i4
    predicate_out: i4
    uses_clock: i4
    pc: i4


class Status(IntEnum):
    """What a warp does."""

    READY = 0
    WAITING = 1  # at a barrier
    DONE = 2


class ResidentWarp(Record):
    """A resident warp."""

    status: i4
    pc: i4
    reconvergence: i4
    depth: i4
    active: Lanes
    alive: Lanes
    launched: Lanes
    barrier: i4
    turn: i4  # instructions left before another warp gets its turn
    polled: i4
    cta: i4  # its resident CTA
    number: i4  # within the CTA
    barrier_pc: i4
    barrier_mask: Lanes  # the lanes that came to the barrier
    cluster_arrivals: i4  # how often it has arrived at the barrier of its cluster
    cluster_lanes: Lanes  # those of its lanes that have, while others have still to
    value_at: i8  # where bar.red has to correct the trace
    rows: i8  # addresses
    predicates: i8
    local: i8
    stack_pc: Annotated[Array[i4], STACK_DEPTH]
    stack_reconvergence: Annotated[Array[i4], STACK_DEPTH]
    stack_mask: Annotated[Array[Lanes], STACK_DEPTH]


class ResidentCta(Record):
    """A resident CTA."""

    index: i8  # in the grid, x fastest
    running: i4  # warps that have not ended
    shared: i8
    slot: i8
    leader: i8  # the slot of the first CTA of its cluster
    arrived: Annotated[Array[i4], BARRIERS]  # warps at each barrier
    expected: Annotated[Array[i4], BARRIERS]  # 0: all
    reduction: Annotated[Array[i4], BARRIERS]  # threads with a true predicate
    threads: Annotated[Array[i4], BARRIERS]  # threads that took part in a reduction
    # barriers in shared memory that were begun: how many, where, and how many phases of each have ended
    counted: i8
    counted_at: Annotated[Array[i8], MOST_COUNTED]
    counted_phases: Annotated[Array[i8], MOST_COUNTED]


class Segment(Record):
    """What one turn of a warp appended to the log begins here; it ends where the next segment begins."""

    cta: i8
    warp: i4
    instruction: i8
    value: i8
    memory: i8
    sector: i8


class TextureRecord(Record):
    """A texture as compiled code reads it."""

    address: i8  # of the texels in device memory
    width: i4
    height: i4
    depth: i4
    dimensions: i4
    channels: i4
    size: i4  # bytes of one channel
    signed: i4
    linear: i4
    addressing: i4  # 0 clamp, 1 wrap, 2 border, 3 mirror
    normalized: i4
    layers: i4  # 0: it has none


class EmulatedMachine(Record):
    """The launch and all that its execution needs: addresses, rooms, counters."""

    # the launch
    instructions: i8  # in the program
    grid: Annotated[Array[i8], 3]
    block: Annotated[Array[i8], 3]
    threads: i8
    warps_per_cta: i8
    ctas: i8
    grid_id: i8
    cluster: Annotated[Array[i8], 3]  # CTAs of a cluster
    cluster_size: i8
    # per warp and CTA
    rows: i8
    row_bytes: i8  # of one warp
    register_bytes: i8  # of them, what is cleared when a warp begins
    predicates: i8
    predicate_bytes: i8
    always: i8  # byte offset of the predicate that is always true
    local: i8
    local_stride: i8
    local_bytes: i8
    shared: i8
    shared_stride: i8
    shared_bytes: i8
    clusters: i8  # what their barriers have counted, one record for each slot
    slots: i8  # CTAs that there is room for
    most_slots: i8
    resident: i8
    next_cta: i8
    cursor_cta: i8  # whose turn it is
    cursor_warp: i8
    stalled: i8  # a warp polled through its whole turn
    round_executed: i8  # instructions before this round of turns
    flush_unit: i8  # CTAs that make whole rows of the grid: the log is written out between them
    running: i8  # CTAs of this batch that have not ended
    turn: i8  # instructions of one turn
    chance: u8  # what decides whether a warp is passed over; 0: none is
    passed_over: i8  # whether one was in this round
    # memory
    arena: i8
    arena_start: i8
    allocations: i8  # pairs of addresses: first byte, one past the last
    allocation_count: i8
    hint: i8
    shared_window: i8  # where shared and local memory appear among generic addresses
    local_window: i8
    window_bytes: i8  # of each
    parameters: i8
    parameter_bytes: i8
    textures: i8
    texture_count: i8
    # scratch
    saved: i8  # rows
    addresses: i8  # 32 addresses of 64 bits
    survey: i8
    banks: i8
    # the log of the trace
    tracing: i8
    checking: i8
    log_pc: i8
    log_mask: i8
    log_value: i8
    log_memory: i8
    log_sector: i8
    log_lanes: i8
    instruction_room: i8
    value_room: i8
    memory_room: i8
    sector_room: i8
    segment_room: i8
    n_instruction: i8
    n_value: i8
    n_memory: i8
    n_sector: i8
    n_segment: i8
    flush_at: i8  # entries of the log after which it is written out between CTAs
    # counters
    executed: i8
    thread_executed: i8
    thread_idle: i8  # by lanes whose guard did not hold
    budget: i8
    pause_at: i8  # executed instructions after which Python may show progress and see to signals
    pause_cta: i8  # likewise, CTAs that have begun
    counts: i8  # `COUNTS` numbers of each instruction, or 0: not counted
    events: i8  # where the next event goes that a watched launch notes; 0: nobody watches
    events_end: i8
    # a warp that calls a function which Python executes
    call_pc: i8
    call_mask: Lanes
    called: i8  # whether it has been executed
    # what went wrong
    fault: i8
    fault_pc: i8
    fault_cta: i8
    fault_warp: i8
    fault_lane: i8
    fault_address: u8
    fault_space: i8
    fault_detail: i8
