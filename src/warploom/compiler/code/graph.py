"""The control-flow graph of a kernel: which block may follow which."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from heapq import heappop, heappush

from warploom.compiler.code.barriers import Barriers, find_barriers
from warploom.compiler.code.instruction import BRANCHES, EXITS, Block, Code


@dataclass(frozen=True, slots=True)
class FlowGraph:
    """Successors and predecessors of each block.

    ``order`` lists the blocks that the entry reaches in reverse post-order: in it a block comes after all its predecessors,
    except for the sources of back edges. Control that leaves the last block, like an exit, leaves the kernel.
    """

    successors: tuple[tuple[int, ...], ...]
    predecessors: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]
    exits: tuple[int, ...]  # blocks from which control may leave the kernel
    barriers: Barriers | None = None  # of SASS: where lanes meet

    def __len__(self) -> int:
        return len(self.successors)

    @property
    def reachable(self) -> frozenset[int]:
        """The blocks that the entry reaches."""
        return frozenset(self.order)


def reverse_post_order(successors: tuple[tuple[int, ...], ...], entry: int = 0) -> tuple[int, ...]:
    """The nodes that `entry` reaches, each before its successors except along back edges."""
    if entry >= len(successors):
        return ()
    seen, finished = {entry}, []
    stack = [(entry, iter(successors[entry]))]
    while stack:
        node, pending = stack[-1]
        for successor in pending:
            if successor not in seen:
                seen.add(successor)
                stack.append((successor, iter(successors[successor])))
                break
        else:
            finished.append(node)
            stack.pop()
    return tuple(reversed(finished))


def flow_graph(code: Code) -> FlowGraph:
    """The control-flow graph of `code`."""
    count = len(code.blocks)
    successors: list[tuple[int, ...]] = []
    exits = []
    for number, block in enumerate(code.blocks):
        last = block.instructions[-1] if block.instructions else None
        following: list[int] = []
        if last is not None and last.op.name in BRANCHES:
            following += [last.target] if last.target is not None else []
            following += last.targets
        falls = last is None or last.falls_through
        if falls and number + 1 < count:
            following.append(number + 1)
        if (last is not None and last.op.name in EXITS) or (falls and number + 1 == count):
            exits.append(number)
        successors.append(tuple(dict.fromkeys(following)))
    predecessors: list[list[int]] = [[] for _ in range(count)]
    for number, following_blocks in enumerate(successors):
        for successor in following_blocks:
            predecessors[successor].append(number)
    order = reverse_post_order(tuple(successors))
    barriers = find_barriers(code, predecessors, order)
    return FlowGraph(tuple(successors), tuple(map(tuple, predecessors)), order, tuple(exits), barriers)


def fewest_instructions(code: Code) -> int:
    """How many instructions a warp executes at least: those on the shortest way from the entry to an exit; 1 if there is none."""
    graph = flow_graph(code)
    exits, lengths = set(graph.exits), [len(block.instructions) for block in code.blocks]
    open_ways, reached = [(lengths[0], 0)] if lengths else [], set[int]()
    while open_ways:
        length, block = heappop(open_ways)
        if block in exits:
            return max(1, length)
        if block not in reached:
            reached.add(block)
            for following in graph.successors[block]:
                heappush(open_ways, (length + lengths[following], following))
    return 1


def without_unreachable(code: Code) -> Code:
    """The code without the blocks that control never reaches; branch targets are renumbered."""
    graph = flow_graph(code)
    if len(graph.order) == len(code.blocks):
        return code
    kept = sorted(graph.order)
    return _with_blocks(code, kept, {old: new for new, old in enumerate(kept)})


def without_empty(code: Code) -> Code:
    """The code without blocks that hold no instruction; who branched to one now branches to the block after it."""
    last = len(code.blocks) - 1
    kept = [number for number, block in enumerate(code.blocks) if block.instructions or number == last]
    renumbered = {old: bisect_left(kept, old) for old in range(len(code.blocks))}
    return code if len(kept) == len(code.blocks) else _with_blocks(code, kept, renumbered)


def _with_blocks(code: Code, kept: list[int], renumbered: dict[int, int]) -> Code:
    blocks = []
    for old in kept:
        block = code.blocks[old]
        instructions = [
            instruction
            if instruction.target is None and not instruction.targets
            else replace(
                instruction,
                target=None if instruction.target is None else renumbered[instruction.target],
                targets=tuple(renumbered[target] for target in instruction.targets),
            )
            for instruction in block.instructions
        ]
        blocks.append(Block(instructions, block.label))
    return replace(code, blocks=blocks)
