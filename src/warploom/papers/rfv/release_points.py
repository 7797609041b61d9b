"""Where a warp's registers may be given back, and the code with the metadata instructions that say so.

A register is released only where the whole warp is done with it (`warploom.compiler.code.warp`): lanes that wait in a diverged
region or for another turn of a loop keep what they need. Two kinds of points follow:

* the last read inside a block, if the instruction has a flag for that operand. Every flag counts for one operand as written: it
  releases both halves of a 64-bit register, and is set only if both are dead. Operands after the third have no flag;
* the start of a block, for every register that may still be held there, is dead and is not written again in the block: where
  diverged lanes meet, behind a loop, in an arm that does not need what another arm reads, and for what no flag could release
  (results that nobody reads, further operands).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

from warploom.compiler.code.classes import is_added
from warploom.compiler.code.divergence import analyse_divergence
from warploom.compiler.code.graph import FlowGraph, flow_graph
from warploom.compiler.code.instruction import EXITS, Block, Code, Instruction
from warploom.compiler.code.liveness import Liveness
from warploom.compiler.code.loops import loop_depths
from warploom.compiler.code.slots import REGISTER_MASK, bits
from warploom.compiler.code.warp import warp_liveness
from warploom.compiler.code.warp_flow import warp_predecessors
from warploom.papers.rfv.release_flags import (
    FLAG_BITS,
    FLAGS,
    NO_REGISTER,
    NUMBERS,
    PBR,
    PIR,
    decode_pbr,
    decode_pir,
    payload,
    pbr,
    pir,
    value_operands,
)

MOST_HELD = "rfv.most_held"  # annotations of compiled code
IN_OPERANDS = "rfv.flags_in_operands"  # the flags of each instruction, where they are bits of it
NAMEABLE = (1 << NO_REGISTER) - 1  # registers whose number fits a pbr


@dataclass(frozen=True)
class ReleasePoints:
    """Which registers are released where, and how many a warp holds at most."""

    flags: list[int]  # per pc, a bit for each of the first three operands
    starts: list[int]  # per block, the mask of registers released before its first instruction
    held: list[int]  # per pc, the mask of registers that may be held while the instruction is issued

    @property
    def most_held(self) -> int:
        """The most registers that a warp holds at once."""
        return max((mask.bit_count() for mask in self.held), default=0)


def usually_held(code: Code) -> float:
    """The registers that a warp holds in the mean over its instructions, if every loop runs ten times."""
    depths = loop_depths(flow_graph(code))
    times = [10 ** depths[number] for number, block in enumerate(code.blocks) for _ in block.instructions]
    held = (mask.bit_count() for mask in release_points(code).held)
    return sum(time * registers for time, registers in zip(times, held, strict=True)) / max(1, sum(times))


def branching_blocks(graph: FlowGraph) -> frozenset[int]:
    """The blocks that a compiler without an analysis of divergence must take for divergent: all with two successors."""
    return frozenset(block for block, following in enumerate(graph.successors) if len(following) > 1)


def release_points(code: Code, exempt: int = 0, *, assume_divergent: bool = False) -> ReleasePoints:
    """The release points of allocated code; registers below `exempt` are never released.

    `assume_divergent` takes every conditional branch for one that lanes may take differently.
    """
    graph = flow_graph(code)
    divergent = branching_blocks(graph) if assume_divergent else analyse_divergence(code, graph).branches
    live = warp_liveness(code, graph, divergent, by_arm=True)
    renamed = REGISTER_MASK & ~((1 << exempt) - 1)
    flags, read_releases = _flags(code, live, renamed)
    starts, held = _starts(code, graph, warp_predecessors(graph, divergent), live, renamed, read_releases)
    return ReleasePoints(flags, starts, held)


def _flags(code: Code, live: Liveness, renamed: int) -> tuple[list[int], list[int]]:
    """Per pc, the flags of the operands and the registers that they release."""
    flags, released = [], []
    for pc, instruction in enumerate(code.instructions()):
        flag = gone = 0
        for place, operand in enumerate(value_operands(instruction)[:FLAG_BITS]):
            words = sum(1 << word for word in operand.words)
            if words & renamed == words and not words & (live.after[pc] | gone):
                flag |= 1 << place
                gone |= words
        flags.append(flag)
        released.append(gone)
    return flags, released


def _starts(
    code: Code, graph: FlowGraph, before: list[frozenset[int]], live: Liveness, renamed: int, released: list[int]
) -> tuple[list[int], list[int]]:
    """Follow what the warp may hold through the code; what is held and dead where a block starts is released there.

    A register that the block writes again stays mapped instead: giving it back would cost an instruction and save little.
    """
    written = [reduce(or_, (access.writes for access in accesses), 0) for accesses in live.accesses]
    first = code.block_starts()
    leaving = [0] * len(graph)
    starts = [0] * len(graph)
    held = [0] * len(code)
    changed = True
    while changed:
        changed = False
        for number in graph.order:
            now = 0
            for predecessor in before[number]:
                now |= leaving[predecessor]
            if worth_a_release(code.blocks[number]):
                starts[number] = now & ~live.block_in[number] & ~written[number] & NAMEABLE
            now &= ~starts[number]
            for place, access in enumerate(live.accesses[number]):
                pc = first[number] + place
                now |= access.writes & renamed
                held[pc] = now
                now &= ~released[pc]
            if now != leaving[number]:
                leaving[number] = now
                changed = True
    return starts, held


def worth_a_release(block: Block) -> bool:
    """Whether registers given back at a block's start could be of use: not where the warp exits at once."""
    return len(block.instructions) > 0 and block.instructions[0].op.name not in EXITS


