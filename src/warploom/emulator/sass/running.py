"""Runs one warp of a SASS program: fetches, decides which lanes execute, executes, follows control, notes it in the log."""

from __future__ import annotations

import numpy as np

from warploom.base.records import Array, Lanes, i8, int64
from warploom.compiler.code.lanes import FULL
from warploom.emulator.clusters import arrive_in_cluster, cluster_has_come
from warploom.emulator.interpreter import (
    AT_BARRIER,
    CALLING,
    ENDED,
    FAULT,
    TURN_OVER,
    WAITING,
    arrive,
    come_to_barrier,
    end_turn,
    execute_operation,
    finish,
    log_instruction,
    log_no_arrival,
    tick,
    vote_at_barrier,
)
from warploom.emulator.memory import access_memory, fail
from warploom.emulator.pointers import (
    copy_row,
    count_ones,
    fill_row,
    first_lane,
    get32,
    get64,
    put32,
    put64,
    put_predicate,
    restore_lanes,
)
from warploom.emulator.records import COUNTS, EmulatedMachine, Fault, Kind, MicroOperation, ResidentCta, TextureRecord
from warploom.emulator.sass.barrier_log import log_nothing
from warploom.emulator.sass.copies import put_into_shared
from warploom.emulator.sass.floats_lanes import floats
from warploom.emulator.sass.functions import functions
from warploom.emulator.sass.groups import (
    AT_CTA_BARRIER,
    COLLECTING,
    divide,
    end_lanes,
    free_from_cta_barrier,
    give_way,
    leave_meeting,
    meet,
    part_exclusively,
    put_aside,
    release_collective,
    release_meeting,
    resume,
    set_meeting,
    split_by_address,
    stop_waiting,
    synchronise_lanes,
)
from warploom.emulator.sass.matrices import gather_matrices, multiply_matrices, spread_matrices, transpose_matrix
from warploom.emulator.sass.records import RETURN_ROW, SassFamily, SassInstruction, SassKind, SassWarp, UniformOperation
from warploom.emulator.sass.tensor_maps import copy_tile
from warploom.emulator.sass.transactions import SUSPENDS, Transaction, copy_bytes, phase_is_over, store_and_count, synchronise
from warploom.emulator.sass.warpgroups import multiply_warpgroup
from warploom.emulator.sass.words_lanes import words
from warploom.emulator.surfaces import access_surface
from warploom.emulator.textures import fetch_texels
from warploom.emulator.warp_operations import exchange, name_themselves, reduced
from warploom.emulator.watch.events import IN_SHARED, OF_CLUSTER, note_count, note_step
from warploom.jit import callee, inlined

COMPUTE, LOAD, STORE, ATOMIC, BRANCH, EXIT = (int(Kind[n]) for n in ("COMPUTE", "LOAD", "STORE", "ATOMIC", "BRANCH", "EXIT"))
BARRIER, WARP, TEXTURE, SLEEP, TRAP = (int(Kind[n]) for n in ("BARRIER", "WARP", "TEXTURE", "SLEEP", "TRAP"))
NOTHING = int(Kind.NOTHING)
JUMP, BSSY, BSYNC, BREAK = (int(SassKind[n]) for n in ("JUMP", "BSSY", "BSYNC", "BREAK"))
WARPSYNC, COLLECTIVE, END_COLLECTIVE = (int(SassKind[n]) for n in ("WARPSYNC", "COLLECTIVE", "END_COLLECTIVE"))
YIELD, DIVERGED, UNIFORM, BRANCH_ANY = (int(SassKind[n]) for n in ("YIELD", "DIVERGED", "UNIFORM", "BRANCH_ANY"))
MATRIX_PRODUCT, MATRIX_TRANSPOSE = int(SassKind.MATRIX_PRODUCT), int(SassKind.MATRIX_TRANSPOSE)
WARPGROUP_PRODUCT, TENSOR_COPY = int(SassKind.WARPGROUP_PRODUCT), int(SassKind.TENSOR_COPY)
CALL_SUPPLIED, SURFACE, EXCLUSIVE = (int(SassKind[n]) for n in ("CALL_SUPPLIED", "SURFACE", "EXCLUSIVE"))
TRANSACTION, BULK_COPY = int(SassKind.TRANSACTION), int(SassKind.BULK_COPY)
CHECK, STORE_AND_COUNT, REDUCE_AND_COUNT = (int(Transaction[n]) for n in ("CHECK", "STORE", "REDUCE"))
CLUSTER_ARRIVE, CLUSTER_WAIT = int(SassKind.CLUSTER_ARRIVE), int(SassKind.CLUSTER_WAIT)
TO_REGISTER, TO_BARRIER = int(SassKind.BARRIER_TO_REGISTER), int(SassKind.REGISTER_TO_BARRIER)
FIRST, BALLOT, ANY, ALL, EQUAL, ELECT = (int(UniformOperation[n]) for n in ("FIRST", "BALLOT", "ANY", "ALL", "EQUAL", "ELECT"))
REDUCTIONS = int(UniformOperation.REDUCTIONS)
WORDS, FLOATS, FUNCTIONS = (int(SassFamily[n]) for n in ("WORDS", "FLOATS", "FUNCTIONS"))
FAULT_DEADLOCK, FAULT_ENCODING, FAULT_TRAP = int(Fault.DEADLOCK), int(Fault.ENCODING), int(Fault.TRAP)
FAULT_JUMP = int(Fault.JUMP)
MOST_TRIES = 64  # turns after which TRYWAIT says no
PATIENCE = 256  # turns after which a group gives way that does not seem to wait: it may poll in a way that does not show


