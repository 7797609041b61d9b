"""Registers shared between warps at run time: sections, pairs, owners; always under the shadow checker."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from support.timing_kernels import Kernel, add, barrier, exit_, load, store
from warploom.base.errors import WarploomError
from warploom.base.records import dtype_of
from warploom.chip.checker import NoChecker
from warploom.chip.machines import load_machine
from warploom.chip.simulate import time_launches
from warploom.chip.sm.bits import has
from warploom.chip.sm.dtypes import sm_dtype
from warploom.compiler.code.instruction import Instruction
from warploom.designs import parse_design, storage_bits
from warploom.papers.regmutex import acquire_regions
from warploom.papers.regmutex.base_set import with_base_set
from warploom.papers.regmutex.sections import Notes

MACHINE = load_machine("regmutex").scaled(1)
ACQUIRE, RELEASE = Instruction(acquire_regions.ACQUIRE), Instruction(acquire_regions.RELEASE)


def design(text: str):
    return parse_design(text).policies


def run(kernel: Kernel, base: int, text: str = "regmutex"):
    code = kernel.code()
    code = with_base_set(code, base, code.registers)
    return time_launches([(code, kernel.trace())], design(text), MACHINE, check=True)


def sharing(base: int, extended: int, inside: int = 40, body: list[Instruction] | None = None, **options) -> Kernel:
    """Warps that work for a while on their last register between an acquire and a release."""
    last = base + extended - 1
    held = [add(last, 0, 1), *(add(last, last, 1) for _ in range(inside)), add(0, last, 1)]
    blocks = [[add(0, 0, 0), add(1, 1, 1), *(body or [ACQUIRE, *held, RELEASE]), add(0, 0, 1), exit_()]]
    return Kernel(blocks, base + extended, **({"warps_per_cta": 8, "ctas": 12} | options))


def test_sections_limit_how_many_hold_at_once() -> None:
    """48 warps of 20 registers leave room for one section of 33, two of 32, eight of 8."""
    held = {}
    for extended, sections in ((33, 1), (32, 2), (8, 8)):
        result = run(sharing(20, extended), 20)
        counters = result.counters
        assert counters["sections"] == sections
        assert (counters["base_registers"], counters["extended_registers"]) == (20, extended)
        assert counters["acquires"] == counters["releases"] == 96
        assert counters["held_cycles"] <= sections * result.cycles
        assert counters["acquires_failed"] <= 96
        assert (counters["acquire_wait_cycles"] > 0) == (counters["acquires_failed"] > 0)
        held[sections] = result.cycles
    assert held[1] > 1.6 * held[2] > 1.6 * held[8]


def test_with_one_section_the_regions_follow_one_another() -> None:
    result = run(sharing(20, 33), 20)
    assert result.counters["held_cycles"] > 0.9 * (result.cycles - 500), "the section is hardly ever free"


def test_repeated_acquires_and_releases_have_no_effect() -> None:
    held = [ACQUIRE, ACQUIRE, add(22, 0, 1), ACQUIRE, add(0, 22, 1), RELEASE, RELEASE]
    counters = run(sharing(20, 8, body=held), 20).counters
    assert counters["acquires"] == counters["releases"] == 96


def test_a_warp_that_exits_gives_its_section_back() -> None:
    counters = run(sharing(20, 33, body=[ACQUIRE, add(22, 0, 1), add(0, 22, 1)]), 20).counters
    assert counters["acquires"] == counters["releases"] == 96


@pytest.mark.parametrize("text", ["regmutex", "regmutex-paired"])
def test_barriers_between_regions_do_not_deadlock(text: str) -> None:
    held = [ACQUIRE, add(22, 0, 1), load(23, 22), add(0, 23, 1), RELEASE]
    body = [*held, barrier(), *held, barrier(), *held]
    extended = 33 if text == "regmutex" else 8
    counters = run(sharing(20, extended, body=body), 20, text).counters
    assert counters["acquires"] == 3 * 96


def test_a_value_left_in_the_extended_set_is_found_lost() -> None:
    body = [ACQUIRE, add(22, 0, 1), RELEASE, ACQUIRE, add(0, 22, 1), RELEASE]
    with pytest.raises(WarploomError, match="R22"):
        run(sharing(20, 33, body=body), 20)


def test_an_extended_register_needs_an_acquire() -> None:
    with pytest.raises(WarploomError, match="no physical entry"):
        run(sharing(20, 8, body=[add(22, 0, 1)]), 20)


def test_results_under_way_keep_a_section_until_they_have_arrived() -> None:
    """A load into an extended register is still in flight at the release: the next holder must not find it overwritten."""
    body = [ACQUIRE, add(24, 0, 1), load(22, 24), RELEASE]
    counters = run(sharing(20, 33, body=body), 20).counters
    assert counters["acquires"] == 96


def test_code_that_was_not_split_runs_as_without_the_mechanism() -> None:
    kernel = sharing(20, 8, body=[add(22, 0, 1), store(0, 22)])
    static = time_launches([kernel.launch()], design("baseline"), MACHINE, check=True)
    for text in ("regmutex", "regmutex-paired"):
        shared = run(kernel, 0, text)
        assert shared.cycles == static.cycles
        assert shared.counters["extended_registers"] == shared.counters["acquires"] == 0
        assert shared.counters["base_registers"] == 28
        assert shared.counters["occupancy_before"] == shared.counters["occupancy_after"] == static.occupancy


def test_registers_lie_in_their_usual_banks_and_sections_are_taken_in_order() -> None:
    """48 warps of 18 registers and 26 sections of 6; the bank of a register is that of the machine's mapping."""
    info = SimpleNamespace(registers_per_warp=18, registers=24, entries=1024, warps_per_cta=8, cta_limit=6, groups=16)
    info.core_groups, info.row_words = info.groups, 1
    info.group_of_entry, info.row_of_entry = np.arange(1024) % 16, np.arange(1024) // 16
    machine = load_machine("gtx480").record()
    code = np.zeros(1, [("allocation", dtype_of(Notes))]).view(np.recarray)
    code[0].allocation.acquires = True
    for text in ("regmutex", "regmutex-paired"):
        policies = design(text)
        sm = np.zeros(1, sm_dtype(policies, False)).view(np.recarray)[0]
        sm.free_rows[:16, 0] = ~np.uint64(0)
        ctx = SimpleNamespace(info=info, machine=machine, design=policies, check=NoChecker(), code=code)
        policies.allocation.reset(ctx, sm, 0)
        assert sm.allocation.sections == (26 if text == "regmutex" else 24)
        for section, warp in enumerate((5, 47, 0)):
            policies.allocation.on_warp_launch(ctx, sm, 0, warp)
            assert policies.allocation.may_issue(ctx, sm, 0, warp, 0, 0)
            assert [sm.map[warp, x] % 16 for x in range(24)] == [(x + warp) % 16 for x in range(24)]
            taken = section if text == "regmutex" else warp // 2  # the first zero bit, or the pair's
            assert all(sm.allocation.section_of[sm.map[warp, x]] == 1 + taken for x in range(18, 24))
        if text == "regmutex":
            assert has(sm.allocation.taken, 26), "bits of sections that do not exist are set"
        else:
            assert not policies.allocation.may_issue(ctx, sm, 0, 4, 0, 0), "its partner holds the set"


