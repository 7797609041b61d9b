"""What Hopper's memory has and Fermi's has not: L2 in two halves, joined reads, atomics by sector, pauses in shared memory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.memory_driver import ATOMIC, BASE, CONST, LOAD, SHARED, STORE, TEXTURE, VOLATILE, Stream, run
from warploom.chip.machines import Machine, load_machine
from warploom.chip.memory import ABOUT_SHIFT
from warploom.chip.memory.state import CONST_BASE
from warploom.emulator.trace.format import FILTERED

ON_ONE_WORD = [1 << lane for lane in range(32)]  # each in its turn
LINES = 1536  # in blocks of two, as many as the hash exchanges: 16 blocks for each channel of the two halves


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("hopper")


def _past_l1(machine: Machine) -> int:
    """A volatile load of a sector that the SM's half of L2 has."""
    return machine.l1.latency + 1 + 2 * machine.interconnect.latency + machine.l2.latency + machine.l2.reply_latency + 1


def test_each_half_keeps_copies_of_the_other_halfs_lines(machine: Machine) -> None:
    stream = Stream()
    for _ in range(2):
        for number in range(LINES):
            stream.add([BASE + 4 * number], flags=LOAD | VOLATILE, alone=True)
    latencies = run(machine, stream, warm=(BASE, 4 * LINES)).latencies
    near, far = _past_l1(machine), _past_l1(machine) + machine.l2.far_cycles
    assert sorted(latencies[:LINES]) == [near] * (LINES // 2) + [far] * (LINES // 2)
    assert list(latencies[LINES:]) == [near] * LINES


def test_a_store_takes_copies_away(machine: Machine) -> None:
    stream = Stream()
    for number in range(LINES):
        for flags in (LOAD | VOLATILE, STORE, LOAD | VOLATILE, LOAD | VOLATILE):
            stream.add([BASE + 4 * number], flags=flags, warp=number % 32, alone=True, at=700 * len(stream.rows))
    latencies = run(machine, stream, warm=(BASE, 4 * LINES)).latencies.reshape(LINES, 4)
    assert (latencies[:, 0] == latencies[:, 2]).all() and (latencies[:, 3] == _past_l1(machine)).all()
    assert (latencies[:, 2] > latencies[:, 3]).sum() == LINES // 2


def test_lanes_of_an_atomic_that_meet_in_a_sector_travel_together(machine: Machine) -> None:
    stream = Stream().add([BASE, BASE + 4], flags=ATOMIC, lanes=[0xFF, 0x1], alone=True)
    outcome = run(machine, stream, warm=(BASE, 8))
    assert outcome.counters["l2_atomic_accesses"] == 2
    outcome = run(machine, Stream().add([BASE] * 32, flags=ATOMIC, lanes=ON_ONE_WORD), warm=(BASE, 8))
    assert outcome.counters["l2_atomic_accesses"] == 32


def test_atomics_on_one_word_keep_their_slice_busy(machine: Machine) -> None:
    """As many warps as the chip has SMs, all lanes on one word: some one and a half cycles a lane."""
    streams = [Stream().add([BASE] * 32, flags=ATOMIC, lanes=ON_ONE_WORD) for _ in range(8)]
    first, last = (max(run(machine, *some, warm=(BASE, 4)).latencies) for some in (streams[:1], streams))
    assert last - first == pytest.approx(7 * 48, abs=machine.l2.far_cycles)


def test_an_atomic_without_a_result_needs_no_slot(machine: Machine) -> None:
    """It is acknowledged as a store is: as long after as the answer of one with a result."""
    one, other = (
        run(machine, Stream().add([BASE], flags=flags, lanes=[1]), warm=(BASE, 8)) for flags in (ATOMIC, ATOMIC | STORE)
    )
    assert one.latencies[0] == other.latencies[0]


def test_stores_that_leave_bytes_of_a_sector_take_a_slice_longer(machine: Machine) -> None:
    def cycles(parts: int) -> int:
        streams = [Stream() for _ in range(32)]
        for stream in streams:
            for number in range(16):
                stream.add([BASE + 96 * 8 * number, BASE + 96 * 8 * number + 1], flags=STORE | parts << ABOUT_SHIFT)
        unjoined = replace(machine.interconnect, groups=0, mask_cycles=0)
        return max(run(replace(machine, interconnect=unjoined), *streams).latencies)

    assert cycles(0) < cycles(1)


def test_lines_beyond_those_that_l2_may_keep_back_are_written_to_dram(machine: Machine) -> None:
    def written(dirty_ways: int) -> int:
        small = replace(machine, l2=replace(machine.l2, sets=1, ways=4, dirty_ways=dirty_ways))
        stream = Stream()
        for number in range(96 * 4 * 4):
            stream.line(number, flags=STORE)
        return run(small, stream).counters["dram_writes"]

    assert written(64) == written(4) < written(2) < written(1)


def test_a_packet_that_waits_for_its_port_holds_up_none_behind_it(machine: Machine) -> None:
    """One SM asks every slice for lines, and its port takes their replies one by one; those to others need not wait."""
    greedy = Stream()
    for number in range(256):
        greedy.line(number, flags=LOAD | VOLATILE)
    streams = [greedy, *(Stream().line(number, flags=LOAD | VOLATILE, at=40) for number in range(15))]
    joining = replace(machine.interconnect, groups=0)
    held, free = (
        run(replace(machine, interconnect=replace(joining, buffered=buffered)), *streams, warm=(BASE, 1024))
        for buffered in (False, True)
    )
    assert sum(free.latencies) < sum(held.latencies)


def test_an_sm_takes_a_reply_a_cycle(machine: Machine) -> None:
    """Slices send lines in three cycles each; to an SM they come one a cycle, as `flight.load_32.lines.32w.l2` has it."""
    stream = Stream()
    for number in range(256):
        stream.line(number, flags=LOAD | VOLATILE)
    narrow = replace(machine, interconnect=replace(machine.interconnect, taken_cycles=0))
    wide, slow = (run(one, stream, warm=(BASE, 1024)).last for one in (machine, narrow))
    assert slow > 3 * 256 and wide < 3 * 256


def test_passes_of_one_sub_core_leave_room_for_others(machine: Machine) -> None:
    """32 passes take one sub-core 64 cycles, and two of them together no longer."""
    alone = run(machine, Stream().add([0], space=SHARED, count=32)).latencies[0]
    assert alone == machine.shared.latency + 63 - 1
    same = run(machine, Stream().add([0], space=SHARED, count=32).add([0], space=SHARED, count=32, warp=4))
    other = run(machine, Stream().add([0], space=SHARED, count=32).add([0], space=SHARED, count=32, warp=1))
    assert same.last - alone == 64
    assert other.last - alone == 32


def test_code_and_constants_are_told_apart(machine: Machine) -> None:
    outcome = run(machine, Stream().line(0).line(1))
    assert outcome.counters["l2_accesses"] == 8 and outcome.counters["l2_code_accesses"] == 0


def _at_once(machine: Machine, *sms: int) -> tuple[int, int]:
    """Sectors that L2 sees and those that were joined before, when these SMs read one line that it has."""
    streams = [Stream().line(0) if number in sms else Stream() for number in range(max(sms) + 1)]
    counters = run(machine, *streams, warm=(BASE, 4)).counters
    return counters["l2_accesses"], counters["l2_joined"]


def test_reads_of_one_group_of_sms_are_joined(machine: Machine) -> None:
    groups, joined = machine.interconnect.groups, machine.interconnect.joined
    assert _at_once(machine, 0, groups) == (4, 4)
    assert _at_once(machine, 0, 1) == (8, 0)  # of two groups
    assert _at_once(machine, *(groups * number for number in range(joined + 1))) == (8, 4 * (joined - 1))


def test_a_read_that_comes_later_is_not_joined(machine: Machine) -> None:
    groups = machine.interconnect.groups
    streams = [Stream().line(0, at=2000 if number else 0) for number in range(groups + 1)]
    assert run(machine, streams[0], *(Stream() for _ in range(groups - 1)), streams[groups]).counters["l2_joined"] == 0


def test_dram_is_read_in_pairs_of_sectors(machine: Machine) -> None:
    counters = run(machine, Stream().add([BASE]).add([BASE + 6], alone=True).add([BASE + 7], alone=True)).counters
    assert counters["l2_misses"] == 2 and counters["dram_reads"] == 4


def test_a_bank_that_is_refreshed_lets_loads_wait(machine: Machine) -> None:
    """Single loads at any time, each from a row of its own: one in twenty waits, none longer than a refresh takes."""
    stream, rows = Stream(), (1 << machine.dram.row_bit) * machine.dram.channels // 128
    for number in range(2000):
        stream.line(number * (rows + 1), flags=LOAD | VOLATILE, alone=True, at=2011 * number)
    without = replace(machine, dram=replace(machine.dram, rfc=0))
    waits = run(machine, stream).latencies - run(without, stream).latencies
    ratio = machine.chip.clock_core_mhz / machine.chip.clock_dram_mhz
    assert waits.max() <= machine.dram.rfc * ratio + 1
    assert 0.8 < (waits > 0).mean() / (machine.dram.rfc / machine.dram.refi) < 1.2


def test_no_stride_meets_only_a_few_channels(machine: Machine) -> None:
    stream = Stream()
    for number in range(machine.dram.channels):
        stream.line(number * machine.dram.channels * machine.dram.interleave_bytes // 128)
    used = (run(machine, stream).memory["channel"]["reads"] > 0).sum()
    assert used > machine.dram.channels // 3


def test_a_load_waits_once_for_sectors_that_come_together(machine: Machine) -> None:
    """Sectors 0 and 2 come with one miss register, 1 with another: no register has more who wait than it has room for."""
    stream = Stream().add([BASE, BASE + 2]).add([BASE + 1])
    for _ in range(3 * machine.l1.merged):
        stream.add([BASE, BASE + 1, BASE + 2])
    outcome = run(machine, stream)
    assert (outcome.ops[0]["done"] > 0).all()
    assert (outcome.sms["ldst"]["l1"]["miss"]["count"] <= machine.l1.merged).all()


def test_stores_to_the_same_sectors_leave_together(machine: Machine) -> None:
    """Those that wait for the way out, as four words of a record do that are stored one by one."""
    stream = Stream()
    for _ in range(4):
        for number in range(8):
            stream.line(number, flags=STORE)
    outcome = run(machine, stream)
    assert 32 <= outcome.counters["l2_write_accesses"] < 4 * 32
    assert (outcome.ops[0]["done"] > 0).all()


BOTH = [BASE, BASE + 1]


@pytest.mark.parametrize(
    ("earlier", "flags", "later", "at", "leaving"),
    [
        (BOTH, STORE, BOTH, 0, 2),
        (BOTH, STORE, [BASE + 1], 0, 2),  # a part of what leaves anyway
        ([BASE + 1], STORE, BOTH, 0, 1 + 2),  # sector 0 would be missing
        (BOTH, STORE, [BASE + 4, BASE + 5], 0, 2 + 2),  # the next line
        (BOTH, LOAD | VOLATILE, BOTH, 0, 2),  # what reads them takes nothing along
        (BOTH, STORE, BOTH, 2000, 2 + 2),  # the earlier one has left
    ],
)
def test_a_store_joins_one_that_writes_its_sectors_too(
    machine: Machine, earlier: list[int], flags: int, later: list[int], at: int, leaving: int
) -> None:
    """Behind four lines that keep the way out busy; `leaving` are the sectors of both stores that L2 is to write."""
    stream = Stream()
    for number in range(10, 14):
        stream.line(number, flags=STORE)
    stream.add(earlier, flags=flags).add(later, flags=STORE, at=at)
    alone = replace(machine, interconnect=replace(machine.interconnect, groups=0))
    assert run(alone, stream).counters["l2_write_accesses"] == 4 * 4 + leaving


def test_stores_of_one_group_of_sms_join_as_far_as_reads_do(machine: Machine) -> None:
    groups, joined = machine.interconnect.groups, machine.interconnect.joined
    storing = {groups * number for number in range(joined + 1)}
    streams = [Stream().line(0, flags=STORE) if number in storing else Stream() for number in range(groups * joined + 1)]
    counters = run(machine, *streams, warm=(BASE, 4)).counters
    assert (counters["l2_write_accesses"], counters["l2_joined"]) == (8, 4 * (joined - 1))


TEXELS = {"narrow": (0, 8), "four words": (3, 16), "a filtered word": (FILTERED, 8), "four filtered words": (FILTERED | 3, 32)}


@pytest.mark.parametrize("texels", TEXELS)
@pytest.mark.parametrize("sectors", [[BASE], [BASE, BASE + 64, BASE + 128]])
def test_texels_take_the_unit_longer_the_wider_they_are(machine: Machine, texels: str, sectors: list[int]) -> None:
    """Cycles of a whole warp, wherever its texels lie."""
    about, cycles = TEXELS[texels]
    stream = Stream()
    for alone in (True, True, False):  # the first brings the sectors
        flags = LOAD | about << ABOUT_SHIFT
        stream.add(sectors, flags=flags, space=TEXTURE, lanes=[0xFFFF_FFFF] * len(sectors), alone=alone)
    _, second, third = run(machine, stream).ops[0]["done"]
    assert third - second == cycles


def test_a_line_of_constants_that_is_there_is_near(machine: Machine) -> None:
    stream = Stream().add([0], space=CONST).add([1], space=CONST, alone=True).add([2], space=CONST, alone=True)
    latencies = run(machine, stream, warm=(CONST_BASE, 2048)).latencies
    assert latencies[1] == machine.l1c.latency  # of the same 64 bytes
    assert latencies[2] == machine.l1c.latency + machine.l1c.behind_latency  # of the same 128


@pytest.mark.parametrize("addresses", [1, 2, 8, 32])
@pytest.mark.parametrize("lines", [1, 2])
def test_addresses_of_constants_follow_each_other(machine: Machine, addresses: int, lines: int) -> None:
    """Eleven cycles apart for one warp, two for many (`constant.lanes.*`), however many lines they are in."""
    sectors = [0, 2][: min(lines, addresses)]
    flags, lanes = LOAD | addresses - 1 << ABOUT_SHIFT, [0xFFFF_FFFF] * len(sectors)
    stream = Stream().add(sectors, space=CONST, flags=flags, lanes=lanes, alone=True)
    stream.add(sectors, space=CONST, flags=flags, lanes=lanes, alone=True)
    for warp in range(16):
        stream.add(sectors, space=CONST, flags=flags, lanes=lanes, warp=warp)
    outcome = run(machine, stream, warm=(CONST_BASE, 2048))
    done = outcome.ops[0]["done"]
    assert outcome.latencies[1] == machine.l1c.latency + 11 * (addresses - 1)
    assert done[-1] - done[-2] == pytest.approx(2 * addresses, abs=1)


def test_a_load_takes_passes_in_banks_and_in_tags(machine: Machine) -> None:
    """Two cycles a pass for one sub-core alone (`global.flood.32bit.stride8.1w`), as the trace says; lines go four at a time."""
    lines = [BASE + 4 * number for number in range(8)]
    stream = Stream().add(lines, alone=True)
    stream.add(lines, alone=True).add([BASE], alone=True).add([BASE], flags=LOAD | 7 << ABOUT_SHIFT, alone=True)
    _, tags, one, banks = run(machine, stream).latencies
    assert (tags - one, banks - one) == (2, 14)


@pytest.mark.parametrize(("parts", "cycles"), [(0, 4), (1, 5)])
def test_a_store_takes_a_cycle_for_each_sector_and_one_for_its_mask(machine: Machine, parts: int, cycles: int) -> None:
    stream = Stream()
    for number in range(64):
        stream.line(number, flags=STORE | parts << ABOUT_SHIFT)
    done = run(machine, stream, warm=(BASE, 256)).sms["ldst"]["port_free"]
    assert max(done) == pytest.approx(64 * cycles, abs=40)
