"""Register allocation: from virtual code to code on numbered registers.

Values are split into webs, blocks are scheduled, what does not fit the limit is spilled, copies are coalesced, and the
interference graph is coloured. The result keeps the code it came from, so that `warploom.compiler.backend.verify` can prove it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from warploom.base.errors import WarploomError
from warploom.compiler.backend.allocation import MOST_REGISTERS, Allocation, CodeOrigin
from warploom.compiler.backend.bases import with_common_bases
from warploom.compiler.backend.coalesce import Coalesced, coalesce
from warploom.compiler.backend.colour import Colouring, colour_graph
from warploom.compiler.backend.interference import Interference, build_interference
from warploom.compiler.backend.literal import allocate_literal
from warploom.compiler.backend.moves import copied_parts, is_copy
from warploom.compiler.backend.schedule import schedule
from warploom.compiler.backend.spill import Draft, choose_victims, spill, spill_costs
from warploom.compiler.backend.verify import verify_allocation
from warploom.compiler.backend.webs import split_webs
from warploom.compiler.code.graph import FlowGraph, flow_graph, without_unreachable
from warploom.compiler.code.instruction import Bank, Block, Code, Instruction, Operation, Reg
from warploom.compiler.code.liveness import Liveness, thread_liveness
from warploom.compiler.code.loops import loop_depths
from warploom.compiler.code.slots import bits

MOST_PREDICATES = 7
_ROUNDS = 100
_REACH = 4  # for how many instructions a reloaded value is kept, while that fits


class AllocationOptions(Protocol):
    """What the allocator reads of the backend's options."""

    @property
    def max_registers(self) -> int | None: ...
    @property
    def schedule(self) -> bool: ...
    @property
    def literal(self) -> bool: ...
    @property
    def registers(self) -> int | None: ...
    @property
    def verify(self) -> bool: ...


def allocate(code: Code, options: AllocationOptions) -> Code:
    """Allocated code for virtual code."""
    allocation = allocate_with_origins(code, options)
    if options.verify:
        verify_allocation(allocation)
    return allocation.allocated


def allocate_with_origins(code: Code, options: AllocationOptions) -> Allocation:
    """Like `allocate`, keeping the way back from each instruction to the virtual code; not yet verified."""
    if options.literal:
        return allocate_literal(code, options.registers)
    virtual = split_webs(without_unreachable(code))
    graph = flow_graph(virtual)
    depths = loop_depths(graph)
    limit = min(options.max_registers or MOST_REGISTERS, MOST_REGISTERS)
    if thread_liveness(virtual, graph).max_live > limit:
        virtual = with_common_bases(virtual)
    if options.schedule:
        virtual = schedule(virtual, graph, limit)
    for reach in (_REACH, 0):
        fitted = _fit(Draft.of(virtual), graph, depths, limit, reach)
        if fitted is not None:
            return _rewrite(virtual, *fitted)
    where = f"{code.source}: " if code.source else ""
    raise WarploomError(
        f"{where}kernel {code.name} cannot be compiled for {limit} registers: some instruction needs more; raise the limit."
    )


def _fit(draft: Draft, graph: FlowGraph, depths: list[int], limit: int, reach: int) -> tuple[Draft, dict[Reg, Reg]] | None:
    """Spill until everything has a register; None when that does not succeed."""
    failures = 0
    for _ in range(_ROUNDS):
        liveness = thread_liveness(draft.code, graph)
        if liveness.max_predicates > MOST_PREDICATES:
            victims = choose_victims(draft, liveness, depths, MOST_PREDICATES, predicates=True)
        elif liveness.max_live > limit:
            victims = choose_victims(draft, liveness, depths, limit, predicates=False)
        else:
            found = _assign(draft.code, liveness, graph, depths, limit)
            if not isinstance(found, _Uncoloured):
                return draft, found
            victims = _victims_of_colouring(draft, liveness, depths, found, count=2**failures)
            failures += 1  # what did not help is tried more boldly
        if not victims:
            return None
        draft = spill(draft, victims, reach)
    return None


@dataclass
class _Uncoloured:
    graph: Interference
    failed: list[int]


