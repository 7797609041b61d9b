"""The compile-time half of register file virtualization: release flags, release points, exempt registers."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.assembler import assemble
from support.random_kernels import options, random_kernel, run_thread, run_warp
from warploom.chip.machines import load_machine
from warploom.cli.app import run_command
from warploom.compiler.backend.allocate import allocate
from warploom.compiler.code.classes import add_operation
from warploom.compiler.code.instruction import Bank, Block, Code, Instruction
from warploom.compiler.code.slots import bits
from warploom.compiler.code.table import static_table
from warploom.compiler.code.warp import warp_liveness
from warploom.designs import parse_design
from warploom.papers.regmutex import figures as regmutex
from warploom.papers.rfv.lifetimes import choose_exempt, exempt_first, register_lifetimes
from warploom.papers.rfv.release_flags import (
    FLAGS,
    NO_REGISTER,
    ReleaseOpcode,
    decode_pbr,
    decode_pir,
    encode_pbr,
    encode_pir,
    opcode,
    payload,
    value_operands,
)
from warploom.papers.rfv.release_points import (
    decoded_flags,
    describe_releases,
    release_points,
    with_release_flags,
)

# --- the 64 bits ------------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 7), max_size=FLAGS))
def test_pir_round_trip(flags) -> None:
    bits_ = encode_pir(flags)
    assert 0 <= bits_ < 1 << 64
    assert opcode(bits_) is ReleaseOpcode.PIR
    assert decode_pir(bits_) == flags + [0] * (FLAGS - len(flags))


@given(st.lists(st.integers(0, NO_REGISTER - 1), max_size=9, unique=True))
def test_pbr_round_trip(registers) -> None:
    bits_ = encode_pbr(registers)
    assert 0 <= bits_ < 1 << 64
    assert opcode(bits_) is ReleaseOpcode.PBR
    assert decode_pbr(bits_) == registers


def test_where_the_bits_are() -> None:
    empty = encode_pir([])
    assert empty & 0xF == ReleaseOpcode.PIR & 0xF  # four bits of opcode at the bottom
    assert empty >> 58 == ReleaseOpcode.PIR >> 4  # six at the top
    assert empty >> 4 & (1 << 54) - 1 == 0
    assert encode_pir([1]) ^ empty == 1 << 4  # first operand of the first instruction
    assert encode_pir([0] * 17 + [4]) ^ empty == 1 << 57  # third operand of the eighteenth
    assert encode_pbr([5]) >> 4 & 63 == 5
    assert encode_pbr(list(range(9))) >> 52 & 63 == 8
    assert len({int(code) for code in ReleaseOpcode}) == 2 and all(code < 1 << 10 for code in ReleaseOpcode)


@pytest.mark.parametrize("registers", [[63], [1] * 10, [-1]])
def test_pbr_refuses_what_does_not_fit(registers) -> None:
    with pytest.raises(ValueError, match="up to 9 registers"):
        encode_pbr(registers)


def test_a_pir_is_no_pbr() -> None:
    with pytest.raises(ValueError, match="is no pbr"):
        decode_pbr(encode_pir([1]))


# --- release points ---------------------------------------------------------------------------------------------------------


def flags_by_register(code: Code) -> dict[int, set[str]]:
    """pc -> names of the operands released there, as decoded from the code with metadata, by the pc without it."""
    made = with_release_flags(code, release_points(code))
    instructions = list(made.instructions())
    found = {}
    for place, (pc, flags, _) in enumerate(decoded_flags(made)):
        names = {str(operand) for n, operand in enumerate(value_operands(instructions[pc])) if flags >> n & 1}
        if names:
            found[place] = names
    return found


@pytest.mark.parametrize("in_operands", [False, True])
def test_metadata_of_another_policy_does_not_shift_flags(in_operands: bool) -> None:
    """As LTRF's, which is put in after ours."""
    code = assemble("mov.u32 R0 = 1\nmov.u32 R1 = 2\nadd.u32 R2 = R0, R1\nst.global.u32 [R1], R2\nexit", allocated=True)
    made = with_release_flags(code, release_points(code), in_operands=in_operands)
    other = Instruction(add_operation("between", __name__))
    mixed = [one for instruction in made.blocks[0].instructions for one in (instruction, other)]
    before, after = ([flags for _, flags, _ in decoded_flags(each)] for each in (made, replace(made, blocks=[Block(mixed)])))
    assert before == after and any(before)


