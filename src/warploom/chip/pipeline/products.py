"""Products of matrices with more registers than a record of work names: a sub-core's tensor core makes them piece by piece.

What is assumed. A tensor core makes its products one after the other, in the order of their issue, and some wait in front of it.
Registers that are operands (A of a warpgroup where it is not in shared memory; A, B and addend of the others) are read while
products before are made, and so is A from shared memory. The addend of a warpgroup's product is read in pieces of eight registers
as their columns are made; what a product before has yet to write comes from the tensor core itself, for products that add to the
same registers follow each other as fast as others do (wgmma.flood.* beside wgmma.two.*). Each piece of the result is written some
cycles after it is made. Pieces take the read ports that instructions leave, and write ports in order. Each of the four warps of a
warpgroup makes its sixteen rows in its own sub-core; columns of B come to all four at once, so a warp pays for a quarter of them
in shared memory. That the warps of a group wait for each other is not modelled: they come to a product together.
Sources: which lane has what of the accumulators, and that four warps share B, is said by the PTX ISA (asynchronous warpgroup
instructions); the rates are the machine's, whose file names what they were measured by.
"""

from __future__ import annotations

from warploom.chip.pipeline.issue import add_read, add_write, begin_work, wake_entries
from warploom.chip.pipeline.pipes import Pipe
from warploom.chip.pipeline.read_ports import TO_READ, fits, reserve, window_of
from warploom.chip.pipeline.subcore_state import AHEAD, SubCores
from warploom.chip.pipeline.writeback import plan
from warploom.chip.sm.checking import check_issue, check_unmapped, check_wide
from warploom.chip.sm.context import CodeRow, Context
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import PIECE, inlined, new_slot, separate
from warploom.compiler.code.wide import MAX_RUNS

TO_MAKE = 3  # the value of `storing` of a product that has pieces left to begin
READ_FIRST, MEET, MAKE = range(3)  # how far it is: to read operands, to wait for its turn, to make a piece, the next one, ...
REGISTERS = 8  # of a piece
QUARTERS = 4
TENSOR = int(Pipe.TENSOR)


@separate
def send_product(ctx: Context, sm: Sm, cycle: int, core: int, slot: int) -> None:
    """Let a product wait for its turn in the tensor core."""
    own: SubCores = sm.stages
    work = sm.slot[slot]
    work.value = -1
    work.storing = TO_MAKE
    work.sector = own.products_issued[core]  # its number in the tensor core; it has no sectors
    own.products_issued[core] += 1
    own.pipe_free[core, TENSOR] = max(own.pipe_free[core, TENSOR], cycle) + ctx.code[work.pc].initiation
    check_wide(ctx.check, ctx, sm, cycle, slot)
    asks = max(cycle + ctx.machine.sub_core.control_cycles, int(work.ready_at) + 1)
    plan(sm, cycle, asks, slot)  # in the order of issue it asks for what it needs


