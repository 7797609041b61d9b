"""CTAs and warps come and go; barriers keep the warps of a CTA together."""

from __future__ import annotations

from typing import Any

import numpy as np

from warploom.base.records import Mask
from warploom.chip.memory import Port
from warploom.chip.pipeline.examine import begin_to_stand
from warploom.chip.pipeline.fetch import update_fetchable
from warploom.chip.sm.bits import NOTHING, bit, count, lowest, without_lowest
from warploom.chip.sm.checking import check_launch
from warploom.chip.sm.columns import start_at
from warploom.chip.sm.context import Context
from warploom.chip.sm.hooks import (
    can_launch,
    freed_with_cta,
    hook,
    on_cta_exit,
    on_cta_launch,
    on_warp_exit,
    on_warp_launch,
)
from warploom.chip.sm.layout import MAX_BARRIERS, Sm
from warploom.chip.sm.observing import observed, on_exited, on_launched
from warploom.chip.sm.services import inlined, release, separate
from warploom.compiler.code.lanes import FULL, LANES


@inlined
def wants_cta(ctx: Context, sm: Sm, cycle: int) -> bool:
    """Whether the SM can take one more CTA."""
    while sm.vacant_count > 0 and sm.vacant_at[0] <= cycle:
        sm.vacant_count -= 1
        for position in range(sm.vacant_count):
            sm.vacant_at[position] = sm.vacant_at[position + 1]
    taken = sm.ctas_resident + sm.pending_count + sm.vacant_count
    return taken < ctx.info.cta_limit and can_launch(ctx.design.allocation, ctx, sm, cycle)


@separate
def launch_pending(ctx: Context, sm: Sm, cycle: int) -> bool:
    """Launch the CTAs whose time has come; they were given to this SM at the start of the quantum."""
    launched = 0
    while launched < sm.pending_count and sm.pending_at[launched] <= cycle:
        launch_cta(ctx, sm, cycle, sm.pending_cta[launched])
        launched += 1
    if launched > 0:
        sm.pending_count -= launched
        for position in range(sm.pending_count):
            sm.pending_at[position] = sm.pending_at[position + launched]
            sm.pending_cta[position] = sm.pending_cta[position + launched]
    return launched > 0


@inlined
def launch_cta(ctx: Context, sm: Sm, cycle: int, number: int) -> None:
    """Give a CTA the first free slot and start its warps."""
    slot = lowest(~sm.cta_slots)
    sm.cta_slots |= bit(slot)
    cta = sm.cta[slot]
    cta.number = number
    cta.warps = NOTHING
    for barrier in range(MAX_BARRIERS):
        cta.arrived[barrier] = NOTHING
        cta.count[barrier] = 0
        cta.expected[barrier] = 0
    if sm.ctas_resident == 0:
        sm.busy_since = cycle
    sm.ctas_resident += 1
    sm.count.ctas += 1
    sm.last_progress = cycle
    design = ctx.design
    on_cta_launch(design.allocation, ctx, sm, cycle, slot)
    per_cta = ctx.info.warps_per_cta
    for member in range(per_cta):
        warp = slot * per_cta + member
        left = ctx.info.threads_per_cta - LANES * member
        sm.warp[warp].launched = FULL if left >= LANES else np.uint32((1 << left) - 1)
        _start_warp(ctx, sm, cycle, warp, number * per_cta + member, slot)


