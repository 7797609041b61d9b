"""Splits a kernel's registers into a base set that every warp owns and an extended set that it acquires where it needs more.

What lies in the extended set is lost at a release, so every value that lives on must be in the base set by then. Mostly a better
choice of numbers does it; where it does not, a move before the release brings the value down (index compaction).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

from warploom.backend.recolour import conflicts, recolour, renamed
from warploom.code.acquire_regions import ACQUIRE, RELEASE, Regions, plan_regions
from warploom.code.divergence import analyse_divergence
from warploom.code.graph import flow_graph, without_empty, without_unreachable
from warploom.code.holding import holding, prove_holding
from warploom.code.instruction import Block, Code, Instruction, Operation, Reg
from warploom.code.liveness import thread_liveness
from warploom.code.ranges import LiveRanges
from warploom.code.slots import REGISTER_MASK, bits

COMPACTION = Operation("mov", "b32", modifiers=("compact",))
Place = tuple[int, int]  # block, position in it


def is_compaction(instruction: Instruction) -> bool:
    """Whether an instruction is a move that index compaction put in."""
    return instruction.op == COMPACTION


def split_registers(code: Code, base: int, extended: int) -> Code | None:
    """The code on `base` registers of its own and `extended` acquired ones; None where that cannot be done.

    Whatever comes out is proved: see `warploom.code.holding`.
    """
    code = without_empty(without_unreachable(code))
    regions = plan_regions(code, base)
    if regions is None:
        return None
    for compact in (False, True):
        found = _Attempt(code, regions, base, base + extended).run(compact)
        if found is not None:
            prove_holding(found, base)
            return found
        if not regions.compactions:
            break
    return None


@dataclass
class _Attempt:
    """One way to place the moves."""

    code: Code
    regions: Regions
    base: int
    total: int

    def run(self, compact: bool) -> Code | None:
        moves = self._candidates() if compact else {}
        while True:
            code, at = self._with_instructions(moves)
            graph = flow_graph(code)
            divergence = analyse_divergence(code, graph)
            warp = LiveRanges(code, divergence, graph)
            limited = self._limited(code, warp, divergence.branches)
            useless = {place for pc, place in at.items() if warp.values.used[pc, place[2]].number in limited}
            if not useless:
                break
            moves = {place: [s for s in slots if (*place, s) not in useless] for place, slots in moves.items()}
        ranges = LiveRanges(code, None, graph)
        problem = conflicts(code, ranges, dict.fromkeys(limited, self.base), self.total, at)
        registers = recolour(problem)
        if registers is None:
            return None
        return _without_empty_moves(
            replace(renamed(code, ranges.values, registers), registers=self.total, base_registers=self.base)
        )

    def _candidates(self) -> dict[Place, list[int]]:
        """The registers that are live where values may have to be brought down."""
        liveness = thread_liveness(self.code)
        starts = self.code.block_starts()
        found = {}
        for block, position in self.regions.compactions:
            pc = starts[block] + position
            live = liveness.before[pc] if pc < starts[block + 1] else liveness.after[pc - 1]
            found[block, position] = list(bits(live & REGISTER_MASK))
        return found

    def _with_instructions(self, moves: dict[Place, list[int]]) -> tuple[Code, dict[int, tuple[int, int, int]]]:
        """The code with moves of registers onto themselves, releases and acquires; and where each move is: its place by pc."""
        here: dict[Place, list[Instruction]] = defaultdict(list)
        for place, slots in moves.items():
            here[place] += [Instruction(COMPACTION, (Reg(slot),), (Reg(slot),)) for slot in slots]
        for place in self.regions.releases:
            here[place].append(Instruction(Operation(RELEASE)))
        for place in self.regions.acquires:
            here[place].append(Instruction(Operation(ACQUIRE)))
        blocks = []
        at = {}
        pc = 0
        for number, block in enumerate(self.code.blocks):
            instructions: list[Instruction] = []
            for position in range(len(block.instructions) + 1):
                for inserted in here.get((number, position), ()):
                    if is_compaction(inserted):
                        at[pc + len(instructions)] = (number, position, inserted.dsts[0].number)
                    instructions.append(inserted)
                instructions += block.instructions[position : position + 1]
            blocks.append(Block(instructions, block.label))
            pc += len(instructions)
        return replace(self.code, blocks=blocks), at

    def _limited(self, code: Code, warp: LiveRanges, divergent: frozenset[int]) -> set[int]:
        """The values that some point without the extended registers needs."""
        state = holding(code, warp.graph, divergent)
        before = sum(1 << pc for pc, held in enumerate(state.surely_before) if not held)
        after = sum(1 << pc for pc, held in enumerate(state.surely_after) if not held)
        limited = set()
        for extent in warp:
            touched = 0
            for pc in (*extent.value.definitions, *extent.value.uses):
                touched |= 1 << pc
            if (extent.before | touched) & before or extent.after & after:
                limited.add(extent.value.number)
        return limited


def _without_empty_moves(code: Code) -> Code:
    blocks = [
        Block([i for i in block.instructions if not (is_compaction(i) and i.dsts == i.srcs)], block.label)
        for block in code.blocks
    ]
    return replace(code, blocks=blocks)
