"""Registers with a single definition: what copy propagation, folding and narrowing may rely on."""

from __future__ import annotations

from warploom.compiler.code.dominators import dominance_intervals, immediate_dominators
from warploom.compiler.code.graph import flow_graph
from warploom.compiler.code.instruction import Code, Instruction, Reg


class Definitions:
    """The unguarded, only definition of each register that has one, and whether it comes before every use."""

    def __init__(self, code: Code) -> None:
        self.only: dict[Reg, Instruction] = {}
        self.uses: dict[Reg, int] = {}
        place: dict[Reg, tuple[int, int]] = {}
        several: set[Reg] = set()
        for number, block in enumerate(code.blocks):
            for index, instruction in enumerate(block.instructions):
                for dst in instruction.dsts:
                    if dst in place or instruction.guard is not None:
                        several.add(dst)
                    place[dst] = (number, index)
                    self.only[dst] = instruction
        for dst in several:
            del self.only[dst]
        self._defined = place.keys()
        self._unsafe = several
        self._find_unsafe(code, place)

    def _find_unsafe(self, code: Code, place: dict[Reg, tuple[int, int]]) -> None:
        first, last = dominance_intervals(immediate_dominators(flow_graph(code)))
        uses, only, unsafe = self.uses, self.only, self._unsafe
        for number, block in enumerate(code.blocks):
            for index, instruction in enumerate(block.instructions):
                for register in instruction.reads:
                    uses[register] = uses.get(register, 0) + 1
                    if register not in only:
                        continue
                    at, position = place[register]
                    if at == number:
                        if position >= index:
                            unsafe.add(register)
                    elif not (first[at] <= first[number] and last[number] <= last[at]):
                        unsafe.add(register)

    def steady(self, register: Reg) -> bool:
        """Whether the register holds one value wherever it is read: its one definition dominates every use, or it has none."""
        return register not in self._unsafe if register in self.only else register not in self._defined


def highest_number(code: Code) -> int:
    """The first register number that no register of the code has."""
    numbers = [register.number for instruction in code.instructions() for register in (*instruction.reads, *instruction.dsts)]
    return max(numbers, default=-1) + 1
