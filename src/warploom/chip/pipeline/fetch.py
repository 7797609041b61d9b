"""Fetch and decode: one instruction buffer per warp, filled round robin through the instruction cache.

The trace knows only the path taken. What the hardware fetches behind a taken branch is modelled by its cost: nothing is fetched
for the warp until the branch has been issued and resolved, and where the simulator we compare with would have fetched the
wrong path first, that fetch is charged too.
"""

from __future__ import annotations

from typing import Any

from warploom.chip.memory import FOREVER, Memory, Port, fetch_access
from warploom.chip.sm.bits import NOTHING, bit, has, lowest, next_after, without_lowest
from warploom.chip.sm.columns import pc_at
from warploom.chip.sm.context import Context
from warploom.chip.sm.hooks import hook, metadata_cached
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import inlined, separate


@inlined
def jumps_after(ctx: Context, index: int) -> bool:
    """Whether the instruction after this one in the trace is elsewhere in the code (both must belong to one warp)."""
    return pc_at(ctx, index + 1) != pc_at(ctx, index) + 1


@inlined
def update_fetchable(ctx: Context, sm: Sm, warp: int) -> None:
    """Put the warp among those to fetch for, if its buffer has room and the next address is known."""
    state = sm.warp[warp]
    if state.decoded >= state.end or has(sm.fetching | sm.no_code, warp):
        return
    buffered = state.decoded - state.next
    if buffered > 0:
        if ctx.machine.compatibility.fetch_when_empty or buffered >= ctx.machine.sm.ibuffer_entries:
            return
        if jumps_after(ctx, state.decoded - 1):
            return
    sm.fetchable |= bit(warp)


@hook()
def code_ready(stages: Any, ctx: Context, memory: Memory, sm: Sm, port: Port, cycle: int, warp: int, pc: int) -> int:
    """When the instruction at an address is there for a warp; FOREVER: when a line of code has arrived, ask again."""
    return fetch_access(ctx.machine, memory, port, cycle, pc)


@hook()
def fetch_room(stages: Any, ctx: Context, buffered: int) -> int:
    """How many instructions one fetch may deliver to a warp that has some in its buffer."""
    return min(ctx.machine.sm.decode_width, ctx.machine.sm.ibuffer_entries - buffered)


@separate
def decode(ctx: Context, sm: Sm, cycle: int) -> bool:
    """Fill instruction buffers with what has been fetched."""
    moved = False
    waiting = sm.fetching
    while waiting != NOTHING:
        warp = lowest(waiting)
        waiting = without_lowest(waiting)
        state = sm.warp[warp]
        if state.decode_at <= cycle:
            sm.fetching &= ~bit(warp)
            state.decoded = state.decode_end
            sm.woken |= bit(warp) & ~(sm.held | sm.blocked | sm.at_barrier | sm.stalled_memory)
            update_fetchable(ctx, sm, warp)
            moved = True
    return moved


@separate
def fetch(ctx: Context, memory: Memory, sm: Sm, port: Port, cycle: int) -> bool:
    """Ask the instruction cache for the next few instructions of `fetch_width` warps."""
    moved = False
    if sm.no_code != NOTHING and port.ldst.fetch_fills != sm.fills_seen:
        sm.fetchable |= sm.no_code
        sm.no_code = NOTHING
        sm.fills_seen = port.ldst.fetch_fills
    for _ in range(ctx.machine.sm.fetch_width):
        candidates = sm.fetchable
        while candidates != NOTHING:
            warp = next_after(candidates, sm.last_fetched)
            if sm.warp[warp].fetch_from <= cycle:
                break
            candidates &= ~bit(warp)
        if candidates == NOTHING:
            break
        state = sm.warp[warp]
        moved = True
        sm.last_fetched = warp
        sm.fetchable &= ~bit(warp)
        if state.wrong_path:  # the line behind a taken branch, thrown away when it has been decoded
            state.wrong_path = False
            state.fetch_from = cycle + 2
            sm.count.wrong_path_fetches += 1
            sm.fetchable |= bit(warp)
            continue
        end, skipped = _group(ctx, sm, cycle, warp)
        if skipped == end - state.decoded:  # nothing to fetch: the flags were at hand
            sm.count.metadata_skipped += skipped
            state.decoded = end
            sm.woken |= bit(warp) & ~(sm.held | sm.blocked | sm.at_barrier | sm.stalled_memory)
            update_fetchable(ctx, sm, warp)
            continue
        ready = code_ready(ctx.stages, ctx, memory, sm, port, cycle, warp, pc_at(ctx, state.decoded))
        sm.count.fetches += 1
        if ready >= FOREVER:
            sm.no_code |= bit(warp)
            sm.fills_seen = port.ldst.fetch_fills
        else:
            sm.count.metadata_skipped += skipped
            state.decode_at = ready
            state.decode_end = end
            sm.fetching |= bit(warp)
    return moved


@inlined
def _group(ctx: Context, sm: Sm, cycle: int, warp: int) -> tuple[int, int]:
    """Where the instructions of one fetch end, and how many of them are metadata that needs no fetch.

    A group ends when it is full, at a jump, and at the end of a cache line or of the buffer.
    """
    state = sm.warp[warp]
    shift = ctx.info.line_shift
    room = fetch_room(ctx.stages, ctx, state.decoded - state.next)
    start = state.decoded
    end = start
    skipped = 0
    while end < state.end and end - start - skipped < room:
        pc = pc_at(ctx, end)
        if end > start and (jumps_after(ctx, end - 1) or pc >> shift != pc_at(ctx, start) >> shift):
            break
        if ctx.code[pc].metadata and metadata_cached(ctx.design.allocation, ctx, sm, cycle, warp, pc):
            skipped += 1
        end += 1
    taken = end - start - skipped
    state.full_group = taken == ctx.machine.sm.decode_width or (pc_at(ctx, end - 1) + 1) & ((1 << shift) - 1) == 0
    return end, skipped
