"""A program to run: one of our workloads, or a user's own kernel with a launch given on the command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from warploom.errors import WarploomError
from warploom.storage.sources import file_digest
from warploom.workloads.registry import load_workload, workload_ptx
from warploom.workloads.workload import SIZES, Arrays, Gpu, Size


@dataclass(frozen=True)
class Program:
    """Everything to run a program on any `Gpu`: its PTX, and the host side as functions."""

    name: str
    ptx: str
    place: str  # the file of the PTX, for messages
    inputs: Callable[[Size], Arrays]
    host: Callable[[Gpu, Arrays], Arrays]
    reference: Callable[[Arrays], Arrays] | None = None  # None: nobody said what the result should be
    tolerance: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    origin: Mapping[str, Any] = field(default_factory=dict)  # how to find it again: see `warploom.simulation.provenance`
    sized: bool = True  # whether the sizes tiny, small, paper mean something


def workload_program(name: str) -> Program:
    """The program of one of our workloads."""
    workload = load_workload(name)
    return Program(
        name=workload.name,
        ptx=workload_ptx(name),
        place=f"{workload.name}/kernel.ptx",
        inputs=workload.inputs,
        host=workload.host,
        reference=workload.reference,
        tolerance=workload.tolerance,
        origin={"workload": workload.name, "seed": workload.seed, "digest": file_digest(inspect.getfile(workload.inputs))},
    )


def check_size(size: str) -> Size:
    """A size by name, or an error that lists them."""
    if size not in SIZES:
        raise WarploomError(f"size {size!r} is not known; choose {', '.join(SIZES[:-1])} or {SIZES[-1]}")
    return size


def compare_outputs(outputs: Arrays, expected: Arrays, tolerance: Mapping[str, tuple[float, float]], place: str) -> str | None:
    """Where the outputs differ from what they should be: one sentence about the first difference, or None."""
    for name, wanted in expected.items():
        if name not in outputs:
            return f"{place}: the output {name!r} is missing"
        got, wanted = np.asarray(outputs[name]), np.asarray(wanted)
        if got.shape != wanted.shape:
            return f"{place}: output {name!r} has shape {got.shape} where {wanted.shape} is expected"
        relative, absolute = tolerance.get(name, (0.0, 0.0))
        if relative or absolute:
            equal = np.isclose(got, wanted, rtol=relative, atol=absolute, equal_nan=True)
        else:
            equal = (got == wanted) | ((got != got) & (wanted != wanted))
        if not equal.all():
            first = tuple(int(i) for i in np.argwhere(~equal)[0]) if got.ndim else ()
            index = f"[{', '.join(map(str, first))}]" if first else ""
            wrong = f"{equal.size - np.count_nonzero(equal)} of {equal.size} differ"
            return f"{place}: output {name}{index} is {got[first]!r} where {wanted[first]!r} is expected ({wrong})"
    return None
