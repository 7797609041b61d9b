"""Operands through reserved read ports: no collectors, and an instruction of fixed latency is never late.

Behind issue comes a stage for control, then one in which an instruction of fixed latency waits until all its reads fit into that
cycle and those that follow; only then does it go on, and what is behind it waits. Each read takes the last of these cycles that
has a port left, so that what one instruction leaves serves those close behind it, and later ones no more (lost.hole). Because
that is decided in order, the cycle in which an instruction passes is known when it is issued, and the ports are reserved then.
Who depends on it counts on its latency: stall counts grow by as much as it waits. Instructions of variable latency wait in front
of their unit and take the ports that are left.
"""

from __future__ import annotations

from warploom.chip.pipeline.collect import leave_latch, read_entry
from warploom.chip.pipeline.pipes import Pipe
from warploom.chip.pipeline.subcore_state import AHEAD, SubCores
from warploom.chip.pipeline.writeback import asked_by, plan
from warploom.chip.sm.context import Context
from warploom.chip.sm.layout import UNITS, Slot, Sm
from warploom.chip.sm.observing import COLLECT, DISPATCH, on_conflict, on_staged
from warploom.chip.sm.services import INSTRUCTION, inlined, separate
from warploom.compiler.code.classes import OpClass, Unit
from warploom.compiler.code.table import Flag, Space
from warploom.emulator.trace.format import COUNTED, SPACE_MASK, SPACE_SHIFT

FMA, HEAVY, PAIRED, F64 = int(Pipe.FMA), int(Pipe.HEAVY), int(Pipe.PAIRED), int(Pipe.F64)
SPECIAL, LANES, MEMORY, CONSTANTS = int(Pipe.SPECIAL), int(Pipe.LANES), int(Pipe.MEMORY), int(Pipe.CONSTANTS)
PRODUCTS, TENSOR = int(Pipe.PRODUCTS), int(Pipe.TENSOR)
OF_LANES = int(OpClass.SHUFFLE)
LIGHT = FMA  # the field of the light half; the heavy one has its own
SHARED, GLOBAL = int(Space.SHARED), int(Space.GLOBAL)
STORE, ATOMIC = int(Flag.STORE), int(Flag.ATOMIC)
ADDRESS = 2  # registers of an address in device memory
MEM = int(Unit.MEM)
TO_READ = 2  # the value of `storing` of work whose operands are still to be read
LONGEST_STALL = 15  # what waits for longer does not wait for a stall count


@inlined
def _taken(own: SubCores, group: int, at: int) -> int:
    moment = at % AHEAD
    return own.port_used[group, moment] if own.port_at[group, moment] == at else 0


