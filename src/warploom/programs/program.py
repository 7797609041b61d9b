"""A program to run: one of our workloads, or a user's own kernel with a launch given on the command line."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Protocol

import numpy as np

from warploom.base.errors import WarploomError
from warploom.base.sources import file_digest
from warploom.compiler.code.instruction import Code
from warploom.compiler.ptx.module import Module
from warploom.compiler.sass.module import check_architecture
from warploom.emulator.device_memory import DeviceMemory
from warploom.programs.origin import Digests, Origin
from warploom.programs.source import PTX, Source
from warploom.programs.workloads.registry import load_workload, source_place, workload_ptx
from warploom.programs.workloads.workload import SIZES, Arrays, Gpu, Size, Workload


class CompiledKernels(Protocol):
    """Kernels that are machine code, or know how they become it."""

    @property
    def kernels(self) -> tuple[str, ...]:
        """Their names."""
        ...

    def kernel(self, name: str, max_registers: int | None = None) -> Code:
        """The code of one under a limit of registers."""
        ...


Kernels = Module | CompiledKernels
"""What programs are compiled from: PTX, or anything that gives code by itself."""


@dataclass(frozen=True, eq=False)
class Program:
    """Everything to run a program on any `Gpu`: its kernels, and the host side as functions. Each is equal to itself alone."""

    name: str
    source: Source
    inputs: Callable[[Size], Arrays]
    host: Callable[[Gpu, Arrays], Arrays]
    reference: Callable[[Arrays], Arrays] | None = None  # None: nobody said what the result should be
    tolerance: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    origin: Origin | None = None  # what names it and opens it again; None for one that was made in Python
    seed: int | None = None  # of its inputs; None: its own
    sized: bool = True  # whether the sizes tiny, small, paper, chip mean something
    code: str = "ptx"  # what is executed: code that our backend makes of PTX, or machine code such as "sm_90"
    lenient: bool = False  # accesses that miss their arrays by a little are let through, as hardware does
    doubt: str = ""  # why it is not verified though its output agrees with the reference; empty where it is

    @property
    def place(self) -> str:
        """The file whose lines instructions name, for messages."""
        return self.source.place

    def device_memory(self) -> DeviceMemory:
        """New memory of the device that it runs on."""
        return DeviceMemory(lenient=self.lenient)

    def module(self) -> Kernels:
        """The kernels of the program in the code that is asked for."""
        return self.source.kernels(self.code)


@dataclass(frozen=True)
class WorkloadOrigin(Origin):
    """One of our workloads, by its name."""

    KIND: ClassVar[str] = "workload"
    SIZED: ClassVar[bool] = True

    workload: str

    @property
    def name(self) -> str:
        return self.workload

    @property
    def own_seed(self) -> int | None:
        return load_workload(self.workload).seed

    def digests(self, code: str) -> Digests:
        """Of its PTX, and of its host side with all that it imports."""
        ptx = hashlib.sha256(workload_ptx(self.workload).encode()).hexdigest()[:32]
        return {"host": file_digest(inspect.getfile(load_workload(self.workload).inputs)), "ptx": ptx}

    def open(self, code: str, seed: int | None) -> Program:
        return workload_program(self.workload, code, seed)


def workload_program(name: str, code: str = PTX, seed: int | None = None) -> Program:
    """The program of one of our workloads. Its machine code is made of its PTX; without a seed its inputs follow from its own."""
    workload = load_workload(name)
    own = seed is None or seed == workload.seed
    return Program(
        name=workload.name,
        source=Source.of_text(workload_ptx(name), source_place(name)),
        inputs=workload.inputs if own else partial(workload.inputs, seed=check_seed(seed, workload)),
        host=workload.host,
        reference=workload.reference,
        tolerance=workload.tolerance,
        origin=WorkloadOrigin(workload.name),
        seed=seed,
        code=check_code(code),
    )


def check_seed(seed: int | None, workload: Workload) -> int:
    """A seed for a workload's inputs, or an error where it takes none."""
    if workload.seed is None:
        raise WarploomError(f"workload {workload.name!r} takes no seed: nothing in its inputs is random")
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise WarploomError(f"seed {seed!r}: a seed is a whole number from 0 to 2^63 - 1")
    return seed


def check_code(code: str) -> str:
    """What is to be executed, or an error that lists what there is."""
    return code if code == PTX else check_architecture(code)


def is_lenient(memory: str) -> bool:
    """Whether memory is to be lenient, or an error that says what there is."""
    if memory not in ("strict", "lenient"):
        raise WarploomError(f"memory {memory!r} is not known; choose strict or lenient")
    return memory == "lenient"


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
