from hypothesis import given, settings
from hypothesis import strategies as st

from support.assembler import assemble
from support.random_kernels import options, random_kernel, run_warp
from warploom.compiler.backend.allocate import allocate
from warploom.compiler.code.divergence import analyse_divergence
from warploom.compiler.code.graph import flow_graph
from warploom.compiler.code.instruction import Code
from warploom.compiler.code.liveness import Liveness, thread_liveness
from warploom.compiler.code.slots import PREDICATES, bits
from warploom.compiler.code.warp import warp_liveness


def names(liveness: Liveness, mask: int) -> str:
    return " ".join(sorted(liveness.slots.name(slot) for slot in bits(mask)))


def test_straight_code() -> None:
    liveness = thread_liveness(
        assemble(
            """
            mov.u32 R0 = %tid.x
            add.u32 R1 = R0, 1
            mul.lo.u32 R0 = R1, R1
            st.global.u32 [64], R0
            exit
            """,
            allocated=True,
        )
    )
    assert liveness.before == [0, 1, 2, 1, 0]
    assert liveness.after == [1, 2, 1, 0, 0]
    assert liveness.pressure == [1, 1, 1, 1, 0]
    assert liveness.max_live == 1


def test_pairs_count_twice_and_predicates_apart() -> None:
    code = assemble(
        "ld.global.u64 D2 = [64]\nsetp.lt.s32 P1 = R0, 3\n@P1 st.global.u64 [72], D2\nexit",
        allocated=True,
    )
    liveness = thread_liveness(code)
    assert liveness.after[0] == 0b1100
    assert liveness.after[1] == 0b1100 | 1 << (PREDICATES + 1)
    assert liveness.max_live == 2 and liveness.max_predicates == 1
    virtual = assemble("ld.global.u64 D2 = [64]\nld.global.u32 R2 = [72]\nst.global.u64 [72], D2\nst.global.u32 [80], R2\nexit")
    assert thread_liveness(virtual).max_live == 3


def test_a_result_that_nobody_reads_still_needs_a_place() -> None:
    code = assemble("mov.u32 R0 = 1\nmov.u32 R1 = 2\nst.global.u32 [64], R0\nexit", allocated=True)
    assert thread_liveness(code).pressure == [1, 2, 1, 0]


def test_guarded_writes_kill_nothing_and_undefined_registers_are_dead() -> None:
    code = assemble(
        """
        setp.lt.s32 P0 = R9, 1
        mov.u32 R0 = 1
        @P0 mov.u32 R0 = 2
        @P0 mov.u32 R1 = 3
        st.global.u32 [64], R0
        st.global.u32 [68], R1
        exit
        """,
        allocated=True,
    )
    liveness = thread_liveness(code)
    assert liveness.before[2] & 1  # R0 may survive
    assert not liveness.before[3] >> 1 & 1  # no path has written R1
    assert liveness.before[4] >> 1 & 1
    assert not any(mask >> 9 & 1 for mask in liveness.before)  # R9 is read but never written


DIVERGENT = """
    mov.u32 R0 = %tid.x
    mov.u32 R1 = 10
    setp.lt.s32 P0 = R0, 4
    @P0 bra else
    add.u32 R2 = R1, 1
    mov.u32 R3 = 5
    add.u32 R2 = R2, R3
    bra join
else:
    mov.u32 R3 = 6
    mov.u32 R2 = 7
    add.u32 R2 = R2, R3
join:
    st.global.u32 [64], R2
    exit
"""


def test_a_warp_keeps_what_the_waiting_arm_needs() -> None:
    code = assemble(DIVERGENT, allocated=True)
    thread, warp = thread_liveness(code), warp_liveness(code)
    other = code.block_starts()[2]
    assert names(thread, thread.before[other]) == ""
    # R1 is read in the first arm only, R2 is brought to the join by both; R3 lives and dies within an arm.
    assert names(warp, warp.before[other]) == "R1 R2"
    assert names(warp, warp.before[5]) == "R1 R2"
    assert names(warp, warp.before[6]) == "R1 R2 R3"
    join = code.block_starts()[3]
    assert warp.before[join] == thread.before[join]