@hook()
def begin_warp(stages: Any, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
    """A warp becomes resident: what the stages keep of it begins anew."""


@inlined
def _start_warp(ctx: Context, sm: Sm, cycle: int, warp: int, stream: int, slot: int) -> None:
    state = sm.warp[warp]
    state.next = start_at(ctx, stream, 0)
    state.decoded = state.next
    state.end = start_at(ctx, stream + 1, 0)
    state.value = start_at(ctx, stream, 1)
    state.memory = start_at(ctx, stream, 2)
    state.sector = start_at(ctx, stream, 3)
    state.local_base = ctx.info.local_first + (sm.number * ctx.machine.sm.warps_per_sm + warp) * ctx.info.local_bytes
    state.age = sm.ages
    sm.ages += 1
    state.fetch_from = cycle + ctx.machine.stages.launch_cycles
    state.cta = slot
    state.in_flight = 0
    state.memory_in_flight = 0
    state.atomics = 0
    state.pending_predicates = NOTHING
    state.wrong_path = False
    for word in range(ctx.info.words):
        state.pending[word] = NOTHING
        state.long_latency[word] = NOTHING
        state.live[word] = NOTHING
    for register in range(max(ctx.info.registers, ctx.info.registers_per_warp)):
        sm.map[warp, register] = -1
    mine = bit(warp)
    sm.cta[slot].warps |= mine
    sm.resident |= mine
    sm.resident_cycles -= cycle
    check_launch(ctx.check, ctx, sm, warp)
    on_launched(ctx.observers, sm.observed, ctx, cycle, warp, sm.cta[slot].number)
    if observed(ctx.observers):
        sm.finished &= ~mine
    design = ctx.design
    on_warp_launch(design.allocation, ctx, sm, cycle, warp)
    on_warp_launch(design.scheduler, ctx, sm, cycle, warp)
    begin_warp(ctx.stages, ctx, sm, cycle, warp)
    on_warp_launch(design.hierarchy, ctx, sm, cycle, warp)
    if ctx.info.literal != 0:  # more names than registers: they share entries
        for register in range(ctx.info.registers_per_warp, ctx.info.registers):
            sm.map[warp, register] = sm.map[warp, register % ctx.info.registers_per_warp]
    if state.next >= state.end:
        sm.exiting |= mine
    else:
        update_fetchable(ctx, sm, warp)


@separate
def exit_warps(ctx: Context, sm: Sm, port: Port, cycle: int) -> None:
    """Retire the warps that have nothing left to do, and CTAs with their last warp."""
    while sm.exiting != NOTHING:
        warp = lowest(sm.exiting)
        sm.exiting = without_lowest(sm.exiting)
        if port.ldst.warp_stores[warp] > 0 and ctx.machine.stages.stores_awaited:
            sm.draining |= bit(warp)
            continue
        mine = bit(warp)
        design = ctx.design
        on_warp_exit(design.hierarchy, ctx, sm, cycle, warp)
        on_warp_exit(design.allocation, ctx, sm, cycle, warp)
        on_warp_exit(design.scheduler, ctx, sm, cycle, warp)
        on_exited(ctx.observers, sm.observed, ctx, cycle, warp)
        _drop_live(ctx, sm, cycle, warp)
        if not freed_with_cta(design.allocation):
            _drop_registers(ctx, sm, cycle, warp)
        sm.resident &= ~mine
        sm.resident_cycles += cycle
        sm.waiting &= ~mine
        sm.last_progress = cycle
        slot = sm.warp[warp].cta
        cta = sm.cta[slot]
        cta.warps &= ~mine
        if cta.warps == NOTHING:
            on_cta_exit(design.allocation, ctx, sm, cycle, slot)
            if freed_with_cta(design.allocation):
                for member in range(ctx.info.warps_per_cta):
                    _drop_registers(ctx, sm, cycle, slot * ctx.info.warps_per_cta + member)
            sm.cta_slots &= ~bit(slot)
            sm.ctas_resident -= 1
            if ctx.machine.chip.cta_follow_cycles > 0:
                sm.vacant_at[sm.vacant_count] = cycle + ctx.machine.chip.cta_follow_cycles
                sm.vacant_count += 1
            sm.last_exit = cycle + ctx.machine.stages.exit_cycles
            if sm.ctas_resident == 0:
                sm.busy_cycles += sm.last_exit + 1 - sm.busy_since
        else:
            for barrier in range(MAX_BARRIERS):
                if cta.count[barrier] > 0:
                    _open_barrier(ctx, sm, cycle, slot, barrier)


@inlined
def _drop_registers(ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
    """Free what the allocation policy has left to the exit."""
    names = min(ctx.info.registers, ctx.info.registers_per_warp) if ctx.info.literal != 0 else ctx.info.registers
    for register in range(max(names, ctx.info.registers_per_warp)):
        release(ctx, sm, cycle, warp, register)


@inlined
def _drop_live(ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
    """Forget the live values of a warp that has exited."""
    dead = 0
    for word in range(ctx.info.words):
        dead += count(sm.warp[warp].live[word])
        sm.warp[warp].live[word] = NOTHING
    if dead > 0:
        sm.live_cycles += sm.live * (cycle - sm.live_since)
        sm.live_since = cycle
        sm.live -= dead


@inlined
def arrive_at_barrier(ctx: Context, sm: Sm, cycle: int, warp: int, entry: int, arrives_only: bool) -> None:
    """A warp has issued a barrier instruction; `entry` is of the trace: id, and how many warps it expects (0: all)."""
    slot = sm.warp[warp].cta
    cta = sm.cta[slot]
    barrier = entry & 0xFF
    cta.count[barrier] += 1
    cta.expected[barrier] = entry >> 8
    if not arrives_only:
        cta.arrived[barrier] |= bit(warp)
        sm.at_barrier |= bit(warp)
        begin_to_stand(ctx, sm, cycle, warp)
    _open_barrier(ctx, sm, cycle, slot, barrier)


@hook()
def on_opened(stages: Any, ctx: Context, sm: Sm, cycle: int, warps: Mask) -> None:
    """All warps that a barrier waits for have arrived: these may go on, as soon as the stages let them."""


@inlined
def _open_barrier(ctx: Context, sm: Sm, cycle: int, slot: int, barrier: int) -> None:
    """Let the warps go when all expected ones have arrived. Warps that have exited are not waited for."""
    cta = sm.cta[slot]
    expected = cta.expected[barrier] if cta.expected[barrier] > 0 else count(cta.warps)
    if cta.count[barrier] >= expected:
        sm.at_barrier &= ~cta.arrived[barrier]
        sm.woken |= cta.arrived[barrier]
        on_opened(ctx.stages, ctx, sm, cycle, cta.arrived[barrier])
        cta.arrived[barrier] = NOTHING
        cta.count[barrier] = 0