def test_storage() -> None:
    machine = load_machine("regmutex")
    assert storage_bits(parse_design("regmutex"), machine) == 384
    assert storage_bits(parse_design("regmutex-paired"), machine) == 24


# Paired warps.


def test_a_pair_shares_one_extended_set() -> None:
    """2 x 20 + 2 registers a pair: all 48 warps; each pair's set is held by one warp at a time."""
    result = run(sharing(20, 2), 20, "regmutex-paired")
    counters = result.counters
    assert counters["sections"] == 24
    assert counters["acquires"] == counters["releases"] == 96
    assert counters["held_cycles"] <= 24 * result.cycles
    assert counters["occupancy_after"] == 1.0


def test_pairs_need_more_room_than_a_pool() -> None:
    """44 registers a pair: 46 warps, five CTAs of eight; the pool has room for all six."""
    paired = run(sharing(20, 8), 20, "regmutex-paired")
    pooled = run(sharing(20, 8), 20)
    assert (paired.ctas_per_sm, pooled.ctas_per_sm) == (5, 6)


def test_warps_without_a_partner_in_their_cta() -> None:
    """CTAs of three warps: pairs reach across CTAs, and the last warp may be alone."""
    counters = run(sharing(20, 8, warps_per_cta=3, ctas=40), 20, "regmutex-paired").counters
    assert counters["acquires"] == 120


