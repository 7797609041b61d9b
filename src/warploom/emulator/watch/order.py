"""Which accesses are ordered, and which race.

Every warp has a clock, and knows up to which clock of every other warp all accesses lie before what it does now; lanes of a warp
have clocks among themselves. A barrier lets all who wait there know what any of them knew. A fence sets down what a warp knows;
an atomic or volatile write behind it carries that to whoever reads it by an atomic or volatile access. Two accesses to a piece of
memory race if one of them writes, they are not both atomic, and the later one's warp does not know the earlier one.

Clocks are those of warps: what one lane releases counts as released by its warp, so that a race can be overlooked, and none is
made up.
"""

from __future__ import annotations

import numpy as np

from warploom.base.records import Array, Lanes, int64, u1
from warploom.compiler.code.table import Space
from warploom.emulator.pointers import first_lane
from warploom.emulator.records import Kind
from warploom.emulator.watch.events import ACCESS, ALL_BARRIERS, ARRIVE, BEGIN, COUNT, IN_SHARED, OPEN, SPAN, STEP, Event
from warploom.emulator.watch.state import LANES, Cell, Clocks, Knowledge, Meaning, Race, Touch, WatchedLaunch
from warploom.jit import callee, whole

SHARED, GLOBAL, LOCAL = int(Space.SHARED), int(Space.GLOBAL), int(Space.LOCAL)
LOAD, STORE, ATOMIC = int(Kind.LOAD), int(Kind.STORE), int(Kind.ATOMIC)
STRONG, VOLATILE, RELEASE = int(Meaning.STRONG), int(Meaning.VOLATILE), int(Meaning.RELEASE)
FENCE, WIDE, MEET = int(Meaning.FENCE), int(Meaning.WIDE), int(Meaning.MEET)
NOBODY = 0xFFFFFFFF  # wrote it: a copy that no thread makes, or a barrier that counts
SPARE = 64  # rows and pages that one event may take
NEVER_WRITTEN = 0  # the kind of the first access where there was none


@callee
def _join(vectors: np.ndarray, into: int, other: int, others: np.ndarray) -> None:
    """Let a row know what a row of others knows."""
    for index in range(vectors.shape[1]):
        vectors[into, index] = max(vectors[into, index], others[other, index])


@callee
def _meet(clocks: Clocks, lanes: Lanes, members: Lanes) -> None:
    """Lanes of a warp see what those that they name have done; then their next interval begins."""
    for member in range(LANES):
        if (members >> np.uint32(member)) & np.uint32(1):
            clocks.known[LANES * member + member] = clocks.lane_clock[member]
    for member in range(LANES):
        highest = 0
        for other in range(LANES):
            if (members >> np.uint32(other)) & np.uint32(1):
                highest = max(highest, clocks.known[LANES * other + member])
        for lane in range(LANES):
            if (lanes >> np.uint32(lane)) & np.uint32(1):
                place = LANES * lane + member
                clocks.known[place] = max(clocks.known[place], highest)
    for lane in range(LANES):
        if (lanes >> np.uint32(lane)) & np.uint32(1):
            clocks.lane_clock[lane] += 1


@callee
def _know_whole_warp(clocks: Clocks, lane: int) -> None:
    """A lane has acquired something: it knows all that its warp has done, which is more than it may."""
    for member in range(LANES):
        clocks.known[LANES * lane + member] = clocks.lane_clock[member]


@callee
def _begin(watch: WatchedLaunch, clocks: Array[Clocks], tables: Knowledge, slot: int, cta: int) -> None:
    """A CTA is resident anew: its warps know nothing."""
    near, fenced, wide, far = tables.near, tables.fenced, tables.wide, tables.far
    for number in range(watch.warps_per_cta):
        place = slot * watch.warps_per_cta + number
        warp = clocks[place]
        warp.clock, warp.fence, warp.wide_fence, warp.cta = 1, 0, 0, cta
        for lane in range(LANES):
            warp.lane_clock[lane] = 1
        for index in range(LANES * LANES):
            warp.known[index] = 0
        for index in range(watch.near):
            near[place, index] = fenced[place, index] = wide[place, index] = np.uint32(0)
        if warp.far > 0:
            for index in range(watch.warps):
                far[warp.far, index] = np.uint32(0)
    for barrier in range(ALL_BARRIERS):
        _close(watch, tables, slot * ALL_BARRIERS + barrier)
    for place in range(slot * watch.local_words, (slot + 1) * watch.local_words):
        tables.local[place] = 0
    for piece in range(slot * watch.shared_pieces, (slot + 1) * watch.shared_pieces):
        cell = tables.shared[piece]
        cell.write.warp = cell.read.warp = cell.other.warp = 0


