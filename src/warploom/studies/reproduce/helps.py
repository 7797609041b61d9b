"""What numbers of several papers lean on."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from warploom.programs.workloads.registry import load_workload
from warploom.studies.reproduce.experiment import Help

SHAPED = "shaped kernels"  # whose peaks of register demand were made to fit a paper's table (docs/workloads.md)


def without_shaped(values: Mapping[str, float]) -> tuple[Help, ...]:
    """The mean of a number by workload without the shaped kernels; nothing where none or all of them are."""
    others = [value for name, value in values.items() if not load_workload(name).shaped]
    return (Help(SHAPED, fmean(others)),) if 0 < len(others) < len(values) else ()
