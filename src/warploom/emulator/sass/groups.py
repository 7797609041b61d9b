"""The groups into which a warp's lanes fall when they go different ways, and where they meet again.

A group has an address of its own. One group is executed; the others are listed in the warp, ready or waiting. Groups meet at a
convergence barrier (BSSY, BSYNC), which is a mask of the lanes to wait for; BREAK and EXIT take lanes out of it. Every lane has
its own masks: two groups may be in one function at a time, each with a meeting of its own at the same barrier.

Where lanes go different ways, the smaller group goes on (of equal ones the one that falls through) and the other is put aside;
when the group that is executed has to wait, the oldest of those that are ready goes on. Groups that are ready at one address are
one group; the one that is executed joins none that it meets. This gives an H200's counts of arrivals at barriers.
"""

from __future__ import annotations

import numpy as np

from warploom.code.lanes import FULL
from warploom.emulator.pointers import count_ones, first_lane, get32
from warploom.emulator.sass.records import BARRIER_REGISTERS, State
from warploom.jit import callee

READY, SYNCHRONISING, COLLECTING = int(State.READY), int(State.SYNCHRONISING), int(State.COLLECTING)
AT_CTA_BARRIER, AT_BARRIER = int(State.AT_CTA_BARRIER), int(State.AT_BARRIER)
PARTING, READY_APART = int(State.PARTING), int(State.READY_APART)


@callee
def put_aside(warp, pc, mask, state, needed):
    """Add a group to the list; one that is ready joins another one that is ready at its address."""
    if state == READY:
        for other in range(warp.depth):
            if warp.group_state[other] == READY and warp.group_pc[other] == pc:
                warp.group_mask[other] |= mask
                return
    at = warp.depth
    warp.group_pc[at] = pc
    warp.group_mask[at] = mask
    warp.group_state[at] = state
    warp.group_needed[at] = needed
    warp.depth = at + 1


@callee
def _take_out(warp, index):
    """Remove a group from the list; the order of the others stays."""
    for at in range(index, warp.depth - 1):
        warp.group_pc[at] = warp.group_pc[at + 1]
        warp.group_mask[at] = warp.group_mask[at + 1]
        warp.group_state[at] = warp.group_state[at + 1]
        warp.group_needed[at] = warp.group_needed[at + 1]
    warp.depth -= 1


@callee
def resume(warp):
    """Go on with the oldest group that is ready. Returns whether there was one."""
    for at in range(warp.depth):
        if warp.group_state[at] in (READY, READY_APART):
            warp.pc, warp.active = warp.group_pc[at], warp.group_mask[at]
            _take_out(warp, at)
            return True
    return False


@callee
def divide(warp, pc, target, active, taken):
    """Lanes go different ways at a branch: the smaller group goes on."""
    fallen = active & ~taken
    if count_ones(taken) < count_ones(fallen):
        put_aside(warp, pc + 1, fallen, READY, np.uint32(0))
        warp.pc, warp.active = target, taken
    else:
        put_aside(warp, target, taken, READY, np.uint32(0))
        warp.pc, warp.active = pc + 1, fallen


@callee
def _waiting(warp, state):
    """All lanes of the groups in a state."""
    mask = np.uint32(0)
    for at in range(warp.depth):
        if warp.group_state[at] == state:
            mask |= warp.group_mask[at]
    return mask


@callee
def _merge(warp, state, pc, lanes, target):
    """Make one ready group of those in a state with these lanes that are at an address, or at any if it is negative.

    It goes on at the target.
    """
    mask = np.uint32(0)
    at = 0
    while at < warp.depth:
        if warp.group_state[at] == state and warp.group_mask[at] & lanes != 0 and (pc < 0 or warp.group_pc[at] == pc):
            mask |= warp.group_mask[at]
            _take_out(warp, at)
        else:
            at += 1
    put_aside(warp, target, mask, READY, np.uint32(0))


@callee
def set_meeting(warp, barrier, lanes):
    """These lanes will meet at a barrier."""
    left = lanes
    while left != 0:
        warp.meeting_mask[32 * barrier + first_lane(left)] = lanes
        left &= left - np.uint32(1)


@callee
def leave_meeting(warp, barrier, lanes):
    """These lanes will not come: whoever would have met them does not wait for them."""
    left = warp.meeting_mask[32 * barrier + first_lane(lanes)]
    while left != 0:
        warp.meeting_mask[32 * barrier + first_lane(left)] &= ~lanes
        left &= left - np.uint32(1)


@callee
def meeting_lanes(warp, barrier, mask):
    """The lanes that a group meets at a barrier and that have not ended."""
    return warp.meeting_mask[32 * barrier + first_lane(mask)] & warp.alive


@callee
def all_have_come(warp, barrier, active):
    """Whether every lane of the active group has all those with it that it meets at a barrier.

    Groups that became one at an address may have come from different places, with lanes to meet of their own.
    """
    if warp.depth == 0:
        return True
    left = active
    while left != 0:
        if warp.meeting_mask[32 * barrier + first_lane(left)] & warp.alive & ~active != 0:
            return False
        left &= left - np.uint32(1)
    return True


