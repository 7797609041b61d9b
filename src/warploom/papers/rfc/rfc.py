"""A small cache in front of the register file, for the results of active warps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np

from warploom.base.records import Array, Lanes, Record, field_names, i2, i8, u1
from warploom.chip.machines import Machine
from warploom.chip.machines.limits import MAX_WARPS
from warploom.chip.sm import Policies, policy
from warploom.chip.sm.bits import count, has
from warploom.chip.sm.columns import last_at, mask_at
from warploom.chip.sm.context import CodeRow, Context
from warploom.chip.sm.counter import CounterMeaning, counted, counters_of
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.chip.sm.layout import MOST_FLUSHED, Sm
from warploom.chip.sm.services import covers, fill, inlined, result_number, write_back
from warploom.compiler.code.instruction import Code
from warploom.compiler.code.lanes import FULL, LANES, REGISTER_BITS
from warploom.designs.energy import RunFacts, Technology
from warploom.designs.energy.technology import SLICE_BITS, SLICES
from warploom.papers.rfc.cache_hints import Hints, cache_hints
from warploom.papers.rfc.value_usage import value_usage

MOST_ENTRIES = 16
TAG_BITS = 9  # register name (6), valid, dirty, dead
RESULTS, SOURCES = 0, 1
FIFO, LRU = 0, 1
VALID, DIRTY, DEAD, COLD, AWAITED = 1, 2, 4, 8, 16  # awaited: the result of an instruction under way will be written here


class Entries(Record):
    """What each warp's entries hold."""

    register: Annotated[Array[i2], MAX_WARPS, MOST_ENTRIES]
    status: Annotated[Array[u1], MAX_WARPS, MOST_ENTRIES]
    stamp: Annotated[Array[i8], MAX_WARPS, MOST_ENTRIES]  # when it was filled, or used
    lanes: Annotated[Array[Lanes], MAX_WARPS, MOST_ENTRIES]
    ready: Annotated[Array[i8], MAX_WARPS, MOST_ENTRIES]  # when a source operand arrives from the main file
    clock: i8


class Counts(Record):
    """What is counted."""

    hits: i8 = counted("accesses", "Operands that were found in the register file cache.")
    lookups: i8 = counted("instructions", "Instructions that looked at the cache's tags.")
    results: i8 = counted("registers", "Results that went to the cache.")
    fills: i8 = counted("registers", "Operands that were put into the cache when they were read.")
    writebacks: i8 = counted("registers", "Registers that were written from the cache to the main file.")
    writebacks_elided: i8 = counted(
        "registers", "Registers that left the cache without being written to the main file, for they are dead or not changed."
    )
    flushes: i8 = counted("warps", "Times that a warp's entries were emptied because it waits for the result of a slow load.")
    flush_writebacks: i8 = counted("registers", "Registers that these flushes wrote to the main file.")
    displaced_flushes: i8 = counted(
        "warps", "Times that a warp's entries were emptied because it gave way to others at a barrier."
    )
    displaced_writebacks: i8 = counted("registers", "Registers that these flushes wrote to the main file.")
    slow_bypasses: i8 = counted("registers", "Results of slow loads, which go around the cache.")
    unread_bypasses: i8 = counted("registers", "Results that went around the cache, for nobody reads them in time.")
    late_results: i8 = counted("registers", "Results whose entry was taken before they came, and that went to the main file.")
    partial_results: i8 = counted("registers", "Results of which some lanes only were written.")
    incomplete: i8 = counted("accesses", "Operands of which the cache did not have all lanes.")
    last_reads: i8 = counted("accesses", "Last reads of values in the cache, as the trace has them.")
    last_reads_unmarked: i8 = counted("accesses", "Last reads that the compiler has not marked.")
    last_reads_wrong: i8 = counted("accesses", "Reads that the compiler has marked as last ones and that are not.")


PREFIXED = ("hits", "results", "fills", "lookups", "incomplete")  # counters whose names alone would not say whose they are


class State(Entries, Counts):
    """What the policy keeps in every SM."""


