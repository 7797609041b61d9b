"""Executing a program: its host side makes launches; each is compiled for its shape and executed; the outputs are compared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from warploom.code.instruction import Code
from warploom.core.stages import check_code
from warploom.designs import Design
from warploom.emulator.budget import DEFAULT_BUDGET
from warploom.emulator.device_memory import DeviceMemory
from warploom.emulator.emulator import ExecutedLaunch
from warploom.emulator.shape import LaunchShape
from warploom.errors import WarploomError
from warploom.errors.progress import activity
from warploom.machines import Machine
from warploom.programs import Device
from warploom.simulation.compilation import compile_for, compile_key
from warploom.trace.format import Trace
from warploom.trace.store import TraceStore
from warploom.workloads.program import Kernels, Program, compare_outputs

SMALL_TRACE = 16 << 20  # bytes; a launch with such a trace is executed again in less than a second


@dataclass(frozen=True)
class Execution:
    """A program that has been executed: its launches with their traces, and whether its output was right."""

    launches: tuple[ExecutedLaunch, ...]
    difference: str | None  # how the output differs from the reference
    verified: bool | None  # None where no reference exists

    def traced(self) -> Iterator[tuple[ExecutedLaunch, Trace]]:
        """The launches of a recorded execution with their traces."""
        for launch in self.launches:
            if launch.trace is None:
                raise WarploomError(f"kernel {launch.code.name} was executed without recording a trace")
            yield launch, launch.trace


@dataclass
class Executions:
    """What has been executed so far, so that designs which run the same code of a program share it."""

    made: dict[Any, Execution] = field(default_factory=dict)

    def get(self, key: Any, make: Callable[[], Execution]) -> Execution:
        """The execution under a key, made if it is new."""
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]


def execute(
    program: Program,
    design: Design,
    machine: Machine,
    size: str,
    executions: Executions,
    *,
    check: bool = False,
    max_instructions: int = DEFAULT_BUDGET,
    launches: Collection[tuple[str, int]] = (),
) -> Execution:
    """Execute a program with the code that a design compiles for it, or reuse an execution of the same code and budget.

    ``launches`` are those whose traces are kept, as kernel and number; all where it is empty.
    """

    def make() -> Execution:
        return run_program(program, design, machine, size, record=True, check=check, budget=max_instructions, launches=launches)

    key = (_identity(program), size, check, max_instructions, compile_key(design, machine), tuple(launches))
    return executions.get(key, make)


def _identity(program: Program) -> tuple[Any, ...]:
    """What tells a program from all others: its code, and where its host side and inputs are from."""
    code = (program.code, program.ptx, program.source, program.cubin, program.options)
    return (program.name, code, program.lenient, repr(program.origin) if program.origin else program.host)


def run_program(
    program: Program,
    design: Design,
    machine: Machine,
    size: str,
    *,
    record: bool,
    check: bool,
    budget: int,
    launches: Collection[tuple[str, int]] = (),
) -> Execution:
    """Execute a program with the code that a design compiles for it."""
    if budget < 1:
        raise WarploomError(f"max_instructions must be 1 or more, not {budget}")
    with activity(f"reading {program.place}"):
        module = program.module()

    def compiled(module: Kernels, kernel: str, shape: LaunchShape) -> Code:
        code = compile_for(module, kernel, design, machine, shape)
        if record and not launches:  # what cannot be timed afterwards is not executed first
            check_code(machine, design.policies, code)
        return code

    device = Device(
        module,
        file=program.place,
        code=program.code,
        compile_module=compiled,
        record=TraceStore(small=SMALL_TRACE) if record else None,
        check=check,
        budget=budget,
        memory=DeviceMemory(lenient=program.lenient),
        wanted=(lambda kernel, number: (kernel, number) in launches) if launches else None,
    )
    with activity(f"making the inputs of {program.name}"):
        inputs = program.inputs(size)
    outputs = program.host(device, inputs)
    if not device.launches:
        raise WarploomError(f"{program.name}: the program launches no kernel")
    if program.reference is None:
        return Execution(tuple(device.launches), None, None)
    with activity(f"computing the reference of {program.name}"):
        expected = program.reference(inputs)
    difference = compare_outputs(outputs, expected, program.tolerance, program.name)
    return Execution(tuple(device.launches), difference, difference is None)
