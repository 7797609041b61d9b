"""Drives load/store units with given streams of accesses, as the SM pipeline would."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from warploom.base.records import Array, Record, dtype_of, i4, i8, u4
from warploom.chip.machines import Machine, MachineRecord
from warploom.chip.memory import (
    DONE_LOAD,
    FOREVER,
    LDST_DTYPE,
    MAX_SLOTS,
    done_kind,
    done_value,
    ldst_accept,
    ldst_can_accept,
    ldst_next_event,
    ldst_pop_done,
    ldst_step,
    leave_in_l2,
    memory_counters,
    memory_idle,
    memory_next_event,
    memory_step,
    new_memory,
    warm_l2,
)
from warploom.chip.memory.state import Memory, Port
from warploom.compiler.code.table import Flag, Space
from warploom.jit import njit

SM_DTYPE = np.dtype([("index", "i8"), ("ldst", LDST_DTYPE)], align=True)


class StreamedAccess(Record):
    """An access of a stream, when it was accepted and when it was done."""

    at: i8  # not before this cycle
    first: i8
    count: i4
    traits: i4
    space: i4
    warp: i4
    alone: i4  # waits until every earlier load is done
    accepted: i8
    done: i8


LOAD, STORE, ATOMIC, VOLATILE = int(Flag.LOAD), int(Flag.STORE), int(Flag.ATOMIC), int(Flag.VOLATILE)
GLOBAL, LOCAL, SHARED, CONST = int(Space.GLOBAL), int(Space.LOCAL), int(Space.SHARED), int(Space.CONST)
PARAM, TEXTURE = int(Space.PARAM), int(Space.TEXTURE)
LIMIT = 5_000_000
BASE = 0xC000_0000 >> 5  # sectors


@njit
def _cycle(
    machine: MachineRecord,
    memory: Memory,
    sm: Port,
    ops: Array[StreamedAccess],
    start: int,
    end: int,
    state: np.ndarray,
    busy: np.ndarray,
    owner: np.ndarray,
    sectors: Array[u4],
    lanes: Array[u4],
    cycle: int,
) -> None:
    """One cycle of one SM; state: next op, loads under way."""
    ldst_step(machine, memory, sm, cycle)
    entry = ldst_pop_done(sm, cycle)
    while entry >= 0:
        if done_kind(entry) == DONE_LOAD:
            slot = done_value(entry)
            ops[owner[slot]].done = cycle
            busy[slot] = 0
            state[1] -= 1
        else:
            for index in range(start, state[0]):
                if ops[index].warp == done_value(entry) and ops[index].traits & 2 and ops[index].done < 0:
                    ops[index].done = cycle
        entry = ldst_pop_done(sm, cycle)
    if state[0] < end:
        op = ops[state[0]]
        slot = state[0] % MAX_SLOTS
        ready = cycle >= op.at and busy[slot] == 0 and (state[1] == 0 or op.alone == 0)
        if ready and ldst_can_accept(machine, sm, cycle):
            if op.traits & 5 and not op.traits & 2:
                busy[slot] = 1
                owner[slot] = state[0]
                state[1] += 1
            op.accepted = cycle
            ldst_accept(
                machine, memory, sm, cycle, slot, op.warp, op.space, op.traits, op.count, sectors, lanes, op.first, 1 << 24
            )
            state[0] += 1


@njit
def _drive(
    machine: MachineRecord,
    memory: Memory,
    sms: Array[Port],
    ops: Array[StreamedAccess],
    starts: np.ndarray,
    sectors: Array[u4],
    lanes: Array[u4],
    quantum: int,
    jump: bool,
) -> int:
    count = len(sms)
    states = np.zeros((count, 2), np.int64)
    busy = np.zeros((count, MAX_SLOTS), np.int64)
    owner = np.zeros((count, MAX_SLOTS), np.int64)
    for number in range(count):
        states[number, 0] = starts[number]
    begin = 0
    while begin < LIMIT:
        end = begin + quantum
        wake = FOREVER
        finished = True
        for number in range(count):
            sm = sms[number]
            cycle = begin
            while cycle < end:
                before = states[number, 0]
                _cycle(
                    machine,
                    memory,
                    sm,
                    ops,
                    starts[number],
                    starts[number + 1],
                    states[number],
                    busy[number],
                    owner[number],
                    sectors,
                    lanes,
                    cycle,
                )
                following = cycle + 1
                if jump and states[number, 0] == before:
                    following = ldst_next_event(machine, sm, cycle)
                    if states[number, 0] < starts[number + 1] and ops[states[number, 0]].at > cycle:
                        following = min(following, ops[states[number, 0]].at)
                cycle = following
            wake = min(wake, cycle)
            finished = finished and states[number, 0] == starts[number + 1] and states[number, 1] == 0
        memory_step(machine, memory, sms, begin, end)
        if finished and memory_idle(memory, sms):
            return begin
        begin = end
        if jump:
            for number in range(count):
                wake = min(wake, ldst_next_event(machine, sms[number], end - 1))
            wake = min(wake, memory_next_event(machine, memory))
            begin = max(end, min(wake, LIMIT))
            if begin > end:
                memory_step(machine, memory, sms, end, begin)
    return -1


@dataclass
class Outcome:
    """What a run gave: the operations with their times, and all counters."""

    ops: list[np.ndarray]  # per SM
    counters: dict[str, int]
    sms: np.ndarray
    memory: np.record

    @property
    def latencies(self) -> np.ndarray:
        """Cycles from acceptance to completion, over all SMs."""
        return np.concatenate([part["done"] - part["accepted"] for part in self.ops])

    @property
    def last(self) -> int:
        """The last completion."""
        return int(max(part["done"].max() for part in self.ops if len(part)))


class Stream:
    """The accesses of one SM, in order."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, ...]] = []
        self.sectors: list[list[int]] = []
        self.lanes: list[list[int]] = []

    def add(
        self,
        sectors: Iterable[int],
        *,
        flags: int = LOAD,
        space: int = GLOBAL,
        warp: int = 0,
        at: int = 0,
        alone: bool = False,
        count: int | None = None,
        lanes: Iterable[int] | None = None,
    ) -> Stream:
        """One access; sectors are absolute."""
        wanted = list(sectors)
        self.rows.append((at, len(wanted) if count is None else count, flags, space, warp, int(alone)))
        self.sectors.append(wanted)
        self.lanes.append([0xFF] * len(wanted) if lanes is None else list(lanes))
        return self

    def line(self, number: int, **options: Any) -> Stream:
        """All four sectors of one line, counted from a fixed base."""
        return self.add(range(BASE + 4 * number, BASE + 4 * number + 4), **options)


