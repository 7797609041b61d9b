"""What a sub-core without operand collectors keeps, beside what every SM's record has."""

from __future__ import annotations

from typing import Annotated

from warploom.base.records import Array, Mask, Record, i2, i8, u1
from warploom.chip.machines.limits import MAX_CTAS, MAX_L0_LINES, MAX_PREFETCHED, MAX_RF_BANKS, MAX_WARPS
from warploom.chip.memory.state import ALL_CONSTANT_LINES
from warploom.chip.pipeline.bulk_state import BulkUnit, CountedBarrier
from warploom.chip.pipeline.pipes import PIPES
from warploom.chip.sm.bits import bit
from warploom.chip.sm.layout import MAX_REGISTERS, MAX_SUB_CORES, Sm
from warploom.chip.sm.services import inlined
from warploom.compiler.code.instruction import CONTROL_COUNTERS
from warploom.emulator.trace.format import MOST_COUNTED

COUNTERS = CONTROL_COUNTERS + 2  # of the compiler's control bits, then of groups of products that are under way
AHEAD = 64  # cycles for which wake-ups and read ports are planned
SPECIAL_PLACES = 2  # of instructions that are in the unit for functions or wait for it
CODE_LINES = MAX_L0_LINES + MAX_PREFETCHED  # of the cache, then of the stream buffer
GROUPS = 8  # of copies that a warp can have under way; further ones count as part of the last


class SubCoreWarp(Record):
    """What a warp adds where the compiler knows of dependences."""

    stall_until: i8  # the next instruction is not issued before
    copies_issued: i8  # copies to shared memory
    copies_done: i8
    groups: i8  # of copies that a counter is held for
    group_end: Annotated[Array[i8], GROUPS]  # how many copies must be done
    group_counter: Annotated[Array[u1], GROUPS]
    counter: Annotated[Array[u1], COUNTERS]


class SubCores(Record):
    """The sub-cores of an SM."""

    timer: Annotated[Array[Mask], AHEAD]  # warps to look at again, by cycle
    timed: Mask  # the cycles that have some
    ready: Annotated[Array[Mask], PIPES]  # warps whose next instruction waits for nothing but its pipe
    wanted: Mask  # the pipes that have some
    all_ready: Mask  # those of all pipes
    no_constant: Mask  # warps that wait for a line of constants
    fills_seen: i8  # lines of code and constants that had arrived when `no_constant` was looked at last
    pipe_free: Annotated[Array[i8], MAX_SUB_CORES, PIPES]
    was_light: Annotated[Array[u1], MAX_SUB_CORES]  # whether the last instruction of the FP32 unit went to its light half
    second_half: Annotated[Array[i8], MAX_SUB_CORES]  # when the rest of the last instruction for FP64 passes
    special_held: Annotated[Array[i8], MAX_SUB_CORES, SPECIAL_PLACES]  # until when the places in the unit for functions are taken
    allocated_at: Annotated[Array[i8], MAX_SUB_CORES]  # when the last instruction of fixed latency had its read ports
    slipped: Annotated[Array[i8], MAX_SUB_CORES]  # cycles that the instruction being issued comes late to its ports
    issue_from: Annotated[Array[i8], MAX_SUB_CORES]  # the stage behind issue is taken before
    memory_from: Annotated[Array[i8], MAX_SUB_CORES]  # the address unit takes no instruction before
    memory_inside: Annotated[Array[i2], MAX_SUB_CORES]  # memory instructions that have not been handed over
    barrier_from: i8  # the SM's barriers let no warp go before
    unit_from: i8  # the shared unit takes no instruction before
    pipe_unit_from: Annotated[Array[i8], PIPES]  # nor does the one that a pipe of every sub-core leads to
    port_at: Annotated[Array[i8], MAX_RF_BANKS, AHEAD]  # the cycle for which ports are reserved
    port_used: Annotated[Array[u1], MAX_RF_BANKS, AHEAD]  # how many of them
    # products of many registers, which a sub-core makes in the order of their issue
    products_issued: Annotated[Array[i8], MAX_SUB_CORES]
    products_begun: Annotated[Array[i8], MAX_SUB_CORES]  # those whose last piece has been begun
    product_from: Annotated[Array[i8], MAX_SUB_CORES]  # the next piece is not begun before
    matrices_from: i8  # shared memory hands over no more elements of matrices before, in quarters of a cycle
    line: Annotated[Array[i8], MAX_SUB_CORES, CODE_LINES]  # of code, + 1
    line_at: Annotated[Array[i8], MAX_SUB_CORES, CODE_LINES]  # when it is there
    line_used: Annotated[Array[i8], MAX_SUB_CORES, CODE_LINES]
    stream_end: Annotated[Array[i8], MAX_SUB_CORES]  # the line behind those that the stream buffer has asked for
    constant_at: Annotated[Array[i8], ALL_CONSTANT_LINES]  # when a line of constants is there; 0: not asked for
    warp: Annotated[Array[SubCoreWarp], MAX_WARPS]
    bulk: BulkUnit  # copies of many bytes
    counted: Annotated[Array[CountedBarrier], MAX_CTAS, MOST_COUNTED]  # by the place of a CTA, and the number in the trace
    to_read: Annotated[Array[u1], MAX_WARPS, MAX_REGISTERS]  # by instructions of variable latency, where a scoreboard counts them


@inlined
def look_again(sm: Sm, cycle: int, at: int, warp: int) -> None:
    """Examine a warp at a later cycle, or on the way there."""
    own: SubCores = sm.stages
    moment = min(at, cycle + AHEAD - 1) % AHEAD
    own.timer[moment] |= bit(warp)
    own.timed |= bit(moment)
