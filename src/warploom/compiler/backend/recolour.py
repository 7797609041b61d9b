"""New register numbers for the values of allocated code, some of which must stay below a limit.

Values are the webs of `warploom.compiler.code.values`, one per 32-bit register. Those that some instruction takes for
a vector stay consecutive and aligned: the two halves of a 64-bit value, the four words of an access of 128 bits, the registers
that a texture instruction of SASS counts from its first. A value keeps its number where it may.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from warploom.compiler.code.instruction import Bank, Block, Code, Instruction, Reg
from warploom.compiler.code.ranges import LiveRanges
from warploom.compiler.code.sass_classes import TEXTURES
from warploom.compiler.code.slots import PREDICATES, bits
from warploom.compiler.code.values import Values

_ORDERS = 32  # how often nodes that found no register are tried first
_TURNS = 8  # how often on average a node may be placed while nodes drive each other out


@dataclass
class ColourNode:
    """Values that get their registers together: one alone, or all that share a vector with one another."""

    members: list[int]  # numbers of values
    alignment: int  # its first register is a multiple of this
    span: int  # registers from the first to the last
    limit: int  # its registers lie below
    original: int  # its first register now


@dataclass
class Conflicts:
    """The nodes of a kernel, and which values must not share a register."""

    nodes: list[ColourNode]
    node_of: dict[int, int]  # value -> node
    slot_of: list[int]  # value -> its register now
    adjacent: list[int]  # per value, the mask of values that it conflicts with
    copies: list[tuple[int, int, int]]  # two values that would like to share a register, and how much; the most wanted first

    def cost(self, registers: list[int]) -> int:
        """What the copies cost that remain."""
        return sum(weight for a, b, weight in self.copies if registers[a] != registers[b])


def conflicts(code: Code, ranges: LiveRanges, limits: dict[int, int], most: int, copies: dict[int, int]) -> Conflicts:
    """What recolouring must respect: `limits` bounds some values, `most` all others.

    `copies` are the pcs of moves that it would be good to get rid of, and how often each executes.
    """
    values = ranges.values
    slot_of = [value.slot for value in values]
    adjacent = adjacency(code, ranges)
    leader = list(range(len(slot_of)))

    def find(value: int) -> int:
        while leader[value] != value:
            leader[value] = leader[leader[value]]
            value = leader[value]
        return value

    alignment: dict[int, int] = {}  # of values in vectors
    for pc, instruction in enumerate(code.instructions()):
        for words in vectors(instruction):
            for table in (values.used, values.defined):
                parts = [value.number for slot in words if (value := table.get((pc, slot))) is not None]
                if len(parts) == len(words):
                    for part in parts:
                        alignment[part] = max(alignment.get(part, 1), _alignment(words))
                        leader[find(part)] = find(parts[0])
    groups: dict[int, list[int]] = {}
    for number, slot in enumerate(slot_of):
        if slot < PREDICATES:
            groups.setdefault(find(number), []).append(number)
    nodes = []
    for members in groups.values():
        aligned = max(alignment.get(member, 1) for member in members)
        first = min(slot_of[member] for member in members) // aligned * aligned
        span = 1 + max(slot_of[member] for member in members) - first
        nodes.append(ColourNode(members, aligned, span, min(limits.get(member, most) for member in members), first))
    node_of = {member: index for index, node in enumerate(nodes) for member in node.members}
    wanted = []
    sources = {pc: value for (pc, slot), value in values.used.items() if slot < PREDICATES and pc in copies}
    targets = {pc: value for (pc, _), value in values.defined.items() if pc in copies}
    for pc, weight in sorted(copies.items(), key=lambda copy: -copy[1]):
        wanted.append((sources[pc].number, targets[pc].number, weight))
    return Conflicts(nodes, node_of, slot_of, adjacent, wanted)


def vectors(instruction: Instruction) -> list[tuple[int, ...]]:
    """The 32-bit registers that an instruction takes for vectors, each from its first on."""
    found = [register.words for register in (*instruction.reads, *instruction.dsts) if register.bank in (Bank.D, Bank.Q)]
    if instruction.op.name in TEXTURES:  # coordinates and texels, of which the text names the first
        for operands in (instruction.srcs, instruction.dsts):
            run: list[int] = []
            for operand in operands:
                if isinstance(operand, Reg) and operand.bank is Bank.R and (not run or operand.number == run[-1] + 1):
                    run.append(operand.number)
                else:
                    found.append(tuple(run))
                    run = [operand.number] if isinstance(operand, Reg) and operand.bank is Bank.R else []
            found.append(tuple(run))
    return [words for words in found if len(words) > 1]


def _alignment(words: tuple[int, ...]) -> int:
    """What the first register of a vector is a multiple of, as far as it is so now."""
    wanted = 4 if len(words) > 2 else 2
    while words[0] % wanted:
        wanted //= 2
    return wanted


def adjacency(code: Code, ranges: LiveRanges) -> list[int]:
    """Per value, those that live where it is written. A copy alone does not part its two ends: they hold the same value."""
    values = ranges.values
    adjacent = [0] * len(values)
    live_after = [0] * len(code)
    for extent in ranges:
        bit = 1 << extent.value.number
        for pc in bits(extent.after):
            live_after[pc] |= bit
    written: list[list[int]] = [[] for _ in range(len(code))]
    for (pc, _), value in values.defined.items():
        written[pc].append(value.number)
    for pc, instruction in enumerate(code.instructions()):
        if not written[pc]:
            continue
        live = live_after[pc]
        for number in written[pc]:
            live |= 1 << number
        if instruction.op.name in ("mov", "MOV") and instruction.guard is None and len(instruction.srcs) == 1:
            source = instruction.srcs[0]
            if isinstance(source, Reg) and source.bank is Bank.R and instruction.dsts[0].bank is Bank.R:
                live &= ~(1 << values.used[pc, source.number].number)
        for number in written[pc]:
            adjacent[number] |= live
    for number, neighbours in enumerate(adjacent[:]):
        adjacent[number] &= ~(1 << number)
        for other in bits(neighbours & ~(1 << number)):
            adjacent[other] |= 1 << number
    return adjacent


def recolour(problem: Conflicts) -> list[int] | None:
    """The register of each value, -1 for predicates, with few moves left; None when no way was found."""
    moved = {value for a, b, _ in problem.copies for value in (a, b)}
    found = []
    for moved_first in (True, False):
        order = sorted(range(len(problem.nodes)), key=lambda index: _urgency(problem.nodes[index], index, moved, moved_first))
        for keep in (True, False):
            registers = _placed(problem, order, keep)
            if registers is not None:
                found.append(registers)
    if found:
        return min(found, key=problem.cost)
    attempt = _Attempt(problem, keep=True)
    return attempt.registers if attempt.drive_out(order) else None


def _placed(problem: Conflicts, order: list[int], keep: bool) -> list[int] | None:
    """The outcome of placing nodes in an order, again and again with those that found no room moved to its front."""
    first: list[int] = []
    for _ in range(_ORDERS):
        chosen = set(first)
        attempt = _Attempt(problem, keep)
        failed = attempt.place([*first, *(index for index in order if index not in chosen)])
        if not failed:
            return attempt.registers
        first = [*failed, *(index for index in first if index not in failed)]
    return None


def _urgency(node: ColourNode, index: int, moved: set[int], moved_first: bool) -> tuple[int, int, bool, int]:
    """The most constrained first; of those, the longest vectors; then values at an end of a move, if asked; then as defined."""
    return node.limit, -node.span, moved_first and moved.isdisjoint(node.members), index


class _Attempt:
    """Registers given so far."""

    def __init__(self, problem: Conflicts, keep: bool):
        self.problem, self.keep = problem, keep
        self.registers = [-1] * len(problem.slot_of)
        self.holders: dict[int, int] = {}  # register -> mask of the values that have it
        self.driven = [0] * len(problem.nodes)  # how often a node was driven out
        self.partners: dict[int, list[int]] = {}
        for a, b, _ in problem.copies:
            self.partners.setdefault(a, []).append(b)
            self.partners.setdefault(b, []).append(a)

    def place(self, order: list[int]) -> list[int]:
        """Place one node after the other; those that found no room."""
        failed = []
        for index in order:
            node = self.problem.nodes[index]
            place = next((place for place in self._wishes(node) if self._fits(node, place)), None)
            if place is None:
                failed.append(index)
            else:
                self._put(node, place)
        return failed

    def drive_out(self, order: list[int]) -> bool:
        """Place all nodes; one that finds no room drives out others, which are placed again. Whether it came to an end."""
        pending = deque(order)
        steps = _TURNS * len(order)
        while pending and steps:
            steps -= 1
            index = pending.popleft()
            node = self.problem.nodes[index]
            place = next((place for place in self._wishes(node) if self._fits(node, place)), None)
            if place is None:
                place, others = self._least_missed(node)
                if place < 0:
                    return False
                for other in others:
                    self._take_out(other)
                    pending.append(other)
            self._put(node, place)
        return not pending

    def _offset(self, node: ColourNode, member: int) -> int:
        return self.problem.slot_of[member] - node.original

    def _put(self, node: ColourNode, place: int) -> None:
        for member in node.members:
            register = place + self._offset(node, member)
            self.registers[member] = register
            self.holders[register] = self.holders.get(register, 0) | 1 << member

    def _take_out(self, index: int) -> None:
        self.driven[index] += 1
        for member in self.problem.nodes[index].members:
            self.holders[self.registers[member]] &= ~(1 << member)
            self.registers[member] = -1

    def _least_missed(self, node: ColourNode) -> tuple[int, list[int]]:
        """The place from which the fewest others must go, counting those twice that had to go before; -1: there is none."""
        best: tuple[int, int, list[int]] | None = None
        for place in range(0, node.limit - node.span + 1, node.alignment):
            rivals = 0
            for member in node.members:
                rivals |= self.holders.get(place + self._offset(node, member), 0) & self.problem.adjacent[member]
            others = sorted({self.problem.node_of[value] for value in bits(rivals)})
            cost = sum(1 + self.driven[other] for other in others)
            if best is None or cost < best[0]:
                best = cost, place, others
        return (best[1], best[2]) if best else (-1, [])

    def _wishes(self, node: ColourNode) -> Iterable[int]:
        """The registers a node could have, the best first."""
        for member in node.members:
            for partner in self.partners.get(member, ()):
                if self.registers[partner] >= 0:
                    yield self.registers[partner] - self._offset(node, member)
        if self.keep:
            yield node.original
        yield from range(0, node.limit, node.alignment)

    def _fits(self, node: ColourNode, place: int) -> bool:
        if place < 0 or place % node.alignment or place + node.span > node.limit:
            return False
        return not any(
            self.holders.get(place + self._offset(node, member), 0) & self.problem.adjacent[member] for member in node.members
        )


def renamed(code: Code, values: Values, registers: list[int]) -> Code:
    """The code on its new registers; predicates stay."""
    blocks = []
    pc = 0
    for block in code.blocks:
        instructions = []
        for instruction in block.instructions:
            instructions.append(_renamed(instruction, pc, values, registers))
            pc += 1
        blocks.append(Block(instructions, block.label))
    return replace(code, blocks=blocks)


def _renamed(instruction: Instruction, pc: int, values: Values, registers: list[int]) -> Instruction:
    def name(register: Reg, table: dict) -> Reg:
        if not register.words:  # a predicate, or what a warp has one of
            return register
        return Reg(registers[table[pc, register.number].number], register.bank)

    sources = {register: name(register, values.used) for register in instruction.reads}
    return replace(
        instruction.with_registers(sources),
        dsts=tuple(name(dst, values.defined) for dst in instruction.dsts),
    )
