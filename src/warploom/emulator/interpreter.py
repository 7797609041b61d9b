"""Runs one warp: fetches, decides which lanes execute, executes, follows control, and notes it all in the trace's log.

Lanes that a branch separates meet again at its immediate post-dominator. The stack holds what waits: lanes of the other side of
a branch, and below them the whole group that goes on from the point where they meet.
"""

from __future__ import annotations

import numpy as np

from warploom.base.records import Array, Lanes, i8, int64
from warploom.compiler.code.lanes import FULL
from warploom.emulator.directed_rounding import directed
from warploom.emulator.extents import MOST_THREADS
from warploom.emulator.float_operations import convert, float32, float64
from warploom.emulator.half_operations import halves
from warploom.emulator.integer_operations import integer32, integer64
from warploom.emulator.memory import access_memory, fail
from warploom.emulator.pointers import (
    copy_row,
    count_ones,
    fill_row,
    first_lane,
    get8,
    get32,
    put16,
    put32,
    put_predicate,
    restore_lanes,
)
from warploom.emulator.records import (
    BARRIERS,
    BarrierOperation,
    EmulatedMachine,
    EncodedInstruction,
    Family,
    Fault,
    Kind,
    MicroOperation,
    PredicateOperation,
    ResidentCta,
    ResidentWarp,
    Status,
    TextureRecord,
)
from warploom.emulator.special_functions import special
from warploom.emulator.textures import fetch_texels
from warploom.emulator.trace.encoding import survives
from warploom.emulator.trace.format import ACTIVE_HALF_SHIFT
from warploom.emulator.trace.values import classify
from warploom.emulator.warp_operations import exchange, name_themselves
from warploom.emulator.watch.events import note_arrival, note_step
from warploom.jit import callee, inlined

FAULT_BARRIER_COUNT = int(Fault.BARRIER_COUNT)
FAULT_BARRIER_ID = int(Fault.BARRIER_ID)
FAULT_ENCODING = int(Fault.ENCODING)
FAULT_TRAP = int(Fault.TRAP)
COMPUTE, LOAD, STORE, ATOMIC, BRANCH, EXIT = (int(Kind[n]) for n in ("COMPUTE", "LOAD", "STORE", "ATOMIC", "BRANCH", "EXIT"))
BARRIER, WARP, TEXTURE, SLEEP, TRAP, CALL = (int(Kind[n]) for n in ("BARRIER", "WARP", "TEXTURE", "SLEEP", "TRAP", "CALL"))
NOTHING = int(Kind.NOTHING)
INTEGER32, INTEGER64, FLOAT32, FLOAT64 = (int(Family[n]) for n in ("INTEGER32", "INTEGER64", "FLOAT32", "FLOAT64"))
CONVERT, DIRECTED, SPECIAL, HALVES = (int(Family[n]) for n in ("CONVERT", "DIRECTED", "SPECIAL", "HALVES"))
P_AND, P_OR, P_XOR, P_NOT = (int(PredicateOperation[n]) for n in ("AND", "OR", "XOR", "NOT"))
READY, WAITING, DONE = int(Status.READY), int(Status.WAITING), int(Status.DONE)
ARRIVE = int(BarrierOperation.ARRIVE)

# Why a warp stopped running
ENDED, AT_BARRIER, TURN_OVER, NO_ROOM, FAULT, CALLING = range(6)


@callee
def _predicate_operation(number: int, x: Lanes, y: Lanes) -> Lanes:
    if number == P_AND:
        return x & y
    if number == P_OR:
        return x | y
    if number == P_XOR:
        return x ^ y
    return ~x if number == P_NOT else x


@inlined
def execute_operation(step: MicroOperation, rows: int, predicates: int) -> Lanes:
    """Execute a micro-operation of the families that all code has. Returns the predicate that it yields."""
    family, number = step.family, step.number
    a, b, c, out = rows + step.a, rows + step.b, rows + step.c, rows + step.out
    predicate = get32(predicates + 4 * step.predicate_in)
    if family == FLOAT32:
        return float32(number, a, b, c, c, out, predicate)
    if family == INTEGER32:
        return integer32(number, a, b, c, rows + step.d, out, predicate)
    if family == INTEGER64:
        return integer64(number, a, b, c, rows + step.d, out, predicate)
    if family == FLOAT64:
        return float64(number, a, b, c, c, out, predicate)
    if family == CONVERT:
        return convert(number, a, b, c, c, out, predicate)
    if family == DIRECTED:
        return directed(number, a, b, c, rows + step.d, out, predicate)
    if family == SPECIAL:
        special(number, a, b, c, out)
        return np.uint32(0)
    if family == HALVES:
        return halves(number, a, b, c, c, out, predicate)
    return _predicate_operation(number, get32(predicates + 4 * step.a), get32(predicates + 4 * step.b))


