import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.assembler import assemble, offset_of
from support.random_kernels import options, random_kernel, run_thread
from warploom.base.errors import WarploomError
from warploom.compiler.backend.allocate import MOST_PREDICATES, allocate, allocate_with_origins
from warploom.compiler.backend.verify import verify_allocation
from warploom.compiler.backend.webs import split_webs
from warploom.compiler.code.graph import without_unreachable
from warploom.compiler.code.instruction import Bank, Code
from warploom.compiler.code.liveness import thread_liveness


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 100_000), st.sampled_from([(20, 6), (40, 12), (90, 20)]), st.sampled_from([None, 16, 10, 7]), st.booleans())
def test_allocated_code_is_proved_and_computes_the_same(
    seed: int, shape: tuple[int, int], limit: int | None, schedule: bool
) -> None:
    code = random_kernel(seed, *shape)
    allocation = allocate_with_origins(code, options(max_registers=limit, schedule=schedule))
    verify_allocation(allocation)
    allocated = allocation.allocated
    assert allocated.allocated and allocated.predicates <= MOST_PREDICATES
    assert allocated.registers >= thread_liveness(allocated).max_live
    if limit is not None:
        assert allocated.registers <= limit
    for run in range(3):
        assert run_thread(allocated, run) == run_thread(code, run)


def test_most_kernels_need_no_more_registers_than_are_live() -> None:
    excess = []
    for seed in range(50):
        allocated = allocate(random_kernel(seed, 60, 14, pairs=False), options())
        excess.append(allocated.registers - thread_liveness(allocated).max_live)
    assert sum(extra == 0 for extra in excess) >= 45, excess
    assert max(excess) <= 2


def test_pairs_cost_little() -> None:
    """Pairs are aligned, and of a 64-bit value of which one word is dead both words keep their place."""
    excess = []
    for seed in range(50):
        virtual = split_webs(without_unreachable(random_kernel(seed, 60, 14)))
        excess.append(allocate(virtual, options(schedule=False)).registers - thread_liveness(virtual).max_live)
    assert sum(extra <= 0 for extra in excess) >= 45, excess
    assert max(excess) <= 2


def test_allocation_is_deterministic() -> None:
    codes = [allocate(random_kernel(5, 60, 12), options(max_registers=10)) for _ in range(2)]
    assert [str(i) for i in codes[0].instructions()] == [str(i) for i in codes[1].instructions()]


def opcodes(code: Code) -> list[str]:
    return [instruction.op.name for instruction in code.instructions()]


def test_copies_and_halves_of_pairs_vanish() -> None:
    code = assemble(
        """
        ld.global.u32 R0 = [64]
        ld.global.u32 R1 = [68]
        mov.b64 D0 = R0, R1
        add.u64 D1 = D0, D0
        mov.b64 R2, R3 = D1
        mov.u32 R4 = R2
        st.global.u32 [72], R4
        st.global.u32 [76], R3
        exit
        """
    )
    allocated = allocate(code, options(schedule=False))
    assert opcodes(allocated) == ["ld", "ld", "add", "st", "st", "exit"]
    assert allocated.registers == 2


def test_the_copies_of_a_loop_vanish() -> None:
    code = assemble(
        """
        mov.u32 R0 = 0
        mov.u32 R1 = 8
    loop:
        add.u32 R2 = R0, 3
        sub.u32 R3 = R1, 1
        mov.u32 R0 = R2
        mov.u32 R1 = R3
        setp.gt.s32 P0 = R1, 0
        @P0 bra loop
        st.global.u32 [64], R0
        exit
        """
    )
    allocated = allocate(code, options())
    assert opcodes(allocated).count("mov") == 2 and allocated.registers == 2


def test_pairs_are_aligned() -> None:
    allocated = allocate(random_kernel(11, 60, 12), options())
    pairs = [r for i in allocated.instructions() for r in (*i.dsts, *i.reads) if r.bank is Bank.D]
    assert pairs and all(pair.number % 2 == 0 for pair in pairs)


def test_constants_are_computed_again_before_anything_is_stored() -> None:
    constants = "\n".join(f"mov.u32 R{n} = {n + 100}" for n in range(12))
    uses = "\n".join(f"st.global.u32 [{64 + 4 * n}], R{n}" for n in range(12))
    code = assemble(f"{constants}\nbar.sync 0\n{uses}\nexit")
    allocated = allocate(code, options(max_registers=4))
    assert allocated.registers <= 4
    assert allocated.spill_loads == allocated.spill_stores == 0 and allocated.local_bytes == 0
    assert run_same(code, allocated)


def test_values_go_to_local_memory_behind_the_kernels_own() -> None:
    loads = "\n".join(f"ld.global.u32 R{n} = [{4 * n}]" for n in range(10))
    uses = "\n".join(f"st.global.u32 [{64 + 4 * n}], R{n}" for n in range(10))
    code = assemble(f"{loads}\nbar.sync 0\n{uses}\nexit", local_bytes=6)
    allocated = allocate(code, options(max_registers=6))
    assert allocated.registers <= 6
    stores = [i for i in allocated.instructions() if i.op.name == "st" and i.op.space == "local"]
    reloads = [i for i in allocated.instructions() if i.op.name == "ld" and i.op.space == "local"]
    assert len(stores) == allocated.spill_stores > 0 and len(reloads) == allocated.spill_loads > 0
    offsets = {offset_of(i) for i in stores}
    assert min(offsets) >= 8 and all(offset % 4 == 0 for offset in offsets)
    assert allocated.local_bytes == max(offsets) + 4
    assert run_same(code, allocated)