def with_release_flags(code: Code, points: ReleasePoints, *, in_operands: bool = False) -> Code:
    """The code with a pbr at block starts that release registers, and a pir in front of every 18 instructions of a block.

    With flags in operands there are no pirs: each instruction has bits for its own, as the register file cache's compiler has.
    """
    blocks = []
    pc = 0
    for number, block in enumerate(code.blocks):
        made: list[Instruction] = []
        registers = list(bits(points.starts[number]))
        made += [pbr(registers[place : place + NUMBERS]) for place in range(0, len(registers), NUMBERS)]
        for place in range(0, len(block.instructions), FLAGS):
            group = block.instructions[place : place + FLAGS]
            made += [] if in_operands else [pir(points.flags[pc : pc + len(group)])]
            made += group
            pc += len(group)
        blocks.append(Block(made, block.label))
    noted = {MOST_HELD: points.most_held, **({IN_OPERANDS: tuple(points.flags)} if in_operands else {})}
    return replace(code, blocks=blocks, annotations={**code.annotations, **noted})


def most_held(code: Code) -> int:
    """The most renamed registers that a warp of compiled code holds at once."""
    return code.annotations.get(MOST_HELD, code.registers)


def decoded_flags(code: Code) -> Iterator[tuple[int, int, int]]:
    """What hardware that decodes the code knows: (pc of an instruction, its flags, pc of the pir that holds them, or its own)."""
    if IN_OPERANDS in code.annotations:
        own = [pc for pc, instruction in enumerate(code.instructions()) if not is_added(instruction.op)]
        yield from zip(own, code.annotations[IN_OPERANDS], own, strict=True)
        return
    pc = 0
    for block in code.blocks:
        flags: list[int] = []
        place = source = 0
        for instruction in block.instructions:
            if instruction.op == PIR:
                flags, place, source = decode_pir(payload(instruction)), 0, pc
            elif not is_added(instruction.op):
                yield pc, flags[place] if place < len(flags) else 0, source
                place += 1
            pc += 1


def describe_releases(code: Code) -> dict[int, str]:
    """The decoded metadata beside the code, by pc: what each instruction releases, what each metadata instruction says."""
    instructions = list(code.instructions())
    notes = {}
    for pc, flags, _ in decoded_flags(code):
        operands = value_operands(instructions[pc])[:FLAG_BITS]
        released = [str(operand) for place, operand in enumerate(operands) if flags >> place & 1]
        if released:
            notes[pc] = "releases " + " ".join(released)
    for pc, instruction in enumerate(instructions):
        if instruction.op == PIR:
            flags_set = decode_pir(payload(instruction))
            used = next((place for place in range(FLAGS, 0, -1) if flags_set[place - 1]), 0)
            notes[pc] = "flags " + ("".join(map(str, flags_set[:used])) or "none")  # one octal digit for each instruction
        elif instruction.op == PBR:
            notes[pc] = "releases " + " ".join(f"R{number}" for number in decode_pbr(payload(instruction)))
    return notes
