"""Gives narrow values registers of their own, two of which fit an entry."""

from __future__ import annotations

from dataclasses import replace

from warploom.chip.machines import Machine
from warploom.chip.sm.occupancy import rounded
from warploom.compiler.backend.recolour import conflicts, recolour, renamed
from warploom.compiler.code.graph import flow_graph
from warploom.compiler.code.instruction import Code
from warploom.compiler.code.ranges import LiveRanges
from warploom.compiler.code.slots import PREDICATES
from warploom.compiler.code.widths import value_widths

ENTRIES = "packed.entries"
HALF = 16  # bits


def entries_of(code: Code) -> int:
    """The entries that a thread's registers take: fewer than its registers where narrow ones share."""
    return code.annotations.get(ENTRIES, code.registers)


def packed_code(code: Code, machine: Machine) -> Code:
    """The code on as few entries as can be found, by steps of what the machine hands out; the same code where it saves nothing.

    In what comes out registers below ``2 * entries - registers`` have an entry each. The others hold narrow values only: the
    first half of them has the low halves of the remaining entries, the second half the high ones, in the same order.
    """
    graph = flow_graph(code)
    ranges = LiveRanges(code, None, graph)
    widths = value_widths(code, ranges.values)
    wide = [value.number for value in ranges.values if value.slot < PREDICATES and widths[value.number] > HALF]
    step = machine.sm.register_rounding
    narrow_at_once = _most_at_once(ranges, set(wide))
    best = code
    entries = rounded(code.registers, machine) - step
    while entries > 0:
        found = None
        for pairs in range(1, min(entries, (narrow_at_once + 1) // 2) + 1):
            problem = conflicts(code, ranges, dict.fromkeys(wide, entries - pairs), entries + pairs, {})
            registers = recolour(problem)
            if registers is not None:
                annotations = {**code.annotations, ENTRIES: entries}
                found = replace(renamed(code, ranges.values, registers), registers=entries + pairs, annotations=annotations)
                break
        if found is None:
            return best
        best = found
        entries -= step
    return best


def _most_at_once(ranges: LiveRanges, wide: set[int]) -> int:
    """The most narrow values that live after one instruction."""
    alive: dict[int, int] = {}
    for extent in ranges:
        if extent.value.slot < PREDICATES and extent.value.number not in wide:
            live = extent.after
            while live:
                low = live & -live
                alive[low] = alive.get(low, 0) + 1
                live ^= low
    return max(alive.values(), default=0)
