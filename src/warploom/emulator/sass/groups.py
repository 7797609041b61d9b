"""The groups into which a warp's lanes fall when they go different ways, and where they meet again.

A group has an address of its own. One group is executed; the others are listed in the warp, ready or waiting. Groups meet at a
convergence barrier (BSSY, BSYNC), which is a mask of the lanes to wait for; BREAK and EXIT take lanes out of it. Every lane has
its own masks: two groups may be in one function at a time, each with a meeting of its own at the same barrier.

Whose turn it is, as an H200 does it (`tests/emulator/sass/test_divergence_like_h200.py`):

- Where lanes go different ways, the smaller group goes on (of equal ones the one that falls through) and the other is kept. Only
  one group is kept as it is; the one that was kept before is only found again by its address.
- When the group that is executed has to wait, the kept group goes on. If there is none, the youngest of the others does, with all
  lanes that are at its address, also those that wait there.
- Lanes that wait at BSYNC or WARPSYNC are still in front of it. When the last ones arrive, all go on behind it. When lanes are
  released because others do not come (BREAK, EXIT), they become the kept group and execute it again.
- Lanes that end while nobody else holds their barrier leave it set. The next who meet there, unless they were found by their
  address, wait once in vain and execute BSYNC again. At WARPSYNC the same happens to lanes that come one group after the other
  when lanes that it names have ended.
"""

from __future__ import annotations

import numpy as np

from warploom.base.records import Lanes, int64
from warploom.compiler.code.lanes import FULL
from warploom.emulator.pointers import count_ones, first_lane, get32
from warploom.emulator.sass.records import BARRIER_REGISTERS, SassWarp, State
from warploom.jit import callee

READY, SYNCHRONISING, COLLECTING = int(State.READY), int(State.SYNCHRONISING), int(State.COLLECTING)
AT_CTA_BARRIER, AT_BARRIER = int(State.AT_CTA_BARRIER), int(State.AT_BARRIER)
PARTING, READY_APART, KEPT = int(State.PARTING), int(State.READY_APART), int(State.KEPT)


@callee
def put_aside(warp: SassWarp, pc: int, mask: Lanes, state: int, needed: Lanes) -> None:
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
    if state >= AT_BARRIER or state == SYNCHRONISING:
        warp.waited |= mask


@callee
def _take_out(warp: SassWarp, index: int) -> None:
    """Remove a group from the list; the order of the others stays."""
    for at in range(index, warp.depth - 1):
        warp.group_pc[at] = warp.group_pc[at + 1]
        warp.group_mask[at] = warp.group_mask[at + 1]
        warp.group_state[at] = warp.group_state[at + 1]
        warp.group_needed[at] = warp.group_needed[at + 1]
    warp.depth -= 1


@callee
def keep(warp: SassWarp, pc: int, mask: Lanes) -> None:
    """Make this the kept group."""
    for at in range(warp.depth):
        if warp.group_state[at] == KEPT:
            kept_pc, kept_mask = warp.group_pc[at], warp.group_mask[at]
            _take_out(warp, at)
            put_aside(warp, kept_pc, kept_mask, READY, np.uint32(0))
            break
    put_aside(warp, pc, mask, KEPT, np.uint32(0))


@callee
def _go_on(warp: SassWarp, at: int) -> None:
    warp.pc, warp.active = warp.group_pc[at], warp.group_mask[at]
    _take_out(warp, at)


@callee
def _gather(warp: SassWarp) -> None:
    """All lanes at the address of the active group are part of it, also those that wait there."""
    at = 0
    while at < warp.depth:
        state = warp.group_state[at]
        if warp.group_pc[at] == warp.pc and (state >= AT_BARRIER or state in (READY, SYNCHRONISING)):
            warp.active |= warp.group_mask[at]
            _take_out(warp, at)
        else:
            at += 1


@callee
def resume(warp: SassWarp) -> bool:
    """Go on with the kept group, else with the youngest that is ready. Returns whether there was one."""
    youngest = -1
    for at in range(warp.depth):
        state = warp.group_state[at]
        if state == KEPT:
            _go_on(warp, at)
            return True
        if state in (READY, READY_APART):
            youngest = at
    if youngest < 0:
        return False
    apart = warp.group_state[youngest] == READY_APART
    _go_on(warp, youngest)
    if not apart:
        _gather(warp)
        warp.found_pc = warp.pc
    return True


@callee
def give_way(warp: SassWarp, pc: int, active: Lanes) -> None:
    """Let the group go on that has waited longest, and put this one behind all others."""
    put_aside(warp, pc, active, READY, np.uint32(0))
    for at in range(warp.depth):
        if warp.group_state[at] in (READY, READY_APART, KEPT):
            _go_on(warp, at)
            return


@callee
def divide(warp: SassWarp, pc: int, target: int, active: Lanes, taken: Lanes) -> None:
    """Lanes go different ways at a branch: the smaller group goes on."""
    fallen = active & ~taken
    if count_ones(taken) < count_ones(fallen):
        keep(warp, pc + 1, fallen)
        warp.pc, warp.active = target, taken
    else:
        keep(warp, target, taken)
        warp.pc, warp.active = pc + 1, fallen


