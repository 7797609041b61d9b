"""Bounds on the bits that values need."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pytest

from support.assembler import assemble
from warploom.chip.machines import Machine
from warploom.compiler.code.instruction import Bank, Block, Code, Imm, Instruction, Operation
from warploom.compiler.code.slots import PREDICATES
from warploom.compiler.code.values import value_instances
from warploom.compiler.code.widths import WHOLE, value_widths
from warploom.designs import design
from warploom.runs.simulate import emulate


def widths_of(text: str) -> dict[int, int]:
    """The bound of what each instruction writes to a register, by pc."""
    code = assemble(text, allocated=True)
    values = value_instances(code)
    widths = value_widths(code, values)
    return {pc: widths[value.number] for (pc, slot), value in values.defined.items() if slot < PREDICATES}


def test_each_operation_bounds_its_result() -> None:
    cases = {
        "mov.u32 R0 = %tid.x": 10,
        "mov.u32 R0 = %ctaid.x": WHOLE,
        "mov.u32 R0 = 255": 8,
        "ld.global.u8 R0 = [64]": 8,
        "ld.global.s8 R0 = [64]": WHOLE,
        "and.b32 R0 = R9, 15": 4,
        "shr.u32 R0 = R9, 20": 12,
        "shr.s32 R0 = R9, 20": WHOLE,
        "popc.b32 R0 = R9": 6,
        "rem.u32 R0 = R9, 7": WHOLE,
        "sub.u32 R0 = 1, 2": WHOLE,
    }
    for line, width in cases.items():
        assert widths_of(f"{line}\nst.global.u32 [64], R0\nexit")[0] == width, line


def test_bounds_follow_from_bounds() -> None:
    text = """
        mov.u32 R0 = %tid.x
        and.b32 R1 = R9, 63
        add.u32 R2 = R0, R1
        mul.lo.u32 R3 = R0, R1
        mad.lo.u32 R4 = R0, R1, R3
        shl.b32 R5 = R2, 3
        shr.u32 R6 = R5, 8
        or.b32 R7 = R6, R1
        st.global.u32 [64], R7
        exit
    """
    assert list(widths_of(text).values()) == [10, 6, 11, 16, 17, 14, 6, 6]


def test_what_grows_in_a_loop_has_no_bound_and_what_is_cut_has_one() -> None:
    text = """
        mov.u32 R0 = 0
        mov.u32 R1 = 0
    again:
        add.u32 R0 = R0, 1
        add.u32 R1 = R1, 1
        and.b32 R1 = R1, 7
        setp.lt.u32 P0 = R0, 100
        @P0 bra again
        st.global.u32 [64], R1
        exit
    """
    assert widths_of(text) == {0: WHOLE, 1: 3, 2: WHOLE, 3: 4, 4: 3}


class Cut(NamedTuple):
    """Cuts every narrow value down to its bound where it is written: a wrong bound would change the program's results."""

    CHOICE = "allocation"
    NAME = "cut-for-a-test"

    def compile(policy, code: Code, machine: Machine) -> Code:
        values = value_instances(code)
        widths = value_widths(code, values)
        blocks, pc = [], 0
        for block in code.blocks:
            instructions: list[Instruction] = []
            for instruction in block.instructions:
                instructions.append(instruction)
                for dst in instruction.dsts if not instruction.ends_block else ():
                    if dst.bank is Bank.R and widths[values.defined[pc, dst.number].number] < WHOLE:
                        bound = (1 << widths[values.defined[pc, dst.number].number]) - 1
                        instructions.append(
                            Instruction(Operation("and", "b32"), (dst,), (dst, Imm(bound)), guard=instruction.guard)
                        )
                pc += 1
            blocks.append(Block(instructions, block.label))
        return replace(code, blocks=blocks)


@pytest.mark.compiled
@pytest.mark.parametrize("workload", ("sad", "hotspot", "radixsort", "jpeg", "bfs", "aes", "nw", "mum"))
def test_cutting_values_to_their_bounds_changes_no_result(workload: str) -> None:
    plain = design("baseline")
    cut = emulate(workload, replace(plain, policies=plain.policies._replace(allocation=Cut())), size="tiny")
    assert cut.verified
    assert cut.warp_instructions > emulate(workload, plain, size="tiny").warp_instructions