# Owner warps.


def owners(body: list[Instruction], **options) -> Kernel:
    return Kernel([[add(0, 0, 0), *body, exit_()]], 40, **({"warps_per_cta": 8, "ctas": 12} | options))


def own(kernel: Kernel, threshold: float = 0.3):
    text = f"owf + allocation=owner-warp(threshold={threshold})"
    return time_launches([kernel.launch()], design(text), MACHINE, check=True)


def test_further_ctas_share_registers_above_the_threshold() -> None:
    """40 registers: three CTAs and 64 registers over; 0.2 of 40 lets a fourth in with 8 of its own."""
    work = [add(1, 0, 0) for _ in range(30)]
    alone, shared = own(owners(work), 0.5), own(owners(work), 0.2)
    assert (alone.ctas_per_sm, shared.ctas_per_sm) == (3, 4)
    assert shared.counters["acquires"] == 0, "nobody touched a shared register"
    assert shared.cycles < alone.cycles
    assert (shared.counters["base_registers"], shared.counters["extended_registers"]) == (8, 32)
    assert alone.counters["extended_registers"] == 0


def test_the_first_of_a_pair_keeps_the_registers_to_its_exit() -> None:
    work = [*(add(1, 0, 0) for _ in range(10)), add(30, 0, 1), *(add(30, 30, 1) for _ in range(60)), store(0, 30)]
    result = own(owners(work), 0.2)
    counters = result.counters
    assert counters["acquires"] == counters["releases"] > 0
    assert counters["acquires_failed"] > 0
    assert counters["held_cycles"] > 0


def test_barriers_under_owner_warps_do_not_deadlock() -> None:
    """Were warps to take registers regardless of their CTA, two CTAs could wait for each other at their barriers."""
    work = [load(1, 0), add(30, 1, 0), barrier(), load(2, 30), add(31, 2, 1), barrier(), store(0, 31)]
    late = Kernel(
        [[add(0, 0, 0), *work, exit_()]],
        40,
        warps_per_cta=8,
        ctas=24,
        access=lambda warp, pc, n: SimpleNamespace(sectors=range(64 * (warp * 7 % 13), 64 * (warp * 7 % 13) + 1), passes=1),
    )
    result = own(late, 0.2)
    assert result.counters["acquires"] == result.counters["releases"] > 0


def test_owner_warp_first_wants_owners() -> None:
    with pytest.raises(WarploomError, match="owner-warp"):
        parse_design("scheduler=owner-warp-first")


@pytest.mark.parametrize("base", [8, 12, 16])
@pytest.mark.parametrize("inside", [1, 40])
def test_with_a_section_for_every_warp_only_the_instructions_cost_time(base: int, inside: int) -> None:
    """The same code and the same warps under static allocation, to which an acquire and a release mean nothing."""
    kernel = sharing(base, 4, inside)
    shared = run(kernel, base)
    static = time_launches([kernel.launch()], design("baseline"), MACHINE, check=True)
    assert shared.counters["acquires_failed"] == 0
    assert shared.cycles == static.cycles