def run(
    machine: Machine,
    *streams: Stream,
    quantum: int = 0,
    jump: bool = True,
    warm: tuple[int, int] | None = None,
    left: Sequence[tuple[int, int]] = (),
) -> Outcome:
    """Run one stream per SM to the end. ``left``: runs of sectors that the host has left in L2, from one to before another."""
    rows, first, starts = [], 0, [0]
    for stream in streams:
        for (at, count, flags, space, warp, alone), sectors in zip(stream.rows, stream.sectors, strict=True):
            rows.append((at, first, count, flags, space, warp, alone, -1, -1))
            first += len(sectors)
        starts.append(len(rows))
    ops = np.array(rows, dtype_of(StreamedAccess)).view(np.recarray)
    all_sectors = np.array([s for stream in streams for part in stream.sectors for s in part] or [0], np.uint32)
    lanes = np.array([m for stream in streams for part in stream.lanes for m in part] or [0], np.uint32)
    record, memories = machine.record(), new_memory(machine)
    memory = memories[0]
    sms = np.zeros(len(streams), SM_DTYPE).view(np.recarray)
    if warm is not None:
        warm_l2(record, memory, *warm)
    if left:
        first_sectors, ends = np.array(left, np.int64).T.copy()
        leave_in_l2(record, memories, first_sectors, ends, -(1 << 30))  # long before
    end = _drive(record, memory, sms, ops, np.array(starts), all_sectors, lanes, quantum or machine.chip.quantum, jump)
    assert end >= 0, "the run did not come to an end"
    parts = [ops[a:b] for a, b in pairwise(starts)]
    return Outcome(parts, memory_counters(memory, sms), sms, memory)
