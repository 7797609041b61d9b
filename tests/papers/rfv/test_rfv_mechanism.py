"""Register file virtualization at work: what is mapped when, who waits for registers, what the metadata costs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from support.executed import traced
from support.timing_kernels import Kernel, add, barrier, branch, exit_, fma, load, setp, store
from support.virtual_kernels import ONE_SM, compiled, launch, mov, random_kernel, run
from warploom.base.errors import SimulationError, WarploomError
from warploom.chip.machines import load_machine
from warploom.chip.sm.occupancy import occupancy
from warploom.compiler.code.instruction import Block, Code, Guard
from warploom.designs import parse_design, storage_bits
from warploom.designs.energy import load_technology
from warploom.papers.rfv.release_flags import FLAG_BITS, pbr, pir, value_operands
from warploom.papers.rfv.release_points import decoded_flags, release_points, usually_held
from warploom.programs.program import workload_program
from warploom.programs.workloads.registry import workload_names, workload_set
from warploom.runs.compilation import physical, shrunk
from warploom.runs.execution import Executions
from warploom.runs.simulate import simulate

RFV = parse_design("rfv")
ISSUE_COUNTERS = (
    "physical_peak",
    "allocation_reduction",
    "renames",
    "releases_pir",
    "releases_pbr",
    "flag_fetches",
    "flag_cache_hits",
    "static_code_increase",
    "dynamic_code_increase",
    "throttled_cycles",
    "spilled_registers",
    "subarray_on_cycles",
    "subarray_wakeups",
    "exempt_registers",
    "table_bytes",
)


def conserved(c: dict[str, Any]) -> None:
    """What is mapped or spilled comes back, no more flags are found than are asked for, entries have one state at a time."""
    assert c["renames"] == c["releases_pir"] + c["releases_pbr"] + c["releases_exit"]
    assert 0 <= c["flag_cache_hits"] <= c["metadata"]
    assert c["spilled_registers"] == c["spills"] == c["refills"]
    assert c["on_cycles"] + c["drowsy_cycles"] + c["off_cycles"] == c["entry_cycles"]


# --- mapping and release ----------------------------------------------------------------------------------------------------


def test_a_register_is_mapped_from_its_write_to_its_last_read() -> None:
    body = [instruction for register in range(8) for instruction in (mov(register), setp(0, register, register))]
    c = run(Kernel([[*body, exit_()]], 8), "rfv")
    conserved(c)
    assert c["renames"] == c["releases_pir"] == 8
    assert c["physical_peak"] <= 2  # the next is written while the last is being read
    assert c["allocated_cycles"] < c["cycles"]


def test_a_register_written_again_stays_where_it_is() -> None:
    c = run(Kernel([[mov(0), mov(1), *[add(0, 0, 1)] * 6, store(0, 1), exit_()]], 2), "rfv")
    conserved(c)
    assert c["renames"] == 2


def test_a_write_of_some_lanes_keeps_the_entry_or_takes_one() -> None:
    guarded = replace(add(0, 1, 1), guard=Guard(setp(0, 1, 1).dsts[0]))
    kernel = Kernel(
        [[mov(1), setp(0, 1, 1), guarded, store(0, 1), exit_()]], 2, mask=lambda warp, pc, n: 0xFF if pc == 3 else ~0 & 0xFFFFFFFF
    )
    c = run(kernel, "rfv")
    conserved(c)
    assert c["renames"] == 2


def test_results_that_nobody_reads_go_at_the_next_block() -> None:
    kernel = Kernel([[mov(0), mov(1), setp(0, 1, 1)], [mov(2), store(2, 2), exit_()]], 3)
    c = run(kernel, "rfv")
    conserved(c)
    assert (c["releases_pbr"], c["releases_pir"], c["releases_exit"]) == (1, 2, 0)


def test_what_a_warp_still_holds_goes_when_it_exits() -> None:
    c = run(Kernel([[mov(0), exit_()]], 1, warps_per_cta=4), "rfv")
    conserved(c)
    assert c["releases_exit"] == 4


def test_flags_in_operands_release_the_same_without_instructions_of_their_own() -> None:
    kernel = random_kernel(5, 16, 80, 4, 3)
    apart, inside = (run(kernel, f"rfv(flags={place})") for place in ("instructions", "operands"))
    conserved(inside)
    for name in ("renames", "releases_pir", "releases_pbr", "releases_exit", "warp_instructions"):
        assert inside[name] == apart[name], name
    assert inside["flag_cache_hits"] == 0 < apart["flag_fetches"] and inside["static_metadata"] == inside["static_pbr"]
    assert storage_bits(parse_design("rfv"), ONE_SM) - storage_bits(parse_design("rfv(flags=operands)"), ONE_SM) == 10 * 54


def too_early(code: Code) -> Code:
    """The same code, each operand's release also at the read before its last in the block."""
    flags = {pc: flag for pc, flag, _ in decoded_flags(code)}
    blocks = []
    pc = 0
    for block in code.blocks:
        real = [(pc + place, one) for place, one in enumerate(block.instructions) if one.op.name not in ("pir", "pbr")]
        pc += len(block.instructions)
        made = [flags[at] for at, _ in real]
        for place, (_at, instruction) in enumerate(real):
            for number, operand in enumerate(value_operands(instruction)[:FLAG_BITS]):
                for earlier in range(place - 1, -1, -1) if made[place] >> number & 1 else ():
                    before = real[earlier][1]
                    if operand in before.dsts:
                        break
                    if operand in value_operands(before)[:FLAG_BITS]:
                        made[earlier] |= 1 << value_operands(before).index(operand)
                        break
        rest = iter([pir(made[place : place + 18]) for place in range(0, len(made), 18)])
        blocks.append(Block([next(rest) if one.op.name == "pir" else one for one in block.instructions], block.label))
    return replace(code, blocks=blocks)