def block_releases(code: Code) -> dict[int, set[int]]:
    points = release_points(code)
    return {number: set(bits(mask)) for number, mask in enumerate(points.starts) if mask}


def test_last_reads_inside_a_block() -> None:
    code = assemble(
        """
        mov.u32 R0 = 1
        mov.u32 R1 = 2
        add.u32 R2 = R0, R1
        add.u32 R1 = R1, R0
        add.u32 R1 = R1, R2
        st.global.u32 [64], R1
        exit
        """,
        allocated=True,
        registers=3,
    )
    # R1 is overwritten in place at 3 and 4; R0 ends at 3, R2 at 4, R1 at the store.
    assert flags_by_register(code) == {3: {"R0"}, 4: {"R2"}, 5: {"R1"}}
    assert block_releases(code) == {}


def test_a_register_pair_has_one_flag() -> None:
    code = assemble(
        """
        ld.global.u64 D0 = [64]
        ld.global.u64 D2 = [72]
        add.u64 D0 = D0, D2
        st.global.u64 [80], D0
        st.global.u32 [88], R3
        exit
        """,
        allocated=True,
        registers=4,
    )
    # One half of D2 is needed later, so that its flag at 2 must stay clear; its other half waits for the end.
    assert flags_by_register(code) == {3: {"D0"}, 4: {"R3"}}


ARMS = """
    mov.u32 R0 = %tid.x
    mov.u32 R1 = 10
    mov.u32 R2 = 11
    setp.lt.s32 P0 = R0, 4
    @P0 bra else
    add.u32 R3 = R1, R2
    bra join
else:
    add.u32 R3 = R1, 7
join:
    st.global.u32 [64], R3
    exit
"""


def test_what_both_arms_read_is_released_where_lanes_meet() -> None:
    code = assemble(ARMS, allocated=True, registers=4)
    # R1 is read in both arms: at the join. R2 is read in one, which releases it; warps that take only the other do so later.
    assert flags_by_register(code) == {3: {"R0"}, 5: {"R2"}, 8: {"R3"}}
    assert block_releases(code) == {3: {1, 2}}


def test_uniform_arms_release_by_themselves() -> None:
    code = assemble(ARMS.replace("%tid.x", "%ctaid.x"), allocated=True, registers=4)
    assert flags_by_register(code) == {3: {"R0"}, 5: {"R1", "R2"}, 7: {"R1"}, 8: {"R3"}}
    assert block_releases(code) == {2: {2}}  # the arm that does not need R2
    assumed = release_points(code, assume_divergent=True)
    assert {number: set(bits(mask)) for number, mask in enumerate(assumed.starts) if mask} == {3: {1, 2}}


def test_an_arm_does_not_release_what_it_writes_itself() -> None:
    """The warp executes one arm after the other, and never an arm twice: R3 and R4 are not yet there where their arms begin."""
    code = assemble(
        """
        mov.u32 R0 = %tid.x
        setp.lt.s32 P0 = R0, 4
        @P0 bra else
        mov.u32 R3 = 1
        st.global.u32 [64], R3
        mov.u32 R3 = 2
        bra join
    else:
        mov.u32 R4 = 1
        st.global.u32 [64], R4
        mov.u32 R4 = 2
    join:
        mov.u32 R5 = 3
        st.global.u32 [64], R5
        exit
        """,
        allocated=True,
        registers=6,
    )
    assert block_releases(code) == {1: {4}, 2: {3}, 3: {3, 4}}


def test_a_register_that_the_block_writes_again_is_not_listed() -> None:
    code = assemble(
        """
        mov.u32 R0 = 8
        mov.u32 R1 = 0
        mov.u32 R2 = 0
    loop:
        add.u32 R1 = R1, 1
        add.u32 R0 = R0, -1
        setp.gt.s32 P0 = R0, 0
        @P0 bra loop
        mov.u32 R0 = 5
        st.global.u32 [64], R0
        st.global.u32 [64], R1
        exit
        """,
        allocated=True,
        registers=3,
    )
    assert block_releases(code) == {1: {2}}  # R0 is dead behind the loop too, and written again at once


