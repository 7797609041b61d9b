"""The checker must fail when an allocation is wrong; here allocations are broken on purpose."""

import random
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from support.assembler import assemble
from support.random_kernels import options, random_kernel, run_thread
from warploom.compiler.backend.allocate import allocate_with_origins
from warploom.compiler.backend.allocation import Allocation, own_origins
from warploom.compiler.backend.verify import AllocationError, verify_allocation
from warploom.compiler.code.instruction import Address, Guard, Reg


def by_hand(virtual: str, allocated: str, **fields: Any) -> Allocation:
    """An allocation given as two texts, instruction for instruction."""
    code = assemble(virtual)
    return Allocation(code, assemble(allocated, allocated=True, registers=8, predicates=2, **fields), own_origins(code))


def refused(allocation: Allocation) -> bool:
    try:
        verify_allocation(allocation)
    except AllocationError:
        return True
    return False


SUM = "ld.global.u32 R0 = [0]\nld.global.u32 R1 = [4]\nadd.u32 R2 = R0, R1\nst.global.u32 [8], R2\nexit"


def test_a_right_allocation_passes() -> None:
    assert not refused(by_hand(SUM, SUM))
    assert not refused(by_hand(SUM, SUM.replace("R2", "R0")))


def test_two_live_values_in_one_register() -> None:
    with pytest.raises(AllocationError, match=r"reads R0 from R1, which on some path holds R1"):
        verify_allocation(by_hand(SUM, SUM.replace("R0", "R1")))


@pytest.mark.parametrize(
    "change",
    [("add.u32", "sub.u32"), ("[8]", "[12]"), ("R0, R1", "R1, R0"), ("= R0, R1", "= R0, R0"), ("[8], R2", "[8], R3")],
)
def test_another_program(change: tuple[str, str]) -> None:
    assert refused(by_hand(SUM, SUM.replace(*change)))


def test_a_value_lost_on_one_path() -> None:
    text = """
        ld.global.u32 R0 = [0]
        setp.lt.s32 P0 = R0, 4
        @P0 bra join
        ld.global.u32 R1 = [4]
        st.global.u32 [8], R1
    join:
        st.global.u32 [12], R0
        exit
    """
    verify_allocation(by_hand(text, text))
    with pytest.raises(AllocationError, match="reads R0 from R0"):
        verify_allocation(by_hand(text, text.replace("R1", "R0")))


def test_a_value_lost_around_a_loop() -> None:
    text = """
        ld.global.u32 R0 = [0]
        ld.global.u32 R1 = [4]
    loop:
        sub.u32 R0 = R0, 1
        add.u32 R2 = R1, R0
        st.global.u32 [8], R2
        setp.gt.s32 P0 = R0, 0
        @P0 bra loop
        exit
    """
    verify_allocation(by_hand(text, text))
    assert refused(by_hand(text, text.replace("R2", "R1")))  # right in the first iteration only


def test_a_guarded_write_to_another_register() -> None:
    text = """
        ld.global.u32 R0 = [0]
        setp.lt.s32 P0 = R0, 4
        @P0 add.u32 R0 = R0, 1
        st.global.u32 [8], R0
        exit
    """
    verify_allocation(by_hand(text, text))
    wrong = text.replace("@P0 add.u32 R0", "@P0 add.u32 R1").replace("[8], R0", "[8], R1")
    assert refused(by_hand(text, wrong))
    assert refused(by_hand(text, text.replace("@P0 add", "@!P0 add")))


def test_half_of_a_pair() -> None:
    text = "ld.global.u64 D0 = [0]\nld.global.u32 R2 = [8]\nst.global.u64 [16], D0\nst.global.u32 [24], R2\nexit"
    verify_allocation(by_hand(text, text))
    assert refused(by_hand(text, text.replace("R2", "R1")))
    assert refused(by_hand(text, text.replace("D0", "D1")))  # not aligned


def test_undefined_values_may_be_anything() -> None:
    text = "setp.lt.s32 P0 = R9, 1\n@P0 bra join\nld.global.u32 R1 = [4]\njoin:\nst.global.u32 [8], R1\nexit"
    other = text.replace("R9", "R1")
    assert other != text and not refused(by_hand(text, other))


def mutants(allocation: Allocation, rng: random.Random) -> Iterator[Allocation]:
    """Copies of an allocation with one thing changed at random."""
    allocated = allocation.allocated
    places = [(b, i) for b, block in enumerate(allocated.blocks) for i in range(len(block.instructions))]
    while True:
        mutant = deepcopy(allocation)
        block, place = rng.choice(places)
        instructions = mutant.allocated.blocks[block].instructions
        old = instructions[place]
        registers = [*old.dsts, *old.reads]
        kind = rng.randrange(5)
        if kind < 3 and registers:
            victim = rng.choice(registers)
            limit = allocated.predicates if victim.bank.value == "P" else allocated.registers
            step = 2 if victim.bank.value == "D" else 1
            choices = [n for n in range(0, limit - step + 1, step) if n != victim.number]
            if not choices:
                continue
            new = Reg(rng.choice(choices), victim.bank)
            if victim in old.dsts and rng.random() < 0.5:
                instructions[place] = replace(old, dsts=tuple(new if dst == victim else dst for dst in old.dsts))
            else:
                renamed = old.with_registers({victim: new})
                instructions[place] = replace(renamed, dsts=old.dsts)
        elif kind == 3:
            del instructions[place]
            del mutant.origins[block][place]
        elif old.guard is not None:
            instructions[place] = replace(old, guard=Guard(old.guard.predicate, not old.guard.negated))
        elif old.op.space == "local" and isinstance(old.srcs[0], Address):
            moved = Address(None, old.srcs[0].offset + 4)
            instructions[place] = replace(old, srcs=(moved, *old.srcs[1:]))
        else:
            continue
        if instructions[place : place + 1] != [old]:
            yield mutant


def test_whatever_passes_computes_the_same() -> None:
    """A change at random is refused, or else it does no harm in any run."""
    rng = random.Random(1)
    caught = tried = 0
    for seed in range(30):
        code = random_kernel(seed, 30, 9)
        allocation = allocate_with_origins(code, options(max_registers=[None, 10][seed % 2], schedule=False))
        expected = [run_thread(code, run) for run in range(4)]
        for _, mutant in zip(range(12), mutants(allocation, rng), strict=False):
            tried += 1
            if refused(mutant):
                caught += 1
                continue
            assert [run_thread(mutant.allocated, run) for run in range(4)] == expected
    assert caught > 0.7 * tried
