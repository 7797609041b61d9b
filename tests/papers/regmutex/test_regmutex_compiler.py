"""RegMutex at compile time: the choice of sizes, the regions, compaction, and the proof of the result."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.assembler import assemble
from support.random_kernels import options, random_kernel
from support.warp_with_sections import run_sharing_warp
from warploom.chip.machines import load_machine
from warploom.chip.sm import make_policy
from warploom.compiler.backend import compile_kernel
from warploom.compiler.backend.allocate import allocate
from warploom.compiler.code.instruction import Code, Instruction, Operation
from warploom.compiler.code.warp import warp_liveness
from warploom.compiler.ptx import parse
from warploom.designs import parse_design
from warploom.papers.regmutex import PAPER
from warploom.papers.regmutex.acquire_regions import barrier_pressure, plan_regions
from warploom.papers.regmutex.base_set import base_registers
from warploom.papers.regmutex.extended_set import is_compaction, split_registers
from warploom.papers.regmutex.extended_size import candidate_sizes, further_sizes, pool_sections, ranked_sizes
from warploom.papers.regmutex.holding import HoldingError, holding, prove_holding
from warploom.programs.named import program_named
from warploom.programs.program import workload_program
from warploom.programs.workloads.registry import workload_set
from warploom.runs.compilation import compile_for


def names(code: Code) -> list[str]:
    return [instruction.op.name for instruction in code.instructions()]


def chosen(used: int, warps_per_cta: int, entries: int = 1024, least: int = 0) -> list[int]:
    """The ranking of sizes when registers, given in steps of four, and 48 warps are the only limits."""
    registers = -(-used // 4) * 4

    def resident(size: int) -> int:
        return min(48 // warps_per_cta, entries // ((registers - size) * warps_per_cta)) * warps_per_cta

    def sections(size: int, warps: int) -> int:
        return pool_sections(entries, registers - size, size, warps, 48)

    return list(ranked_sizes(used, registers, least, resident(0), resident, sections))


# The choice of a size.


def test_the_papers_worked_example() -> None:
    assert candidate_sizes(24) == [2, 4, 6, 8]
    assert [pool_sections(1024, 24 - size, size, 48, 48) for size in (4, 6, 8)] == [16, 26, 32]
    ranking = chosen(24, warps_per_cta=1)
    assert ranking[0] == 6
    assert 2 not in ranking[:3], "22 registers do not let all 48 warps be resident"


def test_every_extended_set_of_table_1_is_looked_at():
    for name, about in PAPER.workloads.items():
        registers = -(-about["registers"] // 4) * 4
        sizes = [*candidate_sizes(about["registers"]), *further_sizes(registers)]
        assert registers - about["base_set"] in sizes, name
    assert set(further_sizes(24)) == {2, 4, 6, 8}, "the worked example"


@pytest.mark.parametrize(
    ("used", "warps_per_cta", "entries", "least", "base"),
    [
        (21, 16, 1024, 0, 18),  # BFS
        (25, 4, 1024, 0, 20),  # CUTCP
        (32, 8, 1024, 0, 24),  # HotSpot3D
        (21, 8, 1024, 0, 18),  # MRI-Q
        (32, 16, 1024, 0, 20),  # ParticleFilter: no candidate helps, a further size does
        (33, 8, 1024, 30, 30),  # RadixSort, with 30 registers live at a barrier
        (12, 8, 512, 0, 8),  # Gaussian, and from here on with half the file
        (28, 8, 512, 0, 20),  # HeartWall, TPACF
        (37, 4, 512, 0, 28),  # LavaMD: shares of 37; of 40 they would be 14 rather than 12
        (13, 8, 512, 0, 12),  # MonteCarlo
        (16, 6, 512, 0, 12),  # SPMV
    ],
)
def test_base_sets_of_table_1(used: int, warps_per_cta: int, entries: int, least: int, base: int) -> None:
    """Candidates are shares of the registers that a kernel uses; the base set is what they leave of the rounded number."""
    assert -(-used // 4) * 4 - chosen(used, warps_per_cta, entries, least)[0] == base


def test_sizes_that_gain_nothing_or_leave_no_section_are_left_out() -> None:
    assert chosen(20, warps_per_cta=8) == [], "48 warps of 20 registers are resident anyway"
    for size in chosen(40, warps_per_cta=4, entries=512):
        warps = min(12, 512 // ((40 - size) * 4)) * 4
        assert pool_sections(512, 40 - size, size, warps, 48) >= 1
    assert all(36 - size >= 30 for size in chosen(36, 8, least=30))
    assert len(set(chosen(32, 2))) == len(chosen(32, 2)), "no size is looked at twice"
    assert further_sizes(32) == [4, 6, 8, 10, 12]


# Regions.

BUMP = """
    mov.u32 R0 = %tid.x
    add.u32 R1 = R0, 1
    add.u32 R2 = R0, 2
    add.u32 R3 = R0, 3
    add.u32 R4 = R0, 4
    add.u32 R1 = R1, R2
    add.u32 R1 = R1, R3
    add.u32 R1 = R1, R4
    {middle}
    st.global.u32 [R0], R1
    exit
