"""A register cache that is filled before it is needed, where the compiler says: a large slow main file is no hindrance then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np

from warploom.base.errors import WarploomError
from warploom.base.records import Array, Lanes, Mask, Record, dtype_of, field_names, flag, u1, u8
from warploom.chip.machines import Machine
from warploom.chip.sm import Policies, policy
from warploom.chip.sm.bits import NOTHING, bit, has
from warploom.chip.sm.columns import pc_at
from warploom.chip.sm.context import Context
from warploom.chip.sm.counter import CounterMeaning, counters_of
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.chip.sm.layout import MOST_FLUSHED, REGISTER_WORDS, Sm
from warploom.chip.sm.services import covers, result_number, wake
from warploom.compiler.code.instruction import Code
from warploom.compiler.code.lanes import REGISTER_BITS
from warploom.compiler.code.slots import REGISTER_MASK
from warploom.compiler.code.warp import warp_liveness
from warploom.designs.energy import RunFacts, Technology
from warploom.designs.energy.technology import SLICES
from warploom.papers.ltrf.intervals import with_intervals, working_sets
from warploom.papers.ltrf.partition import (
    COMING,
    DIRTY,
    MOST_ENTRIES,
    VALID,
    Counts,
    State,
    can_fetch,
    empty,
    fetch,
    fetch_missing,
    find,
    is_in,
    place_of,
    take,
    wants,
)

TAG_BITS = 10  # register name (8), valid, dirty


class Notes(Record):
    """What the hardware knows of each instruction."""

    starts: flag  # an interval
    wanted: Annotated[Array[Mask], REGISTER_WORDS]  # its working set
    live: Annotated[Array[Mask], REGISTER_WORDS]  # registers that are read later on, or by lanes that wait
    rest_needed: u1  # a bit for each result: other lanes need the register's old value


@policy
class Ltrf(NamedTuple):
    """Active warps own parts of a register cache; an instruction at the start of each interval of the code fills one.

    A warp waits until the registers of its interval have come up, while others execute; inside the interval it reads and
    writes the cache alone. Values that the next interval does not name, and all of a warp that is suspended, are written
    down; with ``liveness`` only those that somebody will read, and dead registers are not brought up either (LTRF+).
    """

    CHOICE = "hierarchy"
    NAME = "ltrf"
    SOURCE = "Sadrosadati et al., LTRF, ASPLOS 2018 (from its abstract and from memory)"
    MEANING = {
        "entries": "registers of an active warp in the cache, and the most that an interval may name",
        "liveness": "dead registers are neither brought up nor written down (LTRF+)",
    }
    LIMITS = {"entries": (8, MOST_ENTRIES)}
    COMPILED_BY = ("entries",)
    NOTES = Notes
    STATE = State

    entries: int = 16
    liveness: bool = True

    COUNTERS = {
        **counters_of(Counts, "ltrf_"),
        "ltrf_hit_rate": CounterMeaning("ratio", "Share of the operands that were found in the register cache."),
    }

    # The compile-time half.

    def compile(policy, code: Code, machine: Machine) -> Code:
        if code.literal:
            raise WarploomError(f"kernel {code.name}: hierarchy=ltrf needs allocated registers, which literal code has not")
        return with_intervals(code, policy.entries)

    def annotate(policy, code: Code, table: np.ndarray, machine: Machine) -> np.ndarray:
        notes = np.zeros(len(table), dtype_of(Notes))
        live = warp_liveness(code)
        pc = 0
        for accesses, held in zip(live.accesses, live.held, strict=True):
            for access in accesses:
                notes[pc]["live"] = _words(live.before[pc])
                kept = held | (live.before[pc] if access.kills != access.writes else 0)
                for write, register in enumerate(table[pc]["writes"][: table[pc]["n_writes"]]):
                    notes[pc]["rest_needed"] |= (kept >> int(register) & 1) << write
                pc += 1
        for start, registers in working_sets(code).items():
            notes[start]["starts"] = True
            notes[start]["wanted"] = _words(registers)
        return notes

    def describe(policy, code: Code) -> dict[int, str]:
        return {pc: f"{registers.bit_count()} registers" for pc, registers in working_sets(code).items()}

    # Intervals.

    def on_metadata(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, payload: u8) -> None:
        notes: Notes = ctx.code[pc].hierarchy
        state: State = sm.hierarchy
        if not notes.starts:
            return
        state.intervals += 1
        for way in range(policy.entries):
            if state.status[warp, way] & VALID != 0 and not is_in(notes.wanted, int(state.register[warp, way])):
                empty(policy, ctx, sm, cycle, warp, way, notes.live)
        for word in range(REGISTER_WORDS):
            state.wanted[warp, word] = notes.wanted[word]
        fetch_missing(policy, ctx, sm, cycle, warp, notes.live)

    def on_suspend(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        state: State = sm.hierarchy
        if sm.warp[warp].next >= sm.warp[warp].end:
            return  # all of its values are dead, and gone
        notes: Notes = ctx.code[pc_at(ctx, sm.warp[warp].next)].hierarchy
        for way in range(policy.entries):
            if state.status[warp, way] & VALID != 0:
                empty(policy, ctx, sm, cycle, warp, way, notes.live)

    def on_activate(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        if sm.warp[warp].next < sm.warp[warp].end:
            notes: Notes = ctx.code[pc_at(ctx, sm.warp[warp].next)].hierarchy
            fetch_missing(policy, ctx, sm, cycle, warp, notes.live)

    def on_filled(policy, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, place: int) -> None:
        state: State = sm.hierarchy
        way = place - place_of(warp, 0)
        if state.status[warp, way] == COMING:
            state.status[warp, way] = VALID if has(sm.active, warp) else 0
        state.missing[warp] -= 1
        if state.missing[warp] == 0:
            if state.waiting_since[warp] > 0:
                state.waited += cycle - state.waiting_since[warp]
                state.waiting_since[warp] = 0
            wake(sm, bit(warp))

    def may_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> bool:
        state: State = sm.hierarchy
        if state.missing[warp] == 0:
            return True
        if state.waiting_since[warp] == 0:
            state.waiting_since[warp] = cycle
            state.waits += 1
        return False

    # Reads and writes.

    def lookup(policy, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, pc: int, operand: int) -> int:
        state: State = sm.hierarchy
        way = find(policy, sm, warp, register)
        if way < 0 or state.status[warp, way] & VALID == 0:
            state.misses += 1
            return -1
        state.hits += 1
        return place_of(warp, way)

    def on_result(policy, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, pc: int, index: int, mask: Lanes) -> int:
        row = ctx.code[pc]
        notes: Notes = row.hierarchy
        state: State = sm.hierarchy
        way = find(policy, sm, warp, register)
        if way < 0 and has(sm.active, warp) and wants(sm, warp, register):
            number = result_number(row, register)
            if covers(sm, warp, mask) or notes.rest_needed >> number & 1 == 0:
                way = take(policy, sm, warp, register)
        if way < 0:
            state.below += 1
            return -1
        state.status[warp, way] = VALID | DIRTY
        state.results += 1
        return place_of(warp, way)

    def on_complete(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, issued_at: int) -> None:
        """A result that went to the main file although the interval wants its register is brought up."""
        row = ctx.code[pc]
        if not has(sm.active, warp) or sm.warp[warp].next >= sm.warp[warp].end:
            return
        for number in range(row.n_writes):
            register = int(row.writes[number])
            notes: Notes = ctx.code[pc_at(ctx, sm.warp[warp].next)].hierarchy
            if wants(sm, warp, register) and can_fetch(policy, sm, warp, register, notes.live):
                fetch(policy, ctx, sm, cycle, warp, register)

    def on_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> None:
        state: State = sm.hierarchy
        if index + 1 >= sm.warp[warp].end:
            for way in range(policy.entries):
                state.status[warp, way] = 0

    def flush(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        state: State = sm.hierarchy
        for way in range(policy.entries):
            if state.status[warp, way] & VALID != 0:
                empty(policy, ctx, sm, cycle, warp, way, state.everything)

    def on_release(policy, ctx: Context, sm: Sm, cycle: int, warp: int, register: int) -> None:
        state: State = sm.hierarchy
        way = find(policy, sm, warp, register)
        if way >= 0:
            state.status[warp, way] = 0

    def reset(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        state: State = sm.hierarchy
        for word in range(REGISTER_WORDS):
            state.everything[word] = ~np.uint64(0)

    def on_warp_launch(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        state: State = sm.hierarchy
        for way in range(policy.entries):
            state.status[warp, way] = 0
        for word in range(REGISTER_WORDS):
            state.wanted[warp, word] = NOTHING

    def holds(policy, ctx: Context, sm: Sm, warp: int, register: int) -> bool:
        state: State = sm.hierarchy
        way = find(policy, sm, warp, register)
        return way >= 0 and state.status[warp, way] & DIRTY != 0

    def fetch_cycles(policy, ctx: Context, sm: Sm) -> int:
        return 2  # a small fast file: read in one cycle, there in the next

    # What is reported.

    def counters(policy, states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
        return {f"ltrf_{name}": int(states[name].sum()) for name in field_names(Counts)}

    def summary(policy, counters: dict[str, Any]) -> dict[str, Any]:
        return {"ltrf_hit_rate": counters["ltrf_hits"] / max(1, counters["ltrf_hits"] + counters["ltrf_misses"])}

    def energy(policy, counters: dict[str, Any], technology: Technology, run: RunFacts) -> Iterator[tuple[str, str, float]]:
        warps = run.design.scheduler.active
        read, write = technology.register_cache_energy(warps, policy.entries)
        yield "register cache reads", "dynamic", (counters["ltrf_hits"] + counters["ltrf_written_down"]) * SLICES * read
        yield "register cache writes", "dynamic", (counters["ltrf_results"] + counters["ltrf_fetched"]) * SLICES * write
        below = technology.access("read", run.cycle_time)
        yield "reads of values on their way down", "dynamic", counters["forwarded_reads"] * below
        _, leakage = technology.small_array(warps * policy.entries * REGISTER_BITS, REGISTER_BITS, run.cycle_time)
        yield "register cache", "leakage", leakage * run.sms * run.cycles * run.cycle_time

    def storage_bits(policy, machine: Machine, design: Policies) -> int:
        working_sets = machine.sm.warps_per_sm * machine.sm.max_registers_per_thread
        return design.scheduler.active * policy.entries * (REGISTER_BITS + TAG_BITS) + working_sets

    def conflict(policy, design: Policies) -> str | None:
        active = getattr(design.scheduler, "active", None)
        if active is None or type(design.scheduler).NAME != "two-level":
            return "its cache belongs to active warps; take scheduler=two-level"
        if active * policy.entries > MOST_FLUSHED:
            return (
                f"{active} active warps with {policy.entries} entries could flush {active * policy.entries} values at once, "
                f"and the buffer in front of the banks holds {MOST_FLUSHED}; take fewer"
            )
        if hasattr(design.allocation, "compile"):
            return f"allocation={type(design.allocation).NAME} counts instructions that the intervals' would come between"
        return None


def _words(mask: int) -> list[int]:
    """A mask of registers as words of 64 bits."""
    return [(mask & REGISTER_MASK) >> 64 * word & 0xFFFF_FFFF_FFFF_FFFF for word in range(REGISTER_WORDS)]
