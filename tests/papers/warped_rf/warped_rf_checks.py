"""Checks of tri-modal registers and active-mask gating on the core as plain Python; `test_warped_rf.py` runs them apart.

Without compilation any combination of policies, and policies broken on purpose, cost nothing but a second of simulation.
"""

from __future__ import annotations

import os
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from support.timing_kernels import Kernel, add, barrier, branch, exit_, fma, load, op, setp, store
from warploom.base.errors import SimulationError
from warploom.chip.machines import Machine, load_machine
from warploom.chip.result import TimingResult
from warploom.chip.simulate import Simulation
from warploom.designs import parse_design
from warploom.papers.warped_rf.trimodal import Trimodal

assert os.environ.get("NUMBA_DISABLE_JIT") == "1"

MACHINE = load_machine("warped-rf").scaled(1)
NARROW = load_machine("compression").scaled(1)  # a register lies in eight banks, four lanes in each
CACHED = load_machine("rfc")
COMMON = load_machine("gtx480").scaled(1)
STATES = ("on_cycles", "drowsy_cycles", "off_cycles")

BLOCKS = [
    [op("mov", 0), op("mov", 3), op("mov", 5), load(1, 0), add(2, 1, 1)],
    [add(2, 2, 1), fma(4, 2, 2, 1), setp(0, 4, 2), branch(1, 0)],
    [store(3, 2), barrier(), load(4, 5, "shared"), fma(6, 4, 2, 1), op("sin", 7, 6), store(3, 7), exit_()],
]


def path(warp: int) -> list[int]:
    return [*range(5), *([5, 6, 7, 8] * (2 + warp % 3)), *range(9, 16)]


def some_lanes(warp: int, pc: int, n: int) -> int:
    return 0xFFFFFFFF if (warp + pc + n) % 3 else 0x00FF00FF


LOOP = Kernel(BLOCKS, 8, warps_per_cta=2, ctas=2, path=path, mask=some_lanes, value=0)  # value 0: the lanes are all equal


class Watched(Simulation):
    """Sees what is left of the states at the end of a launch."""

    def _add(self, code: Any, trace: Any, fits: Any, sms: np.ndarray, drained: Any) -> None:
        parts = self.machine.warp_registers * 128 // self.machine.register_file.entry_bytes
        assert sms["state_entries"].tolist() == [[0, 0, parts]] * len(sms)  # nothing is resident, so all is off
        assert not sms["power"]["users"].any() and not sms["power"]["early"].any()
        super()._add(code, trace, fits, sms, drained)


def timed(kernel: Kernel, design: str, machine: Machine = MACHINE, launches: int = 1, naive: bool = False) -> TimingResult:
    simulation = Watched(parse_design(design).policies, machine, check=True, naive=naive)
    for _ in range(launches):
        simulation.launch(*kernel.launch())
    result = simulation.result()
    assert sum(result.counters[state] for state in STATES) == result.counters["entry_cycles"]
    return result


def straight(*body: Any, registers: int = 4, **options: Any) -> Kernel:
    return Kernel([[*body, exit_()]], registers, **options)


def chain(length: int, **options: Any) -> Kernel:
    return straight(*(add(1, 1, 2) for _ in range(length)), **options)


def timed_always_on(kernel: Kernel, machine: Machine = MACHINE) -> TimingResult:
    simulation = Simulation(parse_design("baseline").policies, machine, check=True)
    simulation.launch(*kernel.launch())
    return simulation.result()


@pytest.mark.parametrize("wakeup", [0, 1, 2, 3, 7])
def test_all_but_the_first_cycle_delay_the_read(wakeup: int) -> None:
    """Ten additions, each of which needs the one before."""
    result = timed(chain(10), f"power=trimodal(wakeup={wakeup})")
    late = max(0, wakeup - 1)
    assert result.cycles == timed_always_on(chain(10)).cycles + 10 * late
    assert result.counters["wakeup_stall_cycles"] == 2 * 10 * late  # two sources each
    assert result.counters["wakeups"] == 2 * 10  # the source that is also the destination is woken once for both


