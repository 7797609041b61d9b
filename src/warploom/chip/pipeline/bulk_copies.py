"""Copies of many bytes between device memory and shared memory (UBLKCP, UTMALDG and the like), in time.

An SM has one unit for them. It takes copies in the order of their issue and asks L2, past the L1, for one line after the other,
at a pace of its own; stores leave through the SM's port like all others. What has been asked for comes whenever memory brings
it: when a copy is complete its bytes count at its barrier. A group of stores (UTMACMDFLUSH) holds a counter until the unit has
read all that was issued before it from shared memory; nobody waits until they are written (`bulk.store.done.*` less
`bulk.store.read.*` is the same for all sizes).
What is assumed: a store lets go of its registers at once; the unit never waits for banks of shared memory; a reduction is sent
to L2 like a store and executed there like an atomic on whole sectors.
"""

from __future__ import annotations

from warploom.chip.memory import FOREVER, Port, ask_for_line
from warploom.chip.memory.bulk import NOBODY
from warploom.chip.memory.state import ATOMIC, MAX_COPIES, READ, TICKS, WRITE
from warploom.chip.pipeline.bulk_state import FROM_SHARED, GROUP_END, TO_SHARED, BulkCopy
from warploom.chip.pipeline.counted_barriers import count_bytes
from warploom.chip.pipeline.pipes import Pipe
from warploom.chip.pipeline.read_ports import TO_READ
from warploom.chip.pipeline.subcore_state import SubCores
from warploom.chip.pipeline.writeback import plan
from warploom.chip.sm.columns import lanes_at, sector_at
from warploom.chip.sm.context import Context
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import inlined, separate

COPIES = int(Pipe.COPIES)
LINE_UNITS = 8  # of 16 bytes
LOOK_AGAIN = 16  # cycles, where as many lines as possible are under way


@inlined
def _take_number(ctx: Context, own: SubCores) -> int:
    """A number for a copy. When few are left no sub-core issues one."""
    unit = own.bulk
    number = (unit.last + 1) % MAX_COPIES
    while unit.taken[number] != 0:
        number = (number + 1) % MAX_COPIES
    unit.last = number
    unit.taken[number] = 1
    unit.under_way += 1
    if unit.under_way + ctx.machine.sm.sub_cores > MAX_COPIES:
        for core in range(ctx.machine.sm.sub_cores):
            own.pipe_free[core, COPIES] = FOREVER
    return number


@inlined
def _give_back(ctx: Context, own: SubCores, number: int) -> None:
    own.bulk.taken[number] = 0
    own.bulk.under_way -= 1
    for core in range(ctx.machine.sm.sub_cores):
        own.pipe_free[core, COPIES] = 0


@separate
def send_copy(ctx: Context, sm: Sm, cycle: int, slot: int) -> None:
    """Queue an issued copy, or the end of a group, in front of the unit."""
    own: SubCores = sm.stages
    unit, work = own.bulk, sm.slot[slot]
    kind = int(ctx.code[work.pc].bulk)
    work.storing = TO_READ
    if kind != GROUP_END:
        reading = ctx.machine.bulk.read_cycles if kind == TO_SHARED else ctx.machine.sub_core.control_cycles
        plan(sm, cycle, cycle + reading, slot)
        if work.memory & 0xFF == 0:  # no lane executes it
            return
    number = _take_number(ctx, own)
    copy = unit.copy[number]
    copy.kind = kind
    copy.blocks, copy.rows, copy.first, copy.end, copy.begun = 0, 0, 0, 0, 0
    copy.slot = slot
    copy.barrier = 0
    copy.begins = cycle + 1
    if kind != GROUP_END:
        copy.begins = cycle + (ctx.machine.bulk.load_cycles if kind == TO_SHARED else ctx.machine.bulk.store_cycles)
        copy.slot = sm.warp[work.warp].cta
        copy.cta = sm.cta[copy.slot].number
        copy.barrier = sector_at(ctx, work.sector)
        copy.size = lanes_at(ctx, work.sector)
        copy.record = work.sector + 1
        copy.blocks = (int(work.memory & 0xFF) - 1) // 2
    unit.queue[(unit.head + unit.count) % MAX_COPIES] = number
    unit.count += 1
    unit.event = min(unit.event, copy.begins)