@callee
def _close(watch: WatchedLaunch, tables: Knowledge, barrier: int) -> None:
    """Nobody has come to a barrier."""
    tables.waiting[barrier] = 0
    for index in range(watch.near):
        tables.barrier_near[barrier, index] = np.uint32(0)
        tables.barrier_fenced[barrier, index] = np.uint32(0)
        tables.barrier_wide[barrier, index] = np.uint32(0)
    row = tables.barrier_far[barrier]
    if row > 0:
        for index in range(watch.warps):
            tables.far[row, index] = np.uint32(0)


@callee
def _near_index(watch: WatchedLaunch, place: int) -> int:
    """The number of a resident warp in its cluster."""
    return place % watch.near


@callee
def _arrive(watch: WatchedLaunch, clocks: Array[Clocks], tables: Knowledge, place: int, barrier: int) -> None:
    """A warp brings to a barrier what it knows, and begins its next interval."""
    warp = clocks[place]
    tables.near[place, _near_index(watch, place)] = warp.clock
    _join(tables.barrier_near, barrier, place, tables.near)
    _join(tables.barrier_fenced, barrier, place, tables.fenced)
    _join(tables.barrier_wide, barrier, place, tables.wide)
    if warp.far > 0:
        if tables.barrier_far[barrier] == 0:
            tables.barrier_far[barrier] = _new_row(watch)
        _join(tables.far, tables.barrier_far[barrier], warp.far, tables.far)
    warp.clock += 1


@callee
def _learn(watch: WatchedLaunch, clocks: Array[Clocks], tables: Knowledge, place: int, barrier: int) -> None:
    """A warp goes on behind a barrier, and knows what was brought there; its lanes have met."""
    _join(tables.near, place, barrier, tables.barrier_near)
    _join(tables.fenced, place, barrier, tables.barrier_fenced)
    _join(tables.wide, place, barrier, tables.barrier_wide)
    if tables.barrier_far[barrier] > 0:
        if clocks[place].far == 0:
            clocks[place].far = _new_row(watch)
        _join(tables.far, clocks[place].far, tables.barrier_far[barrier], tables.far)
    _meet(clocks[place], np.uint32(0xFFFFFFFF), np.uint32(0xFFFFFFFF))


@callee
def _open(watch: WatchedLaunch, clocks: Array[Clocks], tables: Knowledge, event: Event) -> None:
    """All who wait at a barrier learn what was brought there."""
    slot = int64(event.slot)
    barrier = slot * ALL_BARRIERS + event.detail
    for number in range(watch.warps_per_cta):
        if (tables.waiting[barrier] >> int64(number)) & 1:
            _learn(watch, clocks, tables, slot * watch.warps_per_cta + number, barrier)
    _close(watch, tables, barrier)


@callee
def _new_row(watch: WatchedLaunch) -> int:
    """A row for what somebody knows of other CTAs; it holds zeros."""
    if watch.rows == watch.most_rows:  # nobody asks any more what is in it
        return 0
    watch.rows += 1
    return watch.rows - 1


@callee
def _fence(watch: WatchedLaunch, clocks: Array[Clocks], tables: Knowledge, place: int, wide: bool) -> None:
    """Set down what a warp knows: an atomic or volatile write behind this carries it on."""
    warp = clocks[place]
    own = _near_index(watch, place)
    tables.near[place, own] = warp.clock
    _join(tables.fenced, place, place, tables.near)
    warp.fence = warp.clock
    if wide:
        _join(tables.wide, place, place, tables.near)
        warp.wide_fence = warp.clock
    warp.clock += 1


