"""The register file cache on kernels small enough to count by hand; the shadow checker watches every run."""

from __future__ import annotations

from typing import Any

import pytest

from support.timing_kernels import Guard, Kernel, add, barrier, exit_, load, op, p, setp, store
from warploom.base.errors import WarploomError
from warploom.chip.machines import load_machine
from warploom.chip.simulate import time_launches
from warploom.designs import parse_design, storage_bits
from warploom.designs.energy import RunFacts, account, load_technology

MACHINE = load_machine("rfc")


def run(body: list, *, registers: int = 16, **parameters: Any) -> dict[str, Any]:
    """Counters of one warp that executes a list of instructions, or of a kernel."""
    kernel = body if isinstance(body, Kernel) else Kernel([[*body, exit_()]], registers)
    words = {key: str(value).lower() for key, value in parameters.items()}
    design = parse_design(f"rfc({', '.join(f'{key}={value}' for key, value in words.items())})")
    counters = time_launches([kernel.launch()], design.policies, MACHINE, check=True).counters
    conserved(counters)
    return counters


def conserved(c: dict[str, Any]) -> None:
    """Every operand comes from one place, and every result goes to one."""
    assert c["rfc_hits"] + c["mrf_reads"] + c["forwarded_reads"] == c["rf_reads"]
    assert c["rfc_results"] + c["mrf_writes"] - c["writebacks"] == c["rf_writes"]
    assert c["upper_reads"] == c["rfc_hits"] and c["upper_writes"] == c["rfc_results"]
    assert c["bypasses"] + c["late_results"] + c["rfc_results"] == c["rf_writes"]
    assert c["bypasses"] == c["slow_bypasses"] + c["unread_bypasses"]
    assert c["write_backs"] == c["writebacks"] >= c["flush_writebacks"] + c["displaced_writebacks"]
    assert c["last_reads_wrong"] == 0


def mov(dst: int) -> Any:
    return op("mov", dst)


def wait(register: int) -> Any:
    """Nothing after it issues before the register's value is there."""
    return setp(0, register, register)


def keep(*registers: int) -> list:
    """Reads at the end, so that values are live until then."""
    return [store(register, register) for register in registers]


def test_a_result_is_read_from_the_cache() -> None:
    c = run([mov(1), mov(2), add(3, 1, 2), add(4, 3, 1), *keep(4)])
    assert c["rfc_hits"] == 6
    assert c["mrf_reads"] == c["mrf_writes"] == 0
    assert (c["mrf_read_reduction"], c["mrf_write_reduction"]) == (1, 1)


def test_what_was_never_written_here_comes_from_the_main_file() -> None:
    c = run([add(1, 2, 3), add(1, 1, 3), *keep(1)])
    assert (c["rfc_hits"], c["mrf_reads"]) == (3, 3)


@pytest.mark.parametrize(("entries", "hits", "writebacks"), [(3, 6, 0), (2, 4, 1)])
def test_the_entry_filled_first_makes_room(entries: int, hits: int, writebacks: int) -> None:
    c = run([mov(1), mov(2), wait(2), mov(3), wait(3), *keep(1)], entries=entries)
    assert (c["rfc_hits"], c["writebacks"]) == (hits, writebacks)


@pytest.mark.parametrize(("results", "hits"), [(6, 2), (7, 0)])
def test_entries_are_taken_in_program_order_and_not_when_results_arrive(results: int, hits: int) -> None:
    """R1 is read as soon as it is there, before those after it arrive; the seventh result has taken its entry at issue."""
    c = run([*(mov(register) for register in range(1, results + 1)), *keep(1), wait(results)], entries=6)
    assert c["rfc_hits"] == hits + 2
    assert c["late_results"] == c["mrf_writes"] == results - 6


def test_a_slow_result_that_is_needed_late_has_lost_its_entry() -> None:
    """The load was hoisted over seven results: in program order its own is the oldest, whenever it comes."""
    body = [load(3, 9), *(mov(register) for register in range(4, 11)), wait(3), *keep(3)]
    assert run(body, registers=12, bypass_slow=False)["rfc_hits"] == 0


@pytest.mark.parametrize(("replacement", "hits"), [("fifo", 6), ("lru", 8)])
def test_lru_keeps_what_was_read(replacement: str, hits: int) -> None:
    """R3 takes the place of R1, which was filled first, or of R2, which was used least recently."""
    c = run([mov(1), mov(2), wait(2), *keep(1), mov(3), wait(3), *keep(1)], entries=2, replacement=replacement)
    assert c["rfc_hits"] == hits