"""


def test_one_region_from_where_pressure_rises_to_where_it_falls() -> None:
    code = split_registers(assemble(BUMP.format(middle=""), allocated=True, registers=5), 3, 2)
    assert code is not None
    assert names(code)[3] == "acquire"
    assert names(code).count("acquire") == names(code).count("release") == 1
    inside = code.blocks[0].instructions[names(code).index("acquire") : names(code).index("release")]
    assert [str(i.op) for i in inside[1:4]] == ["add.u32"] * 3
    prove_holding(code, 3)


def test_code_that_fits_the_base_set_gets_no_acquire() -> None:
    code = split_registers(assemble(BUMP.format(middle=""), allocated=True, registers=5), 6, 2)
    assert code is not None
    assert "acquire" not in names(code)
    assert (base_registers(code), code.registers) == (6, 8)


def test_the_papers_example_of_compaction() -> None:
    """Base set of 6; {2, 4, 5, 9} live at the release: 9 must move to 0, 1 or 3, and its later reads follow."""
    code = assemble(
        """
        mov.u32 R0 = %tid.x
        mov.u32 R1 = %ntid.x
        mov.u32 R2 = %tid.x
        mov.u32 R3 = %ctaid.x
        mov.u32 R4 = %tid.x
        mov.u32 R5 = %ntid.x
        add.u32 R9 = R0, R1
        st.global.u32 [R0], R1, R3
        st.global.u32 [R2+8], R4
        st.global.u32 [R2+12], R5
        st.global.u32 [R2], R9
        exit
        """,
        allocated=True,
        registers=10,
    )
    split = split_registers(code, 6, 4)
    assert split is not None
    instructions = list(split.instructions())
    release = names(split).index("release")
    moves = [i for i in instructions if is_compaction(i)]
    assert len(moves) == 1
    assert instructions.index(moves[0]) < release
    assert moves[0].srcs[0].number >= 6
    assert moves[0].dsts[0].number in (0, 1, 3)
    assert instructions[-2].srcs[1] == moves[0].dsts[0]


def test_a_region_stops_at_a_barrier() -> None:
    code = assemble(BUMP.format(middle="bar.sync 0"), allocated=True, registers=5)
    earlier = BUMP.replace("add.u32 R1 = R1, R2", "bar.sync 0\n    add.u32 R1 = R1, R2", 1)
    high = assemble(earlier.format(middle=""), allocated=True, registers=5)
    assert barrier_pressure(code) == 2
    assert barrier_pressure(high) == 5
    split = split_registers(code, 3, 2)
    assert split is not None
    assert names(split).index("release") < names(split).index("bar")
    assert split_registers(high, 3, 2) is None, "five registers are live where warps wait for each other"


def test_a_barrier_between_two_high_regions_splits_them() -> None:
    """A gap this short would be joined; the barrier in it forbids that."""
    text = BUMP.format(
        middle="""
    bar.sync 0
    add.u32 R2 = R0, 5
    add.u32 R3 = R0, 6
    add.u32 R4 = R0, 7
    add.u32 R1 = R1, R2
    add.u32 R1 = R1, R3
    add.u32 R1 = R1, R4"""
    )
    split = split_registers(assemble(text, allocated=True, registers=5), 3, 2)
    assert split is not None
    assert names(split).count("acquire") == 2
    assert [n for n in names(split) if n in ("acquire", "release", "bar")] == ["acquire", "release", "bar", "acquire", "release"]
    joined = split_registers(assemble(text.replace("bar.sync 0", "add.u32 R0 = R0, 1"), allocated=True, registers=5), 3, 2)
    assert joined is not None
    assert names(joined).count("acquire") == 1


LOOP = """
    mov.u32 R0 = %ctaid.x
    mov.u32 R1 = %ntid.x
    mov.u32 R2 = 0
    loop:
    add.u32 R3 = R0, R2
    add.u32 R4 = R1, R2
    add.u32 R5 = R3, R2
    add.u32 R3 = R5, R3
    add.u32 R4 = R5, R4
    {gap}
    add.u32 R2 = R3, R4
    setp.lt.u32 P0 = R2, 100
    @P0 bra loop
    st.global.u32 [R0], R2
    exit