@callee
def _step(watch: WatchedLaunch, clocks: Array[Clocks], tables: Knowledge, event: Event, meaning: int) -> None:
    """Lanes have executed an instruction that may order memory."""
    if meaning & FENCE:
        _fence(watch, clocks, tables, int64(event.place), meaning & WIDE != 0)
    if meaning & MEET:
        _meet(clocks[event.place], event.mask, np.uint32(event.detail) | event.mask)


@callee
def _publish(watch: WatchedLaunch, clocks: Array[Clocks], tables: Knowledge, place: int) -> None:
    """A write of a warp carries what the warp knew at its last fence for other CTAs."""
    warp = clocks[place]
    if warp.wide_fence == 0 and warp.far == 0:
        anything = False
        for index in range(watch.near):
            anything = anything or tables.wide[place, index] > 0
        if not anything:
            return
    number = _number(watch, clocks, place)
    row = tables.published[number]
    if row == 0:
        row = tables.published[number] = _new_row(watch)
    first = place - _near_index(watch, place)
    for index in range(watch.near):
        other = _number(watch, clocks, first + index)
        tables.far[row, other] = max(tables.far[row, other], tables.wide[place, index])
    if warp.far > 0:
        _join(tables.far, row, warp.far, tables.far)


@callee
def _number(watch: WatchedLaunch, clocks: Array[Clocks], place: int) -> int:
    """The number of a resident warp in the grid."""
    return clocks[place].cta * watch.warps_per_cta + place % watch.warps_per_cta


@callee
def _place_in_cluster(watch: WatchedLaunch, clocks: Array[Clocks], place: int, number: int) -> int:
    """Where a warp of the grid is resident, if that is in the cluster of this place; else -1."""
    first = place - _near_index(watch, place)
    cta, within = number // watch.warps_per_cta, number % watch.warps_per_cta
    for rank in range(watch.cluster):
        there = first + rank * watch.warps_per_cta
        if clocks[there].cta == cta:
            return there + within
    return -1


@callee
def _acquire(watch: WatchedLaunch, clocks: Array[Clocks], tables: Knowledge, place: int, lane: int, access: Touch) -> None:
    """A lane has read what was written behind a fence: it learns what the writer knew then."""
    number = int64(access.warp) - 1
    other = _place_in_cluster(watch, clocks, place, number)
    if other >= 0:
        own = _near_index(watch, other)
        if tables.fenced[other, own] == 0:
            released = False
            for index in range(watch.near):
                released = released or tables.fenced[other, index] > 0
            if not released:
                return
        _know_whole_warp(clocks[place], lane)
        if other == place:
            return
        known = min(tables.fenced[other, own], access.clock)
        before = tables.near[place, own]
        _join(tables.near, place, other, tables.fenced)
        tables.near[place, own] = max(before, known)
        _join(tables.fenced, place, other, tables.fenced)
        _join(tables.wide, place, other, tables.wide)
        row = clocks[other].far
    else:
        row = tables.published[number]
    if row > 0:
        if clocks[place].far == 0:
            clocks[place].far = _new_row(watch)
        mine = clocks[place].far
        before = tables.far[mine, number]
        _join(tables.far, mine, row, tables.far)
        tables.far[mine, number] = max(before, min(tables.far[row, number], access.clock))
        _know_whole_warp(clocks[place], lane)


@callee
def _is_ordered(
    watch: WatchedLaunch, clocks: Array[Clocks], tables: Knowledge, place: int, lane: int, earlier: Touch, space: int
) -> bool:
    """Whether what a lane does now comes after an earlier access in every order that the program allows."""
    number = int64(earlier.warp) - 1
    other = _place_in_cluster(watch, clocks, place, number)
    if other == place:
        if space == GLOBAL or int64(earlier.lane) == lane:
            return True
        return clocks[place].known[LANES * lane + int64(earlier.lane)] >= earlier.lane_clock
    if other >= 0:
        return tables.near[place, _near_index(watch, other)] >= earlier.clock
    row = clocks[place].far
    return row > 0 and tables.far[row, number] >= earlier.clock


