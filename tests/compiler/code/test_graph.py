from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.assembler import assemble
from support.random_kernels import random_kernel
from warploom.compiler.code.dominators import immediate_dominators, immediate_post_dominators, reconvergence_points
from warploom.compiler.code.graph import FlowGraph, flow_graph, without_unreachable
from warploom.compiler.code.instruction import Bank, Block, Control, Instruction, Operand, Operation, Reg
from warploom.compiler.code.loops import find_loops, loop_depths

NO_WAIT = Control(1, False, None, None, 0, (False, False, False))

NESTED = """
    setp.lt.s32 P0 = R0, 4
    @P0 bra else
    mov.u32 R1 = 1
    bra join
else:
    mov.u32 R1 = 2
join:
    mov.u32 R2 = 3
outer:
    mov.u32 R3 = 3
inner:
    sub.u32 R3 = R3, 1
    setp.gt.s32 P1 = R3, 0
    @P1 bra inner
    sub.u32 R2 = R2, 1
    setp.gt.s32 P1 = R2, 0
    @P1 bra outer
    exit
"""


def dominates(dominator: list[int], above: int, below: int) -> bool:
    """Whether every path to `below` passes `above`, given immediate dominators."""
    while below != above:
        parent = dominator[below]
        if parent in (below, -1):
            return False
        below = parent
    return True


def test_successors_and_exits() -> None:
    graph = flow_graph(assemble(NESTED))
    assert graph.successors == ((2, 1), (3,), (3,), (4,), (5,), (5, 6), (4, 7), ())
    assert graph.predecessors[4] == (3, 6)
    assert graph.exits == (7,)
    assert graph.order[0] == 0 and set(graph.order) == set(range(8))


@pytest.mark.parametrize(
    ("name", "modifiers", "condition", "goes_on"),
    [
        ("BRA", (), (), False),
        ("BRA", ("DIV",), (), True),  # taken if lanes of the warp are elsewhere
        ("BRA", ("CONV",), (), True),  # taken if none is
        ("BRA", (), (Reg(0, Bank.P),), True),
        ("JMP", (), (Reg(0, Bank.P),), True),
        ("EXIT", (), (Reg(0, Bank.P),), True),
        ("EXIT", (), (), False),
        ("RET", ("REL", "NODEC"), (Reg(2, Bank.D),), False),  # its operand is where it goes
    ],
)
def test_a_condition_of_machine_code_need_not_be_a_guard(
    name: str, modifiers: tuple[str, ...], condition: tuple[Operand, ...], goes_on: bool
) -> None:
    target = 2 if name in ("BRA", "JMP") else None
    leaving = Instruction(Operation(name, modifiers=modifiers), srcs=condition, target=target, control=NO_WAIT)
    nothing = Instruction(Operation("NOP"), control=NO_WAIT)
    code = replace(assemble("exit"), blocks=[Block([leaving]), Block([nothing]), Block([nothing])])
    assert (1 in flow_graph(code).reachable) == goes_on


def test_dominators_and_meeting_points() -> None:
    code = assemble(NESTED)
    graph = flow_graph(code)
    assert immediate_dominators(graph) == [0, 0, 0, 0, 3, 4, 5, 6]
    assert immediate_post_dominators(graph) == [3, 3, 3, 4, 5, 6, 7, 8]
    points = reconvergence_points(code)
    assert points[1] == code.block_starts()[3]  # the if meets at join
    assert points[9] == code.block_starts()[6]  # the inner loop meets behind itself


def test_loops_nest() -> None:
    graph = flow_graph(assemble(NESTED))
    loops = find_loops(graph)
    assert list(loops) == [4, 5]
    assert loops[4].blocks == {4, 5, 6} and loops[4].depth == 1 and loops[4].parent is None
    assert loops[5].blocks == {5} and loops[5].depth == 2 and loops[5].parent == 4 and loops[5].latches == (5,)
    assert loop_depths(graph, loops) == [0, 0, 0, 0, 1, 2, 1, 0]


def test_a_loop_without_exit_has_post_dominators() -> None:
    code = assemble("setp.lt.s32 P0 = R0, 1\n@P0 bra leave\nspin:\nadd.u32 R0 = R0, 1\nbra spin\nleave:\nexit")
    assert immediate_post_dominators(flow_graph(code)) == [3, 3, 3]
    assert reconvergence_points(code) == {1: len(code)}


def test_unreachable_blocks_disappear_and_targets_follow() -> None:
    code = assemble("bra end\ndead:\nmov.u32 R1 = 1\nbra dead\nend:\nmov.u32 R0 = 1\nexit")
    kept = without_unreachable(code)
    assert [block.label for block in kept.blocks] == ["", "end"]
    assert kept.blocks[0].instructions[0].target == 1
    assert code.blocks[0].instructions[0].target == 2  # the original is untouched


def reaches(graph: FlowGraph, start: int, goal: int | None, without: int) -> bool:
    """Whether control can go from start to goal (None: out of the kernel) without passing a block."""
    seen, pending = set(), [start]
    while pending:
        block = pending.pop()
        if block == without or block in seen:
            continue
        if block == goal or (goal is None and block in graph.exits):
            return True
        seen.add(block)
        pending.extend(graph.successors[block])
    return False


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_dominance_is_what_its_definition_says(seed: int) -> None:
    graph = flow_graph(without_unreachable(random_kernel(seed, 25)))
    dominator, post = immediate_dominators(graph), immediate_post_dominators(graph)
    for below in range(len(graph)):
        for above in range(len(graph)):
            passes = above == below or not reaches(graph, 0, below, without=above)
            assert dominates(dominator, above, below) == passes
            behind = above == below or not reaches(graph, below, None, without=above)
            assert dominates([*post, len(graph)], above, below) == behind
