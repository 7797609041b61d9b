"""Small kernels whose time follows from the machine file."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.timing_kernels import Access, Kernel, add, barrier, chain, exit_, fma, load, op, store
from warploom.chip.machines import Machine, load_machine
from warploom.chip.simulate import time_launches
from warploom.chip.sm import baseline_policies
from warploom.compiler.code.instruction import Instruction, Operation
from warploom.designs import parse_design

STAGES = 6  # issue to collector, read, dispatch, unit, result bus, write-back: what a dependent instruction waits besides latency


def _cycles(kernel: Kernel, machine: Machine) -> int:
    return time_launches([kernel.launch()], baseline_policies(), machine, check=True).cycles


@pytest.fixture(scope="module")
def fermi() -> Machine:
    return load_machine("gtx480").scaled(1)


def _warm(kernel: Kernel, machine: Machine) -> int:
    """Cycles of a second launch, with its code in the cache."""
    return time_launches([kernel.launch()] * 2, baseline_policies(), machine, check=True).launches[1].cycles


def _slope(body: list, machine: Machine, **options) -> float:
    """Cycles that one repetition of some instructions adds, code in the cache."""
    short, long = (Kernel([body * n + [exit_()]], 16, **options) for n in (4, 8))
    return (_warm(long, machine) - _warm(short, machine)) / 4


@pytest.mark.parametrize(("name", "latency"), [("add", "f32_add"), ("mul", "f32_mul"), ("fma", "f32_mad"), ("sin", "sfu")])
def test_a_dependent_instruction_waits_for_latency(fermi, name: str, latency: str) -> None:
    sources = (1,) * {"sin": 1, "fma": 3}.get(name, 2)
    expected = fermi.to_dict()["latency"][latency] + STAGES + (len(sources) - 1)  # the same register: one read after the other
    assert _slope([op(name, 1, *sources)], fermi) == expected


def test_latencies_that_count_from_issue_to_issue() -> None:
    """Where a machine's file forwards results, a chain takes just the latency."""
    machine = load_machine("rfc")
    assert _slope([add(1, 1, 3)], machine) == machine.to_dict()["latency"]["f32_add"]


def _loop_slope(body: list, machine: Machine, **options) -> float:
    """Cycles that one turn of a loop over some instructions adds."""

    def kernel(turns: int) -> Kernel:
        return Kernel([body, [exit_()]], 16, path=lambda warp: [*(list(range(len(body))) * turns), len(body)], **options)

    return (_cycles(kernel(40), machine) - _cycles(kernel(20), machine)) / 20


def test_independent_instructions_fill_the_pipeline(fermi) -> None:
    """Twelve warps of independent work keep both schedulers near one instruction each cycle: fetch delivers just two."""
    body = [add(1 + n, 8 + n, 9 + n) for n in range(6)]
    instructions = 12 * len(body)
    assert instructions / 2 <= _loop_slope(body, fermi, warps_per_cta=12) <= 1.15 * instructions / 2


def test_one_warp_is_limited_by_its_own_fetch() -> None:
    """A warp that is fetched for only when its buffer of two is empty issues two instructions in three cycles at most."""
    machine = load_machine("gpgpusim-gtx480").scaled(1)
    body = [op("mov", 1 + n % 12) for n in range(12)]
    jump = 2  # the wrong path is fetched and thrown away
    assert 12 * 3 / 2 <= _loop_slope(body, machine) <= 12 * 3 / 2 + jump + 2


@pytest.mark.parametrize("passes", [1, 2, 8, 32])
def test_shared_memory_conflicts(fermi, passes: int) -> None:
    kernel = [load(1, 1, "shared")]
    one = _slope(kernel, fermi, access=lambda warp, pc, n: Access(passes=1))
    many = _slope(kernel, fermi, access=lambda warp, pc, n: Access(passes=passes))
    assert many - one == passes - 1


def test_narrow_banks_make_reads_wait() -> None:
    """Three operands of one bank group take two cycles more than three of different groups."""
    machine = load_machine("compression").scaled(1)
    apart, together = [fma(1, 1, 2, 3)], [fma(1, 1, 5, 9)]
    assert _slope(together, machine) - _slope(apart, machine) == 2