@callee
def _both_atomic(one: int, other: int, same_warp: bool) -> bool:
    """Whether two accesses may happen at once; volatile ones of a warp's lanes may not, for they are not atomic."""
    if not (one & STRONG and other & STRONG):
        return False
    return not (same_warp and (one & VOLATILE or other & VOLATILE))


@callee
def _is_read_beside_atomic(atomic: int, kind: int) -> bool:
    """Whether one access is atomic and the other only reads: so begins every loop that ends in a compare-and-swap."""
    return kind == LOAD and atomic & STRONG != 0 and atomic & VOLATILE == 0


@callee
def _set(access: Touch, number: int, clocks: Clocks, lane: int, pc: int, meaning: int) -> None:
    access.warp = number + 1
    access.clock, access.lane_clock = clocks.clock, clocks.lane_clock[lane]
    access.pc, access.lane, access.meaning = pc, lane, meaning


@callee
def _copy(target: Touch, source: Touch) -> None:
    target.warp, target.clock, target.lane_clock = source.warp, source.clock, source.lane_clock
    target.pc, target.lane, target.meaning = source.pc, source.lane, source.meaning


@callee
def _report(
    watch: WatchedLaunch, findings: Array[Race], earlier: Touch, kind: int, now: Touch, event: Event, address: int
) -> None:
    """Note a race, or count it where these two instructions were found before."""
    for index in range(watch.found):
        known = findings[index]
        if known.first.pc == earlier.pc and known.second.pc == now.pc and known.first_kind == kind:
            known.times += 1
            return
    if watch.found == len(findings):
        watch.missed += 1
        return
    new = findings[watch.found]
    _copy(new.first, earlier)
    _copy(new.second, now)
    new.first_kind, new.second_kind = kind, event.kind
    new.space, new.size, new.address, new.times = event.space, event.size, address, 1
    watch.found += 1


@callee
def _compare_with(
    watch: WatchedLaunch,
    clocks: Array[Clocks],
    tables: Knowledge,
    earlier: Touch,
    kind: int,
    now: Touch,
    event: Event,
    lane: int,
    address: int,
) -> None:
    """Note a race of what a lane does with an earlier access, if they are one."""
    if earlier.warp == 0 or earlier.warp == NOBODY or _both_atomic(earlier.meaning, now.meaning, earlier.warp == now.warp):
        return
    beside = _is_read_beside_atomic(now.meaning, kind) or _is_read_beside_atomic(earlier.meaning, int64(event.kind))
    if beside and event.space == GLOBAL:
        return
    if not _is_ordered(watch, clocks, tables, int64(event.place), lane, earlier, event.space):
        _report(watch, tables.findings, earlier, kind, now, event, address)


@callee
def _compare(
    watch: WatchedLaunch, clocks: Array[Clocks], tables: Knowledge, cell: Cell, now: Touch, event: Event, lane: int, address: int
) -> None:
    """Look for races of what a lane does to a piece of memory with what was done to it before."""
    write = cell.write
    if write.warp == NOBODY:
        if write.meaning & STRONG and event.space == SHARED:
            _learn(watch, clocks, tables, int64(event.place), int64(event.slot) * ALL_BARRIERS + IN_SHARED)
    elif now.meaning & STRONG and write.warp != 0 and write.meaning & STRONG:
        _acquire(watch, clocks, tables, int64(event.place), lane, write)
    _compare_with(watch, clocks, tables, write, STORE, now, event, lane, address)
    if event.kind != LOAD:
        _compare_with(watch, clocks, tables, cell.read, LOAD, now, event, lane, address)
        _compare_with(watch, clocks, tables, cell.other, LOAD, now, event, lane, address)


@callee
def _remember(
    watch: WatchedLaunch, clocks: Array[Clocks], tables: Knowledge, cell: Cell, now: Touch, event: Event, lane: int
) -> None:
    """What a lane does to a piece of memory is the last that was done to it."""
    if event.kind == LOAD:
        _remember_reader(watch, clocks, tables, cell, now, lane, int64(event.place), event.space)
        return
    cell.read.warp = cell.other.warp = 0
    _copy(cell.write, now)


