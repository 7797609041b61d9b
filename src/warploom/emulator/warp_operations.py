"""Instructions in which the lanes of a warp look at each other: shuffles, votes, matches, reductions."""

from __future__ import annotations

import numpy as np

from warploom.base.records import Lanes, int64
from warploom.emulator.memory import fail
from warploom.emulator.pointers import copy_row, first_lane, get32, put32, put_predicate
from warploom.emulator.records import EmulatedMachine, EncodedInstruction, Fault, WarpOperation
from warploom.jit import callee

UP, DOWN, XOR, INDEX = (int(WarpOperation[f"SHUFFLE_{name}"]) for name in ("UP", "DOWN", "XOR", "INDEX"))
ALL, ANY, UNIFORM = (int(WarpOperation[f"VOTE_{name}"]) for name in ("ALL", "ANY", "UNIFORM"))
BALLOT, ACTIVE, MATCH_ANY, MATCH_ALL = (int(WarpOperation[name]) for name in ("BALLOT", "ACTIVE", "MATCH_ANY", "MATCH_ALL"))
ADD, MIN_S, MIN_U = (int(WarpOperation[f"REDUCE_{name}"]) for name in ("ADD", "MIN_S", "MIN_U"))
MEET, FAULT_MEMBERS = int(WarpOperation.MEET), int(Fault.MEMBERS)
MAX_S, MAX_U = int(WarpOperation.REDUCE_MAX_S), int(WarpOperation.REDUCE_MAX_U)
AND, OR = int(WarpOperation.REDUCE_AND), int(WarpOperation.REDUCE_OR)


@callee
def _shuffle(operation: int, instruction: EncodedInstruction, rows: int, mask: Lanes, saved: int) -> Lanes:
    """Rows: result, value, lane or distance, clamp and segment. Returns the lanes whose source was in range."""
    result, amounts, clamps = rows + instruction.rows[0], rows + instruction.rows[2], rows + instruction.rows[3]
    copy_row(saved, rows + instruction.rows[1])
    in_range = np.uint32(0)
    left = mask
    while left != 0:
        lane = first_lane(left)
        left &= left - np.uint32(1)
        amount = int64(get32(amounts + 4 * lane) & np.uint32(31))
        control = int64(get32(clamps + 4 * lane))
        clamp, segment = control & 31, (control >> 8) & 31
        last = (lane & segment) | (clamp & ~segment)
        if operation == UP:
            source = lane - amount
            fine = source >= last
        elif operation == DOWN:
            source = lane + amount
            fine = source <= last
        elif operation == XOR:
            source = lane ^ amount
            fine = source <= last
        else:
            source = (lane & segment) | (amount & ~segment)
            fine = source <= last
        if fine:
            in_range |= np.uint32(1) << np.uint32(lane)
        else:
            source = lane
        put32(result + 4 * lane, get32(saved + 4 * source))
    return in_range


@callee
def reduced(operation: int, total: np.uint32, value: np.uint32) -> np.uint32:
    if operation == ADD:
        return np.uint32(total + value)
    if operation == MIN_S:
        return value if np.int32(value) < np.int32(total) else total
    if operation == MIN_U:
        return min(value, total)
    if operation == MAX_S:
        return value if np.int32(value) > np.int32(total) else total
    if operation == MAX_U:
        return max(value, total)
    if operation == AND:
        return total & value
    if operation == OR:
        return total | value
    return total ^ value


@callee
def _fill(row: int, mask: Lanes, word: np.uint32) -> None:
    left = mask
    while left != 0:
        lane = first_lane(left)
        left &= left - np.uint32(1)
        put32(row + 4 * lane, word)


@callee
def _matching(row: int, wide: bool, mask: Lanes, lane: int) -> Lanes:
    """The lanes of the mask that hold what this lane holds."""
    low = get32(row + 4 * lane)
    high = get32(row + 128 + 4 * lane) if wide else np.uint32(0)
    found = np.uint32(0)
    for other in range(32):
        bit = np.uint32(1) << np.uint32(other)
        if mask & bit and get32(row + 4 * other) == low and (not wide or get32(row + 128 + 4 * other) == high):
            found |= bit
    return found