def test_the_checker_sees_a_release_that_is_one_instruction_too_early() -> None:
    kernel = Kernel([[mov(0), mov(1), add(2, 0, 1), add(3, 0, 2), store(3, 1), exit_()]], 4)
    code, made = compiled(kernel, RFV)
    launch(code, made.trace(), RFV)
    with pytest.raises(SimulationError, match=r"R[01].*released too early"):
        launch(too_early(code), made.trace(), RFV)


def test_the_checker_sees_it_in_a_real_kernel() -> None:
    machine = load_machine("rfv")
    execution = traced(workload_program("blackscholes"), RFV, machine, "tiny", Executions())
    (first, trace), *_ = execution.traced()
    launch(first.code, trace, RFV, machine)
    with pytest.raises(SimulationError, match="released"):
        launch(too_early(first.code), trace, RFV, machine)


def test_the_checker_sees_a_wrong_pbr() -> None:
    kernel = Kernel([[pir([0]), mov(0)], [pbr([0]), pir([]), store(0, 0), exit_()]], 1)
    with pytest.raises(SimulationError, match="released too early"):
        launch(kernel.code(), kernel.trace(), RFV)


# --- what metadata and renaming cost ----------------------------------------------------------------------------------------


def turns(count: int) -> Kernel:
    """A loop of two blocks."""
    blocks = [[mov(0), mov(1)], [add(0, 0, 1)], [add(1, 0, 1), setp(0, 0, 1), branch(1, 0)], [store(0, 1), exit_()]]
    code, _ = compiled(Kernel(blocks, 2), RFV)
    starts = code.block_starts()
    path = [*range(starts[1]), *list(range(starts[1], starts[3])) * count, *range(starts[3], starts[4])]
    return Kernel(blocks, 2, path=lambda warp: path)


@pytest.mark.parametrize(("entries", "hits"), [(0, 0), (10, 2 * 19), (64, 2 * 19)])
def test_the_flag_cache_finds_what_was_decoded_before(entries: int, hits: int) -> None:
    c = run(turns(20), f"rfv(flag_cache={entries})")
    conserved(c)
    assert c["metadata"] == 2 + 2 * 20
    assert c["flag_cache_hits"] == hits
    assert c["dynamic_code_increase"] == pytest.approx(c["flag_fetches"] / c["warp_instructions"])
    assert c["static_code_increase"] == pytest.approx(4 / 8)


def test_a_direct_mapped_cache_of_one_entry_forgets() -> None:
    assert run(turns(20), "rfv(flag_cache=1)")["flag_cache_hits"] == 0


def test_a_renaming_stage_takes_a_cycle_and_conflicts_take_more() -> None:
    chain = Kernel([[mov(0), mov(1), mov(5), *[fma(0, 0, 1, 2)] * 50, exit_()]], 9)
    plain, staged = (run(chain, f"rfv(rename_cycles={cycles})")["cycles"] for cycles in (0, 1))
    assert 40 <= staged - plain <= 60
    clash = Kernel([[mov(0), mov(4), mov(8), *[fma(0, 0, 4, 8)] * 50, exit_()]], 9)
    free = Kernel([[mov(0), mov(5), mov(6), *[fma(0, 0, 5, 6)] * 50, exit_()]], 9)
    assert run(clash, "rfv")["cycles"] - run(free, "rfv")["cycles"] >= 80


def test_renaming_does_not_halve_the_issue_rate() -> None:
    body = [fma(register, register, register, register) for register in range(8)] * 20
    kernel = Kernel([[*map(mov, range(8)), *body, exit_()]], 8, warps_per_cta=16)
    plain, staged = (run(kernel, f"rfv(rename_cycles={cycles})")["cycles"] for cycles in (0, 1))
    assert staged < 1.05 * plain


