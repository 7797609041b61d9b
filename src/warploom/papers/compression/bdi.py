"""Registers as a base and deltas to it, in as few banks as the values of a warp allow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np

from warploom.base.records import Array, Lanes, Record, i4, i8
from warploom.chip.machines import Machine
from warploom.chip.machines.limits import MAX_WARPS
from warploom.chip.sm import Policies, policy
from warploom.chip.sm.bits import lowest
from warploom.chip.sm.columns import mask_at
from warploom.chip.sm.context import Context
from warploom.chip.sm.counter import CounterMeaning
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import UNKNOWN, covers, inlined
from warploom.compiler.code.lanes import FULL
from warploom.designs.energy import RunFacts, Technology
from warploom.emulator.trace.encoding import REGISTER_BYTES, SLICE_BYTES, image_bytes, image_slices
from warploom.emulator.trace.format import ACTIVE_HALF_SHIFT, BASE4_SHIFT, BASE8_SHIFT, BIN_SHIFT, ONE_ZERO_SHIFT, TWO_ONE_SHIFT

PAIRS = ((1, 0), (4, 0), (8, 0), (8, 1), (4, 1), (8, 2), (2, 1), (4, 2), (8, 4))
"""The <base,delta> pairs in bytes, smallest image first; form n is pair n - 1, form 0 the register as it is."""
NAMES = tuple(f"<{base},{delta}>" for base, delta in PAIRS)
FORMS = 1 + len(PAIRS)
SLICES = REGISTER_BYTES // SLICE_BYTES
FORM_BYTES = (REGISTER_BYTES, *(image_bytes(*pair) for pair in PAIRS))
FORM_SLICES = (SLICES, *(image_slices(*pair) for pair in PAIRS))
LANES_PER_SLICE = SLICE_BYTES // 4
SEVEN = sum(1 << index for index, (base, _) in enumerate(PAIRS) if base >= 4)  # those of the paper's figure 5
NINE = (1 << len(PAIRS)) - 1
BINS = ("zero", "128", "32K", "random")
PHASES = ("non_divergent", "divergent")
MAX_DECODERS = 16
MOV, MERGE = 0, 1


class Coders(Record):
    """The compressors of an SM, or its decompressors."""

    free_at: Annotated[Array[i8], MAX_DECODERS]  # when each can take the next value
    empty_at: Annotated[Array[i8], MAX_DECODERS]  # when the last value has left it
    busy: i8
    waits: i8
    activations: i8


class State(Record):
    """The units, and what is counted."""

    compressor: Coders
    decompressor: Coders
    stored: Annotated[Array[i8], 2, FORMS]  # writes by divergence and form
    unclassified: i8  # writes without a value in the trace: MOVs and refills
    bins: Annotated[Array[i8], 2, 4]
    bins_of_active: Annotated[Array[i8], 2, 4]
    best_of_seven: Annotated[Array[i8], FORMS]
    best_of_nine: Annotated[Array[i8], FORMS]
    ideal_slices: Annotated[Array[i8], 2]  # if every write were compressed, partial ones after a merge
    ideal_bytes: Annotated[Array[i8], 2]
    compressed: Annotated[Array[i4], MAX_WARPS]  # registers of a warp that are compressed
    compressed_now: i8
    compressed_since: i8
    compressed_cycles: i8
    seen: Annotated[Array[i8], 2]  # compressed registers of the warp at each of its instructions
    instructions: Annotated[Array[i8], 2]


@inlined
def _allowed(policy: Bdi) -> int:
    """The pairs that the hardware knows, a bit each."""
    return (
        policy.b1d0
        | policy.b4d0 << 1
        | policy.b8d0 << 2
        | policy.b8d1 << 3
        | policy.b4d1 << 4
        | policy.b8d2 << 5
        | policy.b2d1 << 6
        | policy.b4d2 << 7
        | policy.b8d4 << 8
    )


@inlined
def _fitting(value: np.uint32) -> int:
    """The pairs that a whole register fits, a bit each."""
    known = int(value)
    four = known >> BASE4_SHIFT & 3
    eight = known >> BASE8_SHIFT & 7
    return (
        (known >> ONE_ZERO_SHIFT & 1)
        | (four == 0) << 1
        | (eight == 0) << 2
        | (eight <= 1) << 3
        | (four <= 1) << 4
        | (eight <= 2) << 5
        | (known >> TWO_ONE_SHIFT & 1) << 6
        | (four <= 2) << 7
        | (eight <= 3) << 8
    )


@inlined
def _smallest(pairs: int) -> int:
    """The form of the smallest image among some pairs."""
    return 0 if pairs == 0 else 1 + lowest(np.uint64(pairs))


@inlined
def _pass_through(policy: Bdi, unit: Coders, units: int, latency: int, cycle: int) -> int:
    """Send a value through the first unit that can take it; the cycle at which it comes out."""
    chosen = 0
    for number in range(1, units):
        if unit.free_at[number] < unit.free_at[chosen]:
            chosen = number
    start = max(cycle, unit.free_at[chosen])
    end = start + latency
    unit.free_at[chosen] = start + (1 if policy.pipelined else max(1, latency))
    unit.busy += max(0, end - max(start, unit.empty_at[chosen]))
    unit.empty_at[chosen] = max(unit.empty_at[chosen], end)
    unit.waits += start - cycle
    unit.activations += 1
    return end


@inlined
def _characterise(policy: Bdi, state: State, value: np.uint32, divergent: int) -> None:
    """Note what a written register is like, however it is stored."""
    fitting = _fitting(value)
    best = _smallest(fitting & _allowed(policy))
    state.bins[divergent, int(value) >> BIN_SHIFT & 3] += 1
    state.bins_of_active[divergent, int(value) >> (ACTIVE_HALF_SHIFT + BIN_SHIFT) & 3] += 1
    state.best_of_seven[_smallest(fitting & SEVEN)] += 1
    state.best_of_nine[_smallest(fitting & NINE)] += 1
    state.ideal_slices[divergent] += FORM_SLICES[best]
    state.ideal_bytes[divergent] += FORM_BYTES[best]


@policy
class Bdi(NamedTuple):
    """A result is stored as its first chunk and the others' differences to it, in the smallest image that it fits.

    Values pass a compressor on their way to the banks and a decompressor between collector and execution unit, unless they are
    stored as they are. A result for some lanes only is stored as it is. Where it finds its register compressed, either a MOV of
    the register onto itself goes ahead of it ("mov"), or the instruction reads its destination and the merged register is
    compressed again ("merge").
    """

    CHOICE = "encoding"
    NAME = "bdi"
    SOURCE = "Lee et al., Warped-Compression, ISCA 2015, sections 4 and 5"
    MEANING = {
        "b1d0": "allow a base of 1 byte without deltas; the other pairs likewise",
        "compressors": "per SM",
        "compression": "cycles in a compressor",
        "decompressors": "per SM",
        "decompression": "cycles in a decompressor",
        "pipelined": "a unit takes a value every cycle, else only when the last one has left it",
        "divergence": "what happens to a compressed register of which some lanes are written",
    }
    GIVEN = ("compression", "decompression")
    LIMITS = {
        "compressors": (1, MAX_DECODERS),
        "compression": (0, 100),
        "decompressors": (1, MAX_DECODERS),
        "decompression": (0, 100),
        "divergence": ("mov", "merge"),
    }
    STATE = State

    b1d0: bool = False
    b2d1: bool = False
    b4d0: bool = True
    b4d1: bool = True
    b4d2: bool = True
    b8d0: bool = False
    b8d1: bool = False
    b8d2: bool = False
    b8d4: bool = False
    compressors: int = 2
    compression: int = 2
    decompressors: int = 4
    decompression: int = 1
    pipelined: bool = True
    divergence: str = "mov"

    COUNTERS = {
        "compressed_writes": CounterMeaning(
            "registers", "Writes of registers that were compressed, by the pair of base and delta."
        ),
        "uncompressed_writes": CounterMeaning("registers", "Writes of registers that were not compressed."),
        "uncompressed_writes_divergent": CounterMeaning(
            "registers", "Those of them in instructions that not all lanes executed."
        ),
        "unclassified_writes": CounterMeaning("registers", "Writes of values that the trace does not have."),
        "writes": CounterMeaning("registers", "Writes of registers by instructions that all lanes executed, and by others."),
        "distance_bins": CounterMeaning(
            "registers", "Writes by the largest distance between neighbouring lanes, without and with divergence."
        ),
        "distance_bins_of_active_lanes": CounterMeaning("registers", "The same over the lanes that executed the instruction."),
        "best_of_seven": CounterMeaning("registers", "Writes by the best of seven pairs of base and delta."),
        "best_of_nine": CounterMeaning("registers", "Writes by the best of nine pairs of base and delta."),
        "ideal_slices": CounterMeaning("slices", "Slices of 16 bytes that the best pairs need, without and with divergence."),
        "ideal_bytes": CounterMeaning("bytes", "Bytes that the best pairs need, without and with divergence."),
        "compressed_registers_seen": CounterMeaning(
            "registers", "Compressed registers of the warp, added up over its instructions."
        ),
        "registers_seen": CounterMeaning("registers", "Registers of the warp, added up over its instructions."),
        "instructions": CounterMeaning("instructions", "Instructions that all lanes executed, and others."),
        "compressed_cycles": CounterMeaning(
            "entry cycles", "Cycles that registers were compressed, added up over the registers."
        ),
        **{
            f"{unit}_{what}": CounterMeaning(of, sentence.format(f"the {unit}s"))
            for unit in ("compressor", "decompressor")
            for what, of, sentence in (
                ("busy", "cycles", "Cycles in which one of {} had work, added up over them."),
                ("waits", "cycles", "Cycles that registers waited for one of {}."),
                ("activations", "registers", "Registers that went through {}."),
            )
        },
        "dummy_movs": CounterMeaning("instructions", "`moves` under the paper's name."),
        "dummy_mov_share": CounterMeaning("ratio", "Moves over the instructions of the program."),
        "compression_ratio": CounterMeaning(
            "ratio", "Slices of a register over those that the best pairs need, without and with divergence."
        ),
        "compression_ratio_in_bytes": CounterMeaning("ratio", "The same in bytes."),
        "divergent_share": CounterMeaning("ratio", "Share of the instructions that not all lanes executed."),
        "compressed_share": CounterMeaning(
            "ratio", "Share of the warp's registers that were compressed, without and with divergence."
        ),
        "compressed_share_over_time": CounterMeaning(
            "ratio", "Share of what was allocated that was compressed, over the time of the run."
        ),
    }

    def reset(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        state: State = sm.encoding
        state.compressed_since = cycle

    def form_of(policy, ctx: Context, sm: Sm, cycle: int, value: np.uint32, mask: Lanes, whole: bool) -> int:
        state: State = sm.encoding
        if value == UNKNOWN:
            state.unclassified += 1
            return 0
        divergent = 0 if mask == FULL else 1
        _characterise(policy, state, value, divergent)
        form = _smallest(_fitting(value) & _allowed(policy)) if whole else 0
        state.stored[divergent, form] += 1
        return form

    def write_ready(policy, ctx: Context, sm: Sm, cycle: int, form: int, value: np.uint32, whole: bool) -> int:
        state: State = sm.encoding
        if not whole or value == UNKNOWN:
            return cycle
        return _pass_through(policy, state.compressor, policy.compressors, policy.compression, cycle)

    def read_ready(policy, ctx: Context, sm: Sm, cycle: int, form: int) -> int:
        state: State = sm.encoding
        return _pass_through(policy, state.decompressor, policy.decompressors, policy.decompression, cycle)

    def operand_stages(policy) -> int:
        return policy.decompression

    def stored_lanes(policy, form: int) -> int:
        return FORM_SLICES[form] * LANES_PER_SLICE

    def needs_move(policy, ctx: Context, sm: Sm, warp: int, register: int, entry: int, mask: Lanes) -> bool:
        return policy.divergence == MOV and sm.entry[entry].form != 0

    def merges(policy) -> bool:
        return policy.divergence == MERGE

    def recoverable(policy, form: int, value: np.uint32) -> bool:
        return form == 0 or (value != UNKNOWN and (_fitting(value) & _allowed(policy)) >> (form - 1) & 1 != 0)

    def on_store(policy, ctx: Context, sm: Sm, cycle: int, entry: int, form: int) -> None:
        _count_compressed(sm, cycle, entry, int(form != 0) - int(sm.entry[entry].form != 0))

    def on_free(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        _count_compressed(sm, cycle, entry, -int(sm.entry[entry].form != 0))

    def on_issue(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, index: int) -> None:
        state: State = sm.encoding
        divergent = 0 if covers(sm, warp, mask_at(ctx, index)) else 1
        state.instructions[divergent] += 1
        state.seen[divergent] += state.compressed[warp]

    def finish(policy, ctx: Context, sm: Sm, cycle: int) -> None:
        state: State = sm.encoding
        state.compressed_cycles += state.compressed_now * (cycle - state.compressed_since)
        state.compressed_since = cycle

    def counters(policy, states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
        def total(name: str) -> Any:
            return states[name].sum(axis=0).tolist()

        def by_phase(values: Any, names: tuple[str, ...]) -> dict[str, Any]:
            return {phase: dict(zip(names, row, strict=True)) for phase, row in zip(PHASES, values, strict=True)}

        stored = states["stored"].sum(axis=0)
        of_warp = run.occupancy.registers_per_warp
        phases = tuple(zip(PHASES, total("seen"), total("instructions"), strict=True))
        return {
            "compressed_writes": dict(zip(NAMES, stored.sum(axis=0).tolist()[1:], strict=True)),
            "uncompressed_writes": int(stored[:, 0].sum()),
            "uncompressed_writes_divergent": int(stored[1, 0]),
            "unclassified_writes": int(total("unclassified")),
            "writes": dict(zip(PHASES, stored.sum(axis=1).tolist(), strict=True)),
            "distance_bins": by_phase(total("bins"), BINS),
            "distance_bins_of_active_lanes": by_phase(total("bins_of_active"), BINS),
            "best_of_seven": dict(zip(("none", *NAMES), total("best_of_seven"), strict=True)),
            "best_of_nine": dict(zip(("none", *NAMES), total("best_of_nine"), strict=True)),
            "ideal_slices": dict(zip(PHASES, total("ideal_slices"), strict=True)),
            "ideal_bytes": dict(zip(PHASES, total("ideal_bytes"), strict=True)),
            "compressed_registers_seen": {phase: seen for phase, seen, _ in phases},
            "registers_seen": {phase: instructions * of_warp for phase, _, instructions in phases},
            "instructions": {phase: instructions for phase, _, instructions in phases},
            "compressed_cycles": int(total("compressed_cycles")),
            **{
                f"{unit}_{what}": int(states[unit][what].sum())
                for unit in ("compressor", "decompressor")
                for what in ("busy", "waits", "activations")
            },
        }

    def summary(policy, counters: dict[str, Any]) -> dict[str, Any]:
        writes, slices, sizes = counters["writes"], counters["ideal_slices"], counters["ideal_bytes"]
        both = {phase: SLICES * writes[phase] / slices[phase] if slices[phase] else None for phase in PHASES}
        of_bytes = {phase: REGISTER_BYTES * writes[phase] / sizes[phase] if sizes[phase] else None for phase in PHASES}
        seen, of = counters["compressed_registers_seen"], counters["registers_seen"]
        instructions = counters["instructions"]
        return {
            "dummy_movs": counters["moves"],
            "dummy_mov_share": counters["moves"] / max(1, counters["warp_instructions"]),
            "compression_ratio": both,
            "compression_ratio_in_bytes": of_bytes,
            "divergent_share": instructions["divergent"] / max(1, sum(instructions.values())),
            "compressed_share": {phase: seen[phase] / of[phase] if of[phase] else None for phase in PHASES},
            "compressed_share_over_time": counters["compressed_cycles"] / max(1, counters["allocated_cycles"]),
        }

    def energy(policy, counters: dict[str, Any], technology: Technology, run: RunFacts) -> Iterator[tuple[str, str, float]]:
        compressor, decompressor = technology.compressor, technology.decompressor
        yield "compression", "dynamic", counters["compressor_activations"] * compressor.activation
        yield "decompression", "dynamic", counters["decompressor_activations"] * decompressor.activation
        units = policy.compressors * compressor.leakage + policy.decompressors * decompressor.leakage
        yield "compression units", "leakage", units * run.sms * run.seconds

    def storage_bits(policy, machine: Machine) -> int:
        forms = 1 + sum(getattr(policy, f"b{base}d{delta}") for base, delta in PAIRS)
        return machine.warp_registers * (forms - 1).bit_length()  # the range indicator in the arbiter

    def area(policy, machine: Machine, technology: Technology) -> float:
        return policy.compressors * technology.area.compressor + policy.decompressors * technology.area.decompressor

    def conflict(policy, design: Policies) -> str | None:
        if not any(getattr(policy, f"b{base}d{delta}") for base, delta in PAIRS):
            return "no <base,delta> pair is allowed; allow one, such as b4d1=true, or take encoding=none"
        return None


@inlined
def _count_compressed(sm: Sm, cycle: int, entry: int, change: int) -> None:
    """Keep the number of compressed registers, of each warp and over time."""
    if change != 0:
        state: State = sm.encoding
        state.compressed[sm.entry[entry].warp] += change
        state.compressed_cycles += state.compressed_now * (cycle - state.compressed_since)
        state.compressed_since = cycle
        state.compressed_now += change
