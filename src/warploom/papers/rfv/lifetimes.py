"""How long registers live, which of them are worth renaming, and new numbers so that those that are not come first."""

from __future__ import annotations

from dataclasses import dataclass, replace

from warploom.code.divergence import analyse_divergence
from warploom.code.graph import flow_graph
from warploom.code.instruction import Bank, Block, Code, Reg
from warploom.code.ranges import LiveRanges
from warploom.code.slots import PREDICATES

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

    The halves of a register pair stay together, so that one more may be exempt than needed.
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
    """The registers that must keep together: pairs that hold 64-bit values somewhere, and single ones."""
    paired = {register.number for register in _registers(code) if register.bank is Bank.D}
    seconds = {number + 1 for number in paired}
    units: list[tuple[int, ...]] = [(number, number + 1) for number in sorted(paired)]
    return units + [(number,) for number in range(code.registers) if number not in paired | seconds]


def _registers(code: Code) -> set[Reg]:
    found: set[Reg] = set()
    for instruction in code.instructions():
        found.update(instruction.reads)
        found.update(instruction.dsts)
    return found


def exempt_registers(code: Code) -> int:
    """How many registers of compiled code, from R0 on, are not renamed."""
    return code.annotations.get(EXEMPT_REGISTERS, 0)


def exempt_first(code: Code, exempt: tuple[int, ...]) -> Code:
    """The same code with its registers renumbered so that the exempt ones have the lowest numbers; pairs stay aligned."""
    if not exempt:
        return code
    chosen = set(exempt)
    units = _units(code)
    first = [unit for unit in units if unit[0] in chosen]
    rest = [unit for unit in units if unit[0] not in chosen]
    order: list[tuple[int, ...]] = sorted(first, key=len, reverse=True)
    pairs, singles = [unit for unit in rest if len(unit) > 1], [unit for unit in rest if len(unit) < 2]
    if len(chosen) % 2 and singles:  # a single register lets the pairs after it be aligned
        order.append(singles.pop(0))
    order += pairs + singles
    number: dict[int, int] = {}
    following = 0
    for unit in order:
        if len(unit) == 2:
            following += following % 2
        for register in unit:
            number[register] = following
            following += 1
    renamed = {Reg(old, Bank.R): Reg(new, Bank.R) for old, new in number.items()}
    renamed |= {Reg(unit[0], Bank.D): Reg(number[unit[0]], Bank.D) for unit in units if len(unit) == 2}
    blocks = [Block([one.with_registers(renamed) for one in block.instructions], block.label) for block in code.blocks]
    noted = {**code.annotations, EXEMPT_REGISTERS: len(exempt)}
    return replace(code, blocks=blocks, registers=max(code.registers, following), annotations=noted)