@callee
def _any_function(table: int, x: Lanes, y: Lanes, z: Lanes) -> Lanes:
    """A function of three predicates, given by its table."""
    result = np.uint32(0)
    for minterm in range(8):
        if (table >> minterm) & 1:
            term = x if minterm & 4 else ~x
            term &= y if minterm & 2 else ~y
            result |= term & (z if minterm & 1 else ~z)
    return result


@inlined
def _execute_operation(step: MicroOperation, rows: int, predicates: int) -> Lanes:
    """Execute a micro-operation of the families that SASS alone has. Returns the predicate that it yields."""
    family, number = step.family, step.number
    a, b, c, out = rows + step.a, rows + step.b, rows + step.c, rows + step.out
    predicate = get32(predicates + 4 * step.predicate_in)
    if family == WORDS:
        return words(number, a, b, c, rows + step.d, out, predicate)
    if family == FLOATS:
        return floats(number, a, b, c, c, out, predicate)
    if family == FUNCTIONS:
        return functions(number, a, b, out)
    x, y, z = get32(predicates + 4 * step.a), get32(predicates + 4 * step.b), get32(predicates + 4 * step.c)
    return _any_function(number, x, y, z)


@callee
def _compute(micro: Array[MicroOperation], first: int, count: int, rows: int, predicates: int, mask: Lanes) -> None:
    """Execute the micro-operations of an instruction. Rows are written in all lanes, predicates in those of the mask."""
    for index in range(first, first + count):
        step = micro[index]
        if step.family < WORDS:
            yielded = execute_operation(step, rows, predicates)
        else:
            yielded = _execute_operation(step, rows, predicates)
        if step.predicate_out >= 0:
            put_predicate(predicates + 4 * step.predicate_out, mask, yielded)


@callee
def _compute_lanes(
    machine: EmulatedMachine,
    micro: Array[MicroOperation],
    first: int,
    count: int,
    instruction: SassInstruction,
    rows: int,
    predicates: int,
    mask: Lanes,
) -> None:
    """Execute micro-operations for the lanes of a mask: the others keep what they hold."""
    if mask == FULL or (instruction.uniform and mask != 0):
        _compute(micro, first, count, rows, predicates, FULL)
    elif mask != 0:
        for index in range(instruction.writes):
            copy_row(machine.saved + 128 * index, rows + instruction.write_rows[index])
        _compute(micro, first, count, rows, predicates, mask)
        for index in range(instruction.writes):
            restore_lanes(rows + instruction.write_rows[index], machine.saved + 128 * index, mask)