"""


def test_a_loop_that_needs_the_set_almost_throughout_acquires_it_once() -> None:
    split = split_registers(assemble(LOOP.format(gap=""), allocated=True, registers=6, predicates=1), 4, 2)
    assert split is not None
    body = [block for block in split.blocks if any(i.op.name == "bra" for i in block.instructions)]
    assert not any(i.op.name in ("acquire", "release") for i in body[0].instructions)
    assert names(split).count("acquire") == names(split).count("release") == 1


def test_a_loop_with_a_long_quiet_part_releases_in_each_iteration() -> None:
    quiet = "\n".join(["add.u32 R3 = R3, R4"] * 12)
    split = split_registers(assemble(LOOP.format(gap=quiet), allocated=True, registers=6, predicates=1), 4, 2)
    assert split is not None
    state = holding(split)
    assert 0 < sum(state.surely_before) < len(split)
    bodies = [b for b in split.blocks if any(i.op.name == "bra" for i in b.instructions)]
    assert {"acquire", "release"} <= {i.op.name for i in bodies[0].instructions}


def test_an_arm_does_not_inherit_what_the_arm_before_it_released() -> None:
    """Both arms of a divergent branch run one after the other; the state of one is found by the other."""
    code = assemble(
        """
        mov.u32 R0 = %tid.x
        mov.u32 R1 = %ntid.x
        setp.lt.u32 P0 = R0, 7
        @P0 bra other
        add.u32 R2 = R0, 1
        add.u32 R3 = R0, 2
        add.u32 R4 = R0, 3
        add.u32 R2 = R2, R3
        add.u32 R2 = R2, R4
        st.global.u32 [R1], R2
        bra join
        other:
        add.u32 R2 = R0, 4
        add.u32 R3 = R0, 5
        add.u32 R4 = R0, 6
        add.u32 R2 = R2, R3
        add.u32 R2 = R2, R4
        st.global.u32 [R1+4], R2
        join:
        st.global.u32 [R0+64], R1
        exit
        """,
        allocated=True,
        registers=5,
        predicates=1,
    )
    split = split_registers(code, 4, 2)
    assert split is not None
    for block in split.blocks[1:3]:
        arm = [i.op.name for i in block.instructions]
        assert arm.count("acquire") == 1
    for seed in range(6):
        assert run_sharing_warp(split, 4, seed) == run_sharing_warp(code, 256, seed)


# The proof.


def without(code: Code, name: str, which: int) -> Code:
    blocks = []
    seen = 0
    for block in code.blocks:
        kept = []
        for instruction in block.instructions:
            if instruction.op.name == name:
                seen += 1
                if seen - 1 == which:
                    continue
            kept.append(instruction)
        blocks.append(replace(block, instructions=kept))
    return replace(code, blocks=blocks)


def test_the_proof_finds_a_missing_acquire_a_missing_release_and_a_lost_value() -> None:
    split = split_registers(assemble(BUMP.format(middle="bar.sync 0"), allocated=True, registers=5), 3, 2)
    assert split is not None
    with pytest.raises(HoldingError, match="without the extended registers"):
        prove_holding(without(split, "acquire", 0), 3)
    with pytest.raises(HoldingError, match="others wait for"):
        prove_holding(without(split, "release", 0), 3)
    early = replace(split, blocks=[replace(b, instructions=list(b.instructions)) for b in split.blocks])
    early.blocks[0].instructions.insert(6, Instruction(Operation("release")))
    with pytest.raises(HoldingError):
        prove_holding(early, 3)


@pytest.mark.parametrize("seed", range(40))
def test_random_kernels_compute_the_same_with_garbage_in_released_registers(seed: int) -> None:
    code = allocate(random_kernel(seed, size=40, variables=6 + seed % 7), options())
    total = -(-code.registers // 4) * 4
    found = 0
    for extended in (2, 4, 6):
        if total - extended < 2:
            continue
        split = split_registers(code, total - extended, extended)
        if split is None:
            continue
        found += 1
        prove_holding(split, total - extended)
        for run in range(3):
            assert run_sharing_warp(split, total - extended, run) == run_sharing_warp(code, 256, run)
    assert found


@pytest.mark.parametrize("name", [w if isinstance(w, str) else w.name for w in workload_set("regmutex")])
def test_every_workload_of_the_paper_can_be_split(name) -> None:
    """With two extended registers unless a barrier forbids it; what comes out has been proved on the way."""
    program = workload_program(name)
    module = parse(program.source.ptx, program.place)
    for kernel in module.kernels:
        code = compile_kernel(module, kernel)
        total = -(-code.registers // 4) * 4
        if total - 2 >= max(1, barrier_pressure(code)):
            assert split_registers(code, total - 2, 2) is not None


def test_values_find_room_where_all_registers_of_the_base_set_are_live() -> None:
    """dwt2d's wavelet has 34 live registers just outside of its regions: numbers are found if they are looked for long enough."""
    module = program_named("dwt2d").module()
    assert split_registers(compile_kernel(module, "dwt97"), 34, 6) is not None


