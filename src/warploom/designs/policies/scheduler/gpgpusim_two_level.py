"""The two-level scheduler as GPGPU-Sim 4.0 really behaves, for comparison with its cycle counts; not a proposal."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from warploom.base.records import Array, Mask, Record, i2, i8
from warploom.chip.machines.limits import MAX_SCHEDULERS, MAX_WARPS
from warploom.chip.sm import policy
from warploom.chip.sm.bits import NOTHING, bit, has
from warploom.chip.sm.columns import pc_at
from warploom.chip.sm.context import Context
from warploom.chip.sm.layout import REGISTER_WORDS, Sm
from warploom.chip.sm.services import inlined, scheduler_of
from warploom.compiler.code.table import Flag, Space

MAX_ACTIVE = 16
CATCH_UP = 64  # turns of the queue that are replayed after a pause; beyond, only the phase is lost
HIT = 40  # a parameter that came faster than this was in the constant cache
LOAD = int(Flag.LOAD)
PARAM = int(Space.PARAM)


class State(Record):
    """The queues of each scheduler."""

    active: Annotated[Array[i2], MAX_SCHEDULERS, MAX_ACTIVE]
    active_count: Annotated[Array[i2], MAX_SCHEDULERS]
    pending: Annotated[Array[i2], MAX_SCHEDULERS, MAX_WARPS]
    head: Annotated[Array[i2], MAX_SCHEDULERS]
    turned: Annotated[Array[i8], MAX_SCHEDULERS]
    marked: Annotated[Array[Mask], MAX_WARPS, REGISTER_WORDS]


@inlined
def _waits(ctx: Context, sm: Sm, warp: int) -> bool:
    """Whether the simulator takes a warp for waiting: empty, at a barrier, or its next instruction reads a marked register."""
    state: State = sm.scheduler
    here = sm.warp[warp]
    if not has(sm.resident, warp) or here.next >= here.end or has(sm.at_barrier | sm.stalled_memory, warp):
        return True
    if here.next >= here.decoded:
        return False
    row = ctx.code[pc_at(ctx, here.next)]
    for operand in range(row.n_reads):
        register = row.reads[operand]
        if has(state.marked[warp, register >> 6], register & 63):
            return True
    return False


@inlined
def _turn(policy: GpgpusimTwoLevel, ctx: Context, sm: Sm, scheduler: int, turns: int) -> None:
    """Let the queues take `turns` cycles: waiting warps go to the back, the front of the queue moves up, ready or not."""
    state: State = sm.scheduler
    total = ctx.machine.sm.warps_per_sm // ctx.machine.sm.schedulers
    for _ in range(turns):
        kept = 0
        size = state.active_count[scheduler]
        for position in range(size):
            warp = state.active[scheduler, position]
            if _waits(ctx, sm, warp):
                state.pending[scheduler, (state.head[scheduler] + total - size + position - kept) % MAX_WARPS] = warp
            else:
                state.active[scheduler, kept] = warp
                kept += 1
        moved = size - kept
        waiting = total - size + moved
        while kept < policy.active and waiting > 0:
            state.active[scheduler, kept] = state.pending[scheduler, state.head[scheduler]]
            state.head[scheduler] = (state.head[scheduler] + 1) % MAX_WARPS
            kept += 1
            waiting -= 1
        state.active_count[scheduler] = kept
        if moved == 0:
            break


@policy
class GpgpusimTwoLevel(NamedTuple):
    """Active warps in a list, the others in a queue that turns every cycle.

    Two peculiarities decide its speed: a warp moves up whether or not it is ready (empty slots too), and a register that a load
    has written stays marked as slow until another kind of instruction overwrites it, so that reading it sends the warp back
    to the queue for ever.
    """

    CHOICE = "scheduler"
    each = "scheduler"  # whose active warps are counted
    NAME = "gpgpusim-two-level"
    SOURCE = "observed: GPGPU-Sim 4.0's two_level_active:6:0:1"
    MEANING = {"active": "active warps of each scheduler"}
    LIMITS = {"active": (1, MAX_ACTIVE)}
    STATE = State

    active: int = 6

    def reset(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        state: State = sm.scheduler
        total = ctx.machine.sm.warps_per_sm // ctx.machine.sm.schedulers
        for scheduler in range(ctx.machine.sm.schedulers):
            state.active_count[scheduler] = min(policy.active, total)
            state.turned[scheduler] = cycle
            for position in range(total):
                warp = position * ctx.machine.sm.schedulers + scheduler
                if position < policy.active:
                    state.active[scheduler, position] = warp
                else:
                    state.pending[scheduler, position - policy.active] = warp

    def choose(policy, ctx: Context, sm: Sm, cycle: int, scheduler: int, ready: Mask) -> int:
        state: State = sm.scheduler
        passed = cycle - state.turned[scheduler]
        if passed > 0:
            state.turned[scheduler] = cycle
            period = ctx.machine.sm.warps_per_sm // ctx.machine.sm.schedulers
            turns = passed if passed <= CATCH_UP else CATCH_UP - period + passed % period
            _turn(policy, ctx, sm, scheduler, turns)
        for position in range(state.active_count[scheduler]):
            if has(ready, state.active[scheduler, position]):
                return state.active[scheduler, position]
        return -1

    def next_event(policy, ctx: Context, sm: Sm, cycle: int) -> int:
        ready = sm.ready[0] | sm.ready[1] | sm.ready[2] | sm.ready[3]
        return cycle + 1 if ready != NOTHING else -1

    def on_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> None:
        state: State = sm.scheduler
        scheduler, row = scheduler_of(ctx, warp), ctx.code[pc]
        if row.traits & LOAD != 0 and (row.slow or row.space == PARAM):
            for number in range(row.n_writes):
                state.marked[warp, row.writes[number] >> 6] |= bit(row.writes[number] & 63)
        size = state.active_count[scheduler]
        first = 0
        while first < size and state.active[scheduler, first] != warp:
            first += 1
        for _ in range(first + 1 if first < size else 0):  # round robin: the list starts behind the warp that issued
            front = state.active[scheduler, 0]
            for position in range(1, size):
                state.active[scheduler, position - 1] = state.active[scheduler, position]
            state.active[scheduler, size - 1] = front

    def on_complete(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, issued_at: int) -> None:
        state: State = sm.scheduler
        row = ctx.code[pc]
        if row.traits & LOAD == 0 or (row.space == PARAM and cycle - issued_at < HIT):
            for number in range(row.n_writes):
                state.marked[warp, row.writes[number] >> 6] &= ~bit(row.writes[number] & 63)

    def on_warp_launch(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        state: State = sm.scheduler
        for word in range(REGISTER_WORDS):
            state.marked[warp, word] = NOTHING
