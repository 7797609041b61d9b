"""Code for sub-cores: a small cache each, filled by misses and by a stream buffer that runs ahead, and one for all of them.

What the sub-cores share holds some 32 KB near them; behind it is the SM's instruction cache, which hands over a line at a time.
The stream buffer has places of its own, behind those of the cache: a line that it has asked for drives nothing out of the
cache until a warp wants it.

A sub-core's cache hands out an instruction a cycle, as fast as it can be issued, so a warp's buffer does not run dry within
a line. The model hands over what is left of a line at once when few instructions are left in the buffer.
"""

from __future__ import annotations

from warploom.chip.memory import FOREVER, Memory, Port, fetch_access
from warploom.chip.pipeline.subcore_state import SubCores
from warploom.chip.sm.columns import pc_at
from warploom.chip.sm.context import Context
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import inlined


@inlined
def _find(ctx: Context, sm: Sm, core: int, line: int) -> int:
    own: SubCores = sm.stages
    for place in range(ctx.machine.l0i.lines + ctx.machine.l0i.prefetched):
        if own.line[core, place] == line + 1:
            return place
    return -1


@inlined
def _put(own: SubCores, cycle: int, core: int, line: int, at: int, first: int, end: int) -> int:
    """Let a line that is there at a cycle take that of some places which was used longest ago; the line that was there, or -1."""
    oldest = first
    for place in range(first + 1, end):
        if own.line_used[core, place] < own.line_used[core, oldest]:
            oldest = place
    driven_out = own.line[core, oldest] - 1
    own.line[core, oldest] = line + 1
    own.line_used[core, oldest] = cycle
    own.line_at[core, oldest] = at
    return driven_out


@inlined
def _key(ctx: Context, port: Port, line: int) -> int:
    """What the cache that sub-cores share knows a line by."""
    return port.ldst.code_base + (line << ctx.info.line_shift) * ctx.machine.l1i.instruction_bytes // 32 + 1


@inlined
def _first_near(ctx: Context, line: int) -> int:
    """The first place there that a line may be in."""
    ways = ctx.machine.l0i.near_ways
    return line % (ctx.machine.l0i.near_lines // ways) * ways


@inlined
def _is_near(ctx: Context, port: Port, line: int) -> bool:
    if ctx.machine.l0i.near_lines == 0:
        return True
    key, first = _key(ctx, port, line), _first_near(ctx, line)
    found = False
    for place in range(first, first + ctx.machine.l0i.near_ways):
        found |= port.near.line[place] == key
    return found


@inlined
def _near(ctx: Context, memory: Memory, port: Port, cycle: int, line: int) -> int:
    """When a line is in the cache that sub-cores share, or FOREVER."""
    pc = line << ctx.info.line_shift
    if ctx.machine.l0i.near_lines == 0:
        return cycle if fetch_access(ctx.machine, memory, port, cycle, pc) < FOREVER else FOREVER
    near = port.near
    key, first = _key(ctx, port, line), _first_near(ctx, line)
    oldest = first
    for place in range(first, first + ctx.machine.l0i.near_ways):
        if near.line[place] == key:
            near.used[place] = cycle
            if near.there_at[place] >= FOREVER:  # it was asked for in L2, and comes here on its way
                if fetch_access(ctx.machine, memory, port, cycle, pc) >= FOREVER:
                    return FOREVER
                near.there_at[place] = cycle
            return max(cycle, near.there_at[place])
        if near.used[place] < near.used[oldest]:
            oldest = place
    near.line[oldest] = key
    near.used[oldest] = cycle
    near.there_at[oldest] = FOREVER
    if fetch_access(ctx.machine, memory, port, cycle, pc) < FOREVER:
        near.last_at = max(near.last_at + ctx.machine.l0i.near_interval, cycle + ctx.machine.l0i.near_miss_cycles)
        near.there_at[oldest] = near.last_at
    return near.there_at[oldest]


@inlined
def _bring(ctx: Context, memory: Memory, sm: Sm, port: Port, cycle: int, core: int, line: int, asked: bool) -> int:
    """Ask for a line, for a warp or for the stream buffer; when it is there, or FOREVER."""
    ready = _near(ctx, memory, port, cycle, line)
    if ready >= FOREVER:
        return FOREVER
    cached = ctx.machine.l0i.lines
    first, end = (0, cached) if asked else (cached, cached + ctx.machine.l0i.prefetched)
    _put(sm.stages, cycle, core, line, ready + ctx.machine.l0i.miss_cycles, first, end)
    return ready + ctx.machine.l0i.miss_cycles


@inlined
def _take_from_stream(ctx: Context, own: SubCores, cycle: int, core: int, place: int, jumped: bool) -> int:
    """Move a line from the stream buffer to the cache; when it is there."""
    at = own.line_at[core, place]
    if jumped:  # jumps cut the stream off
        at = max(at, cycle + ctx.machine.l0i.miss_cycles)
    line = own.line[core, place] - 1
    own.line[core, place] = 0
    own.line_used[core, place] = 0
    driven_out = _put(own, cycle, core, line, at, 0, ctx.machine.l0i.lines)
    if line < driven_out < own.stream_end[core]:  # code just ahead, which the stream had no need to bring
        own.stream_end[core] = driven_out
    return at


@inlined
def _comes_by_jump(ctx: Context, sm: Sm, warp: int, pc: int) -> bool:
    """Whether the instruction before in a warp's trace is elsewhere in the code."""
    state = sm.warp[warp]
    return state.decoded > 0 and pc_at(ctx, state.decoded - 1) + 1 != pc


@inlined
def line_ready(ctx: Context, memory: Memory, sm: Sm, port: Port, cycle: int, warp: int, pc: int) -> int:
    """When the instruction at an address is there for a warp; FOREVER: when a line has arrived at the SM, ask again."""
    own: SubCores = sm.stages
    core = warp % ctx.machine.sm.sub_cores
    line = pc >> ctx.info.line_shift
    place = _find(ctx, sm, core, line)
    end = min(line + 1 + ctx.machine.l0i.prefetched, ctx.info.code_lines)
    jumped = _comes_by_jump(ctx, sm, warp, pc)
    if place >= 0:
        if place >= ctx.machine.l0i.lines:
            ready = max(cycle + 1, _take_from_stream(ctx, own, cycle, core, place, jumped))
        else:
            own.line_used[core, place] = cycle
            ready = max(cycle + 1, own.line_at[core, place])
        start = own.stream_end[core]
        if start <= line or start >= end:  # the stream is elsewhere, or far enough ahead
            return ready
    else:
        ready = _bring(ctx, memory, sm, port, cycle, core, line, True)
        start = line + 1
    for following in range(start, end):
        if _find(ctx, sm, core, following) < 0:
            if jumped and not _is_near(ctx, port, following):  # the stream goes farther when code goes straight on
                end = following
                break
            _bring(ctx, memory, sm, port, cycle, core, following, False)
    own.stream_end[core] = end
    return ready