@inlined
def _next_row(ctx: Context, copy: BulkCopy) -> bool:
    """Go on to the next row of a copy; False: there is none."""
    if copy.rows > 0:
        copy.rows -= 1
        copy.row += copy.distance
    elif copy.blocks > 0:
        copy.row, copy.units = sector_at(ctx, copy.record), lanes_at(ctx, copy.record)
        copy.distance, copy.rows = sector_at(ctx, copy.record + 1), lanes_at(ctx, copy.record + 1) - 1
        copy.record += 2
        copy.blocks -= 1
    else:
        return False
    copy.first, copy.end = copy.row, copy.row + copy.units
    return True


@inlined
def _ask(ctx: Context, port: Port, cycle: int, number: int, copy: BulkCopy) -> None:
    """Ask for, or send, what a copy has in the next line."""
    line = copy.first // LINE_UNITS
    until = min(copy.end, (line + 1) * LINE_UNITS)
    sectors = 0
    for place in range(copy.first, until):
        sectors |= 1 << (place % LINE_UNITS // 2)
    kind = READ if copy.kind == TO_SHARED else WRITE if copy.kind == FROM_SHARED else ATOMIC
    ask_for_line(ctx.machine, port, cycle, line, sectors, kind, number if kind == READ else NOBODY)
    copy.first = until


@inlined
def _complete(ctx: Context, sm: Sm, cycle: int, number: int) -> None:
    """All of a copy has come, or has been sent: its bytes count, if the CTA is still there."""
    own: SubCores = sm.stages
    copy = own.bulk.copy[number]
    if copy.barrier > 0 and sm.cta[copy.slot].number == copy.cta:
        count_bytes(ctx, sm, cycle, int(copy.slot), int(copy.barrier) - 1, int(copy.size))
    _give_back(ctx, own, number)


@separate
def run_unit(ctx: Context, sm: Sm, port: Port, cycle: int) -> bool:
    """Everything that is due in the unit; whether anything was."""
    own: SubCores = sm.stages
    unit, ldst = own.bulk, port.ldst
    moved = False
    while ldst.copies_ended > 0:
        ldst.copies_ended -= 1
        if unit.taken[ldst.copy_ended[ldst.copies_ended]] != 0:  # else it is of a launch that has ended
            _complete(ctx, sm, cycle, int(ldst.copy_ended[ldst.copies_ended]))
        moved = True
    unit.event = FOREVER
    while unit.count > 0:
        number = int(unit.queue[unit.head])
        copy = unit.copy[number]
        if copy.begins > cycle:
            unit.event = copy.begins
            break
        if copy.begun == 0:
            copy.begun = 1
            ldst.copy_lines[number] = 1  # until all have been asked for
        if copy.first >= copy.end and not _next_row(ctx, copy):
            unit.head = (unit.head + 1) % MAX_COPIES
            unit.count -= 1
            moved = True
            ldst.copy_lines[number] -= 1
            if copy.kind == GROUP_END:
                plan(sm, cycle, max(cycle + 1, int(ldst.port_free)), int(copy.slot))
            if ldst.copy_lines[number] == 0:
                _complete(ctx, sm, cycle, number)
            continue
        due = max((unit.next_at + TICKS - 1) // TICKS, ldst.port_free)
        if ldst.copied_lines >= ctx.machine.bulk.lines:
            due = cycle + LOOK_AGAIN
        if due > cycle:
            unit.event = due
            break
        _ask(ctx, port, cycle, number, copy)
        unit.next_at = max(unit.next_at, (cycle - 1) * TICKS) + int(TICKS * ctx.machine.bulk.line_cycles)  # kept on average
        sm.last_progress = cycle
        moved = True
    return moved
