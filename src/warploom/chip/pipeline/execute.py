"""Execution: units of fixed latency reserve a slot of the result bus; the load/store unit takes over memory instructions."""

from __future__ import annotations

from typing import Any

from warploom.chip.memory import ABOUT_SHIFT, Memory, Port, ldst_accept, ldst_can_accept
from warploom.chip.pipeline.counted_barriers import TO_COUNT
from warploom.chip.pipeline.writeback import finish_work, plan
from warploom.chip.sm.bits import signed
from warploom.chip.sm.columns import lanes_at, sector_at
from warploom.chip.sm.context import Context
from warploom.chip.sm.hooks import hook
from warploom.chip.sm.layout import MAX_REGISTERS, RING, UNITS, Sm
from warploom.chip.sm.observing import EXECUTE, on_staged
from warploom.chip.sm.services import INSTRUCTION, inlined, separate
from warploom.compiler.code.classes import Unit
from warploom.compiler.code.table import Flag, Space
from warploom.emulator.trace.format import COUNTED, MOST_EMPTY, PARALLEL_SHIFT, SPACE_MASK, SPACE_SHIFT

STORE, ATOMIC = int(Flag.STORE), int(Flag.ATOMIC)
SHARED, TEXTURE = int(Space.SHARED), int(Space.TEXTURE)
MEM = int(Unit.MEM)
MOVE_CLASS = 0


@inlined
def _pop(sm: Sm, number: int) -> int:
    slot = sm.dispatched[number, 0]
    for position in range(1, sm.dispatched_count[number]):
        sm.dispatched[number, position - 1] = sm.dispatched[number, position]
    sm.dispatched_count[number] -= 1
    sm.in_dispatch -= 1
    return slot


@separate
def execute(ctx: Context, sm: Sm, cycle: int) -> bool:
    """Start instructions in free SP and SFU units."""
    moved = False
    for number in range(UNITS * ctx.machine.sm.sub_cores):
        if number % UNITS + 1 == MEM:
            continue
        for unit in range(sm.unit_first[number], sm.unit_first[number] + sm.unit_count[number]):
            if sm.dispatched_count[number] == 0:
                break
            if sm.unit_free_at[unit] > cycle:
                continue
            work = sm.slot[sm.dispatched[number, 0]]
            if work.ready_at > cycle:
                break  # its operands are being decoded
            latency, interval = ctx.machine.latency[MOVE_CLASS], 1
            if work.kind == INSTRUCTION:
                latency, interval = ctx.code[work.pc].latency, ctx.code[work.pc].initiation
            arrival = cycle + max(1, latency + 2 - ctx.machine.units.forward_cycles)
            if sm.ring_results[arrival % RING] >= ctx.machine.units.writeback_width:
                break
            sm.ring_results[arrival % RING] += 1
            sm.unit_free_at[unit] = cycle + interval
            slot = int(_pop(sm, number))
            if work.kind == INSTRUCTION:
                on_staged(ctx.observers, sm.observed, ctx, cycle, work.warp, work.pc, slot, EXECUTE)
            plan(sm, cycle, arrival, slot)
            moved = True
    return moved


@hook()
def unit_free(stages: Any, ctx: Context, sm: Sm, cycle: int) -> bool:
    """Whether the load/store unit takes an instruction in this cycle, as far as its pace is concerned."""
    return True


@hook()
def on_handed_over(stages: Any, ctx: Context, sm: Sm, cycle: int, core: int) -> None:
    """A memory instruction has left its sub-core."""


@separate
def start_memory(ctx: Context, memory: Memory, sm: Sm, port: Port, cycle: int) -> bool:
    """Hand one memory instruction to the load/store unit, sub-cores in turn."""
    cores = ctx.machine.sm.sub_cores
    for step in range(cores):
        core = 0 if cores == 1 else (sm.last_memory_port + 1 + step) % cores
        number = UNITS * core + MEM - 1
        if sm.dispatched_count[number] == 0 or sm.slot[sm.dispatched[number, 0]].ready_at > cycle:
            continue
        if not ldst_can_accept(ctx.machine, port, cycle) or not unit_free(ctx.stages, ctx, sm, cycle):
            return False
        on_handed_over(ctx.stages, ctx, sm, cycle, core)
        sm.last_memory_port = core
        slot = int(_pop(sm, number))
        work = sm.slot[slot]
        warp = int(work.warp)
        space, flags, parts = int(work.memory >> SPACE_SHIFT & SPACE_MASK), signed(work.traits), int(work.memory & 0xFF)
        if space == COUNTED:  # it is counted when its access is through
            space, parts = SHARED, int(work.memory >> PARALLEL_SHIFT) + 1 if work.mask != 0 else 0
            if ctx.machine.bulk.lines > 0:
                work.storing = TO_COUNT
        elif ctx.machine.compatibility.shared_atomics_in_parallel and space == SHARED and flags & ATOMIC != 0 and parts > 0:
            parts = int(work.memory >> PARALLEL_SHIFT) + 1
        elif ctx.machine.shared.pairs and space == SHARED and flags & ATOMIC == 0:
            parts -= (int(work.memory >> PARALLEL_SHIFT) - MOST_EMPTY) if parts > 0 else 0
        elif space != SHARED:
            flags |= signed(work.memory >> PARALLEL_SHIFT) << ABOUT_SHIFT
            if flags & ATOMIC != 0 and work.n_writes == 0 and not ctx.machine.stages.stores_awaited:
                flags |= STORE  # nobody waits for it
        if work.kind == INSTRUCTION:
            on_staged(ctx.observers, sm.observed, ctx, cycle, warp, work.pc, slot, EXECUTE)
            base = sm.warp[warp].local_base
            if space != SHARED:
                for part in range(parts):
                    sm.sectors[part] = sector_at(ctx, work.sector + part)
                    sm.lanes[part] = lanes_at(ctx, work.sector + part)
        else:
            register = work.sources[0] if work.n_reads > 0 else work.registers[0]
            for quarter in range(4):
                sm.sectors[quarter] = 4 * register + quarter
                sm.lanes[quarter] = 0xFF << (8 * quarter)
            base = ctx.info.spill_first + (sm.number * ctx.machine.sm.warps_per_sm + warp) * 4 * MAX_REGISTERS
        ldst_accept(ctx.machine, memory, port, cycle, slot, warp, space, flags, parts, sm.sectors, sm.lanes, 0, base)
        if flags & STORE != 0:
            finish_work(ctx, sm, cycle, slot)
        return True
    return False
