"""Addresses that differ by a constant share one base where registers are short: the tiles of a kernel in shared memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from warploom.compiler.backend.definitions import Definitions
from warploom.compiler.code.dominators import dominance_intervals, immediate_dominators
from warploom.compiler.code.graph import flow_graph
from warploom.compiler.code.instruction import Address, Block, Code, Imm, Instruction, Operand, Reg

_REACH = 1 << 23  # a displacement has 24 bits with its sign
_DEPTH = 4  # additions that are looked through
_WORD = 1 << 32
Place = tuple[int, int]  # block, position
Sum = tuple[frozenset[tuple[Operand, int]], int]  # what is added up, how often each, and a constant


def with_common_bases(code: Code) -> Code:
    """The code with ``[b + k]`` as ``[a + k + c]`` wherever b = a + c, b is nothing but an address and a is made before its uses.

    Sums are compared term by term, so that (x + 1024) + y shares the base x + y.
    """
    definitions, places, uses = Definitions(code), _places(code), _uses(code)
    dominates = _dominance(code)
    leaders: dict[frozenset[tuple[Operand, int]], list[tuple[Reg, int]]] = {}
    shared: dict[Reg, tuple[Reg, int]] = {}
    for register in sorted(definitions.only, key=lambda one: places[one]):
        total = _sum_of(register, definitions, _DEPTH)
        if total is None:
            continue
        terms, constant = total
        for base, before in leaders.get(terms, ()):
            distance = _signed(constant - before)
            made_before = all(dominates(places[base], place) for place, _ in uses[register])
            if made_before and abs(distance) < _REACH and _only_addresses(uses[register], distance):
                shared[register] = (base, distance)
                break
        else:
            leaders.setdefault(terms, []).append((register, constant))
    return _rewritten(code, shared) if shared else code


def _places(code: Code) -> dict[Reg, Place]:
    """Where each register is defined, last."""
    return {
        dst: (number, index)
        for number, block in enumerate(code.blocks)
        for index, instruction in enumerate(block.instructions)
        for dst in instruction.dsts
    }


def _uses(code: Code) -> dict[Reg, list[tuple[Place, list[Operand]]]]:
    """Where each register is read, and the operands that read it; a guard counts as an operand."""
    uses: dict[Reg, list[tuple[Place, list[Operand]]]] = {dst: [] for one in code.instructions() for dst in one.dsts}
    for number, block in enumerate(code.blocks):
        for index, instruction in enumerate(block.instructions):
            for register in dict.fromkeys(instruction.reads):
                operands = [src for src in instruction.srcs if register in (src, getattr(src, "base", None))]
                guard: list[Operand] = [register] if instruction.guard and instruction.guard.predicate == register else []
                uses.setdefault(register, []).append(((number, index), operands + guard))
    return uses


def _only_addresses(uses: list[tuple[Place, list[Operand]]], distance: int) -> bool:
    operands = [operand for _, each in uses for operand in each]
    return bool(operands) and all(isinstance(one, Address) and abs(one.offset + distance) < _REACH for one in operands)


def _dominance(code: Code) -> Callable[[Place, Place], bool]:
    """Whether what is made at one place is there at another."""
    first, last = dominance_intervals(immediate_dominators(flow_graph(code)))

    def dominates(made: Place, read: Place) -> bool:
        if made[0] == read[0]:
            return made[1] < read[1]
        return first[made[0]] <= first[read[0]] and last[read[0]] <= last[made[0]]

    return dominates


def _sum_of(register: Reg, definitions: Definitions, depth: int) -> Sum | None:
    """A register as a sum of others and a constant; None where it is no 32-bit sum of values that stay."""
    definition = definitions.only.get(register)
    if definition is None or not definitions.steady(register) or not _adds(definition) or depth == 0:
        return None
    terms: Counter[Operand] = Counter()
    constant = 0
    for src in definition.srcs:
        if isinstance(src, Imm):
            constant += src.bits
            continue
        if isinstance(src, Reg) and not definitions.steady(src):
            return None
        inner = _sum_of(src, definitions, depth - 1) if isinstance(src, Reg) else None
        if inner is None:
            terms[src] += 1
        else:
            constant += inner[1]
            terms.update(dict(inner[0]))
    return frozenset(terms.items()), constant % _WORD


def _adds(instruction: Instruction) -> bool:
    op = instruction.op
    return op.name == "add" and not op.modifiers and op.type in ("s32", "u32") and len(instruction.srcs) == 2


def _signed(value: int) -> int:
    value %= _WORD
    return value - _WORD if value >= _WORD >> 1 else value


def _rewritten(code: Code, shared: dict[Reg, tuple[Reg, int]]) -> Code:
    """The code on the common bases, without the sums that nothing reads any more."""

    def operand(src: Operand) -> Operand:
        if isinstance(src, Address) and isinstance(src.base, Reg) and src.base in shared:
            base, distance = shared[src.base]
            return Address(base, src.offset + distance)
        return src

    blocks = [
        Block(
            [
                replace(instruction, srcs=tuple(map(operand, instruction.srcs)))
                for instruction in block.instructions
                if not any(dst in shared for dst in instruction.dsts)
            ],
            block.label,
        )
        for block in code.blocks
    ]
    return replace(code, blocks=blocks)