def test_exempt_registers_are_mapped_directly() -> None:
    kernel = random_kernel(3, 16, 60, 8, 8)
    whole, limited = run(kernel, "rfv(table_bytes=65536)"), run(kernel, "rfv(table_bytes=640)")
    conserved(limited)
    assert whole["exempt_registers"] == 0 and whole["table_bytes"] == 16 * 48 * 10 // 8
    assert limited["exempt_registers"] == 16 - 640 * 8 // 10 // 48 and limited["table_bytes"] <= 640
    assert limited["renames"] < whole["renames"]
    nothing = run(kernel, "rfv(table_bytes=0)")
    assert nothing["renames"] == 0 and nothing["exempt_registers"] == 16


def test_storage_and_energy() -> None:
    machine = load_machine("rfv")
    assert storage_bits(RFV, machine) == 8 * 1024 + 1024 + 10 * 54 + 4 * 4
    technology = load_technology("rfv")
    assert technology.table(1024) == technology.renaming_table
    result = simulate("vectoradd", RFV, machine, size="tiny", check=True)
    terms = {f"{term.part}: {term.what}": term.joules * 1e12 for term in result.energy_terms}
    assert terms["overhead: renaming table accesses"] == pytest.approx(1.14 * result.counters["table_accesses"])
    seconds = result.cycles / 700e6
    assert terms["overhead: renaming table leakage"] == pytest.approx(4 * 0.27e-3 * seconds * 16 * 1e12)
    assert terms["overhead: flag instructions fetched and decoded"] > 0
    assert terms["overhead: release flag cache"] > 0


# --- too few registers ------------------------------------------------------------------------------------------------------


def test_a_full_file_never_holds_anybody_back() -> None:
    c = run(random_kernel(5, 20, 60, 8, 12), "rfv")
    conserved(c)
    assert c["throttled_cycles"] == c["spilled_registers"] == 0


@pytest.mark.parametrize("throttle", ["cta", "needy"])
def test_one_cta_goes_on_when_registers_run_short(throttle: str) -> None:
    kernel = random_kernel(7, 20, 60, 4, 12)
    plenty, short = run(kernel, "rfv"), run(kernel, f"rfv(shrink=0.2, throttle={throttle})")
    conserved(short)
    assert short["throttled_cycles"] > 0 and short["spilled_registers"] == 0
    assert short["physical_peak"] <= 1024 * 0.2 < plenty["physical_peak"]
    assert short["warp_instructions"] == plenty["warp_instructions"]


def test_more_than_one_cta_goes_on_when_more_are_guarded() -> None:
    """Eight CTAs want 128 registers each, all of their life, of 512: left alone, seven take a part and wait for the first."""
    fill = [mov(register) for register in range(32)]
    work = [fma(0, 0, 1 + place % 31, 1 + place % 31) for place in range(310)]  # each waits for the one before
    kernel = Kernel([[*fill, *work, store(0, 0), exit_()]], 32, warps_per_cta=4, ctas=8)
    one, two, all_of_them = (
        run(kernel, f"rfv(shrink=0.5, throttle=needy, table_bytes=65536, guarded={guarded})") for guarded in (1, 2, 8)
    )
    conserved(all_of_them)
    assert one["cycles"] > two["cycles"] > all_of_them["cycles"] and all_of_them["cycles"] < 0.75 * one["cycles"]


def test_the_balance_counts_what_a_cta_holds_at_most() -> None:
    """A CTA that names 64 registers and holds 8 or 16 at once may need no more: 128 entries do for six of them."""
    body = [instruction for register in range(8) for instruction in (mov(register), setp(0, register, register))]
    kernel = Kernel([[*body, exit_()]], 8, warps_per_cta=8, ctas=6)
    assert release_points(kernel.code()).most_held * 8 * 6 <= 128 < 64 * 6
    c = run(kernel, "rfv(shrink=0.125, table_bytes=65536)")
    conserved(c)
    assert c["throttled_cycles"] == 0


def test_registers_that_are_held_for_a_moment_keep_no_cta_out_that_the_mean_lets_in() -> None:
    """By the most that warps hold five CTAs fit 512 registers; by the mean an SM's eight do, and wait for each other's peaks."""
    peak = [*(mov(register) for register in range(24)), *(fma(0, 0, register, register) for register in range(1, 24))]
    work = [fma(0, 0, 0, 0) for _ in range(200)]
    kernel = Kernel([[*peak, *work, store(0, 0), exit_()]], 24, warps_per_cta=4, ctas=12)
    held, usual = (
        f"rfv(shrink=0.5, table_bytes=65536, throttle=needy, residency={residency})" for residency in ("held", "usual")
    )
    code, warps = kernel.code(), kernel.warps_per_cta
    assert release_points(code).most_held == 24 and 4 * usually_held(code) < 24
    assert [occupancy(code, ONE_SM, parse_design(design).policies.allocation, warps).ctas for design in (held, usual)] == [5, 8]
    c = run(kernel, usual)
    conserved(c)
    assert run(kernel, held)["throttled_cycles"] == 0 < c["throttled_cycles"]


