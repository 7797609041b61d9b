"""Checks of the core as plain Python (NUMBA_DISABLE_JIT=1); `test_plain_python.py` runs them in a process of their own.

Without compilation a small launch takes a second, so every policy can be broken on purpose here.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Annotated, NamedTuple

import pytest

from support.timing_kernels import Access, Kernel, add, barrier, branch, exit_, fma, load, op, setp, store
from warploom.base.errors import SimulationError
from warploom.base.records import Array, Record, i2
from warploom.chip.machines import load_machine
from warploom.chip.simulate import time_launches
from warploom.chip.sm import Policies, baseline_policies, make_policy
from warploom.chip.sm.services import allocate, find_free_anywhere, group_of, release
from warploom.designs.policies.allocation.oracle import Oracle
from warploom.designs.policies.allocation.static import Static
from warploom.papers.rfv.subarray_gating import SubarrayGating

assert os.environ.get("NUMBA_DISABLE_JIT") == "1"

BLOCKS = [
    [op("mov", 0), op("mov", 3), op("mov", 5), load(1, 0), add(2, 1, 1)],
    [add(2, 2, 1), fma(4, 2, 2, 1), setp(0, 4, 2), branch(1, 0)],
    [store(3, 2), barrier(), load(4, 5, "shared"), fma(6, 4, 2, 1), op("sin", 7, 6), store(3, 7), exit_()],
]


def _path(warp: int) -> list[int]:
    return [*range(5), *([5, 6, 7, 8] * (2 + warp % 3)), *range(9, 16)]


def _mask(warp: int, pc: int, n: int) -> int:
    return 0xFFFFFFFF if (warp + pc + n) % 3 else 0x00FF00FF


LOOP = Kernel(BLOCKS, 8, warps_per_cta=4, ctas=3, path=_path, mask=_mask).launch()
SHORT = Kernel([[add(1, 2, 3), add(4, 1, 1), fma(5, 4, 1, 1), add(1, 5, 5), add(2, 1, 4), exit_()]], 8).launch()


def _design(**names: str) -> Policies:
    return baseline_policies()._replace(**{choice: make_policy(choice, name) for choice, name in names.items()})


DESIGNS = [
    _design(),
    _design(scheduler="lrr", allocation="oracle", power="unallocated-off"),
    _design(scheduler="two-level", allocation="oracle", power="bank-gating"),
    _design(scheduler="two-level", power="subarray-gating"),
    _design(scheduler="gpgpusim-two-level"),
    _design(power="idle-drowsy"),
    _design(hierarchy="bow"),
]


MACHINES = ["gtx480", "rfc", "rfv", "compression", "gpgpusim-gtx480"]


@pytest.mark.parametrize(
    ("number", "machine"),
    [*enumerate(MACHINES), (0, "ampere-collectors"), (1, "gtx480"), (3, "gpgpusim-gtx480"), (5, "gtx480"), (6, "gtx480")],
)
def test_skipping_changes_nothing(number, machine) -> None:
    """The loop that jumps over idle cycles and the one that steps them all agree to the last counter, twice in a row."""
    chip, design = load_machine(machine).scaled(1), DESIGNS[number]
    fast, naive = (time_launches([LOOP, LOOP], design, chip, check=True, naive=naive) for naive in (False, True))
    assert fast.counters == naive.counters
    assert (fast.cycles, fast.samples) == (naive.cycles, naive.samples)
    counters = fast.counters
    assert counters["on_cycles"] + counters["drowsy_cycles"] + counters["off_cycles"] == counters["entry_cycles"]
    assert counters["rf_reads"] == counters["mrf_reads"] + counters["upper_reads"] + counters["forwarded_reads"]
    assert sum(counters["active_lanes"]) == counters["warp_instructions"] == 2 * LOOP[1].warp_instructions


@pytest.mark.parametrize(("shared_bytes", "hits"), [(0, 32), (8 << 10, 0)])
def test_where_they_are_one_memory_shared_memory_leaves_a_launch_less_data_cache(shared_bytes, hits):
    """32 lines of 128 bytes, read twice, in a cache of 10 KB."""
    chip = load_machine("gtx480").scaled(1)
    chip = replace(chip, l1=replace(chip.l1, sets=4, ways=20, hashed=False, unified=True))
    lines = Kernel(
        [[*(load(1, 2) for _ in range(64)), exit_()]],
        8,
        access=lambda warp, pc, n: Access(range(4 * (pc % 32), 4 * (pc % 32) + 4)),
        shared_bytes=shared_bytes,
    )
    assert time_launches([lines.launch()], _design(), chip, check=True).counters["l1_hits"] == hits


class ReleasesEarly(NamedTuple):
    """Gives a register up one instruction before its last read."""

    CHOICE, NAME = "allocation", "releases-early"
    STATE = Oracle.STATE
    map_write = Oracle.map_write

    def on_issue(policy, ctx, sm, cycle, warp, pc, index) -> None:
        if pc == 1:
            release(ctx, sm, cycle, warp, 1)


class MapsTwice(NamedTuple):
    """Gives one entry to two registers."""

    CHOICE, NAME = "allocation", "maps-twice"

    def on_warp_launch(policy, ctx, sm, cycle, warp) -> None:
        for register in range(ctx.info.registers_per_warp):
            allocate(ctx, sm, cycle, warp, register, find_free_anywhere(ctx, sm, group_of(ctx, warp, register)))
        allocate(ctx, sm, cycle, warp, 2, sm.map[warp, 1])


class SharesSilently(NamedTuple):
    """Maps two registers to one entry without telling anybody."""

    CHOICE, NAME = "allocation", "shares-silently"
    on_warp_launch = Static.on_warp_launch

    def map_write(policy, ctx, sm, cycle, warp, register, pc, index):
        return sm.map[warp, 4 if register == 5 else register]


class Tags(Record):
    tag: Annotated[Array[i2], 64]


class ForgetsToFlush(NamedTuple):
    """Keeps the last result of a warp in one place above, and overwrites it without writing it down."""

    CHOICE, NAME = "hierarchy", "forgets-to-flush"
    STATE = Tags

    def reset(policy, ctx, sm, cycle) -> None:
        sm.hierarchy.tag[:] = -1

    def lookup(policy, ctx, sm, cycle, warp, register, pc, operand):
        return warp if sm.hierarchy.tag[warp] == register else -1

    def on_result(policy, ctx, sm, cycle, warp, register, pc, index, mask):
        sm.hierarchy.tag[warp] = register
        return int(warp)


class SkipsWakeup(NamedTuple):
    """Subarray gating that lets results go to their bank before it has woken up."""

    CHOICE, NAME = "power", "skips-wakeup"
    LIMITS = SubarrayGating.LIMITS
    STATE = SubarrayGating.STATE
    wakeup: int = 200
    subarrays: int = 4
    reset, on_allocate, on_free, awake = (
        SubarrayGating.reset,
        SubarrayGating.on_allocate,
        SubarrayGating.on_free,
        SubarrayGating.awake,
    )


class NeverWakes(NamedTuple):
    """Holds every warp back and forgets it."""

    CHOICE, NAME = "allocation", "never-wakes"
    on_warp_launch = Static.on_warp_launch

    def may_issue(policy, ctx, sm, cycle, warp, pc, index):
        return pc != 3


BROKEN = [
    ("allocation", ReleasesEarly(), r"warp 0, register R1, cycle \d+, instruction 2: .*fma.*no physical entry"),
    ("allocation", MapsTwice(), r"warp 0, register R2, cycle \d+: it is given entry \d+, which is still held by warp .* R1"),
    ("allocation", SharesSilently(), r"register R\d, cycle \d+, instruction \d: .*(another owner|nobody)"),
    ("hierarchy", ForgetsToFlush(), r"register R1, cycle \d+, instruction 2: .*(version 0|nobody).*"),
    ("power", SkipsWakeup(), r"register R2, cycle \d+, instruction 0: .*before it has woken up"),
    (
        "allocation",
        NeverWakes(),
        r"deadlock at cycle \d+ .*SM 0 warp 0 waits held back by the allocation or the hierarchy, instruction 3: ",
    ),
]


@pytest.mark.parametrize(("choice", "policy", "complaint"), BROKEN, ids=[policy.NAME for _, policy, _ in BROKEN])
def test_the_checker_can_fail(choice: str, policy, complaint: str) -> None:
    design = baseline_policies()._replace(**{choice: policy})
    with pytest.raises(SimulationError) as error:
        time_launches([SHORT], design, load_machine("rfc").scaled(1), check=True)
    assert re.search(complaint, str(error.value)), str(error.value)
