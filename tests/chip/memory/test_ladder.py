"""Latency of each level and the bandwidth of each path, as the machine file implies them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from support.memory_driver import ATOMIC, BASE, CONST, LOAD, PARAM, SHARED, STORE, TEXTURE, Stream, run
from warploom.chip.machines import Machine, load_machine


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("gtx480")


def l2_hit(machine: Machine) -> int:
    """Unit to tags, one flit out, crossbar, tags, a line of four sectors back."""
    xbar = machine.interconnect
    packet = math.ceil((xbar.header_bytes + 128) / xbar.flit_bytes)
    return machine.l1.latency + 1 + 2 * xbar.latency + machine.l2.latency + machine.l2.reply_latency + packet


def dram_access(machine: Machine, commands: int) -> int:
    """What DRAM adds to an L2 hit when the column commands and data take `commands` cycles of its clock."""
    return machine.dram.latency + math.ceil(commands * machine.chip.clock_core_mhz / machine.chip.clock_dram_mhz)


def line_bursts(machine: Machine) -> int:
    return 4 if machine.compatibility.sectors_travel_alone else 2


def test_l1_hit(machine: Machine) -> None:
    stream = Stream().line(0, alone=True).line(0, alone=True).line(0, alone=True)
    assert list(run(machine, stream).latencies[1:]) == [machine.l1.latency] * 2


def test_l2_hit(machine: Machine) -> None:
    stream = Stream()
    for number in range(20):
        stream.line(number, alone=True)
    outcome = run(machine, stream, warm=(BASE, 80))
    assert list(outcome.latencies) == [l2_hit(machine)] * 20
    assert outcome.counters["l2_misses"] == 0
    assert outcome.counters["l2_accesses"] == 80


@pytest.mark.parametrize("name", ["gtx480", "gpgpusim-gtx480"])
def test_dram_closed_row(name: str) -> None:
    machine = load_machine(name)
    dram = machine.dram
    outcome = run(machine, Stream().line(0))
    commands = dram.rcd + (line_bursts(machine) - 1) * dram.ccdl + dram.cl + dram.burst_cycles
    assert outcome.latencies[0] == l2_hit(machine) + dram_access(machine, commands)
    assert outcome.counters["dram_bursts"] == line_bursts(machine)
    assert outcome.counters["dram_reads"] == 4


def test_dram_open_row_saves_the_activation(machine: Machine) -> None:
    outcome = run(machine, Stream().line(0, alone=True).line(1, alone=True))
    dram = machine.dram
    commands = (line_bursts(machine) - 1) * dram.ccdl + dram.cl + dram.burst_cycles
    assert outcome.latencies[1] == l2_hit(machine) + dram_access(machine, commands)
    assert outcome.counters["dram_row_hits"] == 1


def test_dram_other_row_pays_precharge_and_activation(machine: Machine) -> None:
    dram = machine.dram
    other_row = (1 << dram.row_bit) * dram.channels // 128  # same channel, bank and slice
    outcome = run(machine, Stream().line(0, alone=True).line(other_row, alone=True))
    commands = dram.rp + dram.rcd + (line_bursts(machine) - 1) * dram.ccdl + dram.cl + dram.burst_cycles
    assert outcome.latencies[1] == l2_hit(machine) + dram_access(machine, commands)
    assert outcome.counters["dram_activations"] == 2


def test_constant_and_parameter_hits(machine: Machine) -> None:
    for space in (CONST, PARAM):
        stream = Stream().add([0], space=space, alone=True).add([1], space=space, alone=True).add([0], space=space, alone=True)
        outcome = run(machine, stream)
        assert list(outcome.latencies[1:]) == [machine.l1c.latency] * 2  # both sectors lie in one line of 64 bytes
        assert outcome.counters["l1c_misses"] == 1
        assert outcome.counters["l2_accesses"] == 2


def test_texture_goes_through_its_own_cache(machine: Machine) -> None:
    outcome = run(machine, Stream().line(3, space=TEXTURE, alone=True).line(3, space=TEXTURE, alone=True).line(3, alone=True))
    assert outcome.latencies[1] == machine.l1t.latency
    assert (outcome.counters["l1t_misses"], outcome.counters["l1_misses"]) == (1, 1)


@pytest.mark.parametrize("degree", [1, 2, 7, 32])
def test_shared_memory_conflicts(machine: Machine, degree: int) -> None:
    stream = Stream()
    for _ in range(10):
        stream.add([], space=SHARED, count=degree)
    outcome = run(machine, stream)
    assert outcome.latencies[0] == machine.shared.latency + degree - 1
    assert list(np.diff(outcome.ops[0]["accepted"])) == [degree] * 9
    assert outcome.counters["shared_conflict_passes"] == 10 * (degree - 1)


@pytest.mark.parametrize("lines", [1, 2, 8, 32])
def test_stride_sets_the_number_of_transactions(machine: Machine, lines: int) -> None:
    sectors = [BASE + 4 * k for k in range(lines)] if lines > 1 else [BASE, BASE + 1, BASE + 2, BASE + 3]
    stream = Stream().add(sectors, alone=True).add(sectors, alone=True).line(500, alone=True)
    outcome = run(machine, stream, warm=(BASE, 4 * 40))
    assert outcome.counters["global_transactions"] == 2 * lines + 1
    assert outcome.latencies[1] == machine.l1.latency + lines - 1  # one access a cycle


def test_l1_throughput_is_one_line_a_cycle(machine: Machine) -> None:
    stream = Stream().line(0, alone=True)
    for index in range(200):
        stream.line(0, alone=index == 0)
    outcome = run(machine, stream)
    assert outcome.ops[0]["done"][200] - outcome.ops[0]["done"][1] == 199


def test_l2_bandwidth_of_one_sm_is_its_port(machine: Machine) -> None:
    """A line takes four flits at the SM's port out of the crossbar."""
    stream = Stream()
    for number in range(1000):
        stream.line(number)
    outcome = run(machine, stream, warm=(BASE, 4000))
    per_line = (outcome.last - outcome.ops[0]["done"][0]) / 999
    assert outcome.counters["l2_misses"] == 0
    assert per_line == pytest.approx(4, rel=0.03)


