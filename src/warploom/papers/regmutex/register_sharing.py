"""What policies that share registers between warps have in common: the compiler's choice and its picture, waiting, counters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from warploom.code.instruction import Code
from warploom.code.lanes import LANES
from warploom.errors import WarploomError
from warploom.machines import Machine
from warploom.machines.schema import MAX_WARPS
from warploom.papers.regmutex.acquire_regions import ACQUIRE, RELEASE, barrier_pressure, held_share, plan_regions
from warploom.papers.regmutex.base_set import base_registers, with_base_set
from warploom.papers.regmutex.extended_set import is_compaction, split_registers
from warploom.papers.regmutex.extended_size import ranked_sizes
from warploom.papers.regmutex.holding import holding
from warploom.register_file.bits import bit, has
from warploom.register_file.context import Context
from warploom.register_file.layout import Sm
from warploom.register_file.occupancy import occupancy, rounded
from warploom.register_file.services import release, separate

USUAL_WARPS = 8  # of a CTA, where no launch says it
AUTO = 0
WORTHWHILE = 1.1  # sharing must let at least 1.1 times as many warps make progress as there would be without it
LARGEST = "largest_launch_peak"  # the name under which the figures of the launch with the most instructions are kept
COUNTED = (
    "acquires",
    "acquires_failed",  # those that had to wait, each once
    "acquire_wait_cycles",
    "releases",
    "held_cycles",
)
SECTION_NOTES = (("acquires", "?"), ("releases", "?"))  # whether an instruction is one of the two
WAITING_STATE = (
    ("queued", "u8"),  # warps that wait for shared registers
    ("since", "i8", (MAX_WARPS,)),  # when a warp began to wait or to hold
    *((name, "i8") for name in COUNTED),
)
FIGURES = ("base_registers", "extended_registers", "sections", "occupancy_before", "occupancy_after")


def resident_ctas(code: Code, machine: Machine, limit: Callable[[Code, Machine, int], int]) -> int:
    """The CTAs that an SM holds when `limit` says what its registers allow; 0 where not one fits."""
    try:
        return occupancy(code, machine, SimpleNamespace(resident_limit=limit), warps_of(code)).ctas
    except WarploomError:
        return 0


def warps_of(code: Code) -> int:
    """The warps of a CTA in the launch that code was compiled for."""
    return -(-code.threads // LANES) or USUAL_WARPS


def whole_limit(code: Code, machine: Machine, warps_per_cta: int) -> int:
    """The CTAs for which registers suffice when every warp has all of them."""
    return machine.warp_registers // (rounded(code.registers, machine) * warps_per_cta)


def base_set(code: Code, machine: Machine) -> int:
    """The registers that every warp has to itself: all of them where the code is not split."""
    return base_registers(code) or rounded(code.registers, machine)


def shared_code(
    code: Code,
    machine: Machine,
    extended: int,
    weighed: bool,
    limit: Callable[[Code, Machine, int], int],
    sections: Callable[[Code, Machine, int], int],
) -> Code:
    """The code with its registers split, or unchanged where no split is possible or lets more warps be resident.

    `extended` is the size of the extended set, or AUTO, for which `weighed` lets contention be looked at; `limit` gives the CTAs
    that registers allow, and `sections` how many of so many resident warps can hold extended registers at once.
    """
    if code.literal:
        return code
    registers = rounded(code.registers, machine)
    least = barrier_pressure(code)

    def with_size(size: int) -> Code:
        return with_base_set(code, registers - size, registers)

    def resident(size: int) -> int:
        return resident_ctas(with_size(size), machine, limit) * warps_of(code)

    def places(size: int, warps: int) -> int:
        return sections(with_size(size), machine, warps)

    def under_way(size: int) -> float:
        """How many of the resident warps can progress at once, by the share of their time for which they need a section."""
        warps = resident(size)
        regions = plan_regions(code, registers - size)
        share = held_share(code, regions) if regions else 0.0
        return min(warps, places(size, warps) / share) if share else warps

    unshared = resident_ctas(code, machine, whole_limit) * warps_of(code)
    sizes = [extended] if registers - extended >= max(1, least) else []
    if extended == AUTO:
        sizes = list(ranked_sizes(registers, least, unshared, resident, places))
        if weighed:
            progress = {size: under_way(size) for size in sizes}
            sizes = [size for size in sizes if progress[size] >= WORTHWHILE * unshared]
            sizes.sort(key=lambda size: -progress[size])
    for size in sizes:
        split = split_registers(code, registers - size, size)
        if split is not None:
            return split
    return code


def described(code: Code) -> dict[int, str]:
    """The regions in which a warp holds its extended registers, as notes beside the code."""
    if not base_registers(code):
        return {}
    state = holding(code)
    notes = {}
    for pc, instruction in enumerate(code.instructions()):
        if instruction.op in (ACQUIRE, RELEASE):
            notes[pc] = f"{instruction.op.name} R{base_registers(code)}-R{code.registers - 1}"
        elif state.maybe_before[pc]:
            mark = "|" if state.surely_before[pc] else ":"
            notes[pc] = f"{mark} compaction" if is_compaction(instruction) else mark
    return notes


def section_notes(code: Code) -> np.ndarray:
    """Which instructions acquire and release, as the hardware sees them."""
    notes = [(instruction.op == ACQUIRE, instruction.op == RELEASE) for instruction in code.instructions()]
    return np.array(notes, np.dtype(list(SECTION_NOTES), align=True))


@separate
def wait_for_shared(sm: Sm, cycle: int, warp: int) -> None:
    """A warp cannot have the shared registers that it asks for, now or still."""
    state = sm.allocation
    if not has(state.queued, warp):
        state.acquires_failed += 1
        state.queued |= bit(warp)
        state.since[warp] = cycle


@separate
def count_acquire(sm: Sm, cycle: int, warp: int) -> None:
    """A warp has got the shared registers; from now on it holds them."""
    state = sm.allocation
    if has(state.queued, warp):
        state.queued &= ~bit(warp)
        state.acquire_wait_cycles += cycle - state.since[warp]
    state.acquires += 1
    state.since[warp] = cycle


@separate
def asks_for_extended(ctx: Context, sm: Sm, warp: int, pc: int) -> bool:
    """Whether an instruction acquires the extended registers for a warp that does not hold them."""
    return ctx.code[pc].allocation.acquires and not has(sm.allocation.holds, warp)


@separate
def release_extended(ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
    """Let a warp give back its extended registers if it holds them."""
    state = sm.allocation
    if has(state.holds, warp):
        state.holds &= ~bit(warp)
        state.releases += 1
        state.held_cycles += cycle - state.since[warp]
        for register in range(ctx.info.registers_per_warp, ctx.info.registers):
            release(ctx, sm, cycle, warp, register)


@separate
def release_at(ctx: Context, sm: Sm, cycle: int, warp: int, pc: int) -> None:
    """Let a warp give back its extended registers if its instruction at this pc is a release."""
    if ctx.code[pc].allocation.releases:
        release_extended(ctx, sm, cycle, warp)


def sizes_of(code: Code, machine: Machine) -> tuple[int, int]:
    """The base set and the extended set of compiled code."""
    base = base_registers(code)
    return (base, code.registers - base) if base else (rounded(code.registers, machine), 0)


def shared_counters(states: Any, run: Any, sizes: tuple[int, int], sections: int) -> dict[str, Any]:
    """The sums over all SMs, and the figures of this launch under LARGEST, which outlive those of smaller launches."""
    code, machine = run.code, run.machine
    moves = np.array([is_compaction(instruction) for instruction in code.instructions()])
    before = min(resident_ctas(replace(code, threads=LANES * run.trace.warps_per_cta), machine, whole_limit), run.occupancy.ctas)
    occupancies = run.occupancy._replace(ctas=before).fraction(machine), run.occupancy.fraction(machine)
    figures = (*sizes, sections, *occupancies)
    return {
        **{name: int(states[name].sum()) for name in COUNTED},
        "compaction_moves": int(moves[run.trace.pc].sum()) if moves.any() else 0,
        LARGEST: (run.trace.warp_instructions, *figures),
    }


def section_counters(states: Any, run: Any) -> dict[str, Any]:
    """`shared_counters` of a policy under which the program acquires and releases sections of extended registers."""
    return shared_counters(states, run, sizes_of(run.code, run.machine), int(states["sections"].max()))


def shared_summary(counters: dict[str, Any]) -> dict[str, Any]:
    """The figures of the largest launch by name."""
    instructions, *figures = counters[LARGEST]
    return {LARGEST: instructions, **dict(zip(FIGURES, figures, strict=True))}