@callee
def _waiting(warp: SassWarp, state: int) -> Lanes:
    """All lanes of the groups in a state."""
    mask = np.uint32(0)
    for at in range(warp.depth):
        if warp.group_state[at] == state:
            mask |= warp.group_mask[at]
    return mask


@callee
def _withdraw(warp: SassWarp, state: int, pc: int, lanes: Lanes) -> Lanes:
    """Take the groups in a state with these lanes that are at an address, or at any if it is negative, out of the list."""
    mask = np.uint32(0)
    at = 0
    while at < warp.depth:
        if warp.group_state[at] == state and warp.group_mask[at] & lanes != 0 and (pc < 0 or warp.group_pc[at] == pc):
            mask |= warp.group_mask[at]
            _take_out(warp, at)
        else:
            at += 1
    return mask


@callee
def set_meeting(warp: SassWarp, barrier: int, lanes: Lanes) -> None:
    """These lanes will meet at a barrier."""
    warp.barrier_held[barrier] |= lanes
    left = lanes
    while left != 0:
        warp.meeting_mask[32 * barrier + first_lane(left)] = lanes
        left &= left - np.uint32(1)


@callee
def leave_meeting(warp: SassWarp, barrier: int, lanes: Lanes) -> None:
    """These lanes will not come: whoever would have met them does not wait for them."""
    warp.barrier_held[barrier] &= ~lanes
    left = warp.meeting_mask[32 * barrier + first_lane(lanes)]
    while left != 0:
        warp.meeting_mask[32 * barrier + first_lane(left)] &= ~lanes
        left &= left - np.uint32(1)


@callee
def _all_come(warp: SassWarp, barrier: int, lanes: Lanes, here: Lanes) -> bool:
    """Whether everyone is here whom one of these lanes meets at a barrier.

    Groups that became one at an address may have come from different places, with lanes to meet of their own.
    """
    left = lanes
    while left != 0:
        if warp.meeting_mask[32 * barrier + first_lane(left)] & warp.alive & ~here != 0:
            return False
        left &= left - np.uint32(1)
    return True


@callee
def _wait_at_meeting(warp: SassWarp, barrier: int, pc: int, lanes: Lanes) -> None:
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
def _try_again(warp: SassWarp, pc: int) -> None:
    """The active group was let down by lanes that have ended: it executes the instruction again, but not at once."""
    warp.waited |= warp.active
    put_aside(warp, pc, warp.active, READY, np.uint32(0))
    warp.active = np.uint32(0)
    resume(warp)


@callee
def meet(warp: SassWarp, barrier: int, pc: int, active: Lanes, lanes: Lanes) -> None:
    """Lanes of the active group are at BSYNC: they go on with all whom they meet, or wait."""
    state = AT_BARRIER + barrier
    here = lanes
    for at in range(warp.depth):
        if warp.group_state[at] == state and warp.group_pc[at] == pc:
            here |= warp.group_mask[at]
    if _all_come(warp, barrier, lanes, here):
        left_set = warp.barrier_held[barrier] & ~warp.alive != 0
        warp.barrier_held[barrier] &= warp.alive
        if lanes == active:
            left = active
            while left != 0:
                met = warp.meeting_mask[32 * barrier + first_lane(left)] & warp.alive & ~warp.active
                if met != 0:
                    warp.active |= _withdraw(warp, state, int64(pc), met)
                left &= left - np.uint32(1)
            if left_set and warp.found_pc != pc:
                _try_again(warp, pc)
            else:
                warp.barrier_held[barrier] &= ~warp.active
                warp.waited &= ~warp.active
            return
    _wait_at_meeting(warp, barrier, pc, lanes)
    warp.active = active & ~lanes
    release_meeting(warp, barrier)
    if warp.active == 0:
        resume(warp)


@callee
def release_meeting(warp: SassWarp, barrier: int) -> None:
    """Let lanes at a convergence barrier go on together if all that they wait for have come."""
    state = AT_BARRIER + barrier
    waiting = _waiting(warp, state)
    at = 0
    while at < warp.depth:
        if warp.group_state[at] == state:
            mask = warp.group_mask[at]
            meeting = (warp.meeting_mask[32 * barrier + first_lane(mask)] & warp.alive) | mask
            if meeting & ~waiting == 0:
                pc = warp.group_pc[at]
                together = _withdraw(warp, state, int64(pc), meeting)
                if meeting & ~together == 0:
                    keep(warp, pc, together)  # they execute BSYNC again
                else:  # lanes have come by different instructions; they go on behind their own
                    warp.waited &= ~meeting
                    keep(warp, pc + 1, together)
                    while meeting & ~together != 0:
                        other = first_lane(meeting & ~together)
                        pc = _place_of(warp, state, other)
                        more = _withdraw(warp, state, int64(pc), meeting)
                        keep(warp, pc + 1, more)
                        together |= more
                at = 0
                continue
        at += 1