@callee
def _remember_reader(
    watch: WatchedLaunch, clocks: Array[Clocks], tables: Knowledge, cell: Cell, now: Touch, lane: int, place: int, space: int
) -> None:
    """Of the readers since the last write, two are kept that are not ordered."""
    if cell.read.warp == 0 or _is_ordered(watch, clocks, tables, place, lane, cell.read, space):
        _copy(cell.read, now)
    else:
        _copy(cell.other, now)


@callee
def _lanes(watch: WatchedLaunch, clocks: Array[Clocks], tables: Knowledge, event: Event, meaning: int, steps: int) -> None:
    """Take every piece that every lane accesses: compare (1), remember (2), or do both (3)."""
    place, space = int64(event.place), event.space
    number = _number(watch, clocks, place)
    now = tables.now[0]
    shift = watch.shared_shift if space == SHARED else watch.global_shift
    left = event.mask
    while left != 0:
        lane = first_lane(left)
        left &= left - np.uint32(1)
        silent = event.unchanged >> np.uint32(lane) & np.uint32(1) != 0
        _set(now, number, clocks[place], lane, event.pc, meaning & 255)
        address = int64(event.addresses[lane])
        for piece in range(address >> shift, ((address + int64(event.size) - 1) >> shift) + 1):
            if space == SHARED:
                cell = tables.shared[int64(event.slot) * watch.shared_pieces + piece]
            else:
                cell = _global_cell(watch, tables, piece)
            if silent and (space == GLOBAL or cell.write.warp != 0):
                continue
            if watch.memory and space == SHARED and event.kind != STORE and cell.write.warp == 0:
                _report(watch, tables.findings, now, NEVER_WRITTEN, now, event, address)
            if steps & 1 and watch.races:
                _compare(watch, clocks, tables, cell, now, event, lane, address)
            if steps & 2:
                _remember(watch, clocks, tables, cell, now, event, lane)


@callee
def _report_lost(watch: WatchedLaunch, clocks: Array[Clocks], tables: Knowledge, event: Event, meaning: int) -> None:
    """Lanes of one store wrote different values to one place."""
    if event.space != SHARED:
        return
    place = int64(event.place)
    number = _number(watch, clocks, place)
    now, winner = tables.now[0], tables.now[1]
    left = event.lost
    while left != 0:
        lane = first_lane(left)
        left &= left - np.uint32(1)
        for other in range(LANES):
            wins = (event.mask & ~event.lost) >> np.uint32(other) & np.uint32(1) != 0
            if wins and event.addresses[other] == event.addresses[lane]:
                _set(now, number, clocks[place], lane, event.pc, meaning & 255)
                _set(winner, number, clocks[place], other, event.pc, meaning & 255)
                _report(watch, tables.findings, winner, STORE, now, event, int64(event.addresses[lane]))
                break


@callee
def _access(watch: WatchedLaunch, clocks: Array[Clocks], tables: Knowledge, event: Event, meaning: int) -> None:
    """Lanes of a warp access shared or device memory."""
    place = int64(event.place)
    space = event.space
    if meaning & RELEASE:
        _fence(watch, clocks, tables, place, meaning & WIDE != 0)
    compares = 1 if event.kind == STORE else 3
    _lanes(watch, clocks, tables, event, meaning, compares)
    if event.kind == STORE:  # lanes of one store do not race with each other unless their values differ
        _lanes(watch, clocks, tables, event, meaning, 2)
        if event.lost != 0:
            _report_lost(watch, clocks, tables, event, meaning)
    if event.kind != LOAD and meaning & STRONG:  # an atomic hands on what it has just acquired
        if space == GLOBAL:
            _publish(watch, clocks, tables, place)
        clocks[place].clock += 1
        left = event.mask
        while left != 0:
            clocks[place].lane_clock[first_lane(left)] += 1
            left &= left - np.uint32(1)