@callee
def _uniform(instruction: SassInstruction, rows: int, predicates: int, mask: Lanes) -> None:
    """One answer for the whole warp, from the lanes of the mask."""
    operation = instruction.operation
    lane = first_lane(mask)
    if operation == FIRST:
        first = get32(rows + instruction.rows[1] + 4 * lane)
        if instruction.predicate_out >= 0:
            place = predicates + 4 * instruction.predicate_out
            others = get32(place) if instruction.signed else np.uint32(0)
            left = mask
            while left != 0:
                other = first_lane(left)
                if get32(rows + instruction.rows[1] + 4 * other) != first:
                    others |= np.uint32(1) << np.uint32(other)
                left &= left - np.uint32(1)
            put_predicate(place, mask, others)
        fill_row(rows + instruction.rows[0], first)
        return
    if operation == ELECT:
        fill_row(rows + instruction.rows[0], np.uint32(lane))
        if instruction.predicate_out >= 0:
            put_predicate(predicates + 4 * instruction.predicate_out, mask, np.uint32(1) << np.uint32(lane))
        return
    if operation in (BALLOT, ANY, ALL, EQUAL):
        true = get32(predicates + 4 * instruction.predicate_in) & mask
        if operation == BALLOT:
            fill_row(rows + instruction.rows[0], true)
            return
        holds = true != 0
        if operation == ALL:
            holds = true == mask
        elif operation == EQUAL:
            holds = true == mask or true == 0
        if instruction.predicate_out >= 0:
            put32(predicates + 4 * instruction.predicate_out, FULL if holds else np.uint32(0))
        return
    total = get32(rows + instruction.rows[1] + 4 * lane)
    left = mask & (mask - np.uint32(1))
    while left != 0:
        total = reduced(operation - REDUCTIONS, total, get32(rows + instruction.rows[1] + 4 * first_lane(left)))
        left &= left - np.uint32(1)
    fill_row(rows + instruction.rows[0], total)


@callee
def _add(place: int, number: int) -> None:
    put64(place, get64(place) + np.uint64(number))


@callee
def _count(machine: EmulatedMachine, warp: SassWarp, pc: int, active: Lanes, mask: Lanes) -> None:
    """How often an instruction was executed: by warps, by lanes, by lanes whose guard held; then what of it was a repetition.

    Lanes that waited at a barrier execute it again: an H200 counts that as executed, but not among the executions of that
    instruction, since what counts those there is code in front of it.
    """
    place = machine.counts + 8 * COUNTS * int64(pc)
    anew = active & ~warp.waited
    if anew != 0:
        _add(place, 1)
        _add(place + 8, count_ones(anew))
        _add(place + 16, count_ones(mask & anew))
    else:
        _add(place + 24, 1)
    _add(place + 32, count_ones(active & warp.waited))


@callee
def _jump(
    machine: EmulatedMachine,
    program: Array[SassInstruction],
    warp: SassWarp,
    instruction: SassInstruction,
    target: int,
    pc: int,
    mask: Lanes,
    active: Lanes,
) -> bool:
    """Every lane goes to its own address, which is in a pair of rows. Returns False if one leaves the code."""
    end = machine.instructions
    left = mask
    while left != 0:
        lane = first_lane(left)
        left &= left - np.uint32(1)
        low, high = int64(get32(target + 4 * lane)), int64(get32(target + 128 + 4 * lane))
        address = (low | (high << 32)) + instruction.offset
        if address < 0 or address & 15 or (address >> 4) >= end or program[address >> 4].landing < 0:
            return fail(machine, FAULT_JUMP, lane, address, 0)
        warp.lane_pc[lane] = program[address >> 4].landing
    left = active & ~mask
    while left != 0:
        warp.lane_pc[first_lane(left)] = pc + 1
        left &= left - np.uint32(1)
    split_by_address(warp, active)
    return True


