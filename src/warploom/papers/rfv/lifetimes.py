"""How long registers live, which of them are worth renaming, and new numbers so that those that are not come first."""

from __future__ import annotations

from dataclasses import dataclass, replace

from warploom.compiler.backend.recolour import vectors
from warploom.compiler.code.divergence import analyse_divergence
from warploom.compiler.code.graph import flow_graph
from warploom.compiler.code.instruction import Bank, Block, Code, Reg
from warploom.compiler.code.ranges import LiveRanges
from warploom.compiler.code.slots import PREDICATES

EXEMPT_REGISTERS = "rfv.exempt_registers"


@dataclass(frozen=True)
class Lifetime:
    """The static estimate for one register: the mean number of instructions from a write to the release of its value."""

    register: int
    instructions: float
    values: int  # value instances that it holds in the course of the kernel


def register_lifetimes(code: Code) -> list[Lifetime]:
    """The estimate for every 32-bit register of allocated code, at warp level."""
    graph = flow_graph(code)
    ranges = LiveRanges(code, analyse_divergence(code, graph), graph)
    lengths: list[list[int]] = [[] for _ in range(code.registers)]
    for extent in ranges:
        if extent.value.slot < min(PREDICATES, code.registers) and extent.value.definitions:
            lengths[extent.value.slot].append(extent.length)
    return [Lifetime(register, sum(found) / len(found) if found else 0.0, len(found)) for register, found in enumerate(lengths)]


def choose_exempt(code: Code, renamed: int) -> tuple[int, ...]:
    """The registers not to rename if only `renamed` per warp can be: the longest-lived, of equals those with more values.

    Registers of a vector stay together, so that a few more may be exempt than needed.
    """
    excess = code.registers - renamed
    if excess <= 0:
        return ()
    lifetimes = register_lifetimes(code)
    exempt: list[int] = []

    def worth(unit: tuple[int, ...]) -> tuple[float, int, int]:
        members = [lifetimes[register] for register in unit]
        return (-max(m.instructions for m in members), -sum(m.values for m in members), unit[0])

    for unit in sorted(_units(code), key=worth):
        if len(exempt) >= excess:
            break
        exempt += unit
    return tuple(sorted(exempt))


def _units(code: Code) -> list[tuple[int, ...]]:
    """The registers that must keep together, as they lie: vectors, joined where they overlap, and single ones."""
    joined = {word for instruction in code.instructions() for words in vectors(instruction) for word in words[1:]}
    units: list[list[int]] = []
    for register in range(code.registers):
        if register in joined:
            units[-1].append(register)
        else:
            units.append([register])
    return [tuple(unit) for unit in units]


def _alignment(unit: tuple[int, ...]) -> int:
    """What the first register of a unit stays a multiple of: as much as its longest vector can ask for."""
    return next(multiple for multiple in (4, 2, 1) if len(unit) >= multiple and unit[0] % multiple == 0)


def exempt_registers(code: Code) -> int:
    """How many registers of compiled code, from R0 on, are not renamed."""
    return code.annotations.get(EXEMPT_REGISTERS, 0)


def renaming_nothing(code: Code) -> Code:
    """The same code, of which every register is exempt: as static allocation has it, without release flags."""
    return replace(code, annotations={**code.annotations, EXEMPT_REGISTERS: code.registers})


def exempt_first(code: Code, exempt: tuple[int, ...]) -> Code:
    """The same code with its registers renumbered so that the exempt ones have the lowest numbers; vectors stay aligned."""
    if not exempt:
        return code
    chosen = set(exempt)
    units = sorted(_units(code), key=lambda unit: (unit[0] not in chosen, -_alignment(unit), -len(unit)))
    singles = [unit for unit in units if len(unit) == 1 and unit[0] not in chosen]
    number: dict[int, int] = {}
    following = 0
    for unit in units:
        if unit[0] in number:
            continue
        while following % _alignment(unit):  # single registers fill the gap before an aligned vector
            if singles:
                number[singles.pop(0)[0]] = following
            following += 1
        for register in unit:
            number[register] = following
            following += 1
    renamed = {Reg(old, bank): Reg(new, bank) for old, new in number.items() for bank in (Bank.R, Bank.D, Bank.Q)}
    blocks = [Block([one.with_registers(renamed) for one in block.instructions], block.label) for block in code.blocks]
    noted = {**code.annotations, EXEMPT_REGISTERS: len(exempt)}
    return replace(code, blocks=blocks, registers=max(code.registers, following), annotations=noted)
