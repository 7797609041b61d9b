"""Runs one warp: fetches, decides which lanes execute, executes, follows control, and notes it all in the trace's log.

Lanes that a branch separates meet again at its immediate post-dominator. The stack holds what waits: lanes of the other side of
a branch, and below them the whole group that goes on from the point where they meet.
"""

from __future__ import annotations

import numpy as np

from warploom.code.lanes import FULL
from warploom.emulator.directed_rounding import directed
from warploom.emulator.float_operations import convert, float32, float64
from warploom.emulator.half_operations import halves
from warploom.emulator.integer_operations import integer32, integer64
from warploom.emulator.memory import access_memory, fail
from warploom.emulator.pointers import copy_row, count_ones, fill_row, first_lane, get8, get32, put16, put32, restore_lanes
from warploom.emulator.records import BarrierOperation, Family, Fault, Kind, PredicateOperation, Status
from warploom.emulator.special_functions import special
from warploom.emulator.textures import fetch_texels
from warploom.emulator.warp_operations import exchange
from warploom.jit import callee
from warploom.trace.encoding import survives
from warploom.trace.format import ACTIVE_HALF_SHIFT
from warploom.trace.values import classify

FAULT_BARRIER_COUNT = int(Fault.BARRIER_COUNT)
FAULT_BARRIER_ID = int(Fault.BARRIER_ID)
FAULT_ENCODING = int(Fault.ENCODING)
FAULT_TRAP = int(Fault.TRAP)
COMPUTE, LOAD, STORE, ATOMIC, BRANCH, EXIT = (int(Kind[n]) for n in ("COMPUTE", "LOAD", "STORE", "ATOMIC", "BRANCH", "EXIT"))
BARRIER, WARP, TEXTURE, SLEEP, TRAP, CALL = (int(Kind[n]) for n in ("BARRIER", "WARP", "TEXTURE", "SLEEP", "TRAP", "CALL"))
INTEGER32, INTEGER64, FLOAT32, FLOAT64 = (int(Family[n]) for n in ("INTEGER32", "INTEGER64", "FLOAT32", "FLOAT64"))
CONVERT, DIRECTED, SPECIAL, HALVES = (int(Family[n]) for n in ("CONVERT", "DIRECTED", "SPECIAL", "HALVES"))
P_AND, P_OR, P_XOR, P_NOT = (int(PredicateOperation[n]) for n in ("AND", "OR", "XOR", "NOT"))
READY, WAITING, DONE = int(Status.READY), int(Status.WAITING), int(Status.DONE)
ARRIVE = int(BarrierOperation.ARRIVE)

# Why a warp stopped running
ENDED, AT_BARRIER, TURN_OVER, NO_ROOM, FAULT, CALLING = range(6)


@callee
def predicate_operation(number, x, y):
    if number == P_AND:
        return x & y
    if number == P_OR:
        return x | y
    if number == P_XOR:
        return x ^ y
    return ~x if number == P_NOT else x


@callee
def _compute(micro, first, count, rows, predicates, mask):
    """Execute the micro-operations of an instruction. Rows are written in all lanes, predicates in those of the mask."""
    for index in range(first, first + count):
        step = micro[index]
        family, number = step.family, step.number
        a, b, c, out = rows + step.a, rows + step.b, rows + step.c, rows + step.out
        predicate = get32(predicates + 4 * step.predicate_in)
        yielded = np.uint32(0)
        if family == FLOAT32:
            yielded = float32(number, a, b, c, c, out, predicate)
        elif family == INTEGER32:
            yielded = integer32(number, a, b, c, rows + step.d, out, predicate)
        elif family == INTEGER64:
            yielded = integer64(number, a, b, c, rows + step.d, out, predicate)
        elif family == FLOAT64:
            yielded = float64(number, a, b, c, c, out, predicate)
        elif family == CONVERT:
            yielded = convert(number, a, b, c, c, out, predicate)
        elif family == DIRECTED:
            yielded = directed(number, a, b, c, rows + step.d, out, predicate)
        elif family == SPECIAL:
            special(number, a, b, c, out)
        elif family == HALVES:
            yielded = halves(number, a, b, c, c, out, predicate)
        else:
            yielded = predicate_operation(number, get32(predicates + 4 * step.a), get32(predicates + 4 * step.b))
        if step.predicate_out >= 0:
            place = predicates + 4 * step.predicate_out
            put32(place, (get32(place) & ~mask) | (yielded & mask))


