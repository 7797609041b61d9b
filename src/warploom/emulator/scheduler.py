"""Which warp runs when: CTAs one after another, their warps in turns, barriers in between.

A CTA runs to its end before the next one begins, so the emulator's state does not grow with the grid. Only when a warp spends its
whole turn polling memory (it may be waiting for a CTA that has not begun) does one more CTA become resident. All of this is a
function of the program and its input alone: recording a trace changes nothing.
"""

from __future__ import annotations

import numpy as np

from warploom.base.records import Array, i8, int64
from warploom.compiler.code.lanes import FULL
from warploom.emulator.clusters import RECORD_BYTES, index_in_grid, leave_cluster
from warploom.emulator.interpreter import AT_BARRIER, CALLING, DONE, ENDED, FAULT, READY, WAITING, log_values
from warploom.emulator.pointers import fill_row, put32, put64, put_predicate
from warploom.emulator.records import (
    BARRIERS,
    BarrierOperation,
    EmulatedMachine,
    EncodedInstruction,
    Fault,
    MicroOperation,
    ResidentCta,
    ResidentWarp,
    ReturnReason,
    Segment,
    TextureRecord,
)
from warploom.emulator.running import run_lanes
from warploom.emulator.trace.format import WarpStart
from warploom.emulator.watch.events import EVENT_BYTES, MOST_EVENTS, note_begin, note_opening
from warploom.jit import callee, whole

FAULT_BUDGET = int(Fault.BUDGET)
FAULT_DEADLOCK = int(Fault.DEADLOCK)
ARRIVE, POPC, ALL = int(BarrierOperation.ARRIVE), int(BarrierOperation.POPC), int(BarrierOperation.AND)
FINISHED, LOG_FULL, SLOTS_FULL, STOPPED, PAUSED, CALL, EVENTS_FULL = (
    int(ReturnReason[n]) for n in ("FINISHED", "LOG_FULL", "SLOTS_FULL", "FAULT", "PAUSED", "CALL", "EVENTS_FULL")
)
EVENTS_BESIDE = 4  # room for events that no instruction makes: CTAs that begin, barriers that open
MOST_SECTORS = 256  # of one instruction: 32 lanes with 8 texels or words each

SPECIALS: tuple[str, ...] = ("tid.x", "tid.y", "tid.z", "ctaid.x", "ctaid.y", "ctaid.z", "laneid", "warpid", "smid")
SPECIALS += ("lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt", "cluster_ctarank")
SMS = 15


@callee
def _clear(address: int, count: int) -> None:
    for offset in range(0, count, 8):
        put64(address + offset, np.uint64(0))


@callee
def _set_specials(machine: EmulatedMachine, special_rows: Array[i8], warp: ResidentWarp, index: int, rank: int) -> None:
    """Fill the rows of the special registers that differ between warps."""
    block_x, block_y = machine.block[0], machine.block[1]
    grid_x, grid_y = machine.grid[0], machine.grid[1]
    for which in range(len(special_rows)):
        row = special_rows[which]
        if row < 0:
            continue
        at = warp.rows + row
        for lane in range(32):
            thread = int64(warp.number) * 32 + lane
            bit = np.uint32(1) << np.uint32(lane)
            if which == 0:
                value = thread % block_x
            elif which == 1:
                value = thread // block_x % block_y
            elif which == 2:
                value = thread // (block_x * block_y)
            elif which == 3:
                value = index % grid_x
            elif which == 4:
                value = index // grid_x % grid_y
            elif which == 5:
                value = index // (grid_x * grid_y)
            elif which == 6:
                value = int64(lane)
            elif which == 7:
                value = int64(warp.number)
            elif which == 8:
                value = index % SMS
            elif which == 9:
                value = int64(bit)
            elif which == 10:
                value = int64(bit | (bit - np.uint32(1)))
            elif which == 11:
                value = int64(bit - np.uint32(1))
            elif which == 12:
                value = int64(~(bit - np.uint32(1)))
            elif which == 13:
                value = int64(~(bit | (bit - np.uint32(1))))
            else:
                value = rank
            put32(at + 4 * lane, np.uint32(value & 0xFFFFFFFF))


