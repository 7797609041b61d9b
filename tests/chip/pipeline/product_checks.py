"""Products of matrices with many registers: their rate, their registers, who waits for them, and what the shadow checker sees."""

from __future__ import annotations

import pytest

from support.controlled_kernels import LENGTH, MachineCode, controlled, leave
from support.timing_kernels import r
from warploom.base.errors import SimulationError, WarploomError
from warploom.chip.machines import Machine, load_machine
from warploom.chip.simulate import TimingResult, time_launches
from warploom.compiler.code.instruction import Bank, Control, Imm, Instruction, Modified, Operand, Operation, Reg, Special
from warploom.designs import parse_design

RESULT, FIRST = 24, 16  # registers
PLAIN = Control(4, False, None, None, 0, (False,) * 3)


def product(
    columns: int,
    *,
    ends_group: bool = False,
    registers: bool = False,
    half: bool = False,
    adds: bool = True,
    result: int = RESULT,
) -> Instruction:
    """A warpgroup's product; A is in shared memory or in four registers."""
    count = columns // (4 if half else 2)
    sums = tuple(r(result + n) for n in range(count))
    sources: list[Operand] = [r(FIRST + n) for n in range(4)] if registers else []
    sources += [Modified(Reg(4, Bank.UQ), part="gdesc"), *(sums if adds else ()), Reg(0, Bank.UPT)]
    sources += [Special("gsb0")] * ends_group
    opcode = Operation("HGMMA", modifiers=(f"64x{columns}x16", "F16" if half else "F32"))
    return Instruction(opcode, sums, tuple(sources), control=PLAIN)


def wait(groups: int = 0) -> Instruction:
    return Instruction(Operation("WARPGROUP", modifiers=("DEPBAR", "LE")), (), (Special("gsb0"), Imm(groups)), control=PLAIN)


def run(body: list[Instruction], machine: Machine, named: str = "modern", warps: int = 4, **options) -> TimingResult:
    kernel = MachineCode([[*body, leave()]], 168, warps_per_cta=warps, **options)
    return time_launches([kernel.launch()] * 2, parse_design(named).policies, machine, check=True)


def cycles_of_each(one: list[Instruction], machine: Machine, named: str = "modern", warps: int = 4) -> float:
    """Cycles that each of four more takes when all are waited for at the end."""
    long, short = (run(one * n + [product(8, ends_group=True), wait()], machine, named, warps) for n in (8, 4))
    return (long.launches[1].cycles - short.launches[1].cycles) / 4


@pytest.mark.parametrize("columns", [64, 128, 256])
@pytest.mark.parametrize("registers", [False, True])
def test_columns_take_their_time(hopper: Machine, columns: int, registers: bool) -> None:
    each = cycles_of_each([product(columns, registers=registers)], hopper)
    assert each == pytest.approx(columns / hopper.sub_core.product_columns, abs=1)


def test_narrow_products_wait_for_shared_memory(hopper: Machine) -> None:
    """64 rows of A and eight columns of B, 32 bytes each, come at 128 bytes a cycle; in registers A takes a time of its own."""
    in_memory, in_registers = (
        cycles_of_each([product(8, registers=registers, result=RESULT + 8 * n) for n in range(4)], hopper) / 4
        for registers in (False, True)
    )
    assert in_memory == pytest.approx((64 + 8) * 32 / 128, abs=1)
    assert in_registers == pytest.approx(hopper.sub_core.product_register_cycles, abs=1)


def test_a_product_does_not_wait_for_an_addend_in_the_tensor_core(hopper: Machine) -> None:
    """An H200 makes products as fast into one set of registers as into two."""
    one, two = (cycles_of_each([product(8, result=RESULT + 8 * n) for n in range(count)] * 2, hopper) for count in (1, 2))
    assert two == pytest.approx(2 * one, abs=1)


def test_warpgroups_share_the_tensor_cores(hopper: Machine) -> None:
    assert cycles_of_each([product(64)], hopper, warps=8) == pytest.approx(2 * 64 / hopper.sub_core.product_columns, abs=2)