def test_a_uniform_branch_holds_nothing() -> None:
    code = assemble(DIVERGENT.replace("%tid.x", "%ctaid.x"), allocated=True)
    assert analyse_divergence(code).branches == frozenset()
    assert warp_liveness(code).before == thread_liveness(code).before


def paths_live(code: Code, pc: int, slot: int) -> bool:
    """Whether some path from before `pc` reads the slot before it certainly writes it: by search, one instruction at a time."""
    graph, starts = flow_graph(code), code.block_starts()
    instructions = list(code.instructions())
    block_of = [number for number, block in enumerate(code.blocks) for _ in block.instructions]
    liveness = thread_liveness(code)
    mask = 1 << slot
    accesses = [liveness.slots.access(instruction) for instruction in instructions]

    def following(at: int) -> list[int]:
        if at + 1 < starts[block_of[at] + 1]:
            return [at + 1]
        result, pending, seen = [], list(graph.successors[block_of[at]]), set()
        while pending:  # empty blocks are passed
            block = pending.pop()
            if block in seen:
                continue
            seen.add(block)
            if starts[block] < starts[block + 1]:
                result.append(starts[block])
            else:
                pending.extend(graph.successors[block])
        return result

    seen, pending = set(), [pc]
    while pending:
        at = pending.pop()
        if at in seen:
            continue
        seen.add(at)
        if accesses[at].reads & mask:
            break
        if not accesses[at].kills & mask:
            pending.extend(following(at))
    else:
        return False
    # Some path from the entry must have written it.
    visited: set[tuple[int, bool]] = set()
    open_paths = [(0, False)]
    while open_paths:
        at, written = open_paths.pop()
        if (at, written) in visited:
            continue
        visited.add((at, written))
        if at == pc and written:
            return True
        open_paths.extend((after, written or bool(accesses[at].writes & mask)) for after in following(at))
    return False


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_thread_liveness_agrees_with_a_search_of_all_paths(seed: int, allocated: bool) -> None:
    code = random_kernel(seed, 14, 5)
    if allocated:
        code = allocate(code, options())
    graph = flow_graph(code)
    reachable = {pc for block in graph.order for pc in range(*code.block_starts()[block : block + 2])}
    liveness = thread_liveness(code, graph)
    slots = list(bits(_used(liveness)))
    for pc in sorted(reachable):
        expected = sum(1 << slot for slot in slots if paths_live(code, pc, slot))
        assert names(liveness, liveness.before[pc]) == names(liveness, expected), pc


def _used(liveness: Liveness) -> int:
    mask = 0
    for block in liveness.accesses:
        for access in block:
            mask |= access.reads | access.writes
    return mask


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_warps_never_need_what_is_not_live_and_diverge_only_where_said(seed: int, allocated: bool) -> None:
    code = random_kernel(seed, 24, 7)
    if allocated:
        code = allocate(code, options(schedule=seed % 2 == 0))
    divergence = analyse_divergence(code)
    liveness = warp_liveness(code, divergent=divergence.branches)
    block_of = [number for number, block in enumerate(code.blocks) for _ in block.instructions]
    instructions = list(code.instructions())
    steps = run_warp(code, seed)
    lanes = len(steps[0][1])
    accesses = [liveness.slots.access(instruction) for instruction in instructions]
    needed = [0] * lanes
    written: list[list[int]] = []  # per step, what each lane has written so far
    so_far = [0] * lanes
    for pc, _, holds in steps:
        written.append(so_far[:])
        for lane in range(lanes):
            if holds[lane]:
                so_far[lane] |= accesses[pc].writes
    for (pc, active, holds), defined in zip(reversed(steps), reversed(written), strict=True):
        if instructions[pc].op.name == "bra" and len({holds[lane] for lane in range(lanes) if active[lane]}) > 1:
            assert block_of[pc] in divergence.branches
        for lane in range(lanes):
            if active[lane]:
                guard = instructions[pc].guard
                if holds[lane]:
                    needed[lane] = needed[lane] & ~accesses[pc].writes | accesses[pc].reads
                elif guard is not None:
                    needed[lane] |= liveness.slots.mask(guard.predicate)
            missing = needed[lane] & defined[lane] & ~liveness.before[pc]
            assert not missing, f"lane {lane} needs {names(liveness, missing)} before pc {pc}"