@callee
def _begin(
    machine: EmulatedMachine, special_rows: Array[i8], warps: Array[ResidentWarp], ctas: Array[ResidentCta], slot: int
) -> None:
    """Make the next CTA resident in a slot."""
    index = index_in_grid(machine, machine.next_cta)
    rank = machine.next_cta % machine.cluster_size
    machine.next_cta += 1
    machine.running += 1
    count = machine.warps_per_cta
    cta = ctas[slot]
    cta.index = index
    cta.running = count
    cta.counted = 0
    cta.slot = slot
    cta.leader = slot - rank
    cta.shared = machine.shared + slot * machine.shared_stride
    note_begin(machine, slot, index)
    _clear(cta.shared, machine.shared_stride)
    for barrier in range(BARRIERS):
        cta.arrived[barrier] = 0
        cta.expected[barrier] = 0
        cta.reduction[barrier] = 0
        cta.threads[barrier] = 0
    for number in range(count):
        place = slot * count + number
        warp = warps[place]
        threads = min(machine.threads - 32 * number, 32)
        lanes = FULL if threads == 32 else (np.uint32(1) << np.uint32(threads)) - np.uint32(1)
        warp.status = READY
        warp.pc = 0
        warp.reconvergence = -1
        warp.depth = 0
        warp.active = lanes
        warp.alive = lanes
        warp.launched = lanes
        warp.turn = machine.turn
        warp.polled = 0
        warp.cluster_arrivals = 0
        warp.cluster_lanes = np.uint32(0)
        warp.cta = slot
        warp.number = number
        warp.rows = machine.rows + place * machine.row_bytes
        warp.predicates = machine.predicates + place * machine.predicate_bytes
        warp.local = machine.local + place * machine.local_stride
        _clear(warp.rows, machine.register_bytes)
        _clear(warp.predicates, machine.predicate_bytes)
        put32(warp.predicates + machine.always, FULL)
        _clear(warp.local, machine.local_stride)
        _set_specials(machine, special_rows, warp, index, rank)


@callee
def _begin_cluster(
    machine: EmulatedMachine, special_rows: Array[i8], warps: Array[ResidentWarp], ctas: Array[ResidentCta]
) -> None:
    """Make the CTAs of the next cluster resident, or the next CTA."""
    _clear(machine.clusters + RECORD_BYTES * machine.resident, RECORD_BYTES)
    for _ in range(machine.cluster_size):
        _begin(machine, special_rows, warps, ctas, machine.resident)
        machine.resident += 1


@callee
def _give_reduction(
    machine: EmulatedMachine, program: Array[EncodedInstruction], warp: ResidentWarp, threads: int, true: int
) -> None:
    """bar.red: the result goes to every lane that came, and the trace learns of it."""
    instruction = program[warp.barrier_pc]
    mask = warp.barrier_mask
    if instruction.predicate_out >= 0:
        holds = true == threads if instruction.operation == ALL else true > 0
        put_predicate(warp.predicates + 4 * instruction.predicate_out, mask, mask if holds else np.uint32(0))
        return
    row = warp.rows + instruction.write_rows[0]
    for lane in range(32):
        if (mask >> np.uint32(lane)) & 1:
            put32(row + 4 * lane, np.uint32(true))
    if machine.tracing:
        here = machine.n_value
        machine.n_value = warp.value_at
        log_values(machine, instruction, warp.rows, mask, warp.launched)
        machine.n_value = here


@callee
def _release(
    machine: EmulatedMachine,
    program: Array[EncodedInstruction],
    warps: Array[ResidentWarp],
    ctas: Array[ResidentCta],
    slot: int,
    barrier: int,
) -> None:
    """Let the warps at a barrier go if all that it waits for have come. Warps that have ended count as come."""
    cta = ctas[slot]
    expected = int64(cta.expected[barrier])
    arrived = int64(cta.arrived[barrier])
    if expected == 0:
        expected = machine.warps_per_cta
        arrived += machine.warps_per_cta - cta.running
    if cta.arrived[barrier] == 0 or arrived < expected:
        return
    note_opening(machine, cta, barrier)
    for number in range(machine.warps_per_cta):
        warp = warps[slot * machine.warps_per_cta + number]
        if warp.status == WAITING and warp.barrier == barrier:
            warp.status = READY
            if program[warp.barrier_pc].operation > ARRIVE:
                _give_reduction(machine, program, warp, cta.threads[barrier], cta.reduction[barrier])
    cta.arrived[barrier] = 0
    cta.reduction[barrier] = 0
    cta.threads[barrier] = 0


