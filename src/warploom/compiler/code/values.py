"""Value instances: what a register holds between being written and last read.

A register is reused for unrelated values; a value instance (a web, in allocators' language) joins the definitions that reach
a common read. The unit is the slot of `warploom.compiler.code.slots`, so a 64-bit value of allocated code is two
instances, one per 32-bit register.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from warploom.compiler.code.graph import FlowGraph, flow_graph
from warploom.compiler.code.instruction import Code
from warploom.compiler.code.slots import SlotAccess, Slots, bits, slots_of


@dataclass(slots=True)
class Value:
    """One value instance."""

    number: int
    slot: int
    definitions: list[int] = field(default_factory=list)  # pcs; none when a read has no definition before it
    uses: list[int] = field(default_factory=list)  # pcs, in order


@dataclass
class Values:
    """The value instances of a kernel, found by where they are defined and read."""

    slots: Slots
    accesses: list[list[SlotAccess]]
    values: list[Value]
    defined: dict[tuple[int, int], Value]  # (pc, slot) -> the value that the instruction writes there
    used: dict[tuple[int, int], Value]  # (pc, slot) -> the value that it reads there
    _sites_of: dict[int, int]  # slot -> mask of its definitions
    _reaching: list[int]  # per block, mask of the definitions that reach it
    _owners: list[Value]  # the value of each definition

    def entering(self, block: int, slot: int) -> Value | None:
        """The value that a slot holds when control enters a block, if the slot is live there and some path has defined it."""
        mask = self._reaching[block] & self._sites_of.get(slot, 0)
        return self._owners[mask.bit_length() - 1] if mask else None

    def __iter__(self) -> Iterator[Value]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)


def value_instances(code: Code, graph: FlowGraph | None = None) -> Values:
    """The value instances of a kernel, in order of their first definition."""
    graph = graph or flow_graph(code)
    slots, accesses = slots_of(code)
    sites, sites_of, reaching = _reaching_definitions(graph, accesses)
    parent = list(range(len(sites)))

    def root(site: int) -> int:
        while parent[site] != site:
            parent[site] = parent[parent[site]]
            site = parent[site]
        return site

    def joined(mask: int) -> int:
        """Any definition of the web that the definitions of a mask become; -1 when there is none."""
        if not mask & (mask - 1):
            return mask.bit_length() - 1
        first, *others = bits(mask)
        first = root(first)
        for other in others:
            other_root = root(other)
            if other_root != first:
                low, high = min(first, other_root), max(first, other_root)
                parent[high] = low
                first = low
        return first

    reads: list[tuple[int, int, int]] = []  # (pc, slot, a definition of the web read)
    next_site = pc = 0
    for number, block in enumerate(accesses):
        here: dict[int, int] = {}  # slot -> mask of the definitions that reach this point
        entering = reaching[number]
        for access in block:
            for slot in bits(access.reads):
                mask = here.get(slot)
                if mask is None:
                    mask = here[slot] = entering & sites_of.get(slot, 0)
                reads.append((pc, slot, joined(mask)))
            for slot in bits(access.writes):
                bit = 1 << next_site
                next_site += 1
                if not access.kills >> slot & 1:
                    bit |= here[slot] if slot in here else entering & sites_of[slot]
                here[slot] = bit
            pc += 1

    values: list[Value] = []
    by_root: dict[int, Value] = {}
    undefined: dict[int, Value] = {}

    def value(site: int, slot: int) -> Value:
        table, key = (by_root, root(site)) if site >= 0 else (undefined, slot)
        found = table.get(key)
        if found is None:
            found = table[key] = Value(len(values), slot)
            values.append(found)
        return found

    defined: dict[tuple[int, int], Value] = {}
    for site, (at, slot) in enumerate(sites):
        owner = value(site, slot)
        owner.definitions.append(at)
        defined[at, slot] = owner
    used: dict[tuple[int, int], Value] = {}
    for at, slot, site in reads:
        owner = value(site, slot)
        owner.uses.append(at)
        used[at, slot] = owner
    owners = [defined[site] for site in sites]
    return Values(slots, accesses, values, defined, used, sites_of, reaching, owners)


def _reaching_definitions(
    graph: FlowGraph, accesses: list[list[SlotAccess]]
) -> tuple[list[tuple[int, int]], dict[int, int], list[int]]:
    """The definitions as (pc, slot), the mask of definitions of each slot, and the mask of those that reach each block."""
    sites: list[tuple[int, int]] = []
    sites_of: dict[int, int] = {}
    spans = []
    pc = 0
    for block in accesses:
        first = len(sites)
        for access in block:
            for slot in bits(access.writes):
                sites_of[slot] = sites_of.get(slot, 0) | 1 << len(sites)
                sites.append((pc, slot))
            pc += 1
        spans.append((first, len(sites)))
    generated, killed = [], []
    for block, (first, _) in zip(accesses, spans, strict=True):
        last: dict[int, int] = {}  # slot -> mask of this block's definitions that reach its end
        gone = 0
        site = first
        for access in block:
            for slot in bits(access.writes):
                if access.kills >> slot & 1:
                    last[slot] = 1 << site
                    gone |= sites_of[slot]
                else:
                    last[slot] = last.get(slot, 0) | 1 << site
                site += 1
        made = 0
        for mask in last.values():
            made |= mask
        generated.append(made)
        killed.append(gone)
    reaching = [0] * len(graph)
    leaving = generated[:]
    changed = True
    while changed:
        changed = False
        for number in graph.order:
            arriving = 0
            for predecessor in graph.predecessors[number]:
                arriving |= leaving[predecessor]
            if arriving != reaching[number]:
                reaching[number] = arriving
                leaving[number] = arriving & ~killed[number] | generated[number]
                changed = True
    return sites, sites_of, reaching