@inlined
def _find(policy: Rfc, sm: Sm, warp: int, register: int) -> int:
    """The way of a warp's entries that holds a register; -1: none."""
    state: State = sm.hierarchy
    found = -1
    for way in range(policy.entries):
        if state.status[warp, way] & VALID != 0 and state.register[warp, way] == register:
            found = way
    return found


@inlined
def _write_down(ctx: Context, sm: Sm, cycle: int, warp: int, way: int) -> bool:
    """Empty an entry; True if its value had to be written to the main register file. A result that is awaited will go there."""
    state: State = sm.hierarchy
    status, register = state.status[warp, way], int(state.register[warp, way])
    state.status[warp, way] = 0
    written = status & DIRTY != 0 and status & DEAD == 0 and sm.map[warp, register] >= 0
    if written:
        write_back(ctx, sm, cycle, warp, register, warp * MOST_ENTRIES + way, state.lanes[warp, way])
        state.writebacks += 1
    elif status & DIRTY != 0:
        state.writebacks_elided += 1
    return written


@inlined
def _take(policy: Rfc, ctx: Context, sm: Sm, cycle: int, warp: int, register: int) -> int:
    """A way for a register that has none: an empty one, else one that is emptied for it."""
    state: State = sm.hierarchy
    chosen = -1
    first = False
    for way in range(policy.entries):
        status = state.status[warp, way]
        if status & VALID == 0:
            if chosen < 0 or state.status[warp, chosen] & VALID != 0:
                chosen = way
        elif chosen < 0:
            chosen = way
            first = policy.evict_first and status & (COLD | DEAD) != 0
        elif state.status[warp, chosen] & VALID != 0:
            wanted = policy.evict_first and status & (COLD | DEAD) != 0
            if (wanted and not first) or (wanted == first and state.stamp[warp, way] < state.stamp[warp, chosen]):
                chosen = way
                first = wanted
    if state.status[warp, chosen] & VALID != 0:
        _write_down(ctx, sm, cycle, warp, chosen)
    state.clock += 1
    state.stamp[warp, chosen] = state.clock
    state.register[warp, chosen] = register
    return chosen


@inlined
def _goes_around(policy: Rfc, row: CodeRow, number: int) -> bool:
    """Whether a result of an instruction is meant for the main file."""
    hints: Hints = row.hierarchy
    return (policy.bypass_slow and row.slow) or (policy.bypass_unread and hints.unread >> number & 1 != 0)


@inlined
def _brought(row: CodeRow, number: int, mask: Lanes) -> Lanes:
    """The lanes of its register that a result brings: all of them where nobody needs the rest."""
    hints: Hints = row.hierarchy
    return mask if hints.rest_needed >> number & 1 != 0 else FULL


@inlined
def _await(policy: Rfc, ctx: Context, sm: Sm, cycle: int, warp: int, row: CodeRow, number: int, mask: Lanes) -> None:
    """Find room for a result of the instruction that is being issued.

    Tags are looked up right after issue and an operand that hits is read three cycles later: an entry must not be taken by an
    older instruction's result in between. So tags change in program order, at issue, and what is in the cache does not depend on
    when results arrive.
    """
    state: State = sm.hierarchy
    hints: Hints = row.hierarchy
    register = int(row.writes[number])
    whole = covers(sm, warp, _brought(row, number, mask))
    way = _find(policy, sm, warp, register)
    if _goes_around(policy, row, number) and (way < 0 or whole):
        if way >= 0:
            state.status[warp, way] = 0  # the main file gets the register's next value
        return
    if way < 0:
        way = _take(policy, ctx, sm, cycle, warp, register)
        state.status[warp, way] = 0
        state.lanes[warp, way] = np.uint32(0)
    else:  # a new value, the youngest, wherever the old one was
        state.clock += 1
        state.stamp[warp, way] = state.clock
    kept = 0 if whole else state.status[warp, way] & DIRTY  # what the new value does not replace
    unread = hints.unread >> number & 1 != 0
    state.status[warp, way] = VALID | AWAITED | kept | (COLD if unread else 0)
    state.ready[warp, way] = 0


