"""What policies that share registers have in common before and after a run: the compiler's choice and its picture, counters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from warploom.base.errors import WarploomError
from warploom.base.records import field_names
from warploom.chip.machines import Machine
from warploom.chip.sm.counter import CounterMeaning, counters_of
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.chip.sm.occupancy import occupancy, rounded
from warploom.compiler.code.instruction import Code
from warploom.compiler.code.lanes import LANES
from warploom.papers.regmutex.acquire_regions import ACQUIRE, RELEASE, barrier_pressure, held_share, plan_regions
from warploom.papers.regmutex.base_set import base_registers, with_base_set
from warploom.papers.regmutex.extended_set import is_compaction, split_registers
from warploom.papers.regmutex.extended_size import ranked_sizes
from warploom.papers.regmutex.holding import holding
from warploom.papers.regmutex.sections import Counts

USUAL_WARPS = 8  # of a CTA, where no launch says it
AUTO = 0
WORTHWHILE = 1.1  # sharing must let at least 1.1 times as many warps make progress as there would be without it
LARGEST = "largest_launch_peak"  # the name under which the figures of the launch with the most instructions are kept
FIGURES = ("base_registers", "extended_registers", "sections", "occupancy_before", "occupancy_after")
SHARING_COUNTERS = {
    **counters_of(Counts),
    "compaction_moves": CounterMeaning(
        "instructions", "Moves that were executed and that the compiler put in to free extended registers."
    ),
    LARGEST: CounterMeaning(
        "instructions", "Warp instructions of the launch with the most, which the figures that follow are of."
    ),
    "base_registers": CounterMeaning("registers", "Registers that each thread has for itself."),
    "extended_registers": CounterMeaning("registers", "Registers of a thread that are shared."),
    "sections": CounterMeaning("sections", "Sets of shared registers in an SM, each for one warp at a time."),
    "occupancy_before": CounterMeaning("ratio", "Resident warps, as a share of what the SM can hold, if nothing were shared."),
    "occupancy_after": CounterMeaning("ratio", "Resident warps, as a share of what the SM can hold."),
}

# The parameters of a policy whose code acquires and releases its extended registers.
EXTENDED_LIMITS = {"extended": (0, 64)}
EXTENDED_MEANING = {
    "extended": "registers of the extended set; 0 lets the compiler choose",
    "weighed": "the compiler refuses sizes with which warps would wait for each other too long, which the paper does not",
}


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
        sizes = list(ranked_sizes(code.registers, registers, least, unshared, resident, places))
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


def sizes_of(code: Code, machine: Machine) -> tuple[int, int]:
    """The base set and the extended set of compiled code."""
    base = base_registers(code)
    return (base, code.registers - base) if base else (rounded(code.registers, machine), 0)


def shared_counters(states: np.ndarray, run: LaunchFacts, sizes: tuple[int, int], sections: int) -> dict[str, Any]:
    """The sums over all SMs, and the figures of this launch under LARGEST, which outlive those of smaller launches."""
    code, machine = run.code, run.machine
    moves = np.array([is_compaction(instruction) for instruction in code.instructions()])
    before = min(resident_ctas(replace(code, threads=LANES * run.trace.warps_per_cta), machine, whole_limit), run.occupancy.ctas)
    occupancies = run.occupancy._replace(ctas=before).fraction(machine), run.occupancy.fraction(machine)
    figures = (*sizes, sections, *occupancies)
    return {
        **{name: int(states[name].sum()) for name in field_names(Counts)},
        "compaction_moves": int(moves[run.trace.pc].sum()) if moves.any() else 0,
        LARGEST: (run.trace.warp_instructions, *figures),
    }


def section_counters(states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
    """`shared_counters` of a policy under which the program acquires and releases sections of extended registers."""
    return shared_counters(states, run, sizes_of(run.code, run.machine), int(states["sections"].max()))


def shared_summary(counters: dict[str, Any]) -> dict[str, Any]:
    """The figures of the largest launch by name."""
    instructions, *figures = counters[LARGEST]
    return {LARGEST: instructions, **dict(zip(FIGURES, figures, strict=True))}