def run_same(code: Code, allocated: Code) -> bool:
    def without_barriers(code: Code) -> Code:
        blocks = [replace(b, instructions=[i for i in b.instructions if i.op.name != "bar"]) for b in code.blocks]
        return replace(code, blocks=blocks)

    return all(run_thread(without_barriers(code), run) == run_thread(without_barriers(allocated), run) for run in range(3))


def test_many_predicates_wait_in_registers() -> None:
    compares = "\n".join(f"ld.global.u32 R{n} = [{4 * n}]\nsetp.lt.s32 P{n} = R{n}, 6" for n in range(12))
    uses = "\n".join(f"@P{n} st.global.u32 [{64 + 4 * n}], {n}" for n in range(12))
    code = assemble(f"{compares}\nbar.sync 0\n{uses}\nexit")
    allocated = allocate(code, options())
    assert allocated.predicates <= MOST_PREDICATES and allocated.spill_loads == 0
    assert run_same(code, allocated)


def test_an_impossible_limit_is_refused() -> None:
    code = assemble(
        "ld.global.u64 D0 = [0]\nadd.u64 D1 = D0, D0\nadd.u64 D2 = D1, D0\nst.global.u64 [64], D2\nexit", source="k.ptx"
    )
    with pytest.raises(WarploomError, match=r"^k.ptx: kernel test cannot be compiled for 2 registers"):
        allocate(code, options(max_registers=2))


def test_unreachable_code_is_dropped() -> None:
    code = assemble("bra end\nmov.u32 R1 = 1\nend:\nst.global.u32 [64], 1\nexit")
    assert opcodes(allocate(code, options())) == ["bra", "st", "exit"]


def test_long_kernels_are_allocated_quickly() -> None:
    code = random_kernel(3, 5000, 40)
    while len(code) < 5000:  # one kernel after the other, each in blocks of its own
        code = joined(code, random_kernel(len(code), 5000, 40))
    start = time.process_time()
    allocate(code, options(verify=False))
    assert time.process_time() - start < 10  # about 2 s on a machine that is not busy


def joined(first: Code, second: Code) -> Code:
    shift = len(first.blocks)
    head = [*first.blocks[:-1], replace(first.blocks[-1], instructions=first.blocks[-1].instructions[:-1])]
    tail = [
        replace(b, instructions=[i if i.target is None else replace(i, target=i.target + shift) for i in b.instructions])
        for b in second.blocks
    ]
    return Code("joined", head + tail)


def test_chains_of_cheap_operations_are_computed_again_before_anything_is_stored() -> None:
    """4 tid + base, and a copy of tid, live through a loop that needs all registers: neither is kept, neither is stored."""
    code = assemble("""
        mov.u32 R0 = %tid.x
        mov.u32 R9 = R0
        shl.b32 R1 = R0, 2
        add.u32 R2 = R1, 0x1000
        mov.u32 R3 = 0
        mov.u32 R4 = 0
      L:
        ld.global.u32 R5 = [R4]
        ld.global.u32 R6 = [R4+4]
        add.u32 R3 = R3, R5
        add.u32 R3 = R3, R6
        add.u32 R4 = R4, 8
        setp.lt.u32 P0 = R4, 64
        @P0 bra L
        add.u32 R3 = R3, R9
        st.global.u32 [R2], R3
        exit
    """)
    allocated = allocate(code, options(max_registers=4, schedule=False))
    assert allocated.registers <= 4
    assert "local" not in {instruction.op.space for instruction in allocated.instructions()}
    loop = [str(one) for one in allocated.blocks[1].instructions]
    assert len(loop) == 7  # nothing is computed again in the loop
    assert opcodes(allocated).count("shl") == 1


def test_tiles_in_shared_memory_share_a_base_where_registers_are_short() -> None:
    """(16 y + 1024) + x is 1024 behind 16 y + x, whatever the order of the sums."""
    text = """
        mov.u32 R0 = %tid.x
        ld.global.u32 R1 = [0x10]
        add.u32 R2 = R1, 0x400
        add.u32 R3 = R1, R0
        add.u32 R4 = R2, R0
      L:
        ld.global.u32 R5 = [0x20]
        st.shared.u32 [R3], R5
        st.shared.u32 [R4+4], R5
        setp.lt.u32 P0 = R5, 64
        @P0 bra L
        exit
    """
    roomy, short = (allocate(assemble(text), options(max_registers=limit, schedule=False)) for limit in (None, 2))
    addresses = [[str(one.srcs[0]) for one in code.instructions() if one.op.name == "st"] for code in (roomy, short)]
    assert addresses[0][0] != addresses[0][1].replace("+0x4", "")
    assert addresses[1][1] == addresses[1][0].replace("]", "+0x404]")
    assert short.registers == 2