@pytest.mark.parametrize("wakeup", [1, 2, 3, 7])
def test_an_access_keeps_its_entry_on_as_long_as_it_takes(wakeup: int) -> None:
    """Sources from the assignment of a collector to their read, the destination for the eight cycles to its write as well."""
    counters = timed(straight(add(1, 2, 3)), f"power=trimodal(wakeup={wakeup})").counters
    assert counters["on_cycles"] == 2 * wakeup + (wakeup + 8)
    assert counters["wakeups"] == 3


def test_sources_go_back_to_drowsy_one_by_one() -> None:
    """R18 lies in the bank of R2, so that it is read a cycle later; R2 does not wait for it, but the destination does."""
    apart, together, same = (
        timed(straight(add(1, 2, other), registers=20), "power=trimodal(wakeup=1)").counters for other in (3, 18, 2)
    )
    assert together["on_cycles"] == apart["on_cycles"] + 2
    assert same["on_cycles"] == apart["on_cycles"] + 1  # one entry, on for two reads
    assert (apart["wakeups"], together["wakeups"], same["wakeups"]) == (3, 3, 2)


def test_registers_are_off_before_a_cta_comes_and_after_it_has_gone() -> None:
    """The warp that ends early keeps its registers until the other one of its CTA has ended."""
    uneven = chain(40, warps_per_cta=2, path=lambda warp: [*range(1 if warp == 0 else 40), 40])
    result = timed(uneven, "power=trimodal")
    held = result.counters["on_cycles"] + result.counters["drowsy_cycles"]
    assert held == result.counters["allocated_cycles"] == 2 * 4 * (result.cycles - 1)  # off again in the last cycle


MANY = straight(*(add(4 + number, 2, 3) for number in range(8)), registers=12, warps_per_cta=12)


@pytest.mark.parametrize("scheduler", ["lrr", "two-level(active=48, inner=round-robin)"])
def test_look_ahead_hides_as_many_cycles_as_it_says(scheduler: str) -> None:
    """Twelve warps, always ready: all but the first turns are known beforehand."""
    stalls = [
        timed(MANY, f"scheduler={scheduler} + power=trimodal(wakeup=4, lookahead={ahead})").counters["wakeup_stall_cycles"]
        for ahead in range(5)
    ]
    hidden = [before - after for before, after in pairwise(stalls)]
    reads, first = 2 * 12 * 8, 2 * 12  # the first instruction of a warp becomes ready when its turn has come
    assert stalls[0] == 3 * reads
    assert all(reads - first - 2 <= one <= reads - 20 for one in hidden[:3])
    assert stalls[3:] == [3 * first] * 2  # nothing else is left to hide


def test_look_ahead_helps_only_where_the_scheduler_knows_the_next_warp() -> None:
    without, ahead = (timed(MANY, f"scheduler=gto + power=trimodal(lookahead={number})") for number in (0, 2))
    assert (without.cycles, without.counters) == (ahead.cycles, ahead.counters)


def test_only_active_lanes_switch() -> None:
    masks = (0xFFFFFFFF, 0x1, 0x00FF00FF)
    kernel = straight(add(1, 2, 3), add(1, 2, 3), add(1, 2, 3), mask=lambda warp, pc, n: masks[pc % 3])
    wide, narrow = (timed(kernel, "power=trimodal + gating=active-mask", machine).counters for machine in (MACHINE, NARROW))
    assert wide["lanes_accessed"] == 3 * (32 + 1 + 16)  # two sources and a destination
    assert narrow["lanes_accessed"] == 3 * (32 + 4 + 16)
    assert narrow["bank_accesses"] == 3 * (8 + 1 + 4)
    for counters in (wide, narrow):
        assert counters["lanes_accessed"] + counters["lanes_gated"] == 32 * 9
        assert counters["rf_write_lanes"] * 2 == counters["rf_read_lanes"]


