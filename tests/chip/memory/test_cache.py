"""Cache behaviour: replacement, merging, reservation, write policies; an LRU cache in plain Python as the oracle."""

from __future__ import annotations

import numpy as np
import pytest

from support.memory_driver import BASE, LOAD, LOCAL, SM_DTYPE, STORE, VOLATILE, Stream, run
from warploom.chip.machines import Machine, load_machine
from warploom.chip.memory import FOREVER, begin_launch, fetch_access, ldst_step, memory_step, new_memory
from warploom.chip.memory.address import bank_of, channel_of, first_way, row_of, slice_of, within_channel
from warploom.chip.memory.cache import set_of


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("gtx480")


def test_l1_agrees_with_a_plain_lru_cache(machine: Machine) -> None:
    """One access at a time, loads and stores mixed: the same hits as a dictionary-based model."""
    random = np.random.default_rng(7)
    lines = random.integers(0, 400, 3000)
    stores = random.random(3000) < 0.2
    stream = Stream()
    for index, (line, store) in enumerate(zip(lines, stores, strict=True)):
        stream.line(int(line), flags=STORE if store else LOAD, alone=True, at=400 * index)
    outcome = run(machine, stream)
    sets: dict[int, list[int]] = {}
    hits = 0
    for line, store in zip(lines, stores, strict=True):
        resident = sets.setdefault(set_of((BASE >> 2) + int(line), machine.l1.sets, True), [])
        there = int(line) in resident
        hits += there
        if there:
            resident.remove(int(line))
        if not store:  # a global store takes its line out of L1
            resident.append(int(line))
            if len(resident) > machine.l1.ways:
                resident.pop(0)
    assert outcome.counters["l1_hits"] == hits
    assert outcome.counters["l1_misses"] == 3000 - hits


def test_fermi_hash_spreads_power_of_two_strides(machine: Machine) -> None:
    """64 lines 8 KB apart fall into one set without the hash, into many with it."""
    plain = {set_of(64 * k, 32, False) for k in range(64)}
    hashed = {set_of(64 * k, 32, True) for k in range(64)}
    assert len(plain) == 1
    assert len(hashed) >= 8
    assert sorted(set_of(k, 32, True) for k in range(32)) == list(range(32))


def test_loads_of_a_line_under_way_are_merged(machine: Machine) -> None:
    stream = Stream()
    for _ in range(machine.l1.merged):
        stream.line(0)
    outcome = run(machine, stream, warm=(BASE, 4))
    assert outcome.counters["l1_misses"] == 1
    assert outcome.counters["l1_pending_hits"] == machine.l1.merged - 1
    assert outcome.counters["l2_accesses"] == 4
    assert len(set(outcome.ops[0]["done"])) == 1  # all served by one fill


def test_one_more_than_can_be_merged_waits_for_the_fill(machine: Machine) -> None:
    stream = Stream()
    for _ in range(machine.l1.merged + 1):
        stream.line(0)
    outcome = run(machine, stream, warm=(BASE, 4))
    assert outcome.counters["l1_hits"] == 1
    assert outcome.counters["l1_reservation_failures"] > 100
    assert outcome.counters["l1_misses"] == 1


def test_outstanding_misses_are_bounded_by_mshrs() -> None:
    """With one MSHR misses come one after the other; with two, twice as fast."""
    times = {}
    for mshrs in (1, 2, 64):
        stream = Stream()
        for number in range(16):
            stream.line(number)
        times[mshrs] = run(load_machine("gtx480", **{"l1.mshrs": mshrs}), stream, warm=(BASE, 64)).last
    assert times[1] > 1.8 * times[2]
    assert times[2] > 4 * times[64]


def test_a_set_full_of_lines_under_way_blocks(machine: Machine) -> None:
    """Five lines of one set: the fifth waits until one of four has arrived."""
    number, same_set = 0, []
    while len(same_set) < 5:
        if set_of((BASE >> 2) + number, machine.l1.sets, True) == 0:
            same_set.append(number)
        number += 1
    stream = Stream()
    for number in same_set:
        stream.line(number)
    outcome = run(machine, stream, warm=(BASE, 4 * number + 4))
    latencies = outcome.latencies
    assert latencies[4] > latencies[0] + 100
    assert outcome.counters["l1_reservation_failures"] > 100