@callee
def _compute(micro: Array[MicroOperation], first: int, count: int, rows: int, predicates: int, mask: Lanes) -> None:
    """Execute the micro-operations of an instruction. Rows are written in all lanes, predicates in those of the mask."""
    for index in range(first, first + count):
        step = micro[index]
        yielded = execute_operation(step, rows, predicates)
        if step.predicate_out >= 0:
            put_predicate(predicates + 4 * step.predicate_out, mask, yielded)


@callee
def _barrier_number(machine: EmulatedMachine, instruction: EncodedInstruction, rows: int, lane: int) -> int:
    """The barrier that an instruction names; one that does not exist is noted in the machine."""
    number = int64(get32(rows + instruction.rows[0] + 4 * lane))
    if number >= BARRIERS:
        fail(machine, FAULT_BARRIER_ID, lane, number, 0)
    return number


@callee
def vote_at_barrier(
    machine: EmulatedMachine, cta: ResidentCta, instruction: EncodedInstruction, rows: int, predicates: int, mask: Lanes
) -> bool:
    """Lanes come to a barrier: one that reduces counts them, and those whose predicate holds. Returns whether all is well."""
    number = _barrier_number(machine, instruction, rows, first_lane(mask))
    if number < BARRIERS and instruction.operation > ARRIVE:
        true = get32(predicates + 4 * instruction.predicate_in) & mask
        cta.reduction[number] += count_ones(true)
        cta.threads[number] += count_ones(mask)
    return machine.fault == 0


@callee
def arrive(
    machine: EmulatedMachine, cta: ResidentCta, warp: ResidentWarp, instruction: EncodedInstruction, rows: int, lane: int
) -> bool:
    """A warp comes to a barrier. Returns whether it has to wait there; a fault is noted in the machine."""
    number, threads = _barrier_number(machine, instruction, rows, lane), get32(rows + instruction.rows[1] + 4 * lane)
    if number >= BARRIERS:
        return False
    if threads % np.uint32(32) != 0 or threads > np.uint32(MOST_THREADS):
        fail(machine, FAULT_BARRIER_COUNT, lane, int64(threads), 0)
        return False
    if machine.tracing:
        put16(machine.log_memory + 2 * machine.n_memory, np.uint16(number | (int64(threads) >> 5) << 8))
        machine.n_memory += 1
    note_arrival(machine, cta, warp, instruction.pc, number, instruction.operation != ARRIVE)
    cta.arrived[number] += 1
    cta.expected[number] = int64(threads >> np.uint32(5))
    warp.barrier = number
    return instruction.operation != ARRIVE


@callee
def _classify_lanes(machine: EmulatedMachine, row: int, mask: Lanes) -> np.uint32:
    """The class of some lanes of a register: a lane that is not among them repeats the one of them before it."""
    if mask == FULL:
        return classify(row)
    last = get32(row + 4 * first_lane(mask))
    for lane in range(32):
        if (mask >> np.uint32(lane)) & 1:
            last = get32(row + 4 * lane)
        put32(machine.saved + 4 * lane, last)
    return classify(machine.saved)


@callee
def log_values(machine: EmulatedMachine, instruction: EncodedInstruction, rows: int, mask: Lanes, launched: Lanes) -> None:
    """Classify every register written: all lanes that the warp was launched with, and those that executed."""
    for index in range(instruction.values):
        row = rows + instruction.value_rows[index]
        whole = _classify_lanes(machine, row, launched)
        active = whole
        if mask == 0:
            active = np.uint32(0)
        elif mask != launched:
            active = _classify_lanes(machine, row, mask)
        put32(machine.log_value + 4 * machine.n_value, whole | (active << np.uint32(ACTIVE_HALF_SHIFT)))
        machine.n_value += 1


@callee
def check_encodings(
    machine: EmulatedMachine,
    instruction: EncodedInstruction,
    rows: int,
    launched: Lanes,
    register: np.ndarray,
    image: np.ndarray,
    back: np.ndarray,
) -> bool:
    """In checked runs: every image that the classes promise is built and taken apart again."""
    for index in range(instruction.values):
        row = rows + instruction.value_rows[index]
        promised = _classify_lanes(machine, row, launched)
        if launched != FULL:
            row = machine.saved
        for byte in range(128):
            register[byte] = get8(row + byte)
        if not survives(register, promised, image, back):
            return False
    return True


