"""Executing a program: its host side makes launches; each is compiled for its shape and executed; the outputs are compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.progress import activity
from warploom.chip.stages import check_code
from warploom.compiler.code.instruction import Code
from warploom.emulator.emulator import ExecutedLaunch
from warploom.emulator.shape import LaunchShape
from warploom.emulator.trace.format import Trace
from warploom.emulator.trace.store import TraceStore
from warploom.emulator.watch.findings import Finding
from warploom.programs import Device
from warploom.programs.program import Kernels, Program, check_size, compare_outputs
from warploom.runs.caches import COLD
from warploom.runs.compilation import compile_for, compile_key
from warploom.runs.spec import RunSpec

SMALL_TRACE = 16 << 20  # bytes; a launch with such a trace is executed again in less than a second


@dataclass(frozen=True)
class Execution:
    """A program that has been executed: its launches with their traces, and whether its output was right."""

    launches: tuple[ExecutedLaunch, ...]
    difference: str | None  # how the output differs from the reference
    verified: bool | None  # None where nothing says that it was right, for there is no reference, or there is a doubt
    doubt: str = ""
    findings: tuple[Finding, ...] = ()  # of the checks that watched

    def traced(self) -> Iterator[tuple[ExecutedLaunch, Trace]]:
        """The launches of a recorded execution with their traces."""
        for launch in self.launches:
            if launch.trace is None:
                raise WarploomError(f"kernel {launch.code.name} was executed without recording a trace")
            yield launch, launch.trace


@dataclass
class Executions:
    """What has been opened and executed so far, so that designs which run the same code of a program share it."""

    programs: dict[Any, Program] = field(default_factory=dict)
    made: dict[Any, Execution] = field(default_factory=dict)

    def program(self, spec: RunSpec) -> Program:
        """The program of a settled run, opened once."""
        key = (spec.program, spec.code, spec.seed)
        if key not in self.programs:
            self.programs[key] = spec.program.open(spec.code, spec.seed)
        return self.programs[key]

    def take(self, program: Program, spec: RunSpec) -> None:
        """Take a program that somebody has opened for a settled run."""
        self.programs[spec.program, spec.code, spec.seed] = program

    def of(self, spec: RunSpec) -> Execution:
        """The execution of a settled run's program, with its traces, or one of the same code that was made before."""
        program = self.program(spec)
        host = None if program.origin is not None else program.host
        contents = (program.source, host)  # of a file that was edited, or of another of the name
        key = (spec.execution_key, contents, compile_key(spec.design, spec.machine))
        if key not in self.made:
            self.made[key] = run_program(program, spec, record=True)
        return self.made[key]


def run_program(program: Program, spec: RunSpec, *, record: bool) -> Execution:
    """Execute a program with the code that a design compiles for it."""
    design, machine = spec.design, spec.machine
    launches = spec.launches if spec.caches == COLD else ()  # warm, those before the chosen ones are timed too
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
        check=spec.check,
        order=spec.order,
        budget=spec.budget,
        memory=program.device_memory(),
        wanted=(lambda kernel, number: (kernel, number) in launches) if launches else None,
    )
    with activity(f"making the inputs of {program.name}"):
        inputs = program.inputs(check_size(spec.size or "small"))
    outputs = program.host(device, inputs)
    if not device.launches:
        raise WarploomError(f"{program.name}: the program launches no kernel")
    executed = Execution(tuple(device.launches), None, None, findings=device.emulator.findings)
    if program.reference is None:
        return executed
    with activity(f"computing the reference of {program.name}"):
        expected = program.reference(inputs)
    difference = compare_outputs(outputs, expected, program.tolerance, program.name)
    if difference is None and program.doubt:
        return replace(executed, doubt=program.doubt)
    return replace(executed, difference=difference, verified=difference is None)