@pytest.mark.parametrize(("columns", "half"), [(256, False), (8, False), (72, True)])
def test_every_register_is_read_and_written_once(hopper: Machine, columns: int, half: bool) -> None:
    count = columns // (4 if half else 2)
    result = run([product(columns, half=half, registers=True, ends_group=True), wait()], hopper)
    assert result.counters["mrf_reads"] == 2 * 4 * (count + 4)  # two launches of four warps
    assert result.counters["mrf_writes"] == 2 * 4 * count
    without = run([product(columns, half=half, adds=False, ends_group=True), wait()], hopper)
    assert without.counters["mrf_reads"] == 0


def test_a_warp_goes_on_until_it_waits(hopper: Machine) -> None:
    work = [controlled("FFMA", 1, 1, 2, 3, stall=4)] * 16
    made = product(256, ends_group=True)
    alone, beside, behind = (
        run(body, hopper).launches[1].cycles for body in ([made, wait()], [made, *work, wait()], [made, wait(), *work])
    )
    assert beside - alone < 16
    assert behind - alone == pytest.approx(4 * 16, abs=12)
    one_left = run([made, made, wait(1)], hopper).launches[1].cycles
    assert one_left <= run([made, made, wait(0)], hopper).launches[1].cycles


def test_who_reads_too_early_is_found(hopper: Machine) -> None:
    made = product(64, registers=True, ends_group=True)
    for early in (controlled("FADD", 1, RESULT + 5, 2), controlled("FADD", RESULT + 31, 1, 2), controlled("FADD", FIRST, 1, 2)):
        with pytest.raises(SimulationError, match="a product of matrices under way"):
            run([made, early, wait()], hopper)
        assert run([made, wait(), early], hopper).warp_instructions == 2 * 4 * 4


def test_idle_registers_wake_up_for_products(hopper: Machine) -> None:
    assert run([product(128, ends_group=True), wait()], hopper, "modern + warped-rf").warp_instructions == 2 * 4 * 3


def test_skipping_changes_nothing(hopper: Machine) -> None:
    body = [product(64, registers=True), *[controlled("FFMA", 1, 1, 2, 3, stall=4)] * 4, product(64, ends_group=True), wait()]
    kernel = MachineCode([[*body * 2, leave()]], 168, warps_per_cta=8, ctas=2)
    policies = parse_design("modern").policies
    fast, naive = (time_launches([kernel.launch()], policies, hopper, check=True, naive=each) for each in (False, True))
    assert (fast.counters, fast.cycles) == (naive.counters, naive.cycles)


def doubles(inner: int) -> Instruction:
    """A product of doubles of 16 rows, with its counters as compilers hold them."""
    quads = [
        tuple(Reg(first + 4 * n, Bank.Q) for n in range(count)) for first, count in ((24, 2), (32, inner // 4), (64, inner // 8))
    ]
    control = PLAIN._replace(stall=2, write_barrier=0, read_barrier=1, wait=1)
    sources = (*quads[1], *quads[2], *quads[0])
    return Instruction(Operation("DMMA", modifiers=(f"16x8x{inner}",)), quads[0], sources, control=control)


def test_doubles_of_sixteen_rows(hopper: Machine) -> None:
    result = run([doubles(16)], hopper, warps=1)
    assert (result.counters["mrf_reads"], result.counters["mrf_writes"]) == (2 * 32, 2 * 8)
    took = [run([doubles(16)] * n, hopper).launches[1].cycles for n in (8, 4)]
    assert (took[0] - took[1]) / 4 >= 16 * 8 * 16 / hopper.sub_core.double_products


@pytest.mark.parametrize(
    ("named", "overrides", "reason"),
    [
        ("modern + rfv", {}, "allocation=rfv gives and takes registers by what is issued"),
        ("modern + regmutex", {}, "allocation=regmutex gives and takes registers"),
        ("modern", {"stages.dependences": "scoreboard"}, "machine hopper has no tensor cores"),
    ],
)
def test_who_cannot_make_products_says_so(named: str, overrides: dict, reason: str) -> None:
    machine = load_machine("hopper", **overrides).scaled(1)
    with pytest.raises(WarploomError, match=rf"HGMMA.64x64x16.F32 is executed but cannot be timed: {reason}.*--emulate-only"):
        run([product(64, ends_group=True), wait()] + [controlled("FADD", 1, 2, 3)] * LENGTH, machine, named)
