"""Checks of register compression on the core as plain Python; `test_compression.py` runs them in a process of their own.

Without compilation any combination of policies, and policies broken on purpose, cost nothing but a second of simulation.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

from support.timing_kernels import Kernel, add, barrier, branch, exit_, fma, load, op, setp, store
from warploom.base.errors import SimulationError
from warploom.chip.machines import load_machine
from warploom.chip.result import TimingResult
from warploom.chip.simulate import time_launches
from warploom.chip.sm import Policies, baseline_policies, make_policy
from warploom.papers.compression.bdi import Bdi

assert os.environ.get("NUMBA_DISABLE_JIT") == "1"

FULL, HALF = 0xFFFFFFFF, 0x0000FFFF
NO_EIGHT = 4 << 2
SAME, BYTE, SHORT, RANDOM = 0, 1 | NO_EIGHT | 1 << 8, 2 | NO_EIGHT | 2 << 8, 3 | NO_EIGHT | 3 << 8
BANKS = {SAME: 1, BYTE: 3, SHORT: 5, RANDOM: 8}
MACHINE = load_machine("compression").scaled(1)


def with_values(kernel: Kernel, values: Sequence[int]) -> tuple[Any, Any]:
    """A launch in which these are the classes of what is written, one after the other, going round."""
    code, trace = kernel.launch()
    both = [value | value << 16 for value in values]
    return code, replace(trace, value=np.resize(np.array(both, np.uint32), len(trace.value)))


def design(encoding: Any = None, wakeup: int = 0, **others: Any) -> Policies:
    gating = make_policy("power", "bank-gating", wakeup=wakeup)
    return baseline_policies()._replace(encoding=Bdi() if encoding is None else encoding, power=gating, **others)


def timed(launch: Any, point: Policies) -> TimingResult:
    return time_launches([launch], point, MACHINE, check=True)


def straight(*instructions: Any, mask: Callable[[int], int] = lambda pc: FULL, **options: Any) -> Kernel:
    return Kernel([[*instructions, exit_()]], 8, mask=lambda warp, pc, n: mask(pc), **options)


@pytest.mark.parametrize("value", BANKS)
def test_accesses_touch_the_banks_that_hold_the_value(value: int) -> None:
    launch = with_values(straight(add(1, 2, 2), add(3, 1, 1)), [value, RANDOM])
    counters = timed(launch, design()).counters
    assert counters["bank_writes"] == BANKS[value] + 8
    assert counters["bank_reads"] == 2 * 8 + 2 * BANKS[value]  # R2 was never written
    assert counters["rf_write_lanes"] == 4 * counters["bank_writes"]
    assert counters["decompressor_activations"] == (0 if value == RANDOM else 2)
    assert counters["compressor_activations"] == 2  # what does not fit has been tried


@pytest.mark.parametrize("reader", [load(3, 1), add(3, 1, 1)])
def test_a_compressed_operand_is_there_later_by_its_decompression(reader: Any) -> None:
    """A memory instruction reaches its unit in the cycle in which its operands come, others in the next one."""
    waiting = [*(op("sin", 7, 7) for _ in range(8)), barrier()]  # R1 lies in its banks
    kernel = straight(add(1, 2, 2), *waiting, reader, add(4, 3, 3))
    compressed, plain = (
        timed(with_values(kernel, [value, *[RANDOM] * 20]), design(Bdi(decompression=3))).cycles for value in (SAME, RANDOM)
    )
    assert compressed - plain == 3


def test_a_register_counts_as_compressed_for_as_long_as_its_value_is() -> None:
    """R1 is written twice, and each of its values is compressed or is not."""
    waiting = [*(op("sin", 7, 7) for _ in range(8)), barrier()]
    kernel = straight(add(1, 2, 2), *waiting, add(1, 3, 3), *waiting, store(5, 6))
    found = {}
    for values in ((SAME, SAME), (SAME, RANDOM), (RANDOM, SAME), (RANDOM, RANDOM)):
        run = timed(with_values(kernel, [values[0], *[RANDOM] * 8, values[1], *[RANDOM] * 8]), design()).counters
        found[values] = run["compressed_registers_seen"]["non_divergent"], run["compressed_cycles"]
    assert found[RANDOM, RANDOM] == (0, 0)
    first, second = found[SAME, RANDOM], found[RANDOM, SAME]
    assert first[0] == len(waiting) and second[0] == len(waiting) + 2  # instructions that issue after each; the last is the exit
    assert 0 < first[1] < second[1]
    assert found[SAME, SAME] == (first[0] + second[0], first[1] + second[1])


def test_a_bank_is_read_and_written_in_one_cycle() -> None:
    """Table 2: a read port and a write port. Where they are one, the writes of eight warps hold up reads of their banks."""
    launch = with_values(
        straight(*(add(1 + n % 6, 1 + (n + 2) % 6, 1 + (n + 4) % 6) for n in range(24)), warps_per_cta=8), [SHORT]
    )
    shared_port = replace(MACHINE, register_file=replace(MACHINE.register_file, single_ported=True))
    ours, slower = (time_launches([launch], design(), machine, check=True) for machine in (MACHINE, shared_port))
    assert not MACHINE.register_file.single_ported
    assert (MACHINE.register_file.read_ports, MACHINE.register_file.write_ports) == (1, 1)
    assert ours.cycles < slower.cycles and ours.counters["bank_conflicts"] < slower.counters["bank_conflicts"]


def test_wide_banks_move_fewer_bits_too() -> None:
    launch = with_values(straight(add(1, 2, 2), add(3, 1, 1)), [SAME, RANDOM])
    counters = time_launches([launch], design(), load_machine("gtx480").scaled(1), check=True).counters
    assert counters["bank_writes"] == 2
    assert counters["rf_write_lanes"] == 4 + 32


EVERY_UNIT = Kernel(
    [
        [op("mov", 0), op("mov", 3), load(1, 0), load(2, 3, "shared"), fma(4, 1, 2, 0), op("sin", 5, 4), store(3, 5, "shared")],
        [load(6, 0, "shared"), add(4, 6, 4), load(1, 3), load(2, 0), fma(5, 1, 2, 4), setp(0, 5, 4), branch(1, 0)],
        [store(3, 5), store(0, 4), exit_()],
    ],
    8,
    warps_per_cta=6,
    path=lambda warp: [*range(7), *(list(range(7, 14)) * (2 + warp % 2)), *range(14, 17)],
)


@pytest.mark.parametrize("name", ["compression", "gtx480", "warped-rf"])
@pytest.mark.parametrize("power", ["bank-gating", "subarray-gating", "trimodal"])
def test_units_and_wake_ups_that_take_no_time_change_no_cycle(name: str, power: str) -> None:
    """Memory instructions start in the cycle in which they leave their collectors, others in the next."""
    machine = load_machine(name).scaled(1)
    launch = with_values(EVERY_UNIT, [SAME, BYTE, SHORT])
    instant = Bdi(compressors=16, compression=0, decompressors=16, decompression=0)
    point = baseline_policies()._replace(encoding=instant, power=make_policy("power", power, wakeup=0))
    encoded, plain = (time_launches([launch], one, machine, check=True) for one in (point, baseline_policies()))
    assert encoded.counters["decompressor_activations"] > 0
    assert encoded.cycles == plain.cycles


def test_a_warp_launched_with_half_its_lanes_has_not_diverged() -> None:
    code, trace = with_values(straight(add(1, 2, 2), add(1, 1, 2), add(1, 1, 1), mask=lambda pc: HALF), [SAME])
    some = timed((code, trace), design()).counters
    assert some["instructions"] == {"non_divergent": 0, "divergent": 4}
    small = timed((code, replace(trace, block=(16, 1, 1))), design()).counters
    assert small["instructions"] == {"non_divergent": 4, "divergent": 0}
    assert small["writes"] == {"non_divergent": 3, "divergent": 0}
    assert small["compressed_writes"]["<4,0>"] == 3 and small["bank_writes"] == 3
    assert small["moves"] == some["moves"] == 0
    fewer = replace(trace, block=(16, 1, 1), mask=np.full_like(trace.mask, 0x00FF))
    assert timed((code, fewer), design()).counters["instructions"]["divergent"] == 4


LINKS = 6


def chain_cycles(**parameters: Any) -> int:
    kernel = straight(*(add(1, 1, 2) for _ in range(LINKS)))
    return timed(with_values(kernel, [BYTE]), design(Bdi(**parameters))).cycles


def test_every_link_of_a_chain_takes_both_latencies() -> None:
    plain = chain_cycles(compression=0, decompression=0)
    assert chain_cycles(compression=5, decompression=0) == plain + 5 * LINKS
    assert chain_cycles(compression=0, decompression=7) == plain + 7 * (LINKS - 1)  # the first operand was never written
    assert chain_cycles() == plain + 2 * LINKS + (LINKS - 1)


def test_units_are_occupied_and_values_queue() -> None:
    kernel = straight(*(add(register, 0, 0) for register in range(1, 6)), warps_per_cta=4)
    launch = with_values(kernel, [BYTE])
    writes = launch[1].value.size
    slow = timed(launch, design(Bdi(compressors=1, compression=9, pipelined=False)))
    assert slow.counters["compressor_busy"] == 9 * writes
    assert slow.cycles > 9 * writes
    assert slow.counters["compressor_waits"] > 9 * writes
    fast = timed(launch, design(Bdi(compressors=1, compression=9)))
    assert fast.counters["compressor_activations"] == writes
    assert 9 + writes - 1 <= fast.counters["compressor_busy"] < slow.counters["compressor_busy"]
    assert fast.cycles < slow.cycles


def test_a_partial_write_decompresses_its_register_once() -> None:
    """Write R1, then twice some of its lanes: one MOV goes ahead of the first partial write."""
    launch = with_values(
        straight(add(1, 2, 2), add(1, 2, 2), add(1, 2, 2), mask=lambda pc: FULL if pc in (0, 3) else HALF), [BYTE, SAME, SAME]
    )
    result = timed(launch, design())
    counters = result.counters
    assert counters["dummy_movs"] == counters["moves"] == counters["unclassified_writes"] == 1
    assert counters["issued"] == result.warp_instructions + 1
    assert counters["bank_reads"] == 6 * 8 + 3  # the MOV reads the compressed register
    assert counters["bank_writes"] == 3 + 3 * 8
    assert counters["decompressor_activations"] == 1
    assert counters["uncompressed_writes"] == counters["uncompressed_writes_divergent"] == 2
    assert counters["expansions"] == 0


def test_a_partial_write_of_an_uncompressed_register_needs_no_mov() -> None:
    launch = with_values(straight(add(1, 2, 2), add(1, 2, 2), mask=lambda pc: FULL if pc != 1 else HALF), [RANDOM, SAME])
    assert timed(launch, design()).counters["moves"] == 0


def test_merging_reads_the_destination_and_compresses_again() -> None:
    launch = with_values(straight(add(1, 2, 2), add(1, 2, 2), mask=lambda pc: FULL if pc != 1 else HALF), [BYTE, SHORT])
    counters = timed(launch, design(Bdi(divergence="merge"))).counters
    assert counters["moves"] == 0
    assert counters["mrf_reads"] == counters["rf_reads"] + 1
    assert counters["bank_reads"] == 4 * 8 + 3
    assert counters["bank_writes"] == 3 + 5
    assert counters["compressor_activations"] == 2


def test_single_pairs_store_what_fits_them() -> None:
    kernel = straight(add(1, 2, 2), add(3, 2, 2), add(4, 2, 2))
    only = {pair: pair in ("b4d2",) for pair in ("b4d0", "b4d1", "b4d2")}
    counters = timed(with_values(kernel, [SAME, BYTE, RANDOM]), design(Bdi(**only))).counters
    assert counters["compressed_writes"]["<4,2>"] == 2
    assert counters["bank_writes"] == 5 + 5 + 8


def test_banks_without_data_are_gated() -> None:
    launch = with_values(straight(*(add(1, 2, 2) for _ in range(20))), [SAME])
    result = timed(launch, design(wakeup=10))
    gated = result.counters["bank_gated_cycles"]
    used = [bank for bank, cycles in enumerate(gated) if cycles < result.cycles]
    assert len(used) == 1 and used[0] % 8 == 0  # one bank, the lowest of its cluster
    assert result.counters["bank_wakeups"] == 1
    counters = result.counters
    weight = counters["entry_cycles"] // (32 * result.cycles)
    assert counters["off_cycles"] == weight * sum(gated)
    spread = timed(with_values(straight(add(1, 2, 2)), [RANDOM]), design(wakeup=10))
    assert spread.counters["bank_wakeups"] == 8


def test_an_access_to_a_gated_bank_waits() -> None:
    def cycles(wakeup: int) -> int:
        return timed(with_values(straight(add(1, 2, 2), add(1, 1, 1)), [SAME]), design(wakeup=wakeup)).cycles

    assert cycles(50) == cycles(10) + 40


BLOCKS = [
    [load(1, 0), add(2, 1, 1)],
    [add(2, 2, 1), fma(4, 2, 2, 1), setp(0, 4, 2), branch(1, 0)],
    [store(3, 2), barrier(), load(4, 5, "shared"), fma(6, 4, 2, 1), op("sin", 7, 6), store(3, 7), exit_()],
]


def _path(warp: int) -> list[int]:
    return [0, 1, *([2, 3, 4, 5] * (2 + warp % 3)), *range(6, 13)]


def _mask(warp: int, pc: int, n: int) -> int:
    return FULL if (warp + pc + n) % 3 else HALF


MIXED = with_values(
    Kernel(BLOCKS, 8, warps_per_cta=4, ctas=4, path=_path, mask=_mask), [SAME, BYTE, SHORT, RANDOM, BYTE, SAME, SAME]
)

COMBINATIONS = {
    "alone": {},
    "merge": {"encoding": Bdi(divergence="merge")},
    "register cache": {"scheduler": ("two-level", {"active": 2}), "hierarchy": ("rfc", {"entries": 3})},
    "register cache, merge": {
        "encoding": Bdi(divergence="merge"),
        "scheduler": ("two-level", {"active": 2}),
        "hierarchy": ("rfc", {"entries": 3}),
    },
    "freed entries": {"allocation": ("oracle", {})},
    "drowsy": {"power": ("trimodal", {}), "gating": ("active-mask", {})},
    "subarrays": {"power": ("subarray-gating", {}), "gating": ("active-mask", {})},
}


@pytest.mark.parametrize("name", COMBINATIONS)
def test_combinations_keep_every_value_and_every_count(name: str) -> None:
    chosen = {
        choice: what if choice == "encoding" else make_policy(choice, what[0], **what[1])
        for choice, what in COMBINATIONS[name].items()
    }
    point = design(wakeup=10)._replace(**chosen)
    fast, naive = (time_launches([MIXED, MIXED], point, MACHINE, check=True, naive=naive) for naive in (False, True))
    assert fast.counters == naive.counters
    counters = fast.counters
    classified = sum(counters["compressed_writes"].values()) + counters["uncompressed_writes"]
    assert classified + counters["unclassified_writes"] == counters["mrf_writes"]
    assert counters["unclassified_writes"] == counters["moves"]
    assert classified == sum(counters["writes"].values()) == sum(counters["best_of_nine"].values())
    for phase, bins in counters["distance_bins"].items():
        assert sum(bins.values()) == counters["writes"][phase]
    assert counters["on_cycles"] + counters["drowsy_cycles"] + counters["off_cycles"] >= counters["entry_cycles"]
    assert sum(counters["compressed_writes"].values()) > 0
    if name.startswith("register cache"):
        assert counters["write_backs"] > 0
    else:
        assert counters["expansions"] == 0
    if "merge" in name:
        assert counters["moves"] == 0
    if "bank_gated_cycles" in counters:
        assert sum(counters["bank_gated_cycles"]) * (counters["entry_cycles"] // (32 * fast.cycles)) == counters["off_cycles"]


def test_a_freed_entry_is_not_compressed_and_holds_no_bank() -> None:
    """After the first CTA has left, the second finds its registers uncompressed: its partial writes need no MOV."""
    kernel = straight(add(1, 2, 2), add(1, 1, 1), mask=lambda pc: FULL, ctas=2, warps_per_cta=48)
    code, trace = with_values(kernel, [BYTE])
    counters = timed((code, trace), design(wakeup=10)).counters
    assert counters["moves"] == 0
    second = np.arange(len(trace.mask)) >= len(trace.mask) // 2
    partial = replace(trace, mask=np.where(second, HALF, trace.mask).astype(np.uint32))
    assert timed((code, partial), design(wakeup=10)).counters["moves"] == 0


class NeverMoves(NamedTuple):
    """Compression that forgets what partial writes do to a compressed register."""

    CHOICE, NAME = "encoding", "never-moves"
    STATE = Bdi.STATE
    LIMITS = Bdi.LIMITS

    compression: int = 2

    def form_of(policy, ctx, sm, cycle, value, mask, whole):
        return 5 if whole else 0

    def stored_lanes(policy, form):
        return 12 if form else 32

    def recoverable(policy, form, value):
        return True


class EncodesLanes(NeverMoves):
    """Stores some lanes of a register in a form that holds a whole one."""

    NAME = "encodes-lanes"

    def form_of(policy, ctx, sm, cycle, value, mask, whole):
        return 0 if whole else 5


class AlwaysSame(NeverMoves):
    """Takes every register to hold the same value in all lanes."""

    NAME = "always-same"

    def form_of(policy, ctx, sm, cycle, value, mask, whole):
        return 2 if whole else 0

    def recoverable(policy, form, value):
        return Bdi().recoverable(form, value)


PARTIAL = with_values(straight(add(1, 2, 2), add(1, 2, 2), mask=lambda pc: FULL if pc != 1 else HALF), [BYTE, BYTE])


def test_a_partial_write_that_finds_a_compressed_register_reads_it_first() -> None:
    counters = timed(PARTIAL, design(NeverMoves())).counters
    assert counters["expansions"] == 1
    assert counters["bank_reads"] == 4 * 8 + 3
    assert counters["bank_writes"] == 3 + 8


LOSSES = [(EncodesLanes(), "other lanes are lost"), (AlwaysSame(), "cannot be read back")]


@pytest.mark.parametrize(("broken", "complaint"), LOSSES)
def test_the_checker_sees_values_that_are_lost(broken: Any, complaint: str) -> None:
    with pytest.raises(SimulationError) as error:
        timed(PARTIAL, design(broken))
    assert re.search(rf"register R1, cycle \d+, instruction \d.*{complaint}", str(error.value)), str(error.value)