@callee
def arrive(machine, cta, warp, instruction, rows, predicates, mask):
    """A warp comes to a barrier. Returns whether it has to wait there; a fault is noted in the machine."""
    lane = first_lane(mask)
    number, threads = np.int64(get32(rows + instruction.rows[0] + 4 * lane)), get32(rows + instruction.rows[1] + 4 * lane)
    if number >= 16:
        fail(machine, FAULT_BARRIER_ID, lane, number, 0)
        return False
    if threads % np.uint32(32) != 0:
        fail(machine, FAULT_BARRIER_COUNT, lane, threads, 0)
        return False
    if machine.tracing:
        put16(machine.log_memory + 2 * machine.n_memory, np.uint16(number | (np.int64(threads) >> 5) << 8))
        machine.n_memory += 1
    cta.arrived[number] += 1
    cta.expected[number] = np.int32(threads >> np.uint32(5))
    if instruction.operation > ARRIVE:
        true = get32(predicates + 4 * instruction.predicate_in) & mask
        cta.reduction[number] += np.int32(count_ones(true))
        cta.threads[number] += np.int32(count_ones(mask))
    warp.barrier = np.int32(number)
    return instruction.operation != ARRIVE


@callee
def _classify_lanes(machine, row, mask):
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
def log_values(machine, instruction, rows, mask, launched):
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
def check_encodings(machine, instruction, rows, launched, register, image, back):
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
def log_instruction(machine, pc, mask):
    """Append an instruction and the lanes that execute it to the trace."""
    put16(machine.log_pc + 2 * machine.n_instruction, np.uint16(pc))
    put32(machine.log_mask + 4 * machine.n_instruction, mask)
    machine.n_instruction += 1


@callee
def log_no_arrival(machine):
    """Nobody of the warp arrives at a barrier of the CTA now; the trace has an entry all the same."""
    if machine.tracing:
        put16(machine.log_memory + 2 * machine.n_memory, np.uint16(0))
        machine.n_memory += 1


@callee
def come_to_barrier(machine, cta, warp, instruction, rows, predicates, pc, mask):
    """A warp is at a barrier of the CTA. Returns whether all is well; `warp.status` says whether it waits."""
    waits = arrive(machine, cta, warp, instruction, rows, predicates, mask)
    if machine.fault != 0:
        return False
    warp.barrier_pc, warp.barrier_mask, warp.value_at = pc, mask, machine.n_value
    if waits:
        warp.status = WAITING
    return True


@callee
def finish(machine, cta, warp, instruction, rows, mask, pc, scratch, fine):
    """After an instruction: the trace learns what it wrote, and what went wrong is noted with its place."""
    if machine.tracing and instruction.values > 0:
        log_values(machine, instruction, rows, mask, warp.launched)
        if machine.checking and not check_encodings(
            machine, instruction, rows, warp.launched, scratch[0], scratch[1], scratch[2]
        ):
            fine = fail(machine, FAULT_ENCODING, first_lane(mask), 0, 0)
    if not fine:
        machine.fault_pc = pc
        machine.fault_cta = cta.index
        machine.fault_warp = warp.number
    return fine


@callee
def end_turn(machine, warp, pc, active, executed, threads, idle):
    """A warp stops running for now."""
    warp.pc, warp.active = pc, active
    machine.executed += executed
    machine.thread_executed += threads
    machine.thread_idle += idle


@callee
def _push(warp, pc, reconvergence, mask):
    depth = warp.depth
    warp.stack_pc[depth] = pc
    warp.stack_reconvergence[depth] = reconvergence
    warp.stack_mask[depth] = mask
    warp.depth = depth + 1


@callee
def _resume(warp):
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
def _branch(warp, pc, target, meeting, end, taken):
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
def tick(machine, program, pc, rows, clock_rows):
    """Bring the rows of the clocks up to date: they count executed instructions."""
    for index in range(len(clock_rows)):
        row = clock_rows[index]
        if row >= 0:
            shift = np.int64(32) if index in (2, 5) else np.int64(0)
            fill_row(rows + row, np.uint32((machine.executed >> shift) & 0xFFFFFFFF))
            if index in (1, 3):
                fill_row(rows + row + 128, np.uint32(machine.executed >> 32))


@callee
def run_warp(machine, program, micro, textures, clock_rows, cta, warp, scratch, steps):
    """Run a warp for at most so many instructions. Returns why it stopped and how many it executed."""
    rows, predicates = warp.rows, warp.predicates
    end = np.int32(machine.instructions)
    executed = np.int64(0)
    threads = idle = np.int64(0)
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
                tick(machine, program, pc, rows, clock_rows)
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
        elif kind == WARP:
            yielded = exchange(instruction, rows, mask, get32(predicates + 4 * instruction.predicate_in), machine.saved)
            if instruction.predicate_out >= 0:
                place = predicates + 4 * instruction.predicate_out
                put32(place, (get32(place) & ~mask) | (yielded & mask))
        elif kind == TEXTURE:
            fine = fetch_texels(machine, textures, instruction, rows, mask, True)
        elif kind == SLEEP:
            warp.turn = np.int32(executed)  # the turn ends here: others may do what this one waits for
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