@inlined
def _drop(policy: Rfc, sm: Sm, warp: int) -> None:
    """Empty all entries of a warp whose values nobody needs."""
    state: State = sm.hierarchy
    for way in range(policy.entries):
        if state.status[warp, way] & DIRTY != 0:
            state.writebacks_elided += 1
        state.status[warp, way] = 0


def _owners(design: Policies, machine: Machine) -> int:
    """How many warps of an SM own entries at once."""
    active = getattr(design.scheduler, "active", machine.sm.warps_per_sm)
    return min(active * _caches(design, machine), machine.sm.warps_per_sm)


def _caches(design: Policies, machine: Machine) -> int:
    """How many caches an SM has: one, or one beside each scheduler where each has active warps of its own."""
    return machine.sm.schedulers if getattr(design.scheduler, "each", "sm") == "scheduler" else 1


@policy
class Rfc(NamedTuple):
    """Results of active warps stay in a few entries per thread; what falls out is written to the main file unless it is dead.

    A tag names an architected register, so the cache does not care where, or whether, the main file has room for it. An entry
    knows which lanes it holds: a result under a partial mask brings only its own, unless the compiler knows that no other lane
    needs the old value; an instruction that reads lanes which are not there has the entry written down and reads below.
    """

    CHOICE = "hierarchy"
    NAME = "rfc"
    SOURCE = "Gebhart et al., ISCA 2011, sections 3.1 and 3.3"
    MEANING = {
        "entries": "per thread",
        "allocate": "what enters: results of instructions, or also source operands that were not there",
        "replacement": "which entry makes room: the one filled first, or used least recently",
        "last_use": "the compiler marks last reads, and values read for the last time are not written back",
        "bypass_slow": "results of slow loads (global, local and texture memory) go straight to the main file",
        "bypass_unread": "results that are not read before the next suspension do so too",
        "evict_first": "values that are not read before the next suspension make room first",
        "distance": "millimetres of wire from the cache to the execution units",
        "characterise": "also count how often and how soon the program's values are read, cache or not",
    }
    GIVEN = ("distance", "characterise")
    LIMITS = {
        "entries": (1, MOST_ENTRIES),
        "allocate": ("results", "sources"),
        "replacement": ("fifo", "lru"),
        "distance": (0.0, 10.0),
    }
    NOTES = Hints
    STATE = State

    entries: int = 6
    allocate: str = "results"
    replacement: str = "fifo"
    last_use: bool = True
    bypass_slow: bool = True
    bypass_unread: bool = False
    evict_first: bool = False
    distance: float = 0.2
    characterise: bool = False

    COUNTERS = {
        **{name if name not in PREFIXED else f"rfc_{name}": meaning for name, meaning in counters_of(Counts).items()},
        "value_reads": CounterMeaning("values", "Values by how often they are read, with the parameter `characterise`."),
        "value_lifetimes": CounterMeaning(
            "values", "Values that are read once by the instructions until then, with the parameter `characterise`."
        ),
        "rfc_reads": CounterMeaning("accesses", "Reads of the cache, by operands and by what is written back."),
        "rfc_writes": CounterMeaning("accesses", "Writes of the cache, by results and by operands that were put into it."),
        "mrf_reads_without_cache": CounterMeaning("accesses", "Reads of the main file if there were no cache."),
        "mrf_writes_without_cache": CounterMeaning("accesses", "Writes of the main file if there were no cache."),
        "mrf_read_reduction": CounterMeaning("ratio", "Share of the main file's reads that the cache saves."),
        "mrf_write_reduction": CounterMeaning("ratio", "Share of the main file's writes that the cache saves."),
        "bypasses": CounterMeaning("registers", "Results that went around the cache, by choice."),
    }

    def annotate(policy, code: Code, table: np.ndarray, machine: Machine) -> np.ndarray:
        return cache_hints(code, table)

    def lookup(policy, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, pc: int, operand: int) -> int:
        state: State = sm.hierarchy
        way = _find(policy, sm, warp, register)
        if way < 0 or state.ready[warp, way] > cycle:
            return -1
        hints: Hints = ctx.code[pc].hierarchy
        if mask_at(ctx, sm.warp[warp].next) & ~state.lanes[warp, way] != 0:
            state.incomplete += 1
            _write_down(ctx, sm, cycle, warp, way)
            return -1
        state.hits += 1
        if policy.last_use and hints.last_use >> operand & 1 != 0:
            state.status[warp, way] |= DEAD
        if hints.cold >> operand & 1 != 0:
            state.status[warp, way] |= COLD
        if policy.replacement == LRU:
            state.clock += 1
            state.stamp[warp, way] = state.clock
        return warp * MOST_ENTRIES + way

    def on_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> None:
        row = ctx.code[pc]
        hints: Hints = row.hierarchy
        state: State = sm.hierarchy
        marked = np.uint64(hints.last_use)
        last = np.uint64(last_at(ctx, index) & 0xFF)
        state.last_reads += count(last)
        state.last_reads_unmarked += count(last & ~marked)
        state.last_reads_wrong += count(marked & ~last)
        if row.n_reads > 0:
            state.lookups += 1
        if policy.allocate == SOURCES and has(sm.active, warp):
            for operand in range(row.n_reads):
                register = int(row.reads[operand])
                dead = policy.last_use and hints.last_use >> operand & 1 != 0
                if dead or sm.map[warp, register] < 0 or _find(policy, sm, warp, register) >= 0:
                    continue
                way = _take(policy, ctx, sm, cycle, warp, register)
                state.status[warp, way] = VALID
                state.lanes[warp, way] = FULL
                state.ready[warp, way] = cycle + 1 + ctx.machine.register_file.operand_fetch_cycles
                state.fills += 1
                fill(ctx, sm, cycle, warp, register, warp * MOST_ENTRIES + way)
        if index + 1 >= sm.warp[warp].end:
            _drop(policy, sm, warp)
        elif has(sm.active, warp):
            for number in range(row.n_writes):
                _await(policy, ctx, sm, cycle, warp, row, number, mask_at(ctx, index))

    def on_result(policy, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, pc: int, index: int, mask: Lanes) -> int:
        row = ctx.code[pc]
        state: State = sm.hierarchy
        number = result_number(row, register)
        way = _find(policy, sm, warp, register)
        if way < 0 or state.status[warp, way] & AWAITED == 0:
            if policy.bypass_slow and row.slow:
                state.slow_bypasses += 1
            elif _goes_around(policy, row, number):
                state.unread_bypasses += 1
            else:
                state.late_results += 1
            return -1
        lanes = _brought(row, number, mask)
        if state.status[warp, way] & DIRTY == 0:
            state.lanes[warp, way] = np.uint32(0)
        state.status[warp, way] = state.status[warp, way] ^ AWAITED | DIRTY
        state.lanes[warp, way] |= lanes
        state.results += 1
        if not covers(sm, warp, lanes):
            state.partial_results += 1
        return warp * MOST_ENTRIES + way

    def on_suspend(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        state: State = sm.hierarchy
        owned = False
        written = 0
        for way in range(policy.entries):
            if state.status[warp, way] & VALID != 0:
                owned = True
                written += _write_down(ctx, sm, cycle, warp, way)
        if owned and not has(sm.blocked, warp):  # it waits for no result
            state.displaced_flushes += 1
            state.displaced_writebacks += written
        elif owned:
            state.flushes += 1
            state.flush_writebacks += written

    flush = on_suspend

    def on_release(policy, ctx: Context, sm: Sm, cycle: int, warp: int, register: int) -> None:
        state: State = sm.hierarchy
        way = _find(policy, sm, warp, register)
        if way >= 0:
            if state.status[warp, way] & DIRTY != 0:
                state.writebacks_elided += 1
            state.status[warp, way] = 0

    def on_warp_exit(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        _drop(policy, sm, warp)

    def holds(policy, ctx: Context, sm: Sm, warp: int, register: int) -> bool:
        return _find(policy, sm, warp, register) >= 0

    def fetch_cycles(policy, ctx: Context, sm: Sm) -> int:
        # Read in the last of the cycles that the main file takes: the pipeline is not shortened.
        return 1 + ctx.machine.register_file.operand_fetch_cycles

    def branch_delay(policy, ctx: Context, sm: Sm) -> int:
        return 1  # the stage that checks the tags

    def counters(policy, states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
        total: dict[str, Any] = {name: int(states[name].sum()) for name in field_names(Counts)}
        if policy.characterise:
            usage = value_usage(run.code, run.trace)
            total |= {"value_reads": list(usage.reads), "value_lifetimes": list(usage.lifetimes)}
        return {f"rfc_{name}": total.pop(name) for name in PREFIXED} | total

    def summary(policy, counters: dict[str, Any]) -> dict[str, Any]:
        reads, writes = counters["rf_reads"], counters["rf_writes"]
        below = counters["mrf_reads"] + counters["forwarded_reads"]
        return {
            "rfc_reads": counters["rfc_hits"] + counters["writebacks"],
            "rfc_writes": counters["rfc_results"] + counters["rfc_fills"],
            "mrf_reads_without_cache": reads,
            "mrf_writes_without_cache": writes,
            "mrf_read_reduction": 1 - below / reads if reads else 0.0,
            "mrf_write_reduction": 1 - counters["mrf_writes"] / writes if writes else 0.0,
            "bypasses": counters["slow_bypasses"] + counters["unread_bypasses"],
        }

    def energy(policy, counters: dict[str, Any], technology: Technology, run: RunFacts) -> Iterator[tuple[str, str, float]]:
        warps = -(-_owners(run.design, run.machine) // _caches(run.design, run.machine))  # of one cache
        read, write = technology.register_cache_energy(warps, policy.entries)
        yield "register cache reads", "dynamic", counters["rfc_reads"] * SLICES * read
        yield "register cache writes", "dynamic", counters["rfc_writes"] * SLICES * write
        moved = counters["rfc_hits"] + counters["rfc_results"]
        wire = policy.distance * 1e-3 * technology.wire_energy
        yield "register cache wires", "dynamic", moved * REGISTER_BITS * wire
        # A read that meets its value on the way down is charged like one of the main file: it may have to merge lanes.
        below = (
            technology.access("read", run.cycle_time) + REGISTER_BITS * technology.register_file.distance * technology.wire_energy
        )
        yield "reads of values on their way down", "dynamic", counters["forwarded_reads"] * below
        # One look at a warp's tags costs what that many bits of an entry cost.
        tags = policy.entries * TAG_BITS / SLICE_BITS
        yield "register cache tags", "overhead", counters["rfc_lookups"] * tags * read

    def storage_bits(policy, machine: Machine, design: Policies) -> int:
        return _owners(design, machine) * policy.entries * (REGISTER_BITS + LANES + TAG_BITS)

    def versus(policy, result: Any, reference: Any) -> dict[str, Any]:
        """Accesses of the main file avoided, and energy without leakage, which the paper leaves out."""
        spent = result.energy_pj["dynamic"] + result.energy_pj["overhead"]
        return {
            "mrf_read_reduction": result.counters["mrf_read_reduction"],
            "mrf_write_reduction": result.counters["mrf_write_reduction"],
            "access_energy_vs_baseline": spent / reference.energy_pj["dynamic"],
        }

    def conflict(policy, design: Policies) -> str | None:
        active = getattr(design.scheduler, "active", None)
        if active is not None and active * policy.entries > MOST_FLUSHED:
            return (
                f"{active} active warps with {policy.entries} entries could flush {active * policy.entries} values at once, "
                f"and the buffer in front of the banks holds {MOST_FLUSHED}; take fewer"
            )
        return None