@callee
def log_instruction(machine: EmulatedMachine, pc: int, mask: Lanes) -> None:
    """Append an instruction and the lanes that execute it to the trace."""
    put16(machine.log_pc + 2 * machine.n_instruction, np.uint16(pc))
    put32(machine.log_mask + 4 * machine.n_instruction, mask)
    machine.n_instruction += 1


@callee
def log_no_arrival(machine: EmulatedMachine) -> None:
    """Nobody of the warp arrives at a barrier of the CTA now; the trace has an entry nevertheless."""
    if machine.tracing:
        put16(machine.log_memory + 2 * machine.n_memory, np.uint16(0))
        machine.n_memory += 1


@callee
def come_to_barrier(
    machine: EmulatedMachine,
    cta: ResidentCta,
    warp: ResidentWarp,
    instruction: EncodedInstruction,
    rows: int,
    predicates: int,
    pc: int,
    mask: Lanes,
) -> bool:
    """A warp is at a barrier of the CTA. Returns whether all is well; `warp.status` says whether it waits."""
    fine = vote_at_barrier(machine, cta, instruction, rows, predicates, mask)
    waits = fine and arrive(machine, cta, warp, instruction, rows, first_lane(mask))
    if machine.fault != 0:
        return False
    warp.barrier_pc, warp.barrier_mask, warp.value_at = pc, mask, machine.n_value
    if waits:
        warp.status = WAITING
    return True


@callee
def finish(
    machine: EmulatedMachine,
    cta: ResidentCta,
    warp: ResidentWarp,
    instruction: EncodedInstruction,
    rows: int,
    mask: Lanes,
    pc: int,
    scratch: np.ndarray,
    fine: bool,
) -> bool:
    """After an instruction: the trace learns what it wrote, and what went wrong is noted with its place."""
    if machine.tracing and instruction.values > 0:
        log_values(machine, instruction, rows, mask, warp.launched)
        if machine.checking and not check_encodings(
            machine, instruction, rows, warp.launched, scratch[0], scratch[1], scratch[2]
        ):
            fine = fail(machine, FAULT_ENCODING, first_lane(mask), 0, 0)
    fine = fine and machine.fault == 0
    if not fine:
        machine.fault_pc = pc
        machine.fault_cta = cta.index
        machine.fault_warp = warp.number
    return fine


@callee
def end_turn(
    machine: EmulatedMachine, warp: ResidentWarp, pc: int, active: Lanes, executed: int, threads: int, idle: int
) -> None:
    """A warp stops running for now."""
    warp.pc, warp.active = pc, active
    machine.executed += executed
    machine.thread_executed += threads
    machine.thread_idle += idle


@callee
def _push(warp: ResidentWarp, pc: int, reconvergence: int, mask: Lanes) -> None:
    depth = warp.depth
    warp.stack_pc[depth] = pc
    warp.stack_reconvergence[depth] = reconvergence
    warp.stack_mask[depth] = mask
    warp.depth = depth + 1


@callee
def _resume(warp: ResidentWarp) -> bool:
    """Take the next group of lanes that still live off the stack. Returns whether there was one."""
    while warp.depth > 0:
        warp.depth -= 1
        mask = warp.stack_mask[warp.depth] & warp.alive
        if mask != 0:
            warp.pc = warp.stack_pc[warp.depth]
            warp.reconvergence = warp.stack_reconvergence[warp.depth]
            warp.active = mask
            return True
    return False


@callee
def _branch(warp: ResidentWarp, pc: int, target: int, meeting: int, end: int, taken: Lanes) -> None:
    """Both sides of a branch have lanes: run one, leave the other and the continuation on the stack."""
    fallen = warp.active & ~taken
    if warp.reconvergence != meeting and meeting != end:
        _push(warp, meeting, warp.reconvergence, warp.active)
    if target == meeting:
        warp.pc, warp.active = pc + 1, fallen
    elif pc + 1 == meeting:
        warp.pc, warp.active = target, taken
    else:
        _push(warp, target, meeting, taken)
        warp.pc, warp.active = pc + 1, fallen
    warp.reconvergence = meeting


@callee
def tick(machine: EmulatedMachine, rows: int, clock_rows: Array[i8]) -> None:
    """Bring the rows of the clocks up to date: they count executed instructions."""
    for index in range(len(clock_rows)):
        row = clock_rows[index]
        if row >= 0:
            shift = 32 if index in (2, 5) else 0
            fill_row(rows + row, np.uint32((machine.executed >> shift) & 0xFFFFFFFF))
            if index in (1, 3):
                fill_row(rows + row + 128, np.uint32(machine.executed >> 32))