def test_global_store_evicts_and_local_store_stays(machine: Machine) -> None:
    stream = Stream().line(0, alone=True).line(0, flags=STORE, at=2000).line(0, alone=True, at=4000)
    outcome = run(machine, stream)
    assert outcome.counters["l1_misses"] == 2
    assert outcome.counters["store_evictions"] == 1
    assert outcome.counters["l2_write_accesses"] == 4

    window = range(4)
    local = Stream().add(window, space=LOCAL, alone=True)
    local.add(window, space=LOCAL, flags=STORE, at=2000).add(window, space=LOCAL, alone=True, at=4000)
    outcome = run(machine, local)
    assert outcome.counters["l1_misses"] == 1
    assert outcome.counters["l1_hits"] == 2
    assert outcome.counters["l2_write_accesses"] == 0
    assert (outcome.counters["local_loads"], outcome.counters["local_stores"]) == (2, 1)


def test_dirty_local_lines_are_written_back_when_replaced(machine: Machine) -> None:
    stream = Stream().add(range(4), space=LOCAL, alone=True).add(range(4), space=LOCAL, flags=STORE, at=2000)
    for number in range(200):
        stream.line(number, alone=True, at=3000)
    outcome = run(machine, stream)
    assert outcome.counters["l1_write_backs"] == 1
    assert outcome.counters["l2_write_accesses"] == 4


def test_a_local_store_that_misses_goes_to_l2(machine: Machine) -> None:
    outcome = run(machine, Stream().add(range(4), space=LOCAL, flags=STORE))
    assert outcome.counters["l2_write_accesses"] == 4
    assert outcome.counters["l1_misses"] == 1


def test_volatile_loads_pass_l1(machine: Machine) -> None:
    stream = Stream().line(0, alone=True).line(0, flags=LOAD | VOLATILE, alone=True)
    outcome = run(machine, stream)
    assert outcome.latencies[1] > 100
    assert outcome.counters["l1_accesses"] == 1


def test_stores_release_at_once_and_are_acknowledged_later(machine: Machine) -> None:
    stream = Stream().line(0, flags=STORE, warp=5).line(1, flags=STORE, warp=5)
    outcome = run(machine, stream)
    accepted = outcome.ops[0]["accepted"]
    assert accepted[1] == accepted[0] + 1
    shortest = machine.l1.latency + 4 + 2 * machine.interconnect.latency + machine.l2.latency + machine.l2.reply_latency + 1
    assert outcome.ops[0]["done"][0] == outcome.ops[0]["done"][1]  # reported when the warp has none left
    assert outcome.ops[0]["done"][1] >= shortest + 4
    assert int(outcome.sms["ldst"]["stores_outstanding"][0]) == 0


def test_store_credits_bound_stores_under_way() -> None:
    machine = load_machine("gtx480", **{"l1.store_credits": 1})
    stream = Stream()
    for number in range(10):
        stream.line(number, flags=STORE)
    assert run(machine, stream).last > 10 * 130


def test_l2_keeps_what_was_copied_and_forgets_the_oldest(machine: Machine) -> None:
    """A copy larger than L2 leaves its end there."""
    capacity = machine.l2.slices * machine.l2.sets * machine.l2.ways
    stream = Stream().line(0, alone=True).line(2 * capacity - 1, alone=True)
    outcome = run(machine, stream, warm=(BASE, 4 * 2 * capacity))
    assert outcome.counters["l2_misses"] == 4
    assert outcome.latencies[0] > outcome.latencies[1]