def test_loops() -> None:
    code = assemble(
        """
        mov.u32 R0 = 8
        mov.u32 R1 = 0
        mov.u32 R4 = 3
    loop:
        mul.u32 R2 = R0, R4
        add.u32 R1 = R1, R2
        add.u32 R0 = R0, -1
        setp.gt.s32 P0 = R0, 0
        @P0 bra loop
        st.global.u32 [64], R1
        exit
        """,
        allocated=True,
        registers=5,
    )
    # R2 does not live from turn to turn; R1, R0 and R4 do. Behind the loop nobody needs R0 and R4.
    assert flags_by_register(code) == {4: {"R2"}, 8: {"R1"}}
    assert block_releases(code) == {2: {0, 4}}


def test_results_that_nobody_reads_and_operands_without_a_flag() -> None:
    code = assemble(
        """
        ld.global.u32 R0 = [64]
        ld.global.u32 R1 = [68]
        ld.global.u32 R2 = [72]
        ld.global.u32 R3 = [76]
        mov.u32 R4 = 9
        sel.four.u32 R5 = R0, R1, R2, R3
    next:
        mov.u32 R6 = 2
        st.global.u32 [64], R6
        exit
        """,
        allocated=True,
        registers=7,
    )
    assert flags_by_register(code) == {5: {"R0", "R1", "R2"}, 7: {"R6"}}
    assert block_releases(code) == {1: {3, 4, 5}}


def test_metadata_every_eighteen_instructions() -> None:
    code = assemble("\n".join(["mov.u32 R0 = 1"] * 40 + ["exit"]), allocated=True, registers=1)
    made = list(with_release_flags(code, release_points(code)).instructions())
    assert [pc for pc, one in enumerate(made) if one.op.name == "pir"] == [0, 19, 38]
    assert len(made) == 41 + 3


def test_the_table_carries_the_bits() -> None:
    code = with_release_flags(assemble(ARMS, allocated=True, registers=4), release_points(assemble(ARMS, allocated=True)))
    for row, instruction in zip(static_table(code), code.instructions(), strict=True):
        if instruction.op.name in ("pir", "pbr"):
            assert int(row["payload"]) == payload(instruction) and row["unit"] == 0


def test_description_decodes_the_bits() -> None:
    code = with_release_flags(assemble(ARMS, allocated=True, registers=4), release_points(assemble(ARMS, allocated=True)))
    notes = describe_releases(code)
    assert notes[0] == "flags 0001"
    assert {"releases R0", "releases R2", "releases R3", "releases R1 R2"} <= set(notes.values())