@inlined
def _matrices_at(sm: Sm, cycle: int, row: CodeRow) -> int:
    """When shared memory begins with what a product needs: after what other warps asked for, but for three of the same group."""
    own: SubCores = sm.stages
    passes = int(row.quarter_passes)
    if passes == 0:
        return cycle
    own.matrices_from = max(own.matrices_from, QUARTERS * cycle) + passes
    return max(cycle, (own.matrices_from - QUARTERS * passes + QUARTERS - 1) // QUARTERS)


@inlined
def _read(ctx: Context, sm: Sm, cycle: int, slot: int, register: int) -> None:
    work = sm.slot[slot]
    entry = int(sm.map[work.warp, register])
    if entry < 0:
        check_unmapped(ctx.check, ctx, sm, cycle, int(work.warp), register, False)
    add_read(ctx, sm, work, int(work.warp), register, entry)
    sm.count.rf_reads += 1


@inlined
def _write(ctx: Context, sm: Sm, cycle: int, slot: int, register: int) -> None:
    work = sm.slot[slot]
    entry = int(sm.map[work.warp, register])
    if entry < 0:
        check_unmapped(ctx.check, ctx, sm, cycle, int(work.warp), register, True)
    add_write(ctx, sm, work, int(work.warp), register, entry)
    sm.count.rf_writes += 1


@inlined
def _new_piece(sm: Sm, cycle: int, product: int) -> int:
    slot = new_slot(sm)
    work, whole = sm.slot[slot], sm.slot[product]
    begin_work(sm, cycle, slot, PIECE, int(whole.warp), int(whole.unit))
    work.index = whole.index
    work.mask = whole.mask
    work.pc = whole.pc
    sm.warp[work.warp].in_flight += 1
    return slot


@inlined
def _begin_piece(ctx: Context, sm: Sm, cycle: int, slot: int) -> int:
    """Let a piece read its registers as soon as ports are left for them; the cycle from which on it does."""
    own: SubCores = sm.stages
    work = sm.slot[slot]
    wake_entries(ctx, sm, work)
    check_issue(ctx.check, ctx, sm, cycle, slot)
    at = max(cycle, int(work.ready_at) - 1)
    window = 1
    if work.reads_left > 0:
        window = window_of(ctx, work, 0)
        while at < cycle + AHEAD - 16 and not fits(ctx, own, work, at, window, 0):
            at += 1
            sm.count.bank_conflicts += 1
        if at < cycle + AHEAD - 16:
            reserve(ctx, own, work, at, window, 0)
    work.issued_at = at
    work.storing = TO_READ
    plan(sm, cycle, at + window, slot)
    return at


@inlined
def _read_operands(ctx: Context, sm: Sm, cycle: int, product: int, row: CodeRow) -> int:
    """Begin the pieces of registers that are read before anything is written; the cycle from which on the last one reads."""
    piece, at = -1, cycle
    for run in range(MAX_RUNS):
        for number in range(row.run_count[run]):
            if piece < 0:
                piece = _new_piece(sm, cycle, product)
            _read(ctx, sm, cycle, piece, int(row.run_first[run]) + number)
            if sm.slot[piece].n_reads == REGISTERS:
                at = max(at, _begin_piece(ctx, sm, cycle, piece))
                piece = -1
    if piece >= 0:
        at = max(at, _begin_piece(ctx, sm, cycle, piece))
    return at


@inlined
def _is_awaited(sm: Sm, warp: int, register: int, count: int) -> bool:
    """Whether a product before has yet to write some of the registers."""
    awaited = False
    for number in range(count):
        entry = int(sm.map[warp, register + number])
        awaited |= entry >= 0 and sm.entry[entry].writers > 0
    return awaited


@separate
def make_piece(ctx: Context, sm: Sm, cycle: int, slot: int) -> bool:
    """Go on with a product whose time has come: begin its next piece, the last one with the record of the product itself."""
    own: SubCores = sm.stages
    work = sm.slot[slot]
    row = ctx.code[work.pc]
    core = int(work.warp) % ctx.machine.sm.sub_cores
    if work.whole == READ_FIRST:
        work.whole = MEET
        work.issued_at = max(_read_operands(ctx, sm, cycle, slot, row), _matrices_at(sm, cycle, row)) + row.cycles_for_a
    if work.sector != own.products_begun[core] or own.product_from[core] > cycle:
        plan(sm, cycle, max(cycle + 1, own.product_from[core]), slot)
        return True
    if work.whole == MEET:
        work.whole = MAKE
        if row.quarter_passes > 0 and work.issued_at > cycle:
            own.product_from[core] = work.issued_at
            plan(sm, cycle, int(work.issued_at), slot)
            return True
    first = REGISTERS * (int(work.whole) - MAKE)
    count = min(REGISTERS, int(row.results) - first)
    last = first + REGISTERS >= row.results
    operands_read = int(work.issued_at)
    piece = slot if last else _new_piece(sm, cycle, slot)
    if row.addend >= 0 and not _is_awaited(sm, int(work.warp), int(row.addend) + first, count):
        for number in range(first, first + count):
            _read(ctx, sm, cycle, piece, int(row.addend) + number)
    for number in range(first, first + count):
        _write(ctx, sm, cycle, piece, int(row.result) + number)
    if last:
        work.whole = 0
    at = _begin_piece(ctx, sm, cycle, piece)
    # Pieces take equal shares of the product's time; what is left of the last share is the next product's.
    taken = row.initiation * (first + count) // max(1, row.results) - row.initiation * first // max(1, row.results)
    sm.slot[piece].issued_at = max(at + taken, operands_read)  # its latency counts from here
    own.product_from[core] = at + max(1, taken) if row.results > 0 else at
    own.pipe_free[core, TENSOR] = max(own.pipe_free[core, TENSOR], own.product_from[core] - ctx.machine.sub_core.control_cycles)
    if last:
        own.products_begun[core] += 1
        sm.last_progress = cycle
    else:
        work.whole += 1
        plan(sm, cycle, own.product_from[core], slot)
    return True