@callee
def _control(
    machine: EmulatedMachine,
    program: Array[SassInstruction],
    warp: SassWarp,
    instruction: SassInstruction,
    rows: int,
    predicates: int,
    pc: int,
    active: Lanes,
    mask: Lanes,
) -> bool:
    """Execute an instruction that decides where lanes go on, and choose the group that does.

    Returns whether all is well; `warp.pc` and `warp.active` say what goes on, with no lane if all wait or have ended.
    """
    kind = instruction.kind
    warp.pc, warp.active = pc + 1, active
    if kind != BSYNC:
        warp.found_pc = -1
    if mask == 0 and kind not in (YIELD, DIVERGED):
        return True
    if kind in (BRANCH, BRANCH_ANY):
        if mask == active or kind == BRANCH_ANY:
            warp.pc = instruction.target
        else:
            divide(warp, pc, instruction.target, active, mask)
    elif kind == EXIT:
        end_lanes(warp, mask)
        warp.active = active & ~mask
        if warp.active == 0:
            resume(warp)
    elif kind == BSSY:
        set_meeting(warp, int64(instruction.barrier), mask)
    elif kind == BSYNC:
        meet(warp, int64(instruction.barrier), pc, active, mask)
    elif kind == BREAK:
        leave_meeting(warp, int64(instruction.barrier), mask)
        if warp.depth > 0:
            release_meeting(warp, int64(instruction.barrier))
    elif kind == JUMP:
        return _jump(machine, program, warp, instruction, rows + instruction.rows[0], pc, mask, active)
    elif kind == CALL_SUPPLIED:
        return _jump(machine, program, warp, instruction, rows + instruction.rows[RETURN_ROW], pc, mask, active)
    elif kind in (WARPSYNC, COLLECTIVE, EXCLUSIVE) and not name_themselves(machine, rows + instruction.rows[0], mask):
        return False
    elif kind in (WARPSYNC, COLLECTIVE):
        needed = get32(rows + instruction.rows[0] + 4 * first_lane(mask))
        if kind == COLLECTIVE:
            left = mask
            while left != 0:
                warp.lane_pc[first_lane(left)] = instruction.target
                left &= left - np.uint32(1)
        if kind == WARPSYNC:
            synchronise_lanes(warp, pc, active, needed)
        elif mask != active or needed & warp.alive & ~active != 0:
            put_aside(warp, pc + 1, mask, COLLECTING, needed)
            warp.active = active & ~mask
            release_collective(warp, pc + 1)
            if warp.active == 0:
                resume(warp)
    elif kind == EXCLUSIVE:
        part_exclusively(warp, pc + 1, mask, rows + instruction.rows[0])
        warp.active = active & ~mask
        if warp.active == 0:
            resume(warp)
    elif kind == END_COLLECTIVE:
        split_by_address(warp, active)
    elif kind == YIELD:
        if warp.depth > 0:
            give_way(warp, pc + 1, active)
    elif kind == DIVERGED:
        wanted = get32(rows + instruction.rows[0] + 4 * first_lane(active)) & warp.alive
        if mask != 0 and (active == wanted) == (instruction.operation != 0):
            warp.pc = instruction.target
    elif kind in (TO_REGISTER, TO_BARRIER):
        left = mask
        while left != 0:
            lane = first_lane(left)
            left &= left - np.uint32(1)
            place = 32 * int64(instruction.barrier) + lane
            bit = np.uint32(1) << np.uint32(lane)
            if kind == TO_BARRIER:
                warp.barrier_held[instruction.barrier] |= bit
                warp.meeting_mask[place] = get32(rows + instruction.rows[0] + 4 * lane)
                continue
            put32(rows + instruction.rows[0] + 4 * lane, warp.meeting_mask[place])
            if instruction.operation != 0:
                warp.barrier_held[instruction.barrier] &= ~bit
                warp.meeting_mask[place] = np.uint32(0)
    return True


