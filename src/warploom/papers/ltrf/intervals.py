"""Register intervals: parts of a kernel that are entered at one point and name no more registers than the cache has for a warp.

A warp executes the arms of a divergent branch one after the other, so "entered" is meant along the order in which a warp, not a
thread, executes blocks: whatever the warp did before, when it is inside an interval it has passed its first instruction.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from warploom.compiler.code.classes import add_operation
from warploom.compiler.code.divergence import analyse_divergence
from warploom.compiler.code.graph import FlowGraph, flow_graph
from warploom.compiler.code.instruction import Block, Code, Imm, Instruction
from warploom.compiler.code.slots import REGISTER_MASK, slots_of
from warploom.compiler.code.warp_flow import warp_predecessors

INTERVAL = add_operation("interval", __name__)  # the metadata instruction at the start of an interval
WORD = 64  # registers that one of them can name


@dataclass(slots=True)
class Piece:
    """A stretch of one block whose registers fit the cache."""

    block: int
    first: int  # position in the block
    registers: int  # a mask of those that it names
    before: set[int] = field(default_factory=set)  # numbers of the pieces that a warp may have executed just before it


@dataclass(frozen=True, slots=True)
class Interval:
    """Pieces that are entered at the first of them."""

    header: int
    pieces: frozenset[int]
    registers: int  # the working set, a mask


def pieces_of(code: Code, size: int, graph: FlowGraph | None = None) -> list[Piece]:
    """The blocks of a kernel, cut where they name more than so many registers."""
    graph = graph or flow_graph(code)
    _, accesses = slots_of(code)
    pieces: list[Piece] = []
    last_of: dict[int, int] = {}
    first_of: dict[int, int] = {}
    for number, block in enumerate(accesses):
        first_of[number] = len(pieces)
        pieces.append(Piece(number, 0, 0))
        for position, access in enumerate(block):
            named = (access.reads | access.writes) & REGISTER_MASK
            if pieces[-1].registers and (pieces[-1].registers | named).bit_count() > size:
                pieces.append(Piece(number, position, 0, {len(pieces) - 1}))
            pieces[-1].registers |= named
        last_of[number] = len(pieces) - 1
    before = warp_predecessors(graph, analyse_divergence(code, graph).branches)
    for number in graph.order:
        pieces[first_of[number]].before |= {last_of[block] for block in before[number]}
    return pieces


def register_intervals(code: Code, size: int) -> tuple[list[Piece], list[Interval]]:
    """The pieces of a kernel and the intervals that they form, as large as fits.

    An interval grows by pieces whose every predecessor is inside it; then by whole intervals, which is how a loop joins what is
    before it. What control never reaches belongs to none.
    """
    graph = flow_graph(code)
    pieces = pieces_of(code, size, graph)
    following: list[set[int]] = [set() for _ in pieces]
    for number, piece in enumerate(pieces):
        for earlier in piece.before:
            following[earlier].add(number)
    owner: dict[int, int] = {}
    intervals: dict[int, Interval] = {}
    pending = [0]
    while pending:
        header = pending.pop(0)
        if header in owner:
            continue
        interval = _grown(header, pieces, following, owner, size)
        intervals[header] = interval
        owner |= dict.fromkeys(interval.pieces, header)
        pending += sorted({other for piece in interval.pieces for other in following[piece]} - set(owner))
    _join(pieces, intervals, owner, size)
    return pieces, [intervals[header] for header in sorted(intervals)]


def _grown(header: int, pieces: list[Piece], following: list[set[int]], owner: dict[int, int], size: int) -> Interval:
    inside, registers = {header}, pieces[header].registers
    changed = True
    while changed:
        changed = False
        for candidate in sorted({other for piece in inside for other in following[piece]} - inside):
            together = registers | pieces[candidate].registers
            fits = together.bit_count() <= size
            if fits and candidate != 0 and candidate not in owner and pieces[candidate].before <= inside:
                inside.add(candidate)
                registers = together
                changed = True
    return Interval(header, frozenset(inside), registers)


def _join(pieces: list[Piece], intervals: dict[int, Interval], owner: dict[int, int], size: int) -> None:
    """Join intervals that are entered from one other interval alone, while their registers fit together."""
    changed = True
    while changed:
        changed = False
        for header in sorted(intervals):
            interval = intervals[header]
            sources = {owner[piece] for piece in pieces[header].before if piece in owner} - {header}
            if header == 0 or len(sources) != 1:
                continue
            other = intervals[sources.pop()]
            if (other.registers | interval.registers).bit_count() <= size:
                joined = Interval(other.header, other.pieces | interval.pieces, other.registers | interval.registers)
                intervals[other.header] = joined
                owner |= dict.fromkeys(interval.pieces, other.header)
                del intervals[header]
                changed = True


def with_intervals(code: Code, size: int) -> Code:
    """The code with the working set of each interval in front of it, 64 registers to a metadata instruction."""
    pieces, intervals = register_intervals(code, size)
    starts = {(pieces[one.header].block, pieces[one.header].first): one.registers for one in intervals}
    blocks = []
    for number, block in enumerate(code.blocks):
        made: list[Instruction] = []
        for position, instruction in enumerate(block.instructions):
            made += _interval(starts.get((number, position), 0))
            made.append(instruction)
        blocks.append(Block(made, block.label))
    return replace(code, blocks=blocks)


def _interval(registers: int) -> list[Instruction]:
    words = [(word, registers >> WORD * word & (1 << WORD) - 1) for word in range(-(-registers.bit_length() // WORD))]
    return [Instruction(INTERVAL, srcs=(Imm(bits), Imm(word))) for word, bits in words if bits]


def working_sets(code: Code) -> dict[int, int]:
    """The working set of each interval by the pc of the last metadata instruction that names it."""
    found: dict[int, int] = {}
    registers = 0
    instructions = list(code.instructions())
    for pc, instruction in enumerate(instructions):
        if instruction.op != INTERVAL:
            continue
        bits, word = (source.bits for source in instruction.srcs if isinstance(source, Imm))
        registers |= bits << WORD * word
        if pc + 1 == len(instructions) or instructions[pc + 1].op != INTERVAL:
            found[pc] = registers
            registers = 0
    return found