@callee
def _written(watch: WatchedLaunch, clocks: Array[Clocks], tables: Knowledge, event: Event, meaning: int) -> None:
    """Device and local memory: reads of what nobody has written."""
    place, space, size = int64(event.place), event.space, int64(event.size)
    now = tables.now[0]
    left = event.mask
    while left != 0:
        lane = first_lane(left)
        left &= left - np.uint32(1)
        address = int64(event.addresses[lane])
        if space == GLOBAL:
            first, step, count = address - watch.arena_start, 1, size
        else:  # words of the lanes lie side by side
            first, step = place * watch.local_words // watch.warps_per_cta + (address >> 2) * LANES + lane, LANES
            count = (size + 3) >> 2
        for index in range(count):
            at = first + step * index
            known = tables.written[at] if space == GLOBAL else tables.local[at]
            if known == 0 and event.kind != STORE:
                _set(now, _number(watch, clocks, place), clocks[place], lane, event.pc, meaning & 255)
                _report(watch, tables.findings, now, NEVER_WRITTEN, now, event, address)
                break
        if event.kind != LOAD:
            for index in range(count):
                if space == GLOBAL:
                    tables.written[first + step * index] = 1
                else:
                    tables.local[first + step * index] = 1


@callee
def _span(watch: WatchedLaunch, tables: Knowledge, event: Event) -> None:
    """Bytes were written by what is no thread: nobody races with it."""
    if event.space == GLOBAL:
        if watch.memory:
            for index in range(event.detail - watch.arena_start, event.detail - watch.arena_start + int64(event.size)):
                tables.written[index] = 1
        return
    last = (event.detail + int64(event.size) - 1) >> watch.shared_shift
    for piece in range(event.detail >> watch.shared_shift, last + 1):
        cell = tables.shared[int64(event.slot) * watch.shared_pieces + piece]
        cell.read.warp = cell.other.warp = 0
        cell.write.warp, cell.write.meaning = NOBODY, STRONG if event.kind == ATOMIC else 0


@callee
def _global_cell(watch: WatchedLaunch, tables: Knowledge, piece: int) -> Cell:
    """What is remembered of a piece of device memory; a page of them is made when it is touched first."""
    at = piece - (watch.arena_start >> watch.global_shift)
    page = at // watch.page_pieces
    if tables.page_of[page] == 0:
        tables.page_of[page] = np.int32(watch.pages)
        watch.pages += 1
    return tables.pages[int64(tables.page_of[page]) * watch.page_pieces + at % watch.page_pieces]


@whole
def judge(
    watches: Array[WatchedLaunch],
    clocks: Array[Clocks],
    tables: Knowledge,
    meanings: Array[u1],
    events: Array[Event],
    first: int,
    last: int,
) -> int:
    """Judge events; returns the number of the first that was not, for which Python has to make room, or the last."""
    watch = watches[0]
    for index in range(first, last):
        event = events[index]
        if not watch.blind and (watch.pages + SPARE > watch.most_pages or watch.rows + SPARE > watch.most_rows):
            return index
        what = event.what
        if what == ACCESS:
            if watch.memory and event.space != SHARED:
                _written(watch, clocks, tables, event, int64(meanings[event.pc]))
            if event.space == SHARED or (watch.races and not watch.blind and event.space == GLOBAL):
                _access(watch, clocks, tables, event, int64(meanings[event.pc]))
        elif what == STEP:
            _step(watch, clocks, tables, event, int64(meanings[event.pc]))
        elif what == BEGIN:
            _begin(watch, clocks, tables, int64(event.slot), event.cta)
        elif what == ARRIVE:
            barrier = int64(event.slot) * ALL_BARRIERS + event.detail
            _arrive(watch, clocks, tables, int64(event.place), barrier)
            if event.size != 0:
                tables.waiting[barrier] |= 1 << int64(event.place % watch.warps_per_cta)
        elif what == OPEN:
            _open(watch, clocks, tables, event)
        elif what == COUNT:
            barrier = int64(event.slot) * ALL_BARRIERS + event.detail
            if event.size != 0:
                _learn(watch, clocks, tables, int64(event.place), barrier)
            else:
                _arrive(watch, clocks, tables, int64(event.place), barrier)
        elif what == SPAN:
            _span(watch, tables, event)
    return last
