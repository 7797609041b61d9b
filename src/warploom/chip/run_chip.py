"""The chip: all SMs in quanta, then the memory system, CTAs in launch order.

Each SM runs to the end of the quantum by itself; no reply of the memory system can arrive sooner. Then the requests of all SMs
enter the memory system in order of cycle and SM, and CTAs that fit are given out for the coming quantum. What SMs do in a quantum
can be shared between threads (`warploom.jit.team`).
"""

from __future__ import annotations

from typing import Annotated, Any

from warploom.base.records import Array, Record, dtype_of, i8
from warploom.chip.memory import FOREVER, Memory, Port, memory_next_event, memory_step
from warploom.chip.pipeline.residency import wants_cta
from warploom.chip.run_sm import reset_sm, run_sm, settle_sm
from warploom.chip.sm.bits import signed
from warploom.chip.sm.context import Context
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import inlined
from warploom.jit import by_reference
from warploom.jit.team import LEADER, OVER, Team, close_turn, enter_turn, join, leave_turn, open_turn, take

RUNNING, DONE, STUCK, FAULTY = 0, 1, 2, 3
SAMPLES = 256
SAMPLED = (
    "cycle",
    "warp_instructions",
    "rf_reads",
    "rf_writes",
    "mrf_reads",
    "mrf_writes",
    "rf_read_lanes",
    "rf_write_lanes",
    "on_cycles",
    "drowsy_cycles",
    "off_cycles",
    "allocated_cycles",
    "live_cycles",
)


class Chip(Record):
    """What the loop over SMs and memory keeps."""

    cycle: i8  # start of the next quantum
    start: i8
    end: i8
    next_cta: i8
    last_sm: i8
    follow_from: i8  # no CTA takes the place of another before
    sample_every: i8
    next_sample: i8
    samples: i8
    patience: i8  # cycles without progress that are taken for a deadlock
    sample: Annotated[Array[i8], SAMPLES, len(SAMPLED)]


CHIP_DTYPE = dtype_of(Chip)


@inlined
def _follows(ctx: Context, sm: Sm) -> bool:
    """Whether the next CTA of an SM takes the place of another."""
    return sm.count.ctas + sm.pending_count >= ctx.info.cta_limit


@inlined
def _may_take(ctx: Context, sm: Sm, chip: Chip) -> int:
    """When an SM may be given a CTA, if it has room."""
    if ctx.machine.chip.cta_follow_interval > 0 and _follows(ctx, sm):
        return max(sm.cta_from, chip.follow_from)
    return sm.cta_from


@inlined
def _give_ctas(ctx: Context, sms: Array[Sm], chip: Chip, until: int) -> None:
    """Give out CTAs for the coming quantum: in each cycle each SM may take some, in turn."""
    cycle = chip.cycle
    while cycle < until and chip.next_cta < ctx.info.ctas:
        following = until
        first = chip.last_sm + 1
        for step in range(len(sms)):
            number = (first + step) % len(sms)
            sm = sms[number]
            wants = wants_cta(ctx, sm, cycle)
            if wants and _may_take(ctx, sm, chip) <= cycle:
                for _ in range(ctx.machine.chip.ctas_launched_per_cycle):
                    if chip.next_cta >= ctx.info.ctas or not wants:
                        break
                    if _follows(ctx, sm):
                        chip.follow_from = cycle + ctx.machine.chip.cta_follow_interval
                    sm.pending_at[sm.pending_count] = cycle
                    sm.pending_cta[sm.pending_count] = chip.next_cta
                    sm.pending_count += 1
                    sm.cta_from = cycle + ctx.machine.chip.cta_interval
                    chip.next_cta += 1
                    chip.last_sm = number
                    wants = wants_cta(ctx, sm, cycle)
            if wants:
                following = min(following, max(cycle + 1, _may_take(ctx, sm, chip)))
            elif sm.vacant_count > 0:
                following = min(following, sm.vacant_at[0])
        cycle = following