@callee
def _members(instruction: EncodedInstruction, rows: int, mask: Lanes) -> Lanes:
    """The lanes that an instruction names which several of a warp execute together."""
    return get32(rows + instruction.rows[4] + 4 * first_lane(mask)) if instruction.elements != 0 and mask != 0 else FULL


@callee
def run_warp(
    machine: EmulatedMachine,
    program: Array[EncodedInstruction],
    micro: Array[MicroOperation],
    textures: Array[TextureRecord],
    clock_rows: Array[i8],
    cta: ResidentCta,
    warp: ResidentWarp,
    scratch: np.ndarray,
    steps: int,
) -> tuple[int, int]:
    """Run a warp for at most so many instructions. Returns why it stopped and how many it executed."""
    rows, predicates = warp.rows, warp.predicates
    end = machine.instructions
    executed = 0
    threads = idle = 0
    reason = TURN_OVER
    pc, active = warp.pc, warp.active
    while executed < steps:
        instruction = program[pc]
        mask = active
        if instruction.guard >= 0:
            mask &= get32(predicates + 4 * instruction.guard) ^ instruction.guard_flip
        kind = instruction.kind
        if kind == CALL:
            if mask != 0 and not machine.called:
                machine.call_pc, machine.call_mask = pc, mask
                reason = CALLING
                break
            machine.called = 0
        if machine.tracing:
            log_instruction(machine, pc, active if kind == BRANCH else mask)
        executed += 1
        threads += count_ones(active if kind == BRANCH else mask)
        if mask != active and kind != BRANCH:
            idle += count_ones(active & ~mask)
        fine = True
        moved = False  # whether control went elsewhere than to the next instruction
        if kind == COMPUTE:
            if instruction.uses_clock:
                machine.executed += executed
                tick(machine, rows, clock_rows)
                machine.executed -= executed
            if mask == FULL:
                _compute(micro, instruction.first, instruction.count, rows, predicates, mask)
            elif mask != 0:
                for index in range(instruction.writes):
                    copy_row(machine.saved + 128 * index, rows + instruction.write_rows[index])
                _compute(micro, instruction.first, instruction.count, rows, predicates, mask)
                for index in range(instruction.writes):
                    restore_lanes(rows + instruction.write_rows[index], machine.saved + 128 * index, mask)
        elif kind in (LOAD, STORE, ATOMIC):
            fine = access_memory(machine, cta, warp, instruction, rows, mask)
            if instruction.polling:
                warp.polled |= 1
            elif kind == STORE:
                warp.polled |= 2
        elif kind == BRANCH:
            taken = mask
            if taken != 0:
                moved = True
                if taken == active:
                    pc = instruction.target
                else:
                    warp.active = active
                    _branch(warp, pc, instruction.target, instruction.reconvergence, end, taken)
                    pc, active = warp.pc, warp.active
        elif kind == EXIT:
            warp.alive &= ~mask
            active &= ~mask
        elif kind == BARRIER:
            if mask != 0:
                fine = come_to_barrier(machine, cta, warp, instruction, rows, predicates, pc, mask)
                reason = AT_BARRIER
            else:
                log_no_arrival(machine)
        elif kind == NOTHING:
            note_step(machine, cta, warp, pc, mask, mask)
        elif kind == WARP:
            note_step(machine, cta, warp, pc, mask, _members(instruction, rows, mask))
            fine = instruction.elements == 0 or name_themselves(machine, rows + instruction.rows[4], mask)
            exchange(machine, instruction, rows, predicates, mask)
        elif kind == TEXTURE:
            fine = fetch_texels(machine, textures, instruction, rows, mask, True)
        elif kind == SLEEP:
            warp.turn = executed  # the turn ends here: others may do what this one waits for
            steps = executed
        elif kind == TRAP and mask != 0:
            fine = fail(machine, FAULT_TRAP, first_lane(mask), 0, 0)
        if not finish(machine, cta, warp, instruction, rows, mask, pc, scratch, fine):
            reason = FAULT
            break
        if not moved:
            pc += 1
        if pc == warp.reconvergence or active == 0 or pc >= end:
            if pc >= end:
                warp.alive &= ~active
                active = np.uint32(0)
            ended = False
            while True:
                if not _resume(warp):
                    ended = True
                    break
                pc, active = warp.pc, warp.active
                if pc != warp.reconvergence:
                    break
            if ended:
                reason = ENDED
                break
        if reason == AT_BARRIER:
            break
    end_turn(machine, warp, pc, active, executed, threads, idle)
    return reason, executed
