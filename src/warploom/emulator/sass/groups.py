"""The groups into which a warp's lanes fall when they go different ways, and where they meet again.

A group has an address of its own. One group is executed; the others are listed in the warp, ready or waiting. Groups meet at a
convergence barrier (BSSY, BSYNC), which is a mask of the lanes to wait for; BREAK and EXIT take lanes out of it. Every lane has
its own masks: two groups may be in one function at a time, each with a meeting of its own at the same barrier. Of the groups
that are ready the one that was put aside last goes on first, but a group that yields goes behind all others. Groups at one
address are not merged before they have to be: hardware does not do it either.
"""

from __future__ import annotations

import numpy as np

from warploom.code.lanes import FULL
from warploom.emulator.pointers import first_lane
from warploom.emulator.sass.records import BARRIER_REGISTERS, State
from warploom.jit import callee

READY, SYNCHRONISING, COLLECTING = int(State.READY), int(State.SYNCHRONISING), int(State.COLLECTING)
AT_CTA_BARRIER, AT_BARRIER = int(State.AT_CTA_BARRIER), int(State.AT_BARRIER)


@callee
def put_aside(warp, pc, mask, state, needed):
    """Add a group to the list."""
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
def resume(warp, oldest):
    """Go on with a group that is ready: the one put aside last, or the oldest. Returns whether there was one."""
    found = -1
    for at in range(warp.depth):
        if warp.group_state[at] == READY:
            found = at
            if oldest:
                break
    if found < 0:
        return False
    warp.pc, warp.active = warp.group_pc[found], warp.group_mask[found]
    _take_out(warp, found)
    return True


@callee
def _waiting(warp, state):
    """All lanes of the groups in a state."""
    mask = np.uint32(0)
    for at in range(warp.depth):
        if warp.group_state[at] == state:
            mask |= warp.group_mask[at]
    return mask


@callee
def _merge(warp, state, pc, lanes):
    """Make one ready group of those in a state with these lanes that are at an address, or at any if it is negative.

    It comes last in the list.
    """
    mask = np.uint32(0)
    target = pc
    at = 0
    while at < warp.depth:
        if warp.group_state[at] == state and warp.group_mask[at] & lanes != 0 and (pc < 0 or warp.group_pc[at] == pc):
            mask |= warp.group_mask[at]
            target = warp.group_pc[at]
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
                _merge(warp, state, warp.group_pc[at], meeting)
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
            _merge(warp, COLLECTING, np.int64(-1), FULL)
            warp.group_pc[warp.depth - 1] = pc
            return


@callee
def lanes_left(warp):
    """Lanes have left the warp: whoever waited for them goes on."""
    for barrier in range(BARRIER_REGISTERS):
        release_meeting(warp, barrier)
    release_synchronised(warp)


@callee
def split_by_address(warp, pc, mask):
    """Put the lanes of a mask aside in groups, by the addresses in `lane_pc`; the group of the lowest lane comes last."""
    left = mask
    while left != 0:
        last = np.int64(31)
        while (left >> np.uint32(last)) & 1 == 0:
            last -= 1
        target = warp.lane_pc[last]
        group = np.uint32(0)
        for lane in range(32):
            if (left >> np.uint32(lane)) & 1 and warp.lane_pc[lane] == target:
                group |= np.uint32(1) << np.uint32(lane)
        put_aside(warp, target, group, READY, np.uint32(0))
        left &= ~group


@callee
def free_from_cta_barrier(warp):
    """The barrier of the CTA is open: its groups are ready again."""
    for at in range(warp.depth):
        if warp.group_state[at] == AT_CTA_BARRIER:
            warp.group_state[at] = READY
    warp.barrier_lanes = np.uint32(0)