COMBINED = {
    "alone": (MACHINE, "warped-rf(lookahead=2) + scheduler=lrr"),
    "narrow banks": (NARROW, "warped-rf"),
    "renaming": (MACHINE, "warped-rf + allocation=hardware-renaming"),
    "perfect renaming": (MACHINE, "warped-rf(lookahead=1) + scheduler=lrr + allocation=oracle"),
    "cache": (CACHED, "rfc + power=trimodal(lookahead=2) + gating=active-mask"),
    "compression": (NARROW, "warped-rf + encoding=bdi"),
    "all": (NARROW, "rfc + power=trimodal(lookahead=3) + gating=active-mask + encoding=bdi + allocation=hardware-renaming"),
}


@pytest.mark.parametrize("name", COMBINED)
def test_states_add_up_in_combination(name: str) -> None:
    """Two launches; stepping every cycle gives the same. A mapped entry is on or drowsy, a freed one off."""
    machine, design = COMBINED[name]
    fast, naive = (timed(LOOP, design, machine, launches=2, naive=naive) for naive in (False, True))
    assert (fast.cycles, fast.counters, fast.samples) == (naive.cycles, naive.counters, naive.samples)
    counters = fast.counters
    held = counters["on_cycles"] + counters["drowsy_cycles"]
    if "bdi" in design:
        assert held < counters["allocated_cycles"]  # bank entries without data are off
    else:
        assert held == counters["allocated_cycles"]
    assert 0 < counters["on_cycles"] < counters["drowsy_cycles"]


def test_a_freed_entry_is_off() -> None:
    """Renaming gives an entry back before its warp exits."""
    kept, freed = (timed(LOOP, f"power=trimodal + allocation={name}").counters for name in ("static", "oracle"))
    assert freed["drowsy_cycles"] < kept["drowsy_cycles"] / 2
    assert freed["off_cycles"] > kept["off_cycles"]


class ReadsAsleep(Trimodal):
    """Sends reads to the bank at once, whether their entry has woken up or not."""

    NAME = "reads-asleep"

    def prepare_read(policy, ctx: Any, sm: Any, cycle: int, entry: int) -> int:
        Trimodal.prepare_read(policy, ctx, sm, cycle, entry)
        return cycle


class WritesAsleep(Trimodal):
    """Does not wake destinations."""

    NAME = "writes-asleep"

    def prepare_write(policy, ctx: Any, sm: Any, cycle: int, entry: int) -> None:
        pass


@pytest.mark.parametrize("wrong", [ReadsAsleep(), WritesAsleep()], ids=lambda wrong: wrong.NAME)
def test_the_checker_notices_an_access_before_the_entry_is_awake(wrong: Any) -> None:
    design = parse_design("baseline").policies._replace(power=wrong)
    with pytest.raises(SimulationError) as error:
        Simulation(design, MACHINE, check=True).launch(*straight(add(1, 2, 3)).launch())
    register = "R[23]" if isinstance(wrong, ReadsAsleep) else "R1"
    assert re.search(rf"register {register}, cycle \d+, instruction 0: .*before it has woken up", str(error.value))


def test_registers_that_wake_hold_their_collector_and_in_stages_in_front_of_it_they_do_not() -> None:
    """Twenty-four warps load from shared memory, for which there are two collectors: held, they are scarce."""
    loads = straight(*(load(1 + number % 3, 0, "shared") for number in range(12)), warps_per_cta=24)
    always = timed_always_on(loads, COMMON).cycles
    held, ahead = (timed(loads, f"power=trimodal(hold={where})", COMMON).cycles for where in ("collector", "stages"))
    assert held > 1.3 * always
    assert always < ahead < 1.1 * always


@pytest.mark.parametrize("hold", ["collector", "stages"])
@pytest.mark.parametrize("wakeup", [0, 1])
def test_registers_that_wake_in_no_time_cost_no_cycle(hold: str, wakeup: int) -> None:
    design = f"power=trimodal(wakeup={wakeup}, hold={hold}) + gating=active-mask"
    for kernel in (LOOP, straight(*(load(1 + number % 3, 0, "shared") for number in range(12)), warps_per_cta=24)):
        assert timed(kernel, design, COMMON).cycles == timed_always_on(kernel, COMMON).cycles
