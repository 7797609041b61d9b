"""What a plan runs: workloads and sets by name, recordings by file, and kernels of the user's own that the plan describes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from warploom.base.errors import WarploomError
from warploom.programs.named import chosen_programs, origin_named
from warploom.programs.origin import Origin
from warploom.programs.own import origin_of
from warploom.programs.own_kernel import own_kernel_from_dict
from warploom.programs.program import check_seed
from warploom.programs.replay import is_recording
from warploom.programs.workloads.registry import load_workload, workload_names
from warploom.studies.sweep.plan import refused_at

ONE_FOR_ALL_SEEDS = "the inputs of {} are not random: one run stands for all seeds"
ONE_FOR_ALL_SIZES = "{} has one size: one run stands for all"


def seeds_of(program: Origin, name: str, wanted: Sequence[int], replicates: int, left_out: Counter[str]) -> list[int | None]:
    """The seeds to run a program with: those wanted, else its own and those that follow; None where its inputs are not random."""
    own = program.own_seed
    if own is None:
        repeated = (len(wanted) or replicates) - 1
        if repeated:
            left_out[ONE_FOR_ALL_SEEDS.format(name)] += repeated
        return [None]
    return [check_seed(seed, load_workload(program.name)) for seed in wanted or range(own, own + replicates)]


def sizes_of(program: Origin, name: str, wanted: Sequence[str], left_out: Counter[str]) -> Sequence[str]:
    """The sizes to run a program in; the first stands for all where there is only one."""
    if program.sized or len(wanted) == 1:
        return wanted
    left_out[ONE_FOR_ALL_SIZES.format(name)] += len(wanted) - 1
    return wanted[:1]


def planned_programs(names: Sequence[str], kernels: Mapping[str, Any], codes: Sequence[str], place: str) -> dict[str, Origin]:
    """The programs that a plan names, by these names; its own kernels are compiled once, to find what is wrong."""
    for name in kernels:
        if name in workload_names() or is_recording(name):
            raise WarploomError(f"{place}, kernels: {name!r} is also a workload or a recording; give your kernel another name")
    found: dict[str, Origin] = {}
    for name in names:
        if name in kernels:
            found[name] = _checked(kernels[name], codes, f"{place}, kernels, {name}")
            continue
        with refused_at(place):
            chosen = chosen_programs([name])
        found |= {workload: origin_named(workload) for workload in chosen}
    return found


def _checked(table: Any, codes: Sequence[str], place: str) -> Origin:
    kernel = own_kernel_from_dict(table, place)
    with refused_at(place):
        (found, *_) = [origin_of(kernel.open(code)) for code in codes]
    return found
