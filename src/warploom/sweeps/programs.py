"""What a plan runs: workloads and sets by name, recordings by file, and kernels of the user's own that the plan describes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warploom.errors import WarploomError
from warploom.programs.named import chosen_programs, own_seed
from warploom.programs.replay import is_recording
from warploom.sweeps.plan import refused_at
from warploom.workloads.own_kernel import OwnKernel, own_kernel_from_dict
from warploom.workloads.program import check_seed
from warploom.workloads.registry import load_workload, workload_names

ONE_FOR_ALL_SEEDS = "the inputs of {} are not random: one run stands for all seeds"
ONE_FOR_ALL_SIZES = "{} has one size: one run stands for all"


@dataclass(frozen=True)
class PlannedProgram:
    """A program by the name that the plan gives it, and what a task needs to run it."""

    name: str
    workload: str
    kernel: OwnKernel | None = None

    @property
    def sized(self) -> bool:
        """Whether the sizes tiny, small, paper and chip mean something."""
        return self.kernel is None and not is_recording(self.workload)

    @property
    def seed(self) -> int | None:
        """The seed of its inputs; None where nothing in them is random."""
        return own_seed(self.workload) if self.sized else None

    def seeds(self, wanted: Sequence[int], replicates: int, left_out: Counter[str]) -> list[int | None]:
        """The seeds to run it with: those wanted, else its own and those that follow; None for its own."""
        if self.seed is None:
            repeated = (len(wanted) or replicates) - 1
            if repeated:
                left_out[ONE_FOR_ALL_SEEDS.format(self.name)] += repeated
            return [None]
        seeds = wanted or range(self.seed, self.seed + replicates)
        return [None if seed == self.seed else check_seed(seed, load_workload(self.workload)) for seed in seeds]

    def sizes(self, wanted: Sequence[str], left_out: Counter[str]) -> Sequence[str]:
        """The sizes to run it in; the first stands for all where there is only one."""
        if self.sized or len(wanted) == 1:
            return wanted
        left_out[ONE_FOR_ALL_SIZES.format(self.name)] += len(wanted) - 1
        return wanted[:1]


def planned_programs(names: Sequence[str], kernels: Mapping[str, Any], codes: Sequence[str], place: str) -> list[PlannedProgram]:
    """The programs that a plan names, without repetition; those of its own kernels are compiled once, to find what is wrong."""
    for name in kernels:
        if name in workload_names() or is_recording(name):
            raise WarploomError(f"{place}, kernels: {name!r} is also a workload or a recording; give your kernel another name")
    found: dict[str, PlannedProgram] = {}
    for name in names:
        if name in kernels:
            found[name] = PlannedProgram(name, name, _checked(kernels[name], codes, f"{place}, kernels, {name}"))
            continue
        with refused_at(place):
            chosen = chosen_programs([name])
        for workload in chosen:
            file = str(Path(workload).resolve()) if is_recording(workload) else workload
            found[workload] = PlannedProgram(workload, file)
    return list(found.values())


def _checked(table: Any, codes: Sequence[str], place: str) -> OwnKernel:
    kernel = own_kernel_from_dict(table, place)
    with refused_at(place):
        for code in codes:
            kernel.program(code)
    return kernel