@callee
def _fault(machine: EmulatedMachine, fault: int, ctas: Array[ResidentCta], slot: int, warp: ResidentWarp) -> None:
    machine.fault = fault
    machine.fault_pc = warp.barrier_pc if warp.status == WAITING else warp.pc
    machine.fault_cta = ctas[slot].index
    machine.fault_warp = warp.number
    machine.fault_lane = 0
    machine.fault_detail = warp.barrier


@callee
def _deadlock(machine: EmulatedMachine, warps: Array[ResidentWarp], ctas: Array[ResidentCta]) -> bool:
    """Whether a CTA waits for ever: warps of it wait at barriers, and no other is left that could let them go.

    Warps that wait for their cluster are asked again in each round; where nobody did anything else, that is in vain.
    """
    idle = machine.executed == machine.round_executed and not machine.stalled and not machine.passed_over
    for slot in range(machine.resident):
        first = -1
        ready = False
        for place in range(slot * machine.warps_per_cta, (slot + 1) * machine.warps_per_cta):
            if warps[place].status == READY and not idle:
                ready = True
                break
            if warps[place].status == READY and first < 0:
                first = place
            if warps[place].status == WAITING and first < 0:
                first = place
        if not ready and first >= 0:
            _fault(machine, FAULT_DEADLOCK, ctas, slot, warps[first])
            return True
    return False


@callee
def _next_round(machine: EmulatedMachine, special_rows: Array[i8], warps: Array[ResidentWarp], ctas: Array[ResidentCta]) -> int:
    """All resident warps have had their turn. Returns why Python is needed, or -1 to go on."""
    if machine.running == 0:  # the batch is complete
        if machine.next_cta == machine.ctas:
            return FINISHED
        full = machine.n_instruction >= machine.flush_at or machine.n_sector >= machine.flush_at
        full = full or machine.n_segment + 64 >= machine.segment_room
        if machine.tracing and full and machine.next_cta % machine.flush_unit == 0:
            return LOG_FULL
        machine.resident = 0
        _begin_cluster(machine, special_rows, warps, ctas)
    elif _deadlock(machine, warps, ctas):
        return STOPPED
    elif (
        (machine.stalled or machine.chance != 0)
        and machine.next_cta < machine.ctas
        and machine.resident + machine.cluster_size <= machine.most_slots
    ):
        if machine.resident + machine.cluster_size > machine.slots:
            return SLOTS_FULL
        _begin_cluster(machine, special_rows, warps, ctas)
    machine.round_executed = machine.executed
    machine.cursor_cta = 0
    machine.cursor_warp = 0
    machine.stalled = machine.passed_over = 0
    return -1


@callee
def _is_passed_over(machine: EmulatedMachine) -> bool:
    """Whether a warp has to wait for its next turn, by chance."""
    chance = machine.chance
    chance ^= chance << np.uint64(13)
    chance ^= chance >> np.uint64(7)
    chance ^= chance << np.uint64(17)
    machine.chance = chance
    return chance & np.uint64(1) != 0


