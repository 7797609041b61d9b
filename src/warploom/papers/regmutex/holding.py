"""Whether a warp holds its extended registers at each point of code with acquires and releases; the proof that it suffices."""

from __future__ import annotations

from dataclasses import dataclass

from warploom.compiler.code.divergence import analyse_divergence
from warploom.compiler.code.graph import FlowGraph, flow_graph
from warploom.compiler.code.instruction import Code
from warploom.compiler.code.slots import REGISTER_MASK, bits
from warploom.compiler.code.warp import warp_liveness
from warploom.compiler.code.warp_flow import warp_predecessors
from warploom.papers.regmutex.acquire_regions import ACQUIRE, RELEASE, ends_by_arm, is_barrier


class HoldingError(RuntimeError):
    """Code with acquires and releases would lose a value or could block other warps for ever."""


@dataclass(frozen=True)
class Holding:
    """Per pc, whether the extended registers are held before and after the instruction, on every way there or on some."""

    surely_before: list[bool]
    surely_after: list[bool]
    maybe_before: list[bool]
    maybe_after: list[bool]


def holding(code: Code, graph: FlowGraph | None = None, divergent: frozenset[int] | None = None) -> Holding:
    """Follow the state of the warp through all orders in which it may execute the blocks."""
    graph = graph or flow_graph(code)
    divergent = divergent if divergent is not None else analyse_divergence(code, graph).branches
    before = warp_predecessors(graph, divergent)
    effects = [_effect(block.instructions) for block in code.blocks]
    surely_in, maybe_in = [True] * len(graph), [False] * len(graph)
    if graph.order:
        surely_in[0] = False
    changed = True
    while changed:
        changed = False
        for number in graph.order:
            arriving = [block for block in before[number] if block in graph.reachable]
            surely = number != 0 and all(_after(effects[block], surely_in[block]) for block in arriving)
            maybe = any(_after(effects[block], maybe_in[block]) for block in arriving)
            if (surely, maybe) != (surely_in[number], maybe_in[number]):
                surely_in[number], maybe_in[number] = surely, maybe
                changed = True
    result = Holding([], [], [], [])
    for number, block in enumerate(code.blocks):
        surely, maybe = surely_in[number], maybe_in[number]
        for instruction in block.instructions:
            result.surely_before.append(surely)
            result.maybe_before.append(maybe)
            effect = _effect([instruction])
            surely, maybe = _after(effect, surely), _after(effect, maybe)
            result.surely_after.append(surely)
            result.maybe_after.append(maybe)
    return result


def _effect(instructions: list) -> bool | None:
    """What instructions leave: held, released, or None for the state they found."""
    state = None
    for instruction in instructions:
        if instruction.op in (ACQUIRE, RELEASE):
            state = instruction.op == ACQUIRE
    return state


def _after(effect: bool | None, state: bool) -> bool:
    return state if effect is None else effect


def prove_holding(code: Code, base: int, divergent: frozenset[int] | None = None) -> None:
    """Raise `HoldingError` unless every live register from `base` on is held all along, and nothing is held at a barrier.

    Live is what any lane of the warp may still read, waiting lanes included; the proof follows every order of execution.
    """
    graph = flow_graph(code)
    divergent = divergent if divergent is not None else analyse_divergence(code, graph).branches
    state = holding(code, graph, divergent)
    liveness = warp_liveness(code, graph, divergent, by_arm=ends_by_arm(code))
    extended = REGISTER_MASK & ~((1 << base) - 1)
    pc = 0
    for number, block in enumerate(code.blocks):
        for instruction, access in zip(block.instructions, liveness.accesses[number], strict=True):
            where = f"{code.name}, pc {pc} ({instruction})"
            unheld = 0
            if not state.surely_before[pc]:
                unheld |= liveness.before[pc] | access.reads | access.writes
            if not state.surely_after[pc]:
                unheld |= liveness.after[pc]
            for slot in bits(unheld & extended):
                raise HoldingError(f"{where}: R{slot} is in use without the extended registers")
            if is_barrier(instruction) and state.maybe_before[pc]:
                raise HoldingError(f"{where}: a warp may wait here with extended registers that others wait for")
            pc += 1
