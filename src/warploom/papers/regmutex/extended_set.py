"""Splits a kernel's registers into a base set that every warp owns and an extended set that it acquires where it needs more.

What lies in the extended set is lost at a release, so every value that lives on must be in the base set by then. Mostly a better
choice of numbers does it; where it does not, a move before the release brings the value down (index compaction), and as a
last resort moves after an acquire make room for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from warploom.compiler.backend.recolour import conflicts, recolour, renamed
from warploom.compiler.code.divergence import Divergence
from warploom.compiler.code.graph import flow_graph, without_empty, without_unreachable
from warploom.compiler.code.instruction import INSERTED, Block, Code, Control, Instruction, Operation, Reg
from warploom.compiler.code.liveness import thread_liveness
from warploom.compiler.code.loops import loop_depths
from warploom.compiler.code.ranges import LiveRanges
from warploom.compiler.code.slots import REGISTER_MASK, bits
from warploom.compiler.code.values import value_instances
from warploom.papers.regmutex.acquire_regions import ACQUIRE, RELEASE, Regions, ends_by_arm, plan_regions
from warploom.papers.regmutex.base_set import with_base_set
from warploom.papers.regmutex.holding import holding, prove_holding

COMPACTION = Operation("mov", "b32", modifiers=("compact",))
SASS_COMPACTION = Operation("MOV", modifiers=("COMPACT",))
AFTER_ALL = Control(1, False, None, None, (1 << 6) - 1, (False, False, False))  # nothing is on its way to what is given back
Place = tuple[int, int]  # block, position in it
Moves = dict[Place, list[int]]  # the registers moved at each place


def is_compaction(instruction: Instruction) -> bool:
    """Whether an instruction is a move that index compaction put in."""
    return instruction.op in (COMPACTION, SASS_COMPACTION)


def split_registers(code: Code, base: int, extended: int) -> Code | None:
    """The code on `base` registers of its own and `extended` acquired ones; None where that cannot be done.

    Whatever comes out is proved: see `warploom.papers.regmutex.holding`.
    """
    code = without_empty(without_unreachable(code))
    found = _split(code, plan_regions(code, base), base, extended)
    if found is None and ends_by_arm(code):  # longer regions leave more values room in the extended set
        found = _split(code, plan_regions(code, base, by_arm=False), base, extended)
    return found


def _split(code: Code, regions: Regions | None, base: int, extended: int) -> Code | None:
    """The code with some regions, and with as few moves as will do."""
    if regions is None:
        return None
    attempt = _Attempt(code, regions, base, base + extended)
    down, up = attempt.live_at(regions.compactions), attempt.live_at(regions.acquires)
    for moves in (({}, {}), (down, {}), (down, up)):
        found = attempt.run(*moves)
        if found is not None:
            prove_holding(found, base, regions.divergent)
            return found
    return None


class _Move(NamedTuple):
    """A register moved onto itself, which parts the value before from the value after."""

    place: Place
    slot: int
    down: bool  # before a release, else after an acquire


@dataclass
class _Attempt:
    """Ways to give code the regions of a plan."""

    code: Code
    regions: Regions
    base: int
    total: int

    def run(self, down: Moves, up: Moves) -> Code | None:
        """Try with moves before releases and after acquires, but for those that free no value from the base set."""
        while True:
            code, moved = self._with_instructions(down, up)
            graph = flow_graph(code)
            divergence = Divergence(self.regions.divergent, frozenset(), value_instances(code, graph))
            warp = LiveRanges(code, divergence, graph, by_arm=ends_by_arm(code))
            limited = self._limited(code, warp)
            useless = set()
            for pc, move in moved.items():
                table = warp.values.used if move.down else warp.values.defined
                if table[pc, move.slot].number in limited:
                    useless.add(move)
            if not useless:
                break
            down = {place: [s for s in slots if _Move(place, s, True) not in useless] for place, slots in down.items()}
            up = {place: [s for s in slots if _Move(place, s, False) not in useless] for place, slots in up.items()}
        ranges = LiveRanges(code, None, graph)
        depths = loop_depths(graph)
        weights = {pc: 10 ** depths[move.place[0]] for pc, move in moved.items()}
        problem = conflicts(code, ranges, dict.fromkeys(limited, self.base), self.total, weights)
        registers = recolour(problem)
        if registers is None:
            return None
        return _without_empty_moves(with_base_set(renamed(code, ranges.values, registers), self.base, self.total))

    def live_at(self, places: Iterable[Place]) -> Moves:
        """The registers that are live at some places."""
        liveness = thread_liveness(self.code)
        starts = self.code.block_starts()
        found = {}
        for block, position in places:
            pc = starts[block] + position
            live = liveness.before[pc] if pc < starts[block + 1] else liveness.after[pc - 1]
            found[block, position] = list(bits(live & REGISTER_MASK))
        return found

    def _with_instructions(self, down: Moves, up: Moves) -> tuple[Code, dict[int, _Move]]:
        """The code with moves of registers onto themselves, releases and acquires; and the moves by pc."""
        here: dict[Place, list[Instruction | _Move]] = defaultdict(list)
        for place, slots in down.items():
            here[place] += [_Move(place, slot, True) for slot in slots]
        for place in self.regions.releases:
            here[place].append(self._release())
        for place in self.regions.acquires:
            here[place].append(Instruction(ACQUIRE))
        for place, slots in up.items():
            here[place] += [_Move(place, slot, False) for slot in slots]
        blocks = []
        moved = {}
        pc = 0
        for number, block in enumerate(self.code.blocks):
            instructions: list[Instruction] = []
            for position in range(len(block.instructions) + 1):
                for inserted in here.get((number, position), ()):
                    if isinstance(inserted, _Move):
                        moved[pc + len(instructions)] = inserted
                        move = COMPACTION if self.code.binary is None else SASS_COMPACTION
                        inserted = Instruction(move, (Reg(inserted.slot),), (Reg(inserted.slot),))
                    instructions.append(inserted)
                instructions += block.instructions[position : position + 1]
            blocks.append(Block(instructions, block.label))
            pc += len(instructions)
        return replace(self.code, blocks=blocks), moved

    def _release(self) -> Instruction:
        """In SASS a release waits until nothing is on its way to the registers that are given back."""
        return Instruction(RELEASE) if self.code.binary is None else Instruction(RELEASE, control=AFTER_ALL, address=INSERTED)

    def _limited(self, code: Code, warp: LiveRanges) -> set[int]:
        """The values that some point without the extended registers needs."""
        state = holding(code, warp.graph, self.regions.divergent)
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
