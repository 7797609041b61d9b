"""Sub-cores without operand collectors: small kernels whose cycles follow by hand from control bits, banks and ports."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from support.controlled_kernels import LENGTH, MachineCode, controlled, leave
from support.timing_kernels import Access, chain, r
from warploom.base.errors import WarploomError
from warploom.chip.machines import Machine, load_machine
from warploom.chip.simulate import Simulation, TimingResult, time_launches
from warploom.compiler.code.instruction import (
    Address,
    Bank,
    Constant,
    Control,
    Guard,
    Imm,
    Instruction,
    Operation,
    Reg,
    Special,
)
from warploom.designs import design, parse_design


def load_shared(dst: int, base: int, **bits) -> Instruction:
    control = Control(2, False, 0, None, 0, (False,) * 3)._replace(**bits)
    return Instruction(Operation("LDS"), (r(dst),), (Address(r(base)),), control=control)


def run(body: list[Instruction], machine: Machine, named: str = "modern", **options) -> TimingResult:
    kernel = MachineCode([[*body, leave()]], 32, **options)
    return time_launches([kernel.launch()] * 2, parse_design(named).policies, machine, check=True)


def warm(body: list[Instruction], machine: Machine, named: str = "modern", **options) -> int:
    """Cycles of a second launch, whose code is in the SM's cache."""
    return run(body, machine, named, **options).launches[1].cycles


def more(body: list[Instruction], than: list[Instruction], machine: Machine, named: str = "modern", **options) -> int:
    """Cycles that one body takes more than another of the same length."""
    assert len(body) == len(than)
    return warm(body, machine, named, **options) - warm(than, machine, named, **options)


FREE = [controlled("FMUL", 8, 2, 3)] * LENGTH  # one operand in each bank: an instruction a cycle


def test_stall_counts_are_obeyed(hopper: Machine) -> None:
    """A chain of dependent FFMA: four cycles each, as its compiler says."""
    assert more([controlled("FFMA", 1, 1, 2, 3, stall=4)] * LENGTH, FREE, hopper) == pytest.approx(3 * LENGTH, abs=3)


def test_a_yielding_warp_leaves_one_cycle(hopper: Machine) -> None:
    assert more([controlled("FMUL", 8, 2, 3, yields=True)] * LENGTH, FREE, hopper) == LENGTH - 1


def test_operands_of_one_bank_cost_a_cycle_each(hopper: Machine) -> None:
    two = more([controlled("FMUL", 8, 2, 4)] * LENGTH, FREE, hopper)
    three = more([controlled("FFMA", 8, 2, 4, 6)] * LENGTH, FREE, hopper)
    assert abs(two - (LENGTH - 1)) <= 2  # what is still in the stages when the last one leaves
    assert abs(three - 2 * (LENGTH - 1)) <= 2


def test_the_reuse_cache_takes_the_conflict_away(hopper: Machine) -> None:
    kept = [controlled("FMUL", 8, 2, 4, reuse="A")] * LENGTH
    assert more(kept, FREE, hopper) <= 1
    assert abs(more(kept, FREE, hopper, "scheduler=cggty") - (LENGTH - 1)) <= 2  # the same code without the cache


def test_reuse_semantics_of_the_published_examples(hopper: Machine) -> None:
    """Listing 4 of Huerta et al.: when R2 is still there for the third instruction."""

    def hits(second: Instruction) -> int:
        body = [controlled("IADD3", 1, 2, 3, 4, reuse="A"), second, controlled("IADD3", 10, 2, 12, 13)]
        return run(body, hopper).counters["upper_reads"] // 2

    assert hits(controlled("FFMA", 5, 2, 7, 8)) == 1  # hits, and is gone
    assert hits(controlled("FFMA", 5, 2, 7, 8, reuse="A")) == 2  # hits, and is kept
    assert hits(controlled("FFMA", 5, 7, 2, 8)) == 1  # another operand misses; R7 is of the other bank
    assert hits(controlled("FFMA", 5, 4, 7, 8)) == 0  # R4 of the same bank and operand drives it out