def _assign(code: Code, liveness: Liveness, graph: FlowGraph, depths: list[int], limit: int) -> dict[Reg, Reg] | _Uncoloured:
    """A register for each virtual one, or the nodes that found none."""
    interference = build_interference(code, liveness, depths)
    order = _definition_order(code, graph, interference)
    best: tuple[Colouring, list[int]] | None = None
    coalesced = coalesce(interference, max(liveness.max_live, 1), MOST_PREDICATES)
    uncoalesced = Coalesced(interference, list(range(len(interference))))
    least = _least_registers(liveness, coalesced)
    for candidate in (coalesced, uncoalesced):
        leader = candidate.leader
        nodes = [node for node in order if leader[node] == node]
        colouring = colour_graph(candidate.graph, nodes, least, limit, MOST_PREDICATES)
        if best is None or colouring.quality() < best[0].quality():
            best = colouring, leader
        if colouring.good_enough(least):
            break
    assert best is not None
    colouring, leader = best
    if colouring.failed:
        return _Uncoloured(interference, colouring.failed)
    registers = liveness.slots.registers
    return {register: Reg(colouring.colours[leader[node]], register.bank) for node, register in enumerate(registers)}


def _least_registers(liveness: Liveness, coalesced: Coalesced) -> int:
    """The most registers needed at one point when merged values count once."""
    wide, predicates = coalesced.graph.wide, coalesced.graph.predicates
    leader = coalesced.leader
    least = 1
    for pressure, live in sorted(set(zip(liveness.pressure, liveness.occupied, strict=True)), reverse=True):
        if pressure <= least:
            break
        leaders = {leader[node] for node in bits(live & ~predicates)}
        least = max(least, sum(2 if wide >> node & 1 else 1 for node in leaders))
    return least


def _definition_order(code: Code, graph: FlowGraph, interference: Interference) -> list[int]:
    """All nodes in the order of their first definition along reverse post-order; those never defined come last."""
    node_of = {register: node for node, register in enumerate(interference.registers)}
    order: dict[int, None] = {}
    for number in graph.order:
        for instruction in code.blocks[number].instructions:
            for dst in instruction.dsts:
                order.setdefault(node_of[dst])
    for node in range(len(interference)):
        order.setdefault(node)
    return list(order)


def _victims_of_colouring(draft: Draft, liveness: Liveness, depths: list[int], uncoloured: _Uncoloured, count: int) -> list[Reg]:
    """For each node without a colour the `count` cheapest values, itself or neighbours, to take out of its way."""
    graph = uncoloured.graph
    costs = spill_costs(draft.code, liveness, depths)
    spillable = sum(1 << node for node, register in enumerate(graph.registers) if register not in draft.temporaries)
    victims: dict[int, None] = {}
    for node in uncoloured.failed:
        around = bits((graph.adjacent[node] | 1 << node) & spillable)
        cheapest = sorted(around, key=lambda other: (costs[other] / (1 + graph.adjacent[other].bit_count()), other))
        victims.update(dict.fromkeys(cheapest[:count]))
    return [graph.registers[node] for node in victims]


def _rewrite(virtual: Code, draft: Draft, assignment: dict[Reg, Reg]) -> Allocation:
    """The draft on its registers, without the copies that became empty."""
    blocks, origins = [], []
    highest = predicates = 0
    for block, block_origins in zip(draft.code.blocks, draft.origins, strict=True):
        instructions: list[Instruction] = []
        kept: list[CodeOrigin] = []
        for instruction, origin in zip(block.instructions, block_origins, strict=True):
            renamed = instruction.with_registers(assignment)
            if renamed.op.name == "mov":
                reduced = _without_empty_moves(renamed)
                if reduced is None:
                    continue
                renamed = reduced
            for register in (*renamed.reads, *renamed.dsts):
                if register.bank is Bank.P:
                    predicates = max(predicates, register.number + 1)
                else:
                    highest = max(highest, register.words[-1] + 1)
            instructions.append(renamed)
            kept.append(origin)
        blocks.append(Block(instructions, block.label))
        origins.append(kept)
    allocated = replace(draft.code, blocks=blocks, registers=max(highest, 1), predicates=predicates, allocated=True)
    return Allocation(virtual, allocated, origins)


def _without_empty_moves(instruction: Instruction) -> Instruction | None:
    """A copy less the words that already lie where they should; None when nothing remains."""
    if not is_copy(instruction):
        return instruction
    if instruction.dsts == instruction.srcs:
        return None
    if len(instruction.dsts) == len(instruction.srcs):
        return instruction
    words = [
        (Reg(written.words[word]), Reg(read.words[part]))
        for (written, word), (read, part) in copied_parts(instruction)
        if written.words[word] != read.words[part]
    ]
    if not words:
        return None
    if len(words) == 1:
        (written_word, read_word) = words[0]
        return replace(instruction, op=Operation("mov", "b32"), dsts=(written_word,), srcs=(read_word,))
    return instruction