@pytest.mark.parametrize(("name", "later"), [("gtx480", 0), ("gpgpusim-gtx480", 3)])
def test_lines_of_two_slices_to_one_sm(name: str, later: int) -> None:
    """A line in one packet goes through at once; sectors that travel alone take turns with those of the other line."""
    machine = load_machine(name)
    outcome = run(machine, Stream().line(0).line(2), warm=(BASE, 12))
    done = outcome.ops[0]["done"] - outcome.ops[0]["accepted"][0]
    assert list(done) == [l2_hit(machine) + later, l2_hit(machine) + 4]


def test_l2_bandwidth_of_the_chip(machine: Machine) -> None:
    """Slices could hand out one sector each a cycle; one queue at each input loses about four tenths (Karol et al., 1987)."""
    streams = []
    for sm in range(15):
        stream = Stream()
        for number in range(300):
            stream.line((number * 15 + sm) % 4800)
        streams.append(stream)
    outcome = run(machine, *streams, warm=(BASE, 4 * 4800))
    bound = 4 * 15 * 300 / machine.l2.slices
    assert 0.55 <= bound / (outcome.last - l2_hit(machine)) <= 0.75


@pytest.mark.parametrize("name", ["gtx480", "gpgpusim-gtx480"])
def test_dram_bandwidth_ceiling(name: str) -> None:
    """Streaming is bound by the data bus: bursts x their cycles / channels, and comes near it."""
    machine = load_machine(name)
    streams = []
    for sm in range(15):
        stream = Stream()
        for number in range(400):
            stream.line(number * 15 + sm)
        streams.append(stream)
    outcome = run(machine, *streams)
    dram = machine.dram
    clock = machine.chip.clock_core_mhz / machine.chip.clock_dram_mhz
    bound = 6000 * line_bursts(machine) * dram.burst_cycles * clock / dram.channels
    assert bound <= outcome.last <= 1.35 * bound + 400
    assert outcome.counters["dram_bursts"] == 6000 * line_bursts(machine)


def test_store_bandwidth_is_the_port_into_the_crossbar(machine: Machine) -> None:
    """Four flits a line; acknowledged by L2 without a read from DRAM."""
    stream = Stream()
    for number in range(400):
        stream.line(number, flags=STORE)
    outcome = run(machine, stream)
    assert outcome.last == pytest.approx(4 * 400, rel=0.25)
    assert outcome.counters["dram_reads"] == 0
    assert outcome.counters["l2_write_accesses"] == 1600


@pytest.mark.parametrize(("name", "transactions"), [("gtx480", 32 + 2 + 8), ("gpgpusim-gtx480", 1 + 2 + 1)])
def test_atomics_on_different_words_of_a_sector(name: str, transactions: int) -> None:
    """A record has lanes on different words; the second sector has two lanes on one word, so it has two records."""
    stream = Stream().add([BASE, BASE + 1, BASE + 1, BASE + 5], flags=ATOMIC, lanes=[0xFFFFFFFF, 1, 2, 0xFF], alone=True)
    assert run(load_machine(name), stream, warm=(BASE, 8)).counters["l2_atomic_accesses"] == transactions


def test_atomics_are_one_transaction_per_lane(machine: Machine) -> None:
    stream = Stream().add([BASE, BASE + 4], flags=ATOMIC, lanes=[0xFFFF, 0x1], alone=True)
    outcome = run(machine, stream, warm=(BASE, 8))
    assert outcome.counters["l2_atomic_accesses"] == 17
    assert outcome.counters["l1_accesses"] == 0
    one = run(machine, Stream().add([BASE], flags=ATOMIC, lanes=[1]), warm=(BASE, 4)).latencies[0]
    assert outcome.latencies[0] == one + 16
    assert one == 1 + 1 + 2 * machine.interconnect.latency + machine.l2.latency + machine.l2.reply_latency + 1


def test_an_access_without_lanes_is_done_at_once(machine: Machine) -> None:
    outcome = run(machine, Stream().add([], count=0, flags=LOAD).line(0, alone=True))
    assert outcome.latencies[0] <= 1
    assert outcome.counters["l1_accesses"] == 1