class Watched(Simulation):
    """Sees at the end of a launch that each sub-core's reuse cache holds as many values as it says."""

    def _add(self, code: Any, trace: Any, fits: Any, sms: np.ndarray, drained: Any) -> dict[str, Any]:
        cache, cores, places = sms["hierarchy"][0], self.machine.sm.sub_cores, 2 * 3  # banks and operands of a sub-core
        held = np.bincount(np.flatnonzero(cache["warp"]) // places, minlength=cores)
        assert cache["entries"][:cores].tolist() == held.tolist()
        return super()._add(code, trace, fits, sms, drained)


@pytest.mark.parametrize("warps", [4, 64])
def test_a_new_warp_finds_nothing_of_the_one_before_it(hopper: Machine, warps: int) -> None:
    """Every warp leaves R4 behind in the reuse cache; the one that comes in its place reads R4 from the register file."""
    body = [controlled("FMUL", 8, 4, 3, stall=4), controlled("FMUL", 9, 4, 3, reuse="A", stall=4), leave()]
    simulation = Watched(parse_design("modern").policies, hopper, check=True)
    # So much shared memory lets one CTA be resident at a time.
    simulation.launch(*MachineCode([body], 16, warps_per_cta=warps, ctas=4, shared_bytes=200 << 10).launch())
    counters = simulation.result().counters
    assert (counters["reuse_fills"], counters["upper_reads"]) == (4 * warps, 0)


def test_a_cache_that_nobody_fills_changes_nothing(hopper: Machine) -> None:
    body = [controlled("FFMA", 1 + n % 7, 2 + n % 5, 3, 4 + n % 3) for n in range(LENGTH)]
    assert warm(body, hopper) == warm(body, hopper, "scheduler=cggty")


def test_enough_ports_know_no_conflicts() -> None:
    wide = load_machine("hopper", **{"register_file.read_ports": 4}).scaled(1)
    assert more([controlled("FFMA", 8, 2, 4, 6)] * LENGTH, FREE, wide) == 0
    assert run([controlled("FFMA", 8, 2, 4, 6)] * LENGTH, wide).counters["bank_conflicts"] == 0


def test_units_of_half_a_warp_take_two_cycles(hopper: Machine) -> None:
    assert more([controlled("IADD3", 8, 2, 3)] * LENGTH, FREE, hopper) == LENGTH - 1
    assert more([controlled("IMAD", 8, 2, 3)] * LENGTH, FREE, hopper) == LENGTH - 1
    mixed = [controlled("IMAD", 8, 2, 3), controlled("FMUL", 9, 2, 3)] * (LENGTH // 2)
    assert more(mixed, FREE, hopper) == 0


def test_a_register_that_is_named_often_is_read_once(hopper: Machine) -> None:
    """Microbenchmarks read.one_register and read.two_even_one_twice."""
    assert more([controlled("FFMA", 8, 2, 2, 2)] * LENGTH, FREE, hopper) == 0
    twice = more([controlled("FFMA", 8, 2, 2, 4)] * LENGTH, FREE, hopper)
    assert twice == more([controlled("FFMA", 8, 2, 3, 4)] * LENGTH, FREE, hopper) > 0


def test_products_of_64_bits_take_the_pipe_longer(hopper: Machine) -> None:
    """Microbenchmark issue.IMAD.WIDE.1w."""
    wide = Instruction(Operation("IMAD", modifiers=("WIDE",)), (r(8),), (r(2), r(3)), control=FREE[0].control)
    assert more([wide] * LENGTH, FREE, hopper) == 3 * (LENGTH - 1)


def test_factors_of_64_bits_are_read_twice(hopper: Machine) -> None:
    """Microbenchmarks read.wide_addend (5 cycles, not the four of the pipe), its stall5 (7) and read.wide_even_odd_pair (4)."""

    def each(first: int, second: int, stall: int) -> float:
        wide = Instruction(
            Operation("IMAD", modifiers=("WIDE",)),
            (Reg(8, Bank.D),),
            (r(first), r(second), Reg(6, Bank.D)),
            control=FREE[0].control._replace(stall=stall),
        )
        few, many = (warm([wide] * n, hopper) for n in (8, 24))
        return (many - few) / 16

    assert (each(2, 4, 1), each(2, 4, 5), each(2, 3, 1)) == (5, 7, 4)


@pytest.mark.parametrize("lanes", [0xFFFFFFFF, 0xFFFF])
def test_a_branch_costs_ten_cycles_wherever_it_goes(hopper: Machine, lanes: int) -> None:
    """Microbenchmarks branch.next.stall5 and branch.half.over4: to the next instruction, and where half of the lanes leave."""
    guard = None if lanes == 0xFFFFFFFF else Guard(Reg(0, Bank.P))
    go = Instruction(Operation("BRA"), guard=guard, target=0, control=FREE[0].control)

    def cycles(branches: int) -> int:
        body = [go, FREE[0]] * branches + FREE[: LENGTH - 2 * branches]
        return warm(body, hopper, mask=lambda warp, pc, n: lanes if pc % 2 == 1 and pc < 2 * branches else 0xFFFFFFFF)

    assert cycles(3) - cycles(1) == 2 * 9


@pytest.mark.parametrize(("warps", "apart"), [(1, 2), (2, 4), (4, 8)])
def test_sub_cores_share_units_for_special_registers_and_constants(hopper: Machine, warps: int, apart: int) -> None:
    """Microbenchmarks issue.S2R.*, issue.LDC.* and mix.S2R+LDC.*: one in two cycles of the SM, each in a unit of its own."""
    special = Instruction(Operation("S2R"), (r(8),), (Special("SR_TID.X"),), control=FREE[0].control)
    constant = Instruction(Operation("LDC"), (r(9),), (Constant(0, 0x210),), control=FREE[0].control)

    def each(*row: Instruction) -> float:
        few, many = (warm([*row] * n, hopper, warps_per_cta=warps) for n in (10, 20))
        return (many - few) / 10

    assert each(special) == each(constant) == each(special, constant) == apart


def test_half_precision_takes_both_halves_of_the_unit(hopper: Machine) -> None:
    """Microbenchmarks issue.HFMA2.1w, mix.HFMA2+FFMA.1w and mix.FFMA+HFMA2.MMA.1w."""
    both = controlled("HFMA2", 8, 2, 3)
    one = replace(both, op=Operation("HFMA2", modifiers=("MMA",)))
    assert more([both] * LENGTH, FREE, hopper) == LENGTH - 1
    assert more([both, FREE[0]] * (LENGTH // 2), FREE, hopper) == pytest.approx(LENGTH, abs=1)
    assert more([one, FREE[0]] * (LENGTH // 2), FREE, hopper) <= 4  # the last result comes after eight cycles, not four


def test_a_conflict_holds_up_the_stall_counts_of_other_warps(hopper: Machine) -> None:
    """Microbenchmarks steady.eee.stall6.8w (3 to 4 cycles each) and shared_bank.eeo.stall4.8w (2): they ask for all of a bank."""

    def each(stall: int, last: int) -> float:
        few, many = (warm([controlled("FFMA", 8, 2, 4, last, stall=stall)] * n, hopper, warps_per_cta=8) for n in (8, 24))
        return (many - few) / 32

    assert each(6, 6) == pytest.approx(4, abs=0.5)
    assert each(4, 3) == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize("warps", [1, 2, 8, 32])
def test_warps_leave_a_barrier_one_after_the_other(hopper: Machine, warps: int) -> None:
    """Microbenchmarks barrier.*: twelve cycles and two for each warp, where all arrive together."""
    meet = Instruction(Operation("BAR", modifiers=("SYNC",)), (), (Imm(0),), control=FREE[0].control)

    once, often = (warm([meet] * times, hopper, warps_per_cta=warps) for times in (1, 7))
    assert (often - once) / 6 == pytest.approx(12 + 2 * warps, abs=1)


def test_a_third_function_in_a_row_waits_for_the_first(hopper: Machine) -> None:
    """Microbenchmarks queue.MUFU.EX2.*: eleven cycles for the third of a row, seven for each behind it."""

    def cycles(row: int) -> int:
        others = [controlled("FMUL", 9, 3, 3)] * (LENGTH - row)  # of the other bank
        return warm([controlled("MUFU", 8, 2)] * row + others, hopper)

    alone = cycles(1)
    assert [cycles(row) - alone for row in (2, 3, 4)] == [0, 11, 18]


def test_a_counter_holds_back_who_waits_for_it(hopper: Machine) -> None:
    """A chain of loads from shared memory takes what the machine file says from issue to issue."""
    waiting = [load_shared(1, 1, wait=1)] * 8
    free = [load_shared(1, 2)] * 8
    sub_core = hopper.sub_core
    each = 2 + sub_core.shared_read_cycles + hopper.shared.latency
    apart = max(sub_core.memory_interval, sub_core.shared_interval)
    took = more(waiting, free, hopper, access=lambda *_: Access(passes=1))
    assert took == pytest.approx(7 * (each - apart), abs=14)


def test_a_warp_waits_for_constants_that_it_looks_up(hopper: Machine) -> None:
    """ULDC holds no counter: it is issued when the line of 64 bytes that its register names is there."""
    looked_up = [
        Instruction(Operation("ULDC"), (r(8),), (Constant(3, 0, r(2)),), control=Control(2, False, None, None, 0, (False,) * 3))
    ] * 8
    one, several = (warm(looked_up, hopper, access=lambda _warp, pc, _n, step=step: Access([step * pc])) for step in (0, 2))
    assert several - one == pytest.approx(7 * (hopper.l1c.latency + hopper.l1c.first_cycles), abs=14)
    free = replace(hopper, l1c=replace(hopper.l1c, latency=1, first_cycles=0))
    assert warm(looked_up, free, access=lambda _warp, pc, _n: Access([2 * pc])) < one


def test_a_scoreboard_in_place_of_control_bits() -> None:
    """The same chain without stall counts, and PTX, which has none."""
    machine = load_machine("hopper", **{"stages.dependences": "scoreboard"}).scaled(1)
    independent = [controlled("FMUL", 8 + n % 8, 2, 3) for n in range(LENGTH)]
    assert more([controlled("FFMA", 1, 1, 2, 3)] * LENGTH, independent, machine) == pytest.approx(3 * LENGTH, abs=3)
    apart, over = ([each for n in range(4) for each in (load_shared(8 + n, 2), controlled("FMUL", dst, 3, 5))] for dst in (7, 2))
    assert more(over, apart, machine, access=lambda *_: Access(passes=1)) > 4  # an address is overwritten after it has been read
    assert time_launches([chain(4).launch()], design("modern").policies, machine, check=True).warp_instructions == 5


@pytest.mark.parametrize("dependences", ["control_bits", "scoreboard"])
def test_skipping_changes_nothing(dependences: str) -> None:
    """The loop that jumps over idle cycles and the one that steps them all agree to the last counter."""
    machine = load_machine("hopper", **{"stages.dependences": dependences}).scaled(1)
    body = [
        load_shared(1, 2),
        controlled("FFMA", 3, 1, 1, 5, wait=1, stall=4, reuse="A"),
        controlled("MUFU", 6, 3, write_barrier=1),
    ]
    body += [controlled("IMAD", 7, 6, 3, 6, wait=2), controlled("FMUL", 2, 4, 6, stall=5)]
    kernel = MachineCode([[*body * 3, leave()]], 32, warps_per_cta=6, ctas=3, access=lambda *_: Access(passes=2))
    policies = parse_design("modern").policies
    fast, naive = (time_launches([kernel.launch()] * 2, policies, machine, check=True, naive=each) for each in (False, True))
    assert (fast.counters, fast.cycles) == (naive.counters, naive.cycles)
    assert fast.counters["forwarded_reads"] > 0  # R1 is two operands of one instruction
    assert fast.counters["rf_reads"] == sum(fast.counters[name] for name in ("mrf_reads", "upper_reads", "forwarded_reads"))


def test_code_without_control_bits_is_refused(hopper: Machine) -> None:
    with pytest.raises(WarploomError, match="PTX has none; run it with `--code sm_90`"):
        time_launches([chain(4).launch()], design("modern").policies, hopper)


@pytest.mark.parametrize("name", ["rfc", "compression", "bow", "ltrf"])
def test_designs_without_a_meaning_are_refused(hopper: Machine, name: str) -> None:
    with pytest.raises(WarploomError, match="cannot run on machine hopper: "):
        run(FREE, hopper, name)


@pytest.mark.parametrize("name", ["modern + rfv", "modern + regmutex", "modern + warped-rf"])
def test_designs_that_keep_their_meaning_run_checked(hopper: Machine, name: str) -> None:
    body = [controlled("FFMA", 1 + n % 7, 1 + (n + 3) % 7, 8, 9, stall=4) for n in range(24)]
    assert run(body, hopper, name).warp_instructions == 2 * 25