def test_a_barrier_waits_for_the_last(fermi) -> None:
    slow = [load(1, 1) for _ in range(2)]
    blocks = [[*slow, barrier(), add(2, 1, 1), exit_()]]

    def path(warp: int) -> list[int]:
        return [0, 1, 2, 3, 4] if warp == 0 else [2, 3, 4]

    together = Kernel(blocks, 8, warps_per_cta=4, path=path)
    alone = Kernel(blocks, 8, warps_per_cta=1, path=path)
    assert abs(_warm(together, fermi) - _warm(alone, fermi)) < 20


def test_ctas_are_replaced_as_they_finish() -> None:
    """Every further load of CTAs that just fit adds the same time, and every SM gets its share."""
    chip = load_machine("gtx480")
    fits = chip.sm.ctas_per_sm * chip.chip.sms
    one, two, three = (_cycles(chain(100, warps_per_cta=4, ctas=n * fits), chip) for n in (1, 2, 3))
    assert three - two == pytest.approx(two - one, rel=0.1)
    assert two - one > 100 * 10


def test_occupancy_names_its_limit(fermi) -> None:
    def run(**options):
        return time_launches([chain(4, **options).launch()], baseline_policies(), fermi, check=True)

    assert (run(registers=63, warps_per_cta=4).ctas_per_sm, run(registers=63, warps_per_cta=4).limited_by) == (4, "registers")
    assert (run(registers=8, warps_per_cta=16).ctas_per_sm, run(registers=8, warps_per_cta=16).limited_by) == (3, "threads")
    assert run(registers=8).limited_by == "CTAs"
    assert run(registers=8, shared_bytes=20000).ctas_per_sm == 2


def test_registers_are_rounded_as_the_machine_says(fermi) -> None:
    exact = replace(fermi, sm=replace(fermi.sm, register_rounding=1))
    kernel = chain(4, registers=21, warps_per_cta=8).launch()
    fine, coarse = (time_launches([kernel], baseline_policies(), machine, check=True) for machine in (exact, fermi))
    assert (fine.ctas_per_sm, coarse.ctas_per_sm) == (6, 5)
    assert coarse.counters["allocated_peak"] == 8 * 24


def test_the_same_run_twice() -> None:
    chip = load_machine("gtx480")
    kernel = Kernel([[load(1, 1), add(2, 1, 1), barrier(), load(3, 3), fma(4, 3, 2, 1), exit_()]], 8, warps_per_cta=8, ctas=64)
    first, second = (time_launches([kernel.launch()], baseline_policies(), chip, check=True) for _ in range(2))
    assert first == second


def _uneven(ctas: int, *, meeting: bool = False) -> Kernel:
    """CTAs of four warps, one of which has ten times the work of the others; it is another one in each CTA."""
    body = [[add(1, 1, 2) for _ in range(200)], [barrier()] if meeting else [], [exit_()]]
    end = list(range(200, 201 + meeting))

    def path(warp: int) -> list[int]:
        long = warp % 4 == warp // 4 % 4
        return [*range(200 if long else 20), *end]

    return Kernel(body, 8, warps_per_cta=4, ctas=ctas, path=path)


def test_lone_warps_are_replaced_one_by_one(fermi) -> None:
    """No warp keeps the places of its neighbours; warps that meet at a barrier, and those of small CTAs, notice nothing."""
    alone = replace(fermi, sm=replace(fermi.sm, lone_warps=True, ctas_per_sm=32))
    together = replace(fermi, sm=replace(fermi.sm, ctas_per_sm=32))
    assert _cycles(_uneven(48), alone) < 0.8 * _cycles(_uneven(48), together)
    assert _cycles(_uneven(48, meeting=True), alone) == _cycles(_uneven(48, meeting=True), together)
    assert _cycles(chain(50, ctas=96), alone) == _cycles(chain(50, ctas=96), together)


def test_a_warp_at_a_fence_gives_its_active_place_to_another() -> None:
    """Of two warps one may be active; the first waits at a fence for its store, and the second computes meanwhile."""
    machine = load_machine("rfc")
    work = 40
    fence = Instruction(Operation("membar", modifiers=("gl",)))
    body = [store(1, 2), fence, exit_(), *(add(1, 1, 2) for _ in range(work)), exit_()]
    kernel = Kernel([body], 8, ctas=2, path=lambda warp: [0, 1, 2] if warp == 0 else list(range(3, len(body))))
    one, both = (
        time_launches([kernel.launch()], parse_design(f"scheduler=two-level(active={active})").policies, machine, check=True)
        for active in (1, 2)
    )
    assert both.cycles > machine.memory.latency  # the fence waits for the store
    assert one.cycles < both.cycles + work