@callee
def _place_of(warp: SassWarp, state: int, lane: int) -> int:
    """The address of the group in a state that has this lane."""
    for at in range(warp.depth):
        if warp.group_state[at] == state and (warp.group_mask[at] >> np.uint32(lane)) & 1:
            return warp.group_pc[at]
    return -1


@callee
def synchronise_lanes(warp: SassWarp, pc: int, active: Lanes, needed: Lanes) -> None:
    """The active group, with lanes whose guard does not hold, is at WARPSYNC: it goes on with all whom it names, or waits."""
    awaited = needed & warp.alive
    if awaited & ~active == 0:
        warp.waited &= ~active
        return
    here = active
    for at in range(warp.depth):
        if warp.group_state[at] == SYNCHRONISING and warp.group_pc[at] == pc:
            here |= warp.group_mask[at]
    if awaited & ~here == 0:
        warp.active = active | _withdraw(warp, SYNCHRONISING, int64(pc), needed)
        if needed & warp.launched & ~warp.alive != 0:
            _try_again(warp, pc)
        else:
            warp.waited &= ~warp.active
        return
    put_aside(warp, pc, active, SYNCHRONISING, needed)
    warp.active = np.uint32(0)
    release_synchronised(warp)
    resume(warp)


@callee
def release_synchronised(warp: SassWarp) -> None:
    """Let lanes at WARPSYNC go on whose companions have all come."""
    here = _waiting(warp, SYNCHRONISING)
    for at in range(warp.depth):
        if warp.group_state[at] == SYNCHRONISING and warp.group_needed[at] & warp.alive & ~here == 0:
            needed, pc = warp.group_needed[at], warp.group_pc[at]
            together = _withdraw(warp, SYNCHRONISING, int64(pc), needed)
            left = needed & here & ~together
            if left == 0:
                keep(warp, pc, together)  # they execute WARPSYNC again
                return
            warp.waited &= ~(together | left)
            keep(warp, pc + 1, together)
            while left != 0:  # the others wait at other addresses; all go on behind their own
                pc = _place_of(warp, SYNCHRONISING, first_lane(left))
                more = _withdraw(warp, SYNCHRONISING, int64(pc), left)
                keep(warp, pc + 1, more)
                left &= ~more
            return


@callee
def stop_waiting(warp: SassWarp) -> bool:
    """All lanes wait, and nobody is left who could come: lanes at WARPSYNC go on without those that wait elsewhere.

    CUDA leaves open what happens then. Programs that do it end on GPUs, numba-cuda's reduction among them; which lanes go first
    was not measured. Returns whether there were some.
    """
    for at in range(warp.depth):
        if warp.group_state[at] == SYNCHRONISING:
            warp.pc, warp.active = warp.group_pc[at] + 1, warp.group_mask[at]
            warp.waited &= ~warp.active
            _take_out(warp, at)
            return True
    return False


@callee
def release_collective(warp: SassWarp, pc: int) -> None:
    """Let the lanes at WARPSYNC.COLLECTIVE execute what follows together if all have come."""
    here = _waiting(warp, COLLECTING)
    for at in range(warp.depth):
        if warp.group_state[at] == COLLECTING and warp.group_needed[at] & warp.alive & ~here == 0:
            together = _withdraw(warp, COLLECTING, -1, FULL)
            keep(warp, pc, together)
            return


@callee
def part_exclusively(warp: SassWarp, pc: int, lanes: Lanes, masks: int) -> None:
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
def release_exclusive(warp: SassWarp) -> None:
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
def end_lanes(warp: SassWarp, lanes: Lanes) -> None:
    """Lanes leave the warp: whoever waited for them goes on."""
    warp.alive &= ~lanes
    for barrier in range(BARRIER_REGISTERS):
        others = warp.barrier_held[barrier] & ~lanes
        if others != 0 or warp.alive == 0:
            warp.barrier_held[barrier] = others & warp.alive
    if warp.depth > 0:
        for barrier in range(BARRIER_REGISTERS):
            release_meeting(warp, barrier)
        release_synchronised(warp)
        release_exclusive(warp)


@callee
def _lanes_at(warp: SassWarp, mask: Lanes, target: int) -> Lanes:
    """The lanes of a mask whose address in `lane_pc` is the target."""
    group = np.uint32(0)
    for lane in range(32):
        if (mask >> np.uint32(lane)) & 1 and warp.lane_pc[lane] == target:
            group |= np.uint32(1) << np.uint32(lane)
    return group


@callee
def split_by_address(warp: SassWarp, mask: Lanes) -> None:
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
        keep(warp, target, group)
        left &= ~group
    warp.pc, warp.active = warp.lane_pc[first_lane(smallest)], smallest


@callee
def free_from_cta_barrier(warp: SassWarp) -> None:
    """The barrier of the CTA is open: its groups are ready again."""
    for at in range(warp.depth):
        if warp.group_state[at] == AT_CTA_BARRIER:
            warp.group_state[at] = READY
    warp.barrier_lanes = np.uint32(0)