def test_a_register_that_is_written_again_is_young_again() -> None:
    """R1 is the first register to enter but holds the youngest value when R3 comes; R2 makes room."""
    c = run([mov(1), mov(2), wait(2), mov(1), wait(1), mov(3), wait(3), *keep(1)], entries=2)
    assert c["rfc_hits"] == 2 + 2 + 2 + 2


def test_a_dead_value_is_not_written_back() -> None:
    body = [mov(1), add(2, 1, 1), mov(3), mov(4), *keep(2, 3, 4)]
    with_bit, without = run(body, entries=3), run(body, entries=3, last_use=False)
    assert (with_bit["writebacks"], without["writebacks"]) == (0, 1)
    assert with_bit["writebacks_elided"] > without["writebacks_elided"]
    assert with_bit["mrf_reads"] == without["mrf_reads"]  # only write-backs change


def test_sources_may_enter_too() -> None:
    body = [add(1, 9, 9), add(2, 9, 1), add(3, 9, 2), add(4, 9, 3), *keep(4)]
    results, sources = run(body), run(body, allocate="sources")
    assert (results["mrf_reads"], sources["mrf_reads"]) == (5, 2)
    assert sources["rfc_fills"] == 1
    assert sources["writebacks"] == 0  # a copy of what the main file has


def suspending(*after: Any) -> list:
    """R1 and R2 are made, a load is waited for, then what comes after; R7 lets the others arrive before."""
    return [mov(1), mov(2), mov(7), wait(7), load(3, 9), add(4, 3, 9), *after]


def test_suspension_flushes_what_is_live() -> None:
    c = run(suspending(*keep(1, 2, 4)))
    assert (c["suspensions"], c["flushes"], c["flush_writebacks"]) == (1, 1, 2)
    assert c["writebacks_elided"] >= 1  # R7 was read for the last time
    assert c["bypasses"] == 1  # the load's result
    c = run(suspending(*keep(1, 2, 4)), last_use=False)
    assert c["flush_writebacks"] == 3


def test_a_value_is_read_below_after_the_flush() -> None:
    c = run(suspending(add(5, 1, 4), *keep(5)))
    misses = c["mrf_reads"] + c["forwarded_reads"]
    assert misses == 1 + 2 + 1  # R9 of the load, R3 and R9 of the addition, R1


def test_results_of_slow_loads_go_to_the_main_file() -> None:
    """The load returns while a long chain keeps the warp active, so only the policy decides where its result goes."""
    body = [load(3, 9), *(add(1, 1, 9) for _ in range(80)), add(1, 1, 3), *keep(1)]
    assert run(body)["bypasses"] == 1
    assert run(body, bypass_slow=False)["bypasses"] == 0
    assert run(body, bypass_slow=False, entries=16)["rfc_hits"] == run(body, entries=16)["rfc_hits"] + 1


def test_values_not_read_before_the_suspension_can_bypass() -> None:
    body = suspending(*keep(1, 2, 4))
    plain, refined = run(body), run(body, bypass_unread=True)
    assert refined["bypasses"] == plain["bypasses"] + 2
    assert (plain["flush_writebacks"], refined["flush_writebacks"]) == (2, 0)
    assert plain["mrf_writes"] == refined["mrf_writes"]
    assert refined["rfc_writes"] == plain["rfc_writes"] - 2


def test_values_not_read_before_the_suspension_can_make_room_first() -> None:
    """Of R1 and R2 only R1 is read before the suspension; FIFO would throw it out for R5."""
    body = [mov(1), mov(2), mov(5), wait(5), add(6, 1, 5), load(3, 9), add(4, 3, 9), *keep(2, 4, 6)]
    assert run(body, entries=2)["rfc_hits"] < run(body, entries=2, evict_first=True)["rfc_hits"]


def masked(body: list, masks: dict[int, int]) -> Kernel:
    return Kernel([[*body, exit_()]], 16, mask=lambda warp, pc, n: masks.get(pc, 0xFFFFFFFF))


def guarded(dst: int) -> Any:
    instruction = mov(dst)
    instruction.guard = Guard(p(0))
    return instruction