@callee
def _room(machine: EmulatedMachine, turn: int) -> int:
    """For how many instructions the log has room; without a trace, as many as the turn has."""
    if not machine.tracing:
        return turn
    room = min(machine.instruction_room - machine.n_instruction, (machine.value_room - machine.n_value) // 8)
    room = min(room, machine.memory_room - machine.n_memory, (machine.sector_room - machine.n_sector) // MOST_SECTORS)
    return min(room, turn) if machine.n_segment + 1 < machine.segment_room else 0


@whole
def run(
    machines: Array[EmulatedMachine],
    program: Array[EncodedInstruction],
    micro: Array[MicroOperation],
    textures: Array[TextureRecord],
    clock_rows: Array[i8],
    special_rows: Array[i8],
    warps: Array[ResidentWarp],
    ctas: Array[ResidentCta],
    segments: Array[Segment],
    scratch: np.ndarray,
) -> int:
    """Run until the launch ends, Python has to make room, or a pause is due. Returns an `ReturnReason`; call again to go on."""
    machine = machines[0]
    while True:
        if machine.cursor_cta >= machine.resident:
            outcome = _next_round(machine, special_rows, warps, ctas)
            if outcome >= 0:
                return outcome
            continue
        slot = machine.cursor_cta
        if machine.cursor_warp >= machine.warps_per_cta or ctas[slot].running == 0:
            machine.cursor_cta += 1
            machine.cursor_warp = 0
            continue
        cta, warp = ctas[slot], warps[slot * machine.warps_per_cta + machine.cursor_warp]
        if warp.status != READY:
            machine.cursor_warp += 1
            continue
        if machine.chance != 0 and warp.turn == machine.turn and not machine.called and _is_passed_over(machine):
            machine.cursor_warp += 1
            machine.passed_over = 1
            continue
        if machine.executed >= machine.pause_at or machine.next_cta >= machine.pause_cta:
            return PAUSED
        if machine.executed >= machine.budget:
            _fault(machine, FAULT_BUDGET, ctas, slot, warp)
            return STOPPED
        steps = _room(machine, min(int64(warp.turn), machine.budget - machine.executed))
        if steps <= 0:
            return LOG_FULL
        if machine.events != 0:
            steps = min(steps, (machine.events_end - machine.events) // (MOST_EVENTS * EVENT_BYTES) - EVENTS_BESIDE)
            if steps <= 0:
                return EVENTS_FULL
        if machine.tracing:
            segment = segments[machine.n_segment]
            segment.cta, segment.warp = cta.index, warp.number
            segment.instruction, segment.value = machine.n_instruction, machine.n_value
            segment.memory, segment.sector = machine.n_memory, machine.n_sector
            machine.n_segment += 1
        reason, executed = run_lanes(machine, program, micro, textures, clock_rows, cta, warp, scratch, steps)
        warp.turn -= executed
        if reason == FAULT:
            return STOPPED
        if reason == CALLING:
            return CALL
        if reason == AT_BARRIER:
            _release(machine, program, warps, ctas, slot, warp.barrier)
        elif reason == ENDED:
            warp.status = DONE
            cta.running -= 1
            if machine.cluster_size > 1:
                leave_cluster(machine, cta, warp)
            if cta.running == 0:
                machine.running -= 1
            for barrier in range(BARRIERS):
                if cta.arrived[barrier] > 0:
                    _release(machine, program, warps, ctas, slot, barrier)
        if warp.status != READY or warp.turn <= 0:
            if warp.status == READY and warp.polled == 1:
                machine.stalled = 1
            warp.turn = machine.turn
            warp.polled = 0
            machine.cursor_warp += 1


@whole
def fill_constants(rows: int, row_bytes: int, places: np.ndarray, words: np.ndarray, warps: int) -> None:
    """Give every warp's rows their constants."""
    for warp in range(warps):
        for index in range(len(places)):
            fill_row(rows + warp * row_bytes + places[index], words[index])


@whole
def gather(
    order: np.ndarray,
    segments: Array[Segment],
    ends: Array[Segment],
    columns_in: tuple[np.ndarray, ...],
    columns_out: tuple[np.ndarray, ...],
    starts: Array[WarpStart],
    origin: WarpStart,
) -> int:
    """Copy the log's segments, warp by warp, to contiguous columns; `starts` gets where each warp begins."""
    pc_in, mask_in, value_in, memory_in, sector_in, lanes_in = columns_in
    pc_out, mask_out, value_out, memory_out, sector_out, lanes_out = columns_out
    n_instruction = n_value = n_memory = n_sector = 0
    warp = -1
    for place in range(len(order)):
        at = order[place]
        first = segments[at]
        last = segments[at + 1] if at + 1 < len(segments) else ends[0]
        previous = segments[order[place - 1]] if place > 0 else first
        if place == 0 or previous.cta != first.cta or previous.warp != first.warp:
            warp += 1
            starts[warp].instruction, starts[warp].value = origin.instruction + n_instruction, origin.value + n_value
            starts[warp].memory, starts[warp].sector = origin.memory + n_memory, origin.sector + n_sector
        for index in range(first.instruction, last.instruction):
            pc_out[n_instruction] = pc_in[index]
            mask_out[n_instruction] = mask_in[index]
            n_instruction += 1
        for index in range(first.value, last.value):
            value_out[n_value] = value_in[index]
            n_value += 1
        for index in range(first.memory, last.memory):
            memory_out[n_memory] = memory_in[index]
            n_memory += 1
        for index in range(first.sector, last.sector):
            sector_out[n_sector] = sector_in[index]
            lanes_out[n_sector] = lanes_in[index]
            n_sector += 1
    return warp + 1
