"""Barriers in shared memory that count arrivals and bytes (mbarrier), in time.

The trace says what each instruction does to which barrier, and of a wait that came to its end how many phases had ended then.
Here arrivals count when their access to shared memory is through, and bytes when a copy has brought them. The result of a
wait is held back until as many phases have ended. Whatever such a wait waits for was executed before it when the trace was
made, so it comes: nothing depends on parities, and no order of arrivals leaves a wait without its phase.
"""

from __future__ import annotations

from warploom.chip.pipeline.bulk_state import CountedBarrier
from warploom.chip.pipeline.subcore_state import SubCores
from warploom.chip.pipeline.writeback import plan
from warploom.chip.sm.columns import lanes_at, sector_at
from warploom.chip.sm.context import Context
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import inlined, separate
from warploom.emulator.trace.format import ARRIVALS_SHIFT, MOST_COUNTED, NUMBER_SHIFT, BarrierDeed

TO_COUNT = 4  # the value of `storing` of an instruction that has still to do something to a barrier
BEGIN, ARRIVE, WAIT, LEAVE = (int(deed) for deed in BarrierDeed)


@inlined
def _signed(word: int) -> int:
    """A word of 32 bits as a number that may be negative."""
    return word - (word >> 31 << 32)


@inlined
def _wake(ctx: Context, sm: Sm, cycle: int, barrier: CountedBarrier) -> None:
    """Let all that wait at a barrier look at it again when they can see the end of its phase."""
    slot = int(barrier.waiting) - 1
    barrier.waiting = 0
    while slot >= 0:
        following = int(sm.slot[slot].next)
        plan(sm, cycle, max(cycle + 1, int(barrier.seen_at)), slot)
        slot = following


@inlined
def _settle(ctx: Context, sm: Sm, cycle: int, barrier: CountedBarrier) -> None:
    """End phases for which nothing is still to come. Who came early counts in the phase behind it."""
    if barrier.pending > 0 or barrier.awaited != 0:
        return
    barrier.seen_at = cycle + ctx.machine.bulk.phase_cycles
    barrier.phases += 1
    barrier.pending += barrier.count
    while barrier.pending <= 0 and barrier.count > 0:
        barrier.phases += 1
        barrier.pending += barrier.count
    _wake(ctx, sm, cycle, barrier)


@separate
def count_bytes(ctx: Context, sm: Sm, cycle: int, cta: int, number: int, size: int) -> None:
    """Bytes that a barrier expects have come."""
    own: SubCores = sm.stages
    barrier = own.counted[cta, number]
    barrier.awaited -= size
    _settle(ctx, sm, cycle, barrier)


@separate
def do_deeds(ctx: Context, sm: Sm, cycle: int, slot: int) -> bool:
    """An instruction's access to shared memory is through: do what it does to barriers; whether it has to wait at one."""
    own: SubCores = sm.stages
    work = sm.slot[slot]
    cta = int(sm.warp[work.warp].cta)
    for record in range(int(work.sector), int(work.sector) + int(work.memory & 0xFF)):
        what, amount = sector_at(ctx, record), _signed(lanes_at(ctx, record))
        deed, arrivals = what & 3, what >> ARRIVALS_SHIFT
        barrier = own.counted[cta, what >> NUMBER_SHIFT & (MOST_COUNTED - 1)]
        if deed == WAIT:
            if barrier.phases < amount:
                work.next = barrier.waiting - 1
                barrier.waiting = slot + 1
                return True
            if barrier.phases == amount and barrier.seen_at > cycle:
                plan(sm, cycle, int(barrier.seen_at), slot)
                return True
            continue
        if deed == BEGIN:
            barrier.count = arrivals
            barrier.pending = arrivals
            barrier.awaited = 0
            if amount != 0:
                barrier.phases = 0
                barrier.seen_at = cycle
                _wake(ctx, sm, cycle, barrier)
            continue
        if deed == LEAVE:
            barrier.count -= arrivals
        barrier.pending -= arrivals
        barrier.awaited += amount
        _settle(ctx, sm, cycle, barrier)
    work.storing = 0
    return False