def test_a_partial_result_merges_into_the_entry_of_its_register() -> None:
    c = run(masked([setp(0, 9, 9), mov(1), guarded(1), *keep(1)], {2: 0xFF}))
    assert (c["partial_results"], c["rfc_incomplete"], c["mrf_writes"]) == (1, 0, 0)


def test_lanes_that_are_not_there_are_read_below() -> None:
    """R1 falls out, then some of its lanes come back; reading others has them written down, where the whole register is then."""
    body = [setp(0, 9, 9), mov(1), mov(2), mov(3), guarded(1), wait(1), *keep(1)]
    c = run(masked(body, {4: 0xFF, 5: 0x0F}), entries=2)
    assert (c["partial_results"], c["rfc_incomplete"]) == (1, 1)
    assert c["rfc_hits"] == 2  # of the instruction whose lanes are there
    assert c["mrf_writes"] == 3  # R1 as a whole, R2 to make room, the lanes of R1 that were written


def test_a_partial_result_whose_rest_nobody_needs_is_cached() -> None:
    body = [mov(1), add(2, 1, 1), *keep(2)]
    c = run(masked(body, dict.fromkeys(range(4), 0xFFFF)))
    assert c["partial_results"] == c["rfc_incomplete"] == c["mrf_writes"] == 0


def test_only_active_warps_own_entries() -> None:
    """Thirty-two warps, two active: what is cached never exceeds what two warps may own, so the rest goes below."""
    kernel = Kernel([[*suspending(add(5, 4, 1), add(6, 5, 2)), *keep(6), exit_()]], 16, warps_per_cta=8, ctas=4)
    c = run(kernel, active=2)
    assert c["suspensions"] >= 32
    assert c["flush_writebacks"] >= 32


def test_a_warp_that_gives_way_at_a_barrier_is_counted_apart() -> None:
    """Two of four warps are active: each gives way once to one that is ready, before the barrier or behind it."""
    c = run(Kernel([[mov(1), wait(1), barrier(), add(2, 1, 1), *keep(2), exit_()]], 8, warps_per_cta=4), active=2)
    assert (c["displaced"], c["displaced_flushes"], c["displaced_writebacks"]) == (4, 4, 4)
    assert c["suspensions"] == c["flushes"] == c["flush_writebacks"] == 0


def test_every_scheduler_has_active_warps_and_a_cache_of_its_own() -> None:
    """Eight active warps of each of two schedulers: twice the storage, and every access costs that of a cache for eight."""
    common, design = load_machine("gtx480"), parse_design("rfc")
    assert storage_bits(design, common) == 2 * storage_bits(parse_design("rfc(each=sm)"), common)
    kernel = Kernel([[mov(1), add(2, 1, 1), *keep(2), exit_()]], 8, warps_per_cta=16)
    result = time_launches([kernel.launch()], design.policies, common.scaled(1), check=True)
    assert result.counters["late_results"] == 0  # all sixteen are active at once
    table = load_technology("common")
    run = RunFacts(result.cycles, 1e-9, 1, 131072, design.policies, common)
    terms = {term.what: term.joules for term in account(result.counters, design.policies, table, run).added}
    assert terms["register cache writes"] == pytest.approx(result.counters["rfc_writes"] * 8 * table.register_cache[8, 6][1])


def test_more_warps_share_the_file_without_mixing_values() -> None:
    """All warps use the same names; the checker would see a value of another warp."""
    body = [add(1 + n % 7, 1 + (n + 3) % 7, 1 + (n + 5) % 7) for n in range(60)]
    for entries in (2, 4, 6):
        c = run(Kernel([[*body, *keep(1, 2, 3), exit_()]], 8, warps_per_cta=8, ctas=8), entries=entries)
        assert c["ctas"] == 8 and c["rfc_hits"] > 0


def test_too_large_a_flush_is_refused() -> None:
    with pytest.raises(WarploomError, match=r"could flush 208 values at once.*holds 128"):
        parse_design("rfc(active=16, entries=13)")
    parse_design("hierarchy=rfc(entries=16)")  # without suspensions nothing is flushed


def test_storage_is_that_of_the_active_warps() -> None:
    assert storage_bits(parse_design("rfc"), MACHINE) - 8 * 6 == 8 * 6 * (1024 + 32 + 9)
    assert storage_bits(parse_design("hierarchy=rfc(entries=6)"), MACHINE) == 32 * 6 * (1024 + 32 + 9)