@inlined
def window_of(ctx: Context, work: Slot, again: int) -> int:
    """Cycles that the reads of work may take: the machine's, and more where one bank has more reads than that."""
    most = ctx.machine.sub_core.read_cycles
    ports = ctx.machine.register_file.read_ports
    if work.reads_left > most * ports or again != 0:
        for operand in range(work.n_reads):
            same = 0
            for other in range(work.n_reads):
                if work.reads[other] >= 0 and work.read_group[other] == work.read_group[operand]:
                    same += 1 + (again >> other & 1)
            most = max(most, (same + ports - 1) // ports)
    return most


@inlined
def fits(ctx: Context, own: SubCores, work: Slot, at: int, window: int, again: int) -> bool:
    """Whether all reads of work find a port in a cycle and those after it."""
    ports = ctx.machine.register_file.read_ports
    for operand in range(work.n_reads):
        if work.reads[operand] < 0:
            continue
        group = work.read_group[operand]
        needed = 0
        for other in range(operand + 1):  # the last operand of a bank sees all of them
            if work.reads[other] >= 0 and work.read_group[other] == group:
                needed += 1 + (again >> other & 1)
        free = 0
        for ahead in range(window + 1):
            free += ports - _taken(own, group, at + ahead)
        if free < needed:
            return False
    return True


@inlined
def reserve(ctx: Context, own: SubCores, work: Slot, at: int, window: int, again: int) -> None:
    """Reserve ports for all reads of work, each in the last cycle of the window that has one left."""
    ports = ctx.machine.register_file.read_ports
    for operand in range(work.n_reads):
        if work.reads[operand] < 0:
            continue
        group = work.read_group[operand]
        reads = 1 + (again >> operand & 1)
        for ahead in range(window, -1, -1):
            used = _taken(own, group, at + ahead)
            if used < ports:
                moment = (at + ahead) % AHEAD
                own.port_at[group, moment] = at + ahead
                own.port_used[group, moment] = used + 1
                reads -= 1
                if reads == 0:
                    break


@inlined
def _freeze(ctx: Context, own: SubCores, core: int, since: int, cycles: int) -> None:
    """While an instruction waits for ports nothing is issued in its sub-core, and the stall counts of its warps stand still."""
    for warp in range(core, ctx.machine.sm.warps_per_sm, ctx.machine.sm.sub_cores):
        if since < own.warp[warp].stall_until <= since + LONGEST_STALL:
            own.warp[warp].stall_until += cycles


@inlined
def enters_at(ctx: Context, sm: Sm, cycle: int, core: int) -> int:
    """When an instruction of fixed latency that is issued now comes to the stage that reserves ports."""
    own: SubCores = sm.stages
    return max(cycle + ctx.machine.sub_core.control_cycles, own.allocated_at[core] + 1)


@inlined
def _pass(ctx: Context, sm: Sm, cycle: int, slot: int, at: int, window: int, again: int, barred: int) -> int:
    """Reserve ports for work of fixed latency as soon as its reads fit; the cycle in which it passes the stage."""
    own: SubCores = sm.stages
    work = sm.slot[slot]
    while at == barred or not fits(ctx, own, work, at, window, again):
        if at != barred:
            sm.count.bank_conflicts += 1
            on_conflict(ctx.observers, sm.observed, ctx, cycle, asked_by(work))
        at += 1
    reserve(ctx, own, work, at, window, again)
    return at


@separate
def _pass_reading_twice(ctx: Context, sm: Sm, cycle: int, slot: int, at: int, barred: int) -> int:
    """The same where operands are read twice: who reads for longer than the stage looks ahead waits in it for the rest."""
    again = int(ctx.code[sm.slot[slot].pc].read_again)
    window = window_of(ctx, sm.slot[slot], again)
    return _pass(ctx, sm, cycle, slot, at, window, again, barred) + window - ctx.machine.sub_core.read_cycles


@inlined
def send_fixed(ctx: Context, sm: Sm, cycle: int, core: int, slot: int) -> None:
    """Plan an instruction of fixed latency: the cycle in which it has its ports, and that in which its operands are read."""
    own: SubCores = sm.stages
    work = sm.slot[slot]
    entered = enters_at(ctx, sm, cycle, core)
    at = max(entered, int(work.ready_at) + 1)
    window = ctx.machine.sub_core.read_cycles
    double = ctx.code[work.pc].pipe == F64
    barred = -1 if double else own.second_half[core]
    if work.reads_left == 0:
        if at == barred:
            at += 1
    elif ctx.code[work.pc].read_again != 0:
        at = _pass_reading_twice(ctx, sm, cycle, slot, at, barred)
    else:
        window = window_of(ctx, work, 0)
        at = _pass(ctx, sm, cycle, slot, at, window, 0, barred)
    if double:
        own.second_half[core] = at + ctx.machine.sub_core.double_pass_cycles
    if at > entered:
        _freeze(ctx, own, core, entered, at - entered)
    own.allocated_at[core] = at
    own.slipped[core] = at - cycle - ctx.machine.sub_core.control_cycles
    own.issue_from[core] = max(own.issue_from[core], entered - 1)
    work.storing = TO_READ
    plan(sm, cycle, at + window - 1, slot)


@inlined
def send_variable(ctx: Context, sm: Sm, cycle: int, core: int, slot: int, pipe: int) -> None:
    """Plan an instruction of variable latency: it starts when its unit is free and its reads find ports."""
    own: SubCores = sm.stages
    work = sm.slot[slot]
    row = ctx.code[work.pc]
    control = ctx.machine.sub_core.control_cycles
    at = max(cycle + control, int(work.ready_at) + 1, own.pipe_free[core, pipe])
    if row.unit_cycles > 0:
        at = max(at, own.pipe_unit_from[pipe])
    window = ctx.machine.sub_core.read_cycles
    if work.reads_left > 0:
        window = window_of(ctx, work, 0)
        later = ctx.machine.sub_core.variable_read_cycles
        while at < cycle + AHEAD - 16 and not fits(ctx, own, work, at + later, window, 0):
            at += 1
        if at < cycle + AHEAD - 16:
            reserve(ctx, own, work, at + later, window, 0)
    own.pipe_free[core, pipe] = at + row.initiation - (control if pipe == TENSOR else 0)  # none waits in front of that
    if row.unit_cycles > 0:
        own.pipe_unit_from[pipe] = at + row.unit_cycles
    if pipe == SPECIAL:
        own.special_held[core, 0] = own.special_held[core, 1]
        own.special_held[core, 1] = at + row.initiation + ctx.machine.sub_core.special_held_cycles
    work.issued_at = at - control  # its latency counts from here
    work.storing = TO_READ
    plan(sm, cycle, at + window, slot)


@inlined
def _half(own: SubCores, core: int) -> int:
    """The half of the FP32 unit that takes the next instruction that may go to either: the one that has not had the last."""
    return HEAVY if own.was_light[core] else LIGHT


@inlined
def take_pipe(ctx: Context, sm: Sm, cycle: int, core: int, pipe: int, interval: int) -> None:
    """Keep a pipe busy with an instruction of fixed latency."""
    own: SubCores = sm.stages
    if pipe == PAIRED:
        own.pipe_free[core, LIGHT] = cycle + interval
        pipe = HEAVY
    elif pipe == FMA:
        pipe = _half(own, core)
    if pipe in (LIGHT, HEAVY):
        own.was_light[core] = pipe == LIGHT
    own.pipe_free[core, pipe] = cycle + interval


@inlined
def pipe_has_room(ctx: Context, sm: Sm, cycle: int, core: int, pipe: int) -> bool:
    """Whether a pipe takes an instruction that is issued now."""
    own: SubCores = sm.stages
    if pipe == FMA:
        return own.pipe_free[core, _half(own, core)] <= cycle
    if pipe == PAIRED:
        return own.pipe_free[core, LIGHT] <= cycle and own.pipe_free[core, HEAVY] <= cycle
    if pipe == MEMORY:
        return own.memory_inside[core] < ctx.machine.sub_core.memory_queue
    if pipe == SPECIAL:
        return own.special_held[core, 0] <= cycle
    if pipe == PRODUCTS:
        return own.products_issued[core] - own.products_begun[core] < ctx.machine.sub_core.product_queue
    if pipe in (LANES, CONSTANTS):  # of variable latency: some wait in front of the unit
        waiting = (ctx.machine.sub_core.variable_queue - 1) * ctx.machine.initiation[OF_LANES]
        return own.pipe_free[core, pipe] <= cycle + ctx.machine.sub_core.control_cycles + waiting
    return own.pipe_free[core, pipe] <= cycle


@inlined
def _on_its_way(ctx: Context, work: Slot, space: int) -> int:
    """For how many cycles a memory instruction keeps its sub-core's way to the shared unit."""
    machine = ctx.machine
    if space == GLOBAL and machine.sub_core.global_interval > 0:
        values = max(1, work.n_reads - ADDRESS) if work.traits & (STORE | ATOMIC) != 0 else 0
        return machine.sub_core.global_interval + values * machine.sub_core.value_interval
    return machine.sub_core.store_interval if work.traits & STORE != 0 else machine.sub_core.memory_interval


@separate
def start_addresses(ctx: Context, sm: Sm, cycle: int) -> bool:
    """Let the oldest memory instruction of each sub-core read its registers, if they find ports."""
    own: SubCores = sm.stages
    moved = False
    for core in range(ctx.machine.sm.sub_cores):
        number = UNITS * core + MEM - 1
        if sm.issued_count[number] == 0 or own.memory_from[core] > cycle:
            continue
        slot = int(sm.issued[number, 0])
        work = sm.slot[slot]
        if work.ready_at >= cycle:
            continue
        window = window_of(ctx, work, 0)
        if work.reads_left > 0:
            if not fits(ctx, own, work, cycle, window, 0):
                sm.count.bank_conflicts += 1
                on_conflict(ctx.observers, sm.observed, ctx, cycle, asked_by(work))
                continue
            reserve(ctx, own, work, cycle, window, 0)
        leave_latch(sm, number)
        space = work.memory >> SPACE_SHIFT & SPACE_MASK
        own.memory_from[core] = cycle + _on_its_way(ctx, work, space)
        of_shared = space in (SHARED, COUNTED)
        reading = ctx.machine.sub_core.shared_read_cycles if of_shared else ctx.machine.sub_core.global_read_cycles
        work.storing = TO_READ
        if work.kind == INSTRUCTION:
            on_staged(ctx.observers, sm.observed, ctx, cycle, work.warp, work.pc, slot, COLLECT)
        plan(sm, cycle, cycle + max(window, reading), slot)
        moved = True
    return moved


@inlined
def read_operands(ctx: Context, sm: Sm, cycle: int, slot: int) -> None:
    """Read all operands of work that come from banks."""
    work = sm.slot[slot]
    for operand in range(work.n_reads):
        if work.reads[operand] >= 0:
            read_entry(ctx, sm, cycle, slot, operand)
    work.reads_left = 0
    if work.kind == INSTRUCTION:
        on_staged(ctx.observers, sm.observed, ctx, cycle, work.warp, work.pc, slot, DISPATCH)


@inlined
def hand_over(ctx: Context, sm: Sm, cycle: int, slot: int) -> None:
    """A memory instruction has its address: it waits for the unit that sub-cores share."""
    work = sm.slot[slot]
    number = UNITS * (work.warp % ctx.machine.sm.sub_cores) + MEM - 1
    sm.dispatched[number, sm.dispatched_count[number]] = slot
    sm.dispatched_count[number] += 1
    sm.in_dispatch += 1
    work.ready_at = cycle
    work.storing = 0
