"""One SM: its stages in reverse order of the pipeline, and the jump over cycles in which nothing can happen."""

from __future__ import annotations

from typing import Any

from warploom.chip.memory import FOREVER, Memory, Port, ldst_idle, ldst_next_event, ldst_step
from warploom.chip.pipeline.collect import collect
from warploom.chip.pipeline.execute import execute, start_memory
from warploom.chip.pipeline.fetch import decode, fetch
from warploom.chip.pipeline.issue import issue
from warploom.chip.pipeline.residency import exit_warps, launch_pending
from warploom.chip.pipeline.writeback import next_planned, write_results
from warploom.chip.sm.bits import EVERYTHING, NOTHING, below, bit, lowest, without_lowest
from warploom.chip.sm.context import Context
from warploom.chip.sm.hooks import collectors, finish, hook, issue_stages, next_event, on_event, on_stuck, reset
from warploom.chip.sm.layout import LATCH, MAX_SLOTS, PORT_COLLECTORS, RING, UNITS, Sm
from warploom.chip.sm.observing import on_stalled
from warploom.chip.sm.services import ON, inlined, separate, settle_states
from warploom.compiler.code.classes import Unit

SFU, MEM = int(Unit.SFU), int(Unit.MEM)


@hook()
def advance(stages: Any, ctx: Context, sm: Sm, cycle: int) -> bool:
    """Let issued instructions move on towards their units; whether any did."""
    moved = False
    if sm.in_dispatch > 0:
        moved |= execute(ctx, sm, cycle)
    moved |= collect(ctx, sm, cycle)
    return moved


@hook()
def next_advance(stages: Any, ctx: Context, sm: Sm, cycle: int) -> int:
    """The next cycle, after one in which nothing moved, at which an issued instruction can move on towards its unit."""
    if sm.queued_groups != NOTHING:
        return cycle + 1
    event = FOREVER
    for number in range(UNITS * ctx.machine.sm.sub_cores):
        if sm.issued_count[number] > 0:
            ready = sm.slot[sm.issued[number, 0]].ready_at
            if ready > cycle:
                event = min(event, ready)
        if sm.dispatched_count[number] > 0:
            if number % UNITS + 1 != MEM:
                return cycle + 1  # waits for a unit or for the result bus
            decoded = sm.slot[sm.dispatched[number, 0]].ready_at
            if decoded > cycle:
                event = min(event, decoded)
        waiting = sm.collector_full[number]
        while waiting != NOTHING:
            ready = sm.collector[number * PORT_COLLECTORS + lowest(waiting)].ready_at
            if ready > cycle:
                event = min(event, ready)
            waiting = without_lowest(waiting)
    if sm.arriving_count > 0:
        event = min(event, sm.arriving[sm.arriving_head].at)
    for number in range(sm.delayed_count):
        event = min(event, sm.delayed[number].at)
    return event


@hook()
def run_copies(stages: Any, ctx: Context, sm: Sm, port: Port, cycle: int) -> bool:
    """Let copies of many bytes go on, after the load/store unit; whether any did."""
    return False


@inlined
def _step(ctx: Context, memory: Memory, sm: Sm, port: Port, cycle: int) -> bool:
    """One cycle; False if nothing moved, so that the next cycles would be the same until a planned event."""
    due = next_event(ctx.design.power, ctx, sm, cycle)
    if 0 <= due <= cycle:
        on_event(ctx.design.power, ctx, sm, cycle)
    moved = write_results(ctx, sm, port, cycle)
    moved |= advance(ctx.stages, ctx, sm, cycle)
    ldst_step(ctx.machine, memory, port, cycle)
    moved |= run_copies(ctx.stages, ctx, sm, port, cycle)
    if sm.in_dispatch > 0:
        moved |= start_memory(ctx, memory, sm, port, cycle)
    if sm.exiting != NOTHING:
        exit_warps(ctx, sm, port, cycle)
        moved = True
    moved |= issue(ctx, sm, port, cycle)
    if sm.fetching != NOTHING:
        moved |= decode(ctx, sm, cycle)
    moved |= fetch(ctx, memory, sm, port, cycle)
    return moved


@separate
def _earliest_event(ctx: Context, sm: Sm, port: Port, cycle: int) -> int:
    """The next cycle, after one in which nothing moved, at which something will."""
    if sm.write_head >= 0 or sm.woken != NOTHING or sm.exiting != NOTHING:
        return cycle + 1
    event = min(next_planned(sm, cycle), ldst_next_event(ctx.machine, port, cycle), next_advance(ctx.stages, ctx, sm, cycle))
    waiting = sm.fetching
    while waiting != NOTHING:
        event = min(event, sm.warp[lowest(waiting)].decode_at)
        waiting = without_lowest(waiting)
    waiting = sm.fetchable
    while waiting != NOTHING:
        event = min(event, sm.warp[lowest(waiting)].fetch_from)
        waiting = without_lowest(waiting)
    if sm.pending_count > 0:
        event = min(event, sm.pending_at[0])
    scheduled = next_event(ctx.design.scheduler, ctx, sm, cycle)
    if scheduled >= 0:
        event = min(event, scheduled)
    due = next_event(ctx.design.power, ctx, sm, cycle)
    if due >= 0:
        event = min(event, due)
    return max(event, cycle + 1)


