"""Properties of whole runs: the way time is cut changes nothing, the same run twice is the same, nothing is lost."""

from __future__ import annotations

import numpy as np
import pytest

from support.memory_driver import ATOMIC, BASE, CONST, GLOBAL, LOAD, LOCAL, SHARED, STORE, TEXTURE, Outcome, Stream, run
from warploom.base.errors import WarploomError
from warploom.chip.machines import Machine, load_machine
from warploom.chip.memory import new_memory


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("gtx480")


def random_streams(seed: int, sms: int, length: int, footprint: int) -> list[Stream]:
    """A mixture of all kinds of accesses."""
    random = np.random.default_rng(seed)
    streams = []
    for _ in range(sms):
        stream, at = Stream(), 0
        for _ in range(length):
            at += int(random.integers(0, 12)) if random.random() < 0.97 else int(random.integers(100, 900))
            kind = random.random()
            options = {"at": at, "warp": int(random.integers(0, 48)), "alone": bool(random.random() < 0.02)}
            if kind < 0.15:
                stream.add([], space=SHARED, count=int(random.integers(1, 33)), **options)
                continue
            wanted = int(random.choice([1, 2, 4, 8, 32]))
            sectors = np.unique(random.integers(0, footprint, wanted))
            if kind < 0.5:
                stream.add(BASE + sectors, space=GLOBAL, flags=LOAD, **options)
            elif kind < 0.7:
                stream.add(BASE + sectors, space=GLOBAL, flags=STORE, **options)
            elif kind < 0.8:
                stream.add(sectors, space=LOCAL, flags=LOAD if random.random() < 0.5 else STORE, **options)
            elif kind < 0.86:
                stream.add(BASE + sectors[:4], space=GLOBAL, flags=ATOMIC, lanes=[0x11] * len(sectors[:4]), **options)
            elif kind < 0.93:
                stream.add(sectors % 4096, space=CONST, **options)
            else:
                stream.add(BASE + sectors, space=TEXTURE, **options)
        streams.append(stream)
    return streams


def same(first: Outcome, second: Outcome) -> None:
    assert first.counters == second.counters
    for one, other in zip(first.ops, second.ops, strict=True):
        np.testing.assert_array_equal(one["accepted"], other["accepted"])
        np.testing.assert_array_equal(one["done"], other["done"])


@pytest.mark.parametrize(("name", "seed"), [("gtx480", 0), ("gtx480", 1), ("gtx480", 2), ("gpgpusim-gtx480", 1)])
def test_neither_quantum_nor_skipping_changes_anything(name: str, seed: int) -> None:
    """The naive loop (every cycle, exchange after each) is the oracle."""
    machine = load_machine(name)
    streams = random_streams(seed, sms=4, length=300, footprint=1 << (10 + 4 * seed))
    oracle = run(machine, *streams, quantum=1, jump=False)
    same(oracle, run(machine, *streams, quantum=1, jump=True))
    same(oracle, run(machine, *streams, quantum=32, jump=True))
    same(oracle, run(machine, *streams, quantum=machine.memory_round_trip, jump=False))


def test_the_same_run_twice(machine: Machine) -> None:
    streams = random_streams(11, sms=15, length=200, footprint=1 << 16)
    same(run(machine, *streams), run(machine, *streams))


@pytest.mark.parametrize("name", ["gtx480", "gpgpusim-gtx480", "ampere-collectors", "hopper", "rfv", "rfc"])
def test_nothing_is_lost(name: str) -> None:
    """Every load is answered, every store acknowledged, every register and credit given back."""
    machine = load_machine(name)
    outcome = run(machine, *random_streams(3, sms=min(machine.chip.sms, 8), length=300, footprint=1 << 18))
    for part in outcome.ops:
        finished = part["done"][(part["space"] != SHARED) | (part["traits"] == LOAD)]
        assert (finished >= 0).all()
    ldst = outcome.sms["ldst"]
    for cache in ("l1", "l1c", "l1t"):
        assert (ldst[cache]["mshrs_used"] == 0).all()
    for field in ("stores_outstanding", "store_credits_used", "direct_outstanding", "reply_count", "outbox_count"):
        assert (ldst[field] == 0).all(), field
    assert (ldst["pending"] == 0).all()
    assert outcome.memory["in_flight"] == 0
    assert (outcome.memory["slice"]["mshrs_used"] == 0).all()
    assert (outcome.memory["line"]["pending"] == 0).all()


def test_counters_add_up(machine: Machine) -> None:
    counters = run(machine, *random_streams(5, sms=15, length=200, footprint=1 << 18)).counters
    assert counters["l1_accesses"] == counters["l1_hits"] + counters["l1_misses"] + counters["l1_pending_hits"]
    assert counters["l2_accesses"] == counters["l2_read_accesses"] + counters["l2_write_accesses"]
    assert counters["dram_reads"] == counters["l2_read_misses"]
    assert counters["dram_writes"] == counters["l2_write_backs"]
    assert counters["dram_row_hits"] + counters["dram_activations"] >= counters["dram_bursts"] // 4


def test_streaming_hits_rows_and_random_does_not(machine: Machine) -> None:
    def fraction(lines: np.ndarray) -> float:
        streams = []
        for sm in range(15):
            stream = Stream()
            for line in lines[sm::15]:
                stream.line(int(line))
            streams.append(stream)
        counters = run(machine, *streams).counters
        return counters["dram_row_hits"] / (counters["dram_row_hits"] + counters["dram_activations"])

    assert fraction(np.arange(3000)) > 0.6
    assert fraction(np.random.default_rng(1).permutation(1 << 20)[:3000]) < 0.1


def test_the_simple_memory_of_rfc() -> None:
    machine = load_machine("rfc")
    stream = Stream()
    for number in range(50):
        stream.line(number)
    outcome = run(machine, stream)
    assert outcome.latencies[0] == 400 + 4  # 128 bytes at 32 a cycle, then 400 cycles
    assert outcome.last - outcome.ops[0]["done"][0] == 49 * 4
    texture = run(machine, Stream().add([BASE], space=TEXTURE, lanes=[0xFFFFFFFF]))
    assert texture.latencies[0] == 400 + 8  # 32 lanes, four a cycle
    shared = run(machine, Stream().add([], space=SHARED, count=1).add([], space=SHARED, count=1))
    assert shared.ops[0]["accepted"][1] - shared.ops[0]["accepted"][0] == 4
    assert sum(outcome.counters[key] for key in ("l1_accesses", "l2_accesses", "dram_reads")) == 0


def test_fewer_sms_keep_their_share_of_bandwidth(machine: Machine) -> None:
    """A stream on 5 of 15 SMs with a third of the chip takes as long as 15 on all of it."""
    small = machine.scaled(5)
    times = {}
    for chip in (machine, small):
        streams = []
        for sm in range(chip.chip.sms):
            stream = Stream()
            for number in range(300):
                stream.line(number * chip.chip.sms + sm)
            streams.append(stream)
        times[chip.chip.sms] = run(chip, *streams).last
    assert times[5] == pytest.approx(times[15], rel=0.1)


def test_a_machine_with_too_much_under_way_is_refused() -> None:
    machine = load_machine("hopper", **{"l1c.mshrs": 256, "l1t.mshrs": 256, "l1i.mshrs": 256, "bulk.lines": 2048})
    with pytest.raises(WarploomError, match="store_credits"):
        new_memory(machine)