@callee
def run_groups(
    machine: EmulatedMachine,
    program: Array[SassInstruction],
    micro: Array[MicroOperation],
    textures: Array[TextureRecord],
    clock_rows: Array[i8],
    cta: ResidentCta,
    warp: SassWarp,
    scratch: np.ndarray,
    steps: int,
) -> tuple[int, int]:
    """Run a warp for at most so many instructions. Returns why it stopped and how many it executed."""
    rows, predicates = warp.rows, warp.predicates
    end = machine.instructions
    executed = 0
    threads = idle = 0
    reason = TURN_OVER
    if warp.barrier_lanes != 0 and warp.barrier_lanes & warp.alive == warp.alive:  # all have come, and it is open
        free_from_cta_barrier(warp)
        if warp.active == 0:
            resume(warp)
    elif warp.turn == machine.turn and not machine.called:
        # An H200 lets a group compute for as long as it likes. One that seems to wait for another gives way.
        warp.turns_alone = warp.turns_alone + 1 if warp.depth > 0 else 0
        if warp.depth > 0 and (warp.polls or warp.turns_alone >= PATIENCE):
            give_way(warp, warp.pc, warp.active)
            warp.turns_alone = 0
        warp.polls = 0
    pc, active = warp.pc, warp.active
    while executed < steps:
        instruction = program[pc]
        mask = active
        if instruction.guard >= 0:
            mask &= get32(predicates + 4 * instruction.guard) ^ instruction.guard_flip
        if instruction.condition >= 0:
            mask &= get32(predicates + 4 * instruction.condition) ^ instruction.condition_flip
        kind = instruction.kind
        if kind != COMPUTE and instruction.count > 0:  # of whatever kind it is, its operands are made ready first
            _compute(micro, instruction.first, instruction.count, rows, predicates, mask)
        if kind == CALL_SUPPLIED:
            if mask != 0 and not machine.called:
                machine.call_pc, machine.call_mask = pc, mask
                reason = CALLING
                break
            machine.called = 0
        if kind == CLUSTER_WAIT and mask != 0 and not cluster_has_come(machine, cta, warp):
            warp.turn = executed  # others of the cluster have still to come: it is not executed yet
            break
        suspends = kind == TRANSACTION and instruction.polling == SUSPENDS and mask != 0 and warp.tries < MOST_TRIES
        if suspends and not phase_is_over(machine, cta, instruction, rows, mask):
            warp.tries += 1
            warp.polled |= 1
            warp.turn = executed  # a real one waits for a while before it says no: others have their turns
            break
        if machine.tracing:
            log_instruction(machine, pc, active if kind in (BRANCH, JUMP) else mask)
        if machine.counts != 0:
            _count(machine, warp, pc, active, mask)
        executed += 1
        threads += count_ones(active if kind in (BRANCH, JUMP) else mask)
        if mask != active and kind not in (BRANCH, JUMP):
            idle += count_ones(active & ~mask)
        fine = True
        moved = False
        if kind == COMPUTE:
            if instruction.uses_clock:
                machine.executed += executed
                tick(machine, rows, clock_rows)
                machine.executed -= executed
            _compute_lanes(machine, micro, instruction.first, instruction.count, instruction, rows, predicates, mask)
        elif kind in (LOAD, STORE, ATOMIC):
            loading = mask
            if instruction.matrices > 0:
                loading &= FULL >> np.uint32(32 - 8 * instruction.matrices)
                if kind == STORE:
                    gather_matrices(instruction, rows)
            elif instruction.copies:
                loading &= get32(predicates + 4 * instruction.predicate_in)
            fine = access_memory(machine, cta, warp, instruction, rows, loading)
            if instruction.matrices > 0 and kind == LOAD and fine:
                spread_matrices(instruction, rows, mask)
            if instruction.after > 0 and fine:
                behind = instruction.first + instruction.count
                _compute_lanes(machine, micro, behind, instruction.after, instruction, rows, predicates, mask)
            if instruction.copies and fine:
                fine = put_into_shared(machine, cta, warp, instruction, rows, mask)
            if instruction.polling:
                warp.polled |= 1
            elif kind == STORE:
                warp.polled |= 2
        elif kind == BARRIER:
            if mask == 0:
                log_no_arrival(machine)
            elif (warp.barrier_lanes | active) == warp.alive:
                fine = come_to_barrier(machine, cta, warp, instruction, rows, predicates, pc, mask)
                warp.barrier_lanes |= active
                warp.barrier_mask = warp.barrier_lanes
                reason = AT_BARRIER
            else:  # other groups of the warp have still to come; lanes whose guard does not hold wait with their group
                log_no_arrival(machine)
                fine = vote_at_barrier(machine, cta, instruction, rows, predicates, mask)
                warp.barrier_lanes |= active
                warp.barrier_pc = pc
                put_aside(warp, pc + 1, active, AT_CTA_BARRIER, np.uint32(0))
                moved = True
                warp.active = np.uint32(0)
                resume(warp)
                pc, active = warp.pc, warp.active
        elif kind == NOTHING:
            note_step(machine, cta, warp, pc, mask, mask)
        elif kind == WARP:
            exchange(machine, instruction, rows, predicates, mask)
        elif kind == UNIFORM:
            if mask != 0:
                for index in range(instruction.writes):  # of a register of the thread, other lanes keep their own
                    copy_row(machine.saved + 128 * index, rows + instruction.write_rows[index])
                _uniform(instruction, rows, predicates, mask)
                for index in range(instruction.writes):
                    restore_lanes(rows + instruction.write_rows[index], machine.saved + 128 * index, mask)
        elif kind == TEXTURE:
            fine = fetch_texels(machine, textures, instruction, rows, mask, True)
        elif kind == SURFACE:
            fine = access_surface(machine, textures, instruction, rows, mask)
        elif kind == TRANSACTION:
            if instruction.operation in (STORE_AND_COUNT, REDUCE_AND_COUNT):
                fine = store_and_count(machine, cta, instruction, rows, mask)
            else:
                fine = synchronise(machine, cta, instruction, rows, predicates, mask)
            if instruction.operation != CHECK:
                note_count(machine, cta, warp, pc, mask, IN_SHARED, False)
            elif instruction.predicate_out >= 0:
                open_ = get32(predicates + 4 * instruction.predicate_out) & mask
                note_count(machine, cta, warp, pc, open_, IN_SHARED, True)
            warp.polled |= 1 if instruction.polling else 2
            warp.tries = 0
            if instruction.polling and get32(predicates + 4 * instruction.predicate_out) & mask != mask:
                warp.turn = executed
                steps = executed
        elif kind == CLUSTER_ARRIVE:
            if mask != 0:
                arrive_in_cluster(machine, cta, warp, mask)
                note_count(machine, cta, warp, pc, mask, OF_CLUSTER, False)
        elif kind == CLUSTER_WAIT:
            note_count(machine, cta, warp, pc, mask, OF_CLUSTER, True)
        elif kind == BULK_COPY:
            fine = copy_bytes(machine, cta, instruction, rows, mask) if mask != 0 else log_nothing(machine)
        elif kind == TENSOR_COPY:
            fine = copy_tile(machine, cta, instruction, rows, mask) if mask != 0 else log_nothing(machine)
        elif kind == MATRIX_PRODUCT:
            if mask != 0:
                multiply_matrices(machine, instruction, rows, mask)
        elif kind == WARPGROUP_PRODUCT:
            if mask != 0:
                adds = get32(predicates + 4 * instruction.predicate_in) != 0
                fine = multiply_warpgroup(machine, cta, warp, instruction, rows, adds)
        elif kind == MATRIX_TRANSPOSE:
            if mask != 0:
                transpose_matrix(machine, instruction, rows, mask)
        elif kind == SLEEP:
            warp.turn = executed  # the turn ends here: others may do what this one waits for
            steps = executed
        elif kind == TRAP:
            if mask != 0:
                fine = fail(machine, FAULT_TRAP, first_lane(mask), 0, 0)
        elif kind == BRANCH and (mask == active or mask == 0):
            if mask != 0:
                pc = instruction.target
                moved = True
        elif kind in (BRANCH, EXIT) or kind >= JUMP:
            if kind == WARPSYNC and mask != 0:
                note_step(machine, cta, warp, pc, mask, get32(rows + instruction.rows[0] + 4 * first_lane(mask)))
            fine = _control(machine, program, warp, instruction, rows, predicates, pc, active, mask)
            if fine:
                pc, active = warp.pc, warp.active
                moved = True
        if not finish(machine, cta, warp, instruction, rows, mask, pc, scratch, fine):
            reason = FAULT
            break
        if not moved:
            pc += 1
        if active == 0 and stop_waiting(warp):
            pc, active = warp.pc, warp.active
        if active == 0:
            if warp.alive == 0:
                reason = ENDED
            elif warp.barrier_lanes & warp.alive == warp.alive:
                # The last lanes that the others waited for at a barrier of the CTA have ended: the warp has arrived.
                logged = machine.n_memory
                warp.barrier_mask = warp.barrier_lanes & warp.alive
                if arrive(machine, cta, warp, program[warp.barrier_pc], rows, first_lane(warp.barrier_mask)):
                    warp.status = WAITING
                machine.n_memory = logged
                reason = AT_BARRIER
            else:
                reason = FAULT
                machine.fault, machine.fault_pc, machine.fault_lane = FAULT_DEADLOCK, pc, 0
                machine.fault_cta, machine.fault_warp, machine.fault_detail = cta.index, warp.number, -1
            break
        if pc >= end:
            reason = FAULT
            fail(machine, FAULT_JUMP, first_lane(active), int64(pc) * 16, 0)
            machine.fault_pc, machine.fault_cta, machine.fault_warp = end - 1, cta.index, warp.number
            break
        if reason == AT_BARRIER:
            break
    warp.polls |= warp.polled & 1
    end_turn(machine, warp, pc, active, executed, threads, idle)
    return reason, executed