@inlined
def _take_sample(ctx: Context, sms: Array[Sm], chip: Chip) -> None:
    """Note the running totals; when the table is full, every other one is dropped and the interval doubled."""
    if chip.samples == SAMPLES:
        for kept in range(SAMPLES // 2):
            for column in range(len(SAMPLED)):
                chip.sample[kept, column] = chip.sample[2 * kept + 1, column]
        chip.samples = SAMPLES // 2
        chip.sample_every *= 2
    row: Any = chip.sample[chip.samples]
    chip.samples += 1
    for column in range(len(SAMPLED)):
        row[column] = 0
    row[0] = chip.cycle - chip.start
    for number in range(len(sms)):
        sm = sms[number]
        settle_sm(ctx, sm, chip.cycle)
        row[1] += sm.count.warp_instructions
        row[2] += sm.count.rf_reads
        row[3] += sm.count.rf_writes
        row[4] += sm.count.mrf_reads
        row[5] += sm.count.mrf_writes
        row[6] += sm.count.rf_read_lanes
        row[7] += sm.count.rf_write_lanes
        for state in range(3):
            row[8 + state] += sm.state_cycles[state]
        row[11] += sm.allocated_cycles
        row[12] += sm.live_cycles
    chip.next_sample = chip.cycle + chip.sample_every


def reset_chip(context: Context, sms: Array[Sm], ports: Array[Port], chip: Chip) -> None:
    """Set up all SMs for a launch that begins at the chip's cycle."""
    ctx = by_reference(context)
    for number in range(len(sms)):
        reset_sm(ctx, sms[number], ports[number], number, chip.cycle)


@inlined
def _next_quantum(ctx: Context, memory: Memory, sms: Array[Sm], ports: Array[Port], chip: Chip, end: int) -> int:
    """Where the next quantum in which anything happens begins."""
    event = memory_next_event(ctx.machine, memory)
    for number in range(len(sms)):
        if ports[number].ldst.outbox_count > 0 or sms[number].pending_count > 0:
            return end
        if chip.next_cta < ctx.info.ctas and wants_cta(ctx, sms[number], end):
            return end
        if chip.next_cta < ctx.info.ctas and sms[number].vacant_count > 0:
            event = min(event, sms[number].vacant_at[0])
        event = min(event, sms[number].next_event, max(end, ports[number].ldst.event))
    if event >= FOREVER:
        return FOREVER
    event = min(event, chip.next_sample - 1)  # samples are taken at the same cycles whether quanta are skipped or not
    return max(end, end + (event - end) // ctx.machine.chip.quantum * ctx.machine.chip.quantum)


@inlined
def _end_quantum(ctx: Context, memory: Memory, sms: Array[Sm], ports: Array[Port], chip: Chip, end: int, skip: bool) -> int:
    """Let the memory system follow the SMs to the end of a quantum, or over some in which nothing happens; the status."""
    busy = chip.next_cta < ctx.info.ctas
    progress = chip.start
    for number in range(len(sms)):
        sm = sms[number]
        busy |= sm.ctas_resident + sm.pending_count > 0
        progress = max(progress, sm.last_progress)
        if sm.fault.kind != 0:
            return FAULTY
    memory_step(ctx.machine, memory, ports, chip.cycle, end)
    chip.cycle = end
    if not busy:
        chip.end = chip.start
        for number in range(len(sms)):
            chip.end = max(chip.end, sms[number].last_exit + 1)
        for number in range(len(sms)):
            settle_sm(ctx, sms[number], chip.end)
        return DONE
    if chip.cycle >= chip.next_sample:
        _take_sample(ctx, sms, chip)
    if chip.cycle - progress > chip.patience:
        return STUCK
    if skip:
        following = _next_quantum(ctx, memory, sms, ports, chip, end)
        if following >= FOREVER:
            return STUCK
        if following > end:
            memory_step(ctx.machine, memory, ports, end, following)
            chip.cycle = following
    return RUNNING


def run_chip(
    context: Any,
    memories: Array[Memory],
    sms: Array[Sm],
    ports: Array[Port],
    chip: Chip,
    teams: Array[Team],
    leads: bool,
    until: int,
    skip: bool,
) -> int:
    """Simulate until the launch is done or a cycle is reached; the status says which.

    This is for the thread that leads. Others help it to run the SMs of each quantum, until their team is over: an SM touches
    nothing but itself and its port, so it does not matter who runs it, or when. The rest is the leader's work alone.
    """
    ctx = by_reference(context)
    memory, team = memories[0], teams[0]
    number = LEADER if leads else join(team)
    turn = signed(0)
    while True:
        if leads:
            if chip.cycle >= until:
                return RUNNING
            _give_ctas(ctx, sms, chip, chip.cycle + ctx.machine.chip.quantum)
            open_turn(team, len(sms))
        else:
            turn = enter_turn(team, turn)
            if turn == OVER:
                return RUNNING
        end = chip.cycle + ctx.machine.chip.quantum
        mine = take(team, number)
        while mine >= 0:
            run_sm(ctx, memory, sms[mine], ports[mine], end, skip)
            mine = take(team, number)
        if leads:
            close_turn(team)
            status = _end_quantum(ctx, memory, sms, ports, chip, end, skip)
            if status != RUNNING:
                return status
        else:
            leave_turn(team)