def test_inspect_shows_the_metadata(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert run_command(["inspect", "vectoradd", "--design", "rfv"]) == 0
    listing = capsys.readouterr().out
    assert "pir 0x" in listing and "flags 00" in listing and "releases R0 R1" in listing
    assert run_command(["inspect", "vectoradd", "--design", "rfv", "--json"]) == 0
    (kernel,) = json.loads(capsys.readouterr().out)
    assert "releases R0 R1" in kernel["notes"].values()


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_no_lane_reads_what_was_released(seed, assume) -> None:
    """Executed by a warp of four lanes, random kernels read no value after its register has been given back."""
    code = allocate(random_kernel(seed, 26, 7), options(schedule=seed % 2 == 0))
    points = release_points(code, assume_divergent=assume)
    live = warp_liveness(code, by_arm=True)
    instructions = list(code.instructions())
    first = {start: number for number, start in enumerate(code.block_starts()[:-1]) if code.blocks[number].instructions}
    accesses = [live.slots.access(one) for one in instructions]
    operands = [value_operands(one) for one in instructions]
    steps = run_warp(code, seed)
    lanes = len(steps[0][1])
    lost = [0] * lanes  # written by the lane and given back since
    held = 0
    for pc, _, holds in steps:
        gone = points.starts[first[pc]] if pc in first else 0
        held &= ~gone
        lost = [mask | gone for mask in lost]
        for lane in range(lanes):
            if holds[lane]:
                assert not accesses[pc].reads & lost[lane], f"lane {lane} at pc {pc}"
        held |= accesses[pc].writes & (1 << 256) - 1
        assert not held & ~points.held[pc]
        gone = sum(1 << w for n, o in enumerate(operands[pc][:3]) if points.flags[pc] >> n & 1 for w in o.words)
        for lane in range(lanes):
            if holds[lane]:
                lost[lane] &= ~accesses[pc].writes
            lost[lane] |= gone
        held &= ~gone


def test_ctas_are_resident_by_what_their_warps_hold() -> None:
    """Sixteen registers are named, and no more than two are held at once."""
    body = "\n".join(f"mov.u32 R{n} = 1\nmov.u32 R{n + 1} = 1\nst.global.u32 [R{n}], R{n + 1}" for n in range(0, 16, 2))
    code = assemble(f"{body}\nexit", allocated=True, registers=16)
    assert release_points(code).most_held == 2
    machine = load_machine("regmutex")
    named, held = (parse_design(f"rfv(table_bytes=3780, residency={word})").policies.allocation for word in ("named", "held"))
    assert named.resident_limit(code, machine, 4) == 1024 // (16 * 4)
    assert held.resident_limit(code, machine, 4) == 1024 // (2 * 4)
    assert held._replace(shrink=0.5).resident_limit(code, machine, 4) == 512 // (2 * 4)


def test_the_rival_of_regmutex_renames_every_register() -> None:
    """RegMutex charges rfv with 30,240 bits: 48 warps of 63 registers with ten bits each."""
    policy = parse_design(regmutex.RFV).policies.allocation
    assert 8 * policy.table_bytes == 30_240
    code = replace(allocate(random_kernel(3, 60, 40), options()), threads=256)
    assert code.registers > 20
    made = policy.compile(code, load_machine(regmutex.MACHINE))
    assert made.registers == code.registers and not choose_exempt(code, 63)
    kept = [str(one) for one in made.instructions() if one.op.name not in ("pir", "pbr")]
    assert kept == [str(one) for one in code.instructions()]  # nothing is numbered anew, because nothing is exempt


# --- exempt registers -------------------------------------------------------------------------------------------------------


def test_lifetimes_and_the_choice_of_exempt_registers() -> None:
    code = assemble(
        """
        mov.u32 R0 = 1
        mov.u32 R1 = 2
        mov.u32 R2 = 3
        add.u32 R2 = R2, R1
        mov.u32 R2 = 4
        add.u32 R1 = R2, R1
        st.global.u32 [64], R1
        st.global.u32 [68], R0
        exit
        """,
        allocated=True,
        registers=3,
    )
    lifetimes = {one.register: one for one in register_lifetimes(code)}
    assert lifetimes[0].instructions > lifetimes[1].instructions > lifetimes[2].instructions
    assert lifetimes[2].values == 3
    assert choose_exempt(code, 3) == ()
    assert choose_exempt(code, 2) == (0,)
    assert choose_exempt(code, 1) == (0, 1)


def test_of_equally_long_lives_the_one_with_fewer_values_is_renamed() -> None:
    code = assemble(
        """
        mov.u32 R0 = 1
        st.global.u32 [64], R0
        mov.u32 R0 = 1
        st.global.u32 [64], R0
        mov.u32 R1 = 1
        st.global.u32 [64], R1
        exit
        """,
        allocated=True,
        registers=2,
    )
    assert choose_exempt(code, 1) == (0,)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 20))
def test_renumbered_code_computes_the_same(seed, renamed) -> None:
    code = allocate(random_kernel(seed, 26, 7), options())
    exempt = choose_exempt(code, renamed)
    assert code.registers - len(exempt) <= max(renamed, 0) or not exempt
    made = exempt_first(code, exempt)
    for instruction in made.instructions():
        for register in (*instruction.reads, *instruction.dsts):
            assert register.bank is not Bank.D or register.number % 2 == 0
    moved = with_release_flags(made, release_points(made, len(exempt)))
    for one in moved.instructions():
        if one.op.name == "pbr":
            assert min(decode_pbr(payload(one))) >= len(exempt)
    assert run_thread(made, seed) == run_thread(code, seed)