@callee
def wait_at_meeting(warp, barrier, pc, lanes):
    """Put lanes aside that wait at a barrier: together those that meet the same ones."""
    left = lanes
    while left != 0:
        mask = warp.meeting_mask[32 * barrier + first_lane(left)]
        same, others = np.uint32(0), left
        while others != 0:
            lane = first_lane(others)
            others &= others - np.uint32(1)
            if warp.meeting_mask[32 * barrier + lane] == mask:
                same |= np.uint32(1) << np.uint32(lane)
        put_aside(warp, pc, same, AT_BARRIER + barrier, np.uint32(0))
        left &= ~same


@callee
def release_meeting(warp, barrier):
    """Let lanes at a convergence barrier go on together if all that they wait for have come."""
    state = AT_BARRIER + barrier
    waiting = _waiting(warp, state)
    at = 0
    while at < warp.depth:
        if warp.group_state[at] == state:
            mask = warp.group_mask[at]
            meeting = meeting_lanes(warp, barrier, mask) | mask
            if meeting & ~waiting == 0:  # lanes may have come by different instructions; they go on behind their own
                pc = warp.group_pc[at]
                _merge(warp, state, pc, meeting, pc)
                at = 0
                continue
        at += 1


@callee
def release_synchronised(warp):
    """Let groups at WARPSYNC go on whose companions have all come; those at one address become one group."""
    here = _waiting(warp, SYNCHRONISING)
    for at in range(warp.depth):
        if warp.group_state[at] == SYNCHRONISING and warp.group_needed[at] & warp.alive & ~here == 0:
            needed = warp.group_needed[at]
            for other in range(warp.depth):
                if warp.group_state[other] == SYNCHRONISING and warp.group_mask[other] & needed != 0:
                    warp.group_state[other] = READY
            _join_equal(warp)
            return


@callee
def _join_equal(warp):
    """Merge ready groups with the address of a group that is further up in the list; only after a synchronisation."""
    at = 0
    while at < warp.depth:
        other = at + 1
        while other < warp.depth:
            same = warp.group_pc[at] == warp.group_pc[other]
            if same and warp.group_state[at] == READY and warp.group_state[other] == READY:
                warp.group_mask[at] |= warp.group_mask[other]
                _take_out(warp, other)
            else:
                other += 1
        at += 1


@callee
def release_collective(warp, pc):
    """Let the lanes at WARPSYNC.COLLECTIVE execute what follows together if all have come."""
    here = _waiting(warp, COLLECTING)
    for at in range(warp.depth):
        if warp.group_state[at] == COLLECTING and warp.group_needed[at] & warp.alive & ~here == 0:
            _merge(warp, COLLECTING, np.int64(-1), FULL, pc)
            return


@callee
def part_exclusively(warp, pc, lanes, masks):
    """Every lane has a mask at this address: those with the same one go on together, and apart from all others."""
    left = lanes
    while left != 0:
        needed = get32(masks + 4 * first_lane(left))
        group = np.uint32(0)
        others = left
        while others != 0:
            lane = first_lane(others)
            others &= others - np.uint32(1)
            if get32(masks + 4 * lane) == needed:
                group |= np.uint32(1) << np.uint32(lane)
        left &= ~group
        put_aside(warp, pc, group, PARTING, needed)
    release_exclusive(warp)


@callee
def release_exclusive(warp):
    """Let lanes with the same mask go on as one group if all that it names have come."""
    for at in range(warp.depth):
        if warp.group_state[at] == PARTING:
            needed = warp.group_needed[at]
            here = np.uint32(0)
            for other in range(warp.depth):
                if warp.group_state[other] == PARTING and warp.group_needed[other] == needed:
                    here |= warp.group_mask[other]
            if needed & warp.alive & ~here == 0:
                warp.group_state[at] = READY_APART
                warp.group_mask[at] = here
                other = at + 1
                while other < warp.depth:
                    if warp.group_state[other] == PARTING and warp.group_needed[other] == needed:
                        _take_out(warp, other)
                    else:
                        other += 1


@callee
def lanes_left(warp):
    """Lanes have left the warp: whoever waited for them goes on."""
    for barrier in range(BARRIER_REGISTERS):
        release_meeting(warp, barrier)
    release_synchronised(warp)
    release_exclusive(warp)


@callee
def _lanes_at(warp, mask, target):
    """The lanes of a mask whose address in `lane_pc` is the target."""
    group = np.uint32(0)
    for lane in range(32):
        if (mask >> np.uint32(lane)) & 1 and warp.lane_pc[lane] == target:
            group |= np.uint32(1) << np.uint32(lane)
    return group


@callee
def split_by_address(warp, mask):
    """Divide the lanes of a mask by the addresses in `lane_pc`: the smallest group goes on, the others are put aside."""
    smallest = np.uint32(0)
    left = mask
    while left != 0:
        group = _lanes_at(warp, left, warp.lane_pc[first_lane(left)])
        if smallest == 0 or count_ones(group) < count_ones(smallest):
            smallest = group
        left &= ~group
    left = mask & ~smallest
    while left != 0:
        target = warp.lane_pc[first_lane(left)]
        group = _lanes_at(warp, left, target)
        put_aside(warp, target, group, READY, np.uint32(0))
        left &= ~group
    warp.pc, warp.active = warp.lane_pc[first_lane(smallest)], smallest


@callee
def free_from_cta_barrier(warp):
    """The barrier of the CTA is open: its groups are ready again."""
    for at in range(warp.depth):
        if warp.group_state[at] == AT_CTA_BARRIER:
            warp.group_state[at] = READY
    warp.barrier_lanes = np.uint32(0)