def test_lanes_that_stay_apart_in_machine_code_do_not_keep_each_others_arms_alive() -> None:
    """tpacf's lanes leave its loops apart and meet behind all of them; what each arm needs for itself ends with its last read."""
    code = compile_for(program_named("tpacf", "sm_75").module(), "tpacf", parse_design("baseline"), load_machine("regmutex"))
    pressure = warp_liveness(code).pressure
    regions = plan_regions(code, 20)
    assert sum(live > 20 for live in pressure) > 150, "kept alive until all have met, the loops need 21 registers throughout"
    assert sum(regions.held) < 100
    assert split_registers(code, 20, 8) is not None


def test_our_backends_registers_are_nearer_to_table_1_than_nvidias() -> None:
    """Why the figures execute our backend's code: ten of sixteen programs ask for as many registers as the paper's."""

    def asked(registers: int) -> int:
        return -(-registers // 4) * 4

    equal = {}
    for kind in ("ptx", "sm_75"):
        numbers = {}
        for name in PAPER.workloads:
            module = program_named(name, kind).module()
            codes = (compile_kernel(module, k) if kind == "ptx" else module.kernel(k, None) for k in module.kernels)
            numbers[name] = asked(max(code.registers for code in codes))
        equal[kind] = {name for name, row in PAPER.workloads.items() if numbers[name] == asked(row["registers"])}
    assert (len(equal["ptx"]), len(equal["sm_75"])) == (10, 4)


def test_kernels_that_gain_no_occupancy_are_left_alone() -> None:
    program = workload_program("vectoradd")
    module = parse(program.source.ptx, program.place)
    code = replace(compile_kernel(module, next(iter(module.kernels))), threads=256)
    machine = load_machine("regmutex")
    for policy in ("regmutex", "regmutex-paired"):
        assert make_policy("allocation", policy).compile(code, machine) is code


def test_a_block_without_instructions_has_no_end_to_acquire_at() -> None:
    """phong has such blocks; what follows them acquires where it needs its extended registers."""
    code = compile_for(workload_program("phong").module(), "phong", parse_design("baseline"), load_machine("gtx480"))
    assert not all(block.instructions for block in code.blocks)
    planned = [plan_regions(code, base) for base in range(1, code.registers)]
    acquired = {place for regions in planned if regions is not None for place in regions.acquires}
    assert acquired and all(code.blocks[block].instructions for block, _ in acquired)
