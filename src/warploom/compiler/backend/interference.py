"""The interference graph: which values must not share a register, and which would like to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from warploom.compiler.backend.moves import copied_parts, is_copy
from warploom.compiler.code.instruction import Bank, Code, Reg
from warploom.compiler.code.liveness import Liveness
from warploom.compiler.code.slots import bits


@dataclass
class Affinity:
    """Two values that a copy connects. Node `b` would like word `word` of node `a`; for values of the same size the word is 0."""

    a: int
    b: int
    word: int
    same_bank: bool
    weight: int  # how often the copy executes, by loop depth


@dataclass
class Interference:
    """Nodes are the slots of web-split virtual code; sets of nodes are bit masks."""

    registers: list[Reg]
    adjacent: list[int]
    affinities: list[Affinity]

    def __len__(self) -> int:
        return len(self.registers)

    def _bank(self, bank: Bank) -> int:
        return sum(1 << node for node, register in enumerate(self.registers) if register.bank is bank)

    @cached_property
    def wide(self) -> int:
        """The nodes that need an aligned pair."""
        return self._bank(Bank.D)

    @cached_property
    def predicates(self) -> int:
        """The nodes that live in the predicate file."""
        return self._bank(Bank.P)

    def needs(self, node: int, among: int = -1) -> int:
        """With this many registers a node can be coloured after all its neighbours in `among`, whatever their colours."""
        neighbours = self.adjacent[node] & among
        wide = (neighbours & self.wide).bit_count()
        if self.wide >> node & 1:
            return 2 * neighbours.bit_count() + 2
        return neighbours.bit_count() + wide + 1


def build_interference(code: Code, liveness: Liveness, depths: list[int]) -> Interference:
    """The graph of web-split code. A copy alone does not make its two ends interfere: they hold the same value."""
    registers = liveness.slots.registers
    node_of = {register: node for node, register in enumerate(registers)}
    adjacent = [0] * len(registers)
    affinities = []
    after = liveness.after
    pc = 0
    for number, block in enumerate(code.blocks):
        weight = 10 ** min(depths[number], 6)
        for instruction in block.instructions:
            if instruction.dsts:
                nodes = [node_of[dst] for dst in instruction.dsts]
                live = after[pc]
                for node in nodes:
                    live |= 1 << node
                if instruction.guard is None and is_copy(instruction):
                    source = instruction.srcs[0]
                    if len(instruction.srcs) == len(nodes) == 1 and isinstance(source, Reg):
                        live &= ~(1 << node_of[source])
                        affinities.append(Affinity(nodes[0], node_of[source], 0, True, weight))
                    else:
                        for written, read in copied_parts(instruction):
                            (wide, word), (narrow, _) = sorted((written, read), key=lambda part: part[0].bank is not Bank.D)
                            affinities.append(Affinity(node_of[wide], node_of[narrow], word, False, weight))
                for node in nodes:
                    adjacent[node] |= live
            pc += 1
    predicates = sum(1 << node for node, register in enumerate(registers) if register.bank is Bank.P)
    for node, register in enumerate(registers):
        file = predicates if register.bank is Bank.P else ~predicates
        adjacent[node] &= file & ~(1 << node)
    for node, neighbours in enumerate(adjacent[:]):
        bit = 1 << node
        for other in bits(neighbours):
            adjacent[other] |= bit
    return Interference(registers, adjacent, affinities)