@callee
def _among(operation: int, instruction: EncodedInstruction, rows: int, mask: Lanes, predicate: Lanes, saved: int) -> Lanes:
    """What lanes that take part together see of each other."""
    true = predicate & mask
    if operation == ALL:
        return mask if true == mask else np.uint32(0)
    if operation == ANY:
        return mask if true != 0 else np.uint32(0)
    if operation == UNIFORM:
        return mask if true == mask or true == 0 else np.uint32(0)
    result = rows + instruction.rows[0]
    if operation in (BALLOT, ACTIVE):
        _fill(result, mask, true if operation == BALLOT else mask)
        return np.uint32(0)
    copy_row(saved, rows + instruction.rows[1])
    copy_row(saved + 128, rows + instruction.rows[1] + 128)
    wide = instruction.size == 8
    if operation == MATCH_ANY:
        left = mask
        while left != 0:
            lane = first_lane(left)
            left &= left - np.uint32(1)
            put32(result + 4 * lane, _matching(saved, wide, mask, lane))
        return np.uint32(0)
    if operation == MATCH_ALL:
        same = _matching(saved, wide, mask, first_lane(mask)) == mask
        _fill(result, mask, mask if same else np.uint32(0))
        return mask if same else np.uint32(0)
    total = get32(saved + 4 * first_lane(mask))
    left = mask & (mask - np.uint32(1))
    while left != 0:
        lane = first_lane(left)
        left &= left - np.uint32(1)
        total = reduced(operation, total, get32(saved + 4 * lane))
    _fill(result, mask, total)
    return np.uint32(0)


@callee
def name_themselves(machine: EmulatedMachine, masks: int, lanes: Lanes) -> bool:
    """Whether the mask of members that each of these lanes brings names the lane; one that does not is noted in the machine."""
    left = lanes
    while left != 0:
        lane = first_lane(left)
        left &= left - np.uint32(1)
        members = get32(masks + 4 * lane)
        if (members >> np.uint32(lane)) & 1 == 0:
            return fail(machine, FAULT_MEMBERS, lane, int64(members), 0)
    return True


@callee
def exchange(machine: EmulatedMachine, instruction: EncodedInstruction, rows: int, predicates: int, mask: Lanes) -> None:
    """Execute an instruction for the lanes of the mask."""
    predicate = get32(predicates + 4 * instruction.predicate_in)
    yielded = _exchanged(instruction, rows, mask, predicate, machine.saved)
    if instruction.predicate_out >= 0:
        put_predicate(predicates + 4 * instruction.predicate_out, mask, yielded)


@callee
def _exchanged(instruction: EncodedInstruction, rows: int, mask: Lanes, predicate: Lanes, saved: int) -> Lanes:
    """The predicate that an instruction yields, as a mask of lanes.

    Where lanes name members (``elements``, in row 4), each group of lanes that name the same ones is by itself: lanes of several
    groups may come here together.
    """
    operation = int64(instruction.operation)
    if mask == 0 or operation == MEET:
        return np.uint32(0)
    if operation <= INDEX:
        return _shuffle(operation, instruction, rows, mask, saved)
    if instruction.elements == 0:
        return _among(operation, instruction, rows, mask, predicate, saved)
    named = rows + instruction.rows[4]
    yielded, left = np.uint32(0), mask
    while left != 0:
        first = first_lane(left)
        members = get32(named + 4 * first)
        group = np.uint32(1) << np.uint32(first)
        for lane in range(first + 1, 32):
            bit = np.uint32(1) << np.uint32(lane)
            if left & members & bit and get32(named + 4 * lane) == members:
                group |= bit
        yielded |= _among(operation, instruction, rows, np.uint32(group), predicate, saved)
        left &= np.uint32(~group)
    return np.uint32(yielded)