def test_dirty_l2_lines_reach_dram_when_replaced(machine: Machine) -> None:
    """Twice L2's capacity in stores: half of it is written back."""
    capacity = machine.l2.slices * machine.l2.sets * machine.l2.ways
    streams = []
    for sm in range(15):
        stream = Stream()
        for number in range(2 * capacity // 15):
            stream.line(number * 15 + sm, flags=STORE)
        streams.append(stream)
    outcome = run(machine, *streams)
    stored = 4 * 15 * (2 * capacity // 15)
    assert outcome.counters["l2_write_accesses"] == stored
    assert outcome.counters["dram_writes"] == outcome.counters["l2_write_backs"]
    assert outcome.counters["l2_write_backs"] == pytest.approx(stored - 4 * capacity, rel=0.02)


def test_sms_share_a_line_in_l2(machine: Machine) -> None:
    """15 SMs ask for one line: it is read from DRAM once."""
    outcome = run(machine, *[Stream().line(0) for _ in range(15)])
    assert outcome.counters["dram_reads"] == 4
    assert outcome.counters["l2_accesses"] == 60


def test_addresses_spread_evenly_and_do_not_collide(machine: Machine) -> None:
    """Each line of a contiguous range has its own place: channel, bank, row and column together are unique."""
    record, memory = machine.record(), new_memory(machine)[0]
    lines = range(BASE >> 2, (BASE >> 2) + 12 * 512)
    places = [(channel_of(record, memory, line), within_channel(record, memory, line)) for line in lines]
    slices = [slice_of(memory, channel, within) for channel, within in places]
    assert np.ptp(np.bincount(slices, minlength=12)) <= 2
    sets = [first_way(record, memory, number, within) for number, (_, within) in zip(slices, places, strict=True)]
    assert np.bincount(sets).max() <= machine.l2.ways  # a range as large as L2 fits
    per_row: dict[tuple[int, int, int], int] = {}
    for channel, within in places:
        key = (channel, bank_of(record, within), row_of(record, within))
        per_row[key] = per_row.get(key, 0) + 1
    assert max(per_row.values()) <= 4096 // 128


def test_fetch_waits_for_the_line_and_launches_start_cold(machine: Machine) -> None:
    record, memories = machine.record(), new_memory(machine)
    memory = memories[0]
    sms = np.zeros(1, SM_DTYPE).view(np.recarray)
    sm = sms[0]
    per_line = machine.l1i.line_bytes // machine.l1i.instruction_bytes

    def fetch_until_there(pc: int, start: int) -> int:
        cycle = start
        while True:
            ready = fetch_access(record, memory, sm, cycle, pc)
            if ready < FOREVER:
                return ready
            memory_step(record, memory, sms, cycle, cycle + 1)
            fills = sm.ldst.fetch_fills
            while sm.ldst.fetch_fills == fills:
                cycle += 1
                ldst_step(record, memory, sm, cycle)
                memory_step(record, memory, sms, cycle, cycle + 1)

    first = fetch_until_there(0, 0)
    assert first > machine.l2.latency + machine.dram.latency
    assert fetch_access(record, memory, sm, first, per_line - 1) == first + machine.l1i.latency
    assert fetch_access(record, memory, sm, first, per_line) == FOREVER
    begin_launch(record, memories, sms, 0, 1024)
    start = first + 1000
    again = fetch_until_there(0, start) - start  # from L2 now
    assert machine.l2.latency < again < first - machine.dram.latency + 20
    begin_launch(record, memories, sms, 1, 1024)
    start += 1000
    assert fetch_until_there(0, start) - start > machine.l2.latency + machine.dram.latency  # other code, other address


@pytest.mark.parametrize("instructions, lines", [(8, 1), (9, 2), (20, 3), (4096, None)])
def test_a_miss_brings_code_up_to_its_end(instructions: int, lines: int | None) -> None:
    """Behind the end of a kernel there is nothing that a launch could want; None: as many as are prefetched."""
    hopper = load_machine("hopper").scaled(1)
    record, memories = hopper.record(), new_memory(hopper)
    sms = np.zeros(1, SM_DTYPE).view(np.recarray)
    begin_launch(record, memories, sms, 0, instructions)
    assert fetch_access(record, memories[0], sms[0], 0, 0) == FOREVER
    assert sms[0].ldst.l1i.mshrs_used == (lines if lines is not None else 1 + hopper.l1i.prefetched)
