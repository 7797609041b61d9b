"""L2 filled between launches: what was left there is found, within the capacity, and the oldest goes first."""

from __future__ import annotations

import numpy as np
import pytest

from support.memory_driver import BASE, Stream, run
from warploom.chip.machines import Machine, load_machine
from warploom.chip.memory import leave_in_l2, new_memory


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("gtx480")


def lines(first: int, end: int) -> tuple[int, int]:
    """Whole lines, counted from the base, as a run of sectors."""
    return BASE + 4 * first, BASE + 4 * end


def runs(*some: tuple[int, int]) -> np.ndarray:
    """The first sectors of runs, and their ends."""
    return np.array(some, np.int64).T.copy()


def capacity(machine: Machine) -> int:
    return machine.l2.slices * machine.l2.sets * machine.l2.ways


@pytest.mark.parametrize("name", ["gtx480", "hopper"])
def test_what_was_left_is_read_without_dram(name: str) -> None:
    stream = Stream()
    for number in range(40):
        stream.line(number, alone=True)
    left = run(load_machine(name), stream, left=[lines(20, 40), lines(0, 20)])
    assert left.counters["dram_reads"] == 0 and left.counters["l2_misses"] == 0
    assert run(load_machine(name), stream).counters["dram_reads"] == 160


def test_sectors_that_were_not_left_come_from_dram(machine: Machine) -> None:
    outcome = run(machine, Stream().line(0).line(1), left=[(BASE + 1, BASE + 6)])
    assert outcome.counters["dram_reads"] == 3  # the first of the first line, the last two of the second


def test_of_more_than_l2_holds_the_last_stays(machine: Machine) -> None:
    whole = capacity(machine)
    stream = Stream().line(5).line(whole // 2).line(3 * whole // 2).line(2 * whole - 5)
    outcome = run(machine, stream, left=[lines(0, 2 * whole)])
    assert outcome.counters["dram_reads"] == 8  # the first two lines


def test_what_is_copied_again_outlives_what_came_after_its_first_copy(machine: Machine) -> None:
    half = capacity(machine) // 2
    left = [lines(0, 2 * half), lines(0, half), lines(2 * half, 3 * half)]
    kept = [half // 4, 3 * half // 4, 9 * half // 4, 11 * half // 4]
    gone = [5 * half // 4, 7 * half // 4]
    for numbers, sectors in ((kept, 0), (gone, 4)):
        for number in numbers:
            assert run(machine, Stream().line(number), left=left).counters["dram_reads"] == sectors, number


def test_what_a_launch_had_written_is_not_written_back_by_the_next_one(machine: Machine) -> None:
    """What a copy pushes out went to DRAM between launches, where nothing is counted."""
    record, memories, whole = machine.record(), new_memory(machine), capacity(machine)
    cycle = leave_in_l2(record, memories, *runs(lines(0, whole)), 100)
    assert cycle == 100 + whole
    dirty = memories["line"]["dirty"][0, :whole]
    dirty[:] = 15
    leave_in_l2(record, memories, *runs(lines(whole, 2 * whole - 8)), cycle)
    assert (dirty == 15).sum() == 8
