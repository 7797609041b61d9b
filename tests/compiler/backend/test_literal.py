import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.assembler import assemble
from support.random_kernels import options, random_kernel, run_thread
from warploom.base.errors import WarploomError
from warploom.compiler.backend.allocate import allocate, allocate_with_origins
from warploom.compiler.backend.verify import verify_allocation


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_literal_code_is_one_to_one(seed: int) -> None:
    code = random_kernel(seed, 40, 10)
    allocation = allocate_with_origins(code, options(literal=True, registers=20))
    verify_allocation(allocation)
    allocated = allocation.allocated
    assert allocated.literal and allocated.registers == 20 and len(allocated) == len(code)
    assert [i.op for i in allocated.instructions()] == [i.op for i in code.instructions()]
    assert run_thread(allocated, seed) == run_thread(code, seed)


def test_a_number_is_reused_only_when_all_have_been_used() -> None:
    text = "\n".join(f"ld.global.u32 R{n} = [0]\nst.global.u32 [64], R{n}" for n in range(300)) + "\nexit"
    numbers = [i.dsts[0].number for i in allocate(assemble(text), options(literal=True)).instructions() if i.dsts]
    assert numbers == [n % 255 for n in range(300)]


def test_too_many_are_refused() -> None:
    loads = "\n".join(f"ld.global.u32 R{n} = [0]" for n in range(260))
    uses = "\n".join(f"st.global.u32 [64], R{n}" for n in range(260))
    with pytest.raises(WarploomError, match="needs more than 255 registers in literal mode"):
        allocate(assemble(f"{loads}\n{uses}\nexit"), options(literal=True))
