"""What the compiler tells the register file cache about each operand, on code small enough to see by eye."""

from __future__ import annotations

import numpy as np
import pytest

from support.assembler import assemble
from warploom.chip.context import code_table
from warploom.chip.machines import load_machine
from warploom.papers.rfc.cache_hints import cache_hints


def hints(text: str) -> np.ndarray:
    code = assemble(text, allocated=True, registers=16, predicates=4)
    return cache_hints(code, code_table(code, load_machine("rfc")))


def test_the_last_read_of_a_value_is_marked() -> None:
    found = hints(
        """
        mov.u32 R1 = %tid.x
        mov.u32 R2 = %tid.x
        add.s32 R3 = R1, R2
        add.s32 R3 = R3, R1
        st.global.b32 [R2], R3
        exit
        """
    )
    assert found["last_use"].tolist() == [0, 0, 0b00, 0b11, 0b11, 0]


def test_a_value_that_only_one_path_reads_again_keeps_its_bit_clear() -> None:
    found = hints(
        """
        mov.u32 R1 = %ctaid.x
        setp.lt.s32 P0 = R1, 7
        add.s32 R2 = R1, 1
        @P0 bra out
        add.s32 R2 = R2, R1
        out:
        st.global.b32 [R2], R2
        exit
        """
    )
    assert found["last_use"][2] == 0  # R1 is read again unless the branch is taken
    assert found["last_use"][4] == 0b11


def test_what_the_other_arm_of_a_divergent_branch_reads_is_not_dead() -> None:
    """The warp executes one arm after the other; a thread alone would be done with R1 after either of them."""
    found = hints(
        """
        mov.u32 R1 = %tid.x
        setp.lt.s32 P0 = R1, 7
        @P0 bra other
        add.s32 R2 = R1, 1
        bra out
        other:
        add.s32 R2 = R1, 2
        out:
        st.global.b32 [R2], R2
        exit
        """
    )
    assert found["last_use"][3] == 0
    assert found["rest_needed"][3] == found["rest_needed"][5] == 1  # R2 of the other arm's lanes is needed at the end


def test_a_temporary_of_one_arm_may_stand_for_the_whole_register() -> None:
    found = hints(
        """
        mov.u32 R1 = %tid.x
        setp.lt.s32 P0 = R1, 7
        @P0 bra out
        add.s32 R2 = R1, 1
        st.global.b32 [R2], R2
        out:
        exit
        """
    )
    assert found["rest_needed"][3] == 0
    assert found["last_use"][4] == 0b11


def test_a_guarded_write_leaves_lanes_that_need_the_old_value() -> None:
    found = hints(
        """
        mov.u32 R1 = %tid.x
        setp.lt.s32 P0 = R1, 7
        @P0 mov.u32 R1 = 5
        st.global.b32 [R1], R1
        exit
        """
    )
    assert found["rest_needed"][2] == 1
    assert found["rest_needed"][0] == 0


def test_a_loop_carried_value_is_live_across_the_back_edge() -> None:
    found = hints(
        """
        mov.u32 R1 = 0
        mov.u32 R2 = 4
        again:
        add.s32 R1 = R1, R2
        setp.lt.s32 P0 = R1, 40
        @P0 bra again
        st.global.b32 [R1], R1
        exit
        """
    )
    assert found["last_use"][2] == 0b01  # R1's old value is replaced, R2 is read in the next round
    assert found["last_use"][5] == 0b11


def test_reads_behind_a_suspension_do_not_count() -> None:
    """R2 is read before the load's result is waited for, R3 only after; R1, the address, not again."""
    found = hints(
        """
        mov.u32 R1 = %tid.x
        mov.u32 R2 = 1
        mov.u32 R3 = 2
        ld.global.b32 R4 = [R1]
        add.s32 R5 = R2, 1
        add.s32 R6 = R4, R3
        add.s32 R6 = R6, R5
        st.global.b32 [R6], R3
        exit
        """
    )
    assert [bool(bits) for bits in found["unread"][:5]] == [False, False, True, True, True]
    assert not found["unread"][5] and not found["unread"][6]
    assert found["cold"][3] == 1  # R1
    assert found["cold"][4] == 1  # R2
    assert found["cold"][5] == 0b01  # R4 is done with, R3 is read by the store


@pytest.mark.parametrize("space", ["shared", "global"])
def test_only_slow_memory_suspends(space: str) -> None:
    found = hints(
        f"""
        mov.u32 R1 = %tid.x
        mov.u32 R3 = 2
        ld.{space}.b32 R4 = [R1]
        add.s32 R6 = R4, R3
        st.global.b32 [R6], R6
        exit
        """
    )
    assert bool(found["unread"][1]) == (space == "global")


def test_literal_code_gets_no_promises() -> None:
    code = assemble("mov.u32 R1 = 0\nst.global.b32 [R1], R1\nexit", allocated=True, registers=4, literal=True)
    found = cache_hints(code, code_table(code, load_machine("rfc")))
    assert not found["last_use"].any()
    assert (found["rest_needed"] == 0xFF).all()