@pytest.mark.parametrize("seed", range(6))
def test_no_deadlock_in_the_smallest_file_that_holds_one_cta(seed: int) -> None:
    """Without spilling, and several CTAs resident: a file that just holds the live registers of one CTA is enough."""
    kernel = random_kernel(seed, (10, 16, 24)[seed % 3], 60, (2, 4, 8)[seed // 2], 6)
    least = release_points(kernel.code()).most_held * kernel.warps_per_cta
    share = (-(-least // 16) * 16 + 0.5) / 1024  # whole subarrays of all banks
    design = parse_design(f"rfv(shrink={share}, spill=false, table_bytes=65536)")
    assert least <= physical(ONE_SM, design).warp_registers < least + 16
    c = run(kernel, str(design))
    conserved(c)
    assert c["ctas"] == 6 and c["spilled_registers"] == 0


@pytest.mark.parametrize("seed", range(4))
def test_a_cta_that_is_larger_than_the_file_is_spilled(seed: int) -> None:
    kernel = random_kernel(seed, 24, 50, 8, 3)
    least = release_points(kernel.code()).most_held * kernel.warps_per_cta
    share = 64 / 1024
    assert least > 64
    c = run(kernel, f"rfv(shrink={share}, table_bytes=65536)")
    conserved(c)
    assert c["spilled_registers"] == c["spills"] > 0 and c["refills"] > 0
    with pytest.raises(SimulationError, match="deadlock"):
        run(kernel, f"rfv(shrink={share}, table_bytes=65536, spill=false)")


def test_directly_mapped_registers_must_fit_the_file() -> None:
    """What the renaming table has no room for is mapped directly, and cannot be anywhere but in the file."""
    with pytest.raises(WarploomError, match=r"maps 192 registers of a CTA directly, and the file holds 64"):
        run(random_kernel(3, 24, 50, 8, 3), f"rfv(shrink={64 / 1024}, table_bytes=0)")


def test_barriers_do_not_deadlock_a_spilled_cta() -> None:
    body = [*map(mov, range(12)), barrier(), *[fma(n, n, n, n) for n in range(12)], barrier(), load(0, 1)]
    kernel = Kernel([[*body, *[store(n, n) for n in range(12)], exit_()]], 12, warps_per_cta=8, ctas=4)
    c = run(kernel, f"rfv(shrink={48 / 1024}, table_bytes=65536)")
    conserved(c)
    assert c["spilled_registers"] > 0


def test_skipped_cycles_change_nothing() -> None:
    kernel = random_kernel(11, 20, 50, 4, 6)
    for text in ("rfv(shrink=0.15)", f"rfv(shrink={64 / 1024}, table_bytes=65536)"):
        assert run(kernel, text) == run(kernel, text, naive=True)


def test_programs_see_the_whole_file() -> None:
    whole = load_machine("rfv")
    half = parse_design("gpu-shrink")
    assert shrunk(whole, half) == whole and physical(whole, half).warp_registers == 512
    plain, small = (simulate("hotspot", text, whole, size="tiny", check=True) for text in ("rfv", "gpu-shrink"))
    assert small.ctas_per_sm == plain.ctas_per_sm and small.register_file_bytes == 65536
    assert simulate("hotspot", "rfv(resident=2)", whole, size="tiny", check=True).ctas_per_sm > plain.ctas_per_sm


def test_spilling_does_not_go_with_a_cache_above() -> None:
    with pytest.raises(WarploomError, match="spill=false"):
        parse_design("gpu-shrink + hierarchy=rfc")
    parse_design("gpu-shrink(spill=false) + hierarchy=rfc")
    parse_design("rfv + hierarchy=rfc")


# --- all programs, watched by the checker -----------------------------------------------------------------------------------


def at_every_size(name: str) -> None:
    executions = Executions()
    for share in (1.0, 0.7, 0.5, 0.35):
        result = simulate(name, f"rfv(shrink={share})", ONE_SM, size="tiny", check=True, executions=executions)
        assert result.verified is not False
        conserved(result.counters)
        assert result.counters["physical_peak"] <= 1024 * share
        assert set(ISSUE_COUNTERS) <= set(result.counters)


@pytest.mark.parametrize("name", workload_set("rfv"))
def test_the_papers_programs_with_fewer_registers(name: str) -> None:
    at_every_size(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(workload_names()) - set(workload_set("rfv"))))
def test_all_programs_with_fewer_registers(name: str) -> None:
    at_every_size(name)