@inlined
def run_sm(ctx: Context, memory: Memory, sm: Sm, port: Port, until: int, skip: bool) -> None:
    """Simulate one SM up to a cycle, jumping over those in which nothing can happen."""
    cycle = sm.cycle
    sm.next_event = min(sm.next_event, max(cycle, port.ldst.event))  # replies may have come since
    if sm.pending_count > 0:
        sm.next_event = min(sm.next_event, sm.pending_at[0])
    while cycle < until:
        if skip and cycle < sm.next_event:
            jump = min(sm.next_event, until)
            for scheduler in range(ctx.machine.sm.schedulers):
                reason = sm.stall_reason[scheduler]
                sm.count.stall[reason] += jump - cycle
                on_stalled(ctx.observers, sm.observed, ctx, cycle, scheduler, reason, sm.stall_pc[scheduler], jump - cycle)
            cycle = jump
            continue
        launched = launch_pending(ctx, sm, cycle)
        if _step(ctx, memory, sm, port, cycle) or launched:
            sm.next_event = cycle + 1
        else:
            sm.next_event = _earliest_event(ctx, sm, port, cycle)
            idle = sm.next_event >= FOREVER and sm.held != NOTHING and ldst_idle(port)
            if idle and on_stuck(ctx.design.allocation, ctx, sm, cycle):
                sm.next_event = cycle + 1
        cycle += 1
    sm.cycle = cycle


@separate
def reset_sm(ctx: Context, sm: Sm, port: Port, number: int, cycle: int) -> None:
    """Set up an empty SM (a record of zeros) for a launch."""
    machine = ctx.machine
    sm.number = number
    sm.cycle = cycle
    sm.next_event = cycle
    sm.last_progress = cycle
    sm.last_fetched = 63
    sm.active = EVERYTHING
    sm.known_active = EVERYTHING
    sm.fills_seen = port.ldst.fetch_fills
    sm.allocated_since = cycle
    sm.live_since = cycle
    sm.state_since = cycle
    sm.state_entries[ON] = ctx.info.entries
    sm.write_head = -1
    sm.write_tail = -1
    for moment in range(RING):
        sm.ring_head[moment] = -1
    sm.free_slot_count = MAX_SLOTS
    for slot in range(MAX_SLOTS):
        sm.free_slot[slot] = MAX_SLOTS - 1 - slot
    for entry in range(ctx.info.entries):
        row = ctx.info.row_of_entry[entry]
        sm.free_rows[ctx.info.group_of_entry[entry], row >> 6] |= bit(row & 63)
    cores = machine.sm.sub_cores
    for warp in range(machine.sm.warps_per_sm):
        # Schedulers of one sub-core are neighbours: warp n belongs to sub-core n mod cores.
        core, turn = warp % cores, warp // cores % (machine.sm.schedulers // cores)
        sm.scheduler_warps[core * (machine.sm.schedulers // cores) + turn] |= bit(warp)
        sm.scheduler_core[core * (machine.sm.schedulers // cores) + turn] = core
    first_unit = 0
    for port_number in range(UNITS * cores):
        kind = port_number % UNITS + 1
        built, units, latch = machine.collectors.sp, machine.units.sp, machine.units.issue_sp
        enter, leave = machine.collectors.ports_in_sp, min(machine.collectors.ports_out_sp, machine.units.dispatch_sp)
        if kind == SFU:
            built, units, latch = machine.collectors.sfu, machine.units.sfu, machine.units.issue_sfu
            enter, leave = machine.collectors.ports_in_sfu, min(machine.collectors.ports_out_sfu, machine.units.dispatch_sfu)
        elif kind == MEM:
            built, units, latch = machine.collectors.mem, 0, machine.units.issue_mem
            enter, leave = machine.collectors.ports_in_mem, min(machine.collectors.ports_out_mem, machine.units.dispatch_mem)
        stages = 1 + issue_stages(ctx.design.allocation) + issue_stages(ctx.design.power)
        sm.latch_size[port_number] = min(LATCH, max(1, latch // cores) * stages)
        sm.ports_in[port_number] = max(1, enter // cores)
        sm.ports_out[port_number] = max(1, leave // cores)
        size = min(PORT_COLLECTORS, collectors(ctx.design.hierarchy, ctx, kind, max(1, built // cores)))
        sm.collector_free[port_number] = below(size) if size < PORT_COLLECTORS else EVERYTHING
        sm.unit_first[port_number] = first_unit
        sm.unit_count[port_number] = max(1, units // cores) if kind != MEM else 0
        first_unit += sm.unit_count[port_number]
    design = ctx.design
    reset(design.scheduler, ctx, sm, cycle)
    reset(design.allocation, ctx, sm, cycle)
    reset(design.hierarchy, ctx, sm, cycle)
    reset(design.encoding, ctx, sm, cycle)
    reset(design.power, ctx, sm, cycle)


@separate
def settle_sm(ctx: Context, sm: Sm, cycle: int) -> None:
    """Integrate everything that is counted over time up to now."""
    sm.allocated_cycles += sm.allocated * (cycle - sm.allocated_since)
    sm.allocated_since = cycle
    sm.live_cycles += sm.live * (cycle - sm.live_since)
    sm.live_since = cycle
    settle_states(sm, cycle)
    design = ctx.design
    finish(design.allocation, ctx, sm, cycle)
    finish(design.encoding, ctx, sm, cycle)
    finish(design.power, ctx, sm, cycle)
