"""From a program, a design and a machine to a result: compile, execute, verify, time, account."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from warploom.backend import Options, compile_kernel
from warploom.code.instruction import Code
from warploom.core.result import states_over_time
from warploom.core.simulate import Simulation
from warploom.designs import FIT, Design, storage_bits
from warploom.designs import design as make_design
from warploom.emulator.budget import DEFAULT_BUDGET
from warploom.emulator.device import Device, LaunchRecord
from warploom.emulator.device_memory import DeviceMemory
from warploom.energy import Run, account, load_technology, power_over_time, technology_names
from warploom.errors import WarploomError
from warploom.errors.progress import activity
from warploom.machines import Machine, load_machine
from warploom.machines.loader import check as check_machine
from warploom.observers import make_observers
from warploom.programs.named import program_named
from warploom.ptx.module import Module
from warploom.register_file import baseline_policies, compile_code
from warploom.register_file.occupancy import occupancy, rounded
from warploom.simulation.provenance import provenance_of
from warploom.simulation.result import Emulation, Result
from warploom.trace.format import Trace
from warploom.workloads.profile import profile
from warploom.workloads.program import Kernels, Program, check_size, compare_outputs, workload_program
from warploom.workloads.registry import load_workload, published_rows, sets_of
from warploom.workloads.workload import Workload

COMMON_TECHNOLOGY = "common"
WARP = 32
USUAL_THREADS = 256  # of a CTA, where no launch says it
FEWEST_REGISTERS = 8  # that the compiler is asked to make do with when it must fit a smaller file


@dataclass(frozen=True)
class Execution:
    """A program that has been executed: its launches with their traces, and whether its output was right."""

    launches: tuple[LaunchRecord, ...]
    difference: str | None  # how the output differs from the reference
    verified: bool | None  # None where no reference exists

    def traced(self) -> Iterator[tuple[LaunchRecord, Trace]]:
        """The launches of a recorded execution with their traces."""
        for launch in self.launches:
            if launch.trace is None:
                raise WarploomError(f"kernel {launch.code.name} was executed without recording a trace")
            yield launch, launch.trace


@dataclass
class Executions:
    """The executions of one program so far, so that designs which run the same code share them."""

    made: dict[Any, Execution] = field(default_factory=dict)

    def get(self, key: Any, make: Callable[[], Execution]) -> Execution:
        """The execution under a key, made if it is new."""
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]


def simulate(
    program: Program | Workload | str,
    design: Design | str = "baseline",
    machine: Machine | str = "gtx480",
    *,
    size: str = "small",
    check: bool = False,
    technology: str | None = None,
    max_instructions: int = DEFAULT_BUDGET,
    executions: Executions | None = None,
    observers: Sequence[Any] = (),
    progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Run a program under a design on a machine.

    ``check`` lets the shadow checker watch every register access. ``technology`` names the energy table: without one it is the
    machine's own where there is a table of its name, else the common one. A launch that executes more than
    ``max_instructions`` warp instructions is stopped. ``executions`` keeps what has been executed of this program, for a
    caller that runs it under several designs. ``observers``, by name or made, watch the run and change nothing of it; what
    they saw is in the result's ``observed``.
    """
    started = time.perf_counter()
    program, point = _program(program), make_design(design)
    check_size(size)
    whole = load_machine(machine) if isinstance(machine, str) else machine
    chip = physical(whole, point)
    known = executions if executions is not None else Executions()
    execution = execute(program, point, whole, size, known, check=check, max_instructions=max_instructions)
    watching = make_observers(observers)
    core = Simulation(point.policies, chip, check=check, architected=shrunk(whole, point), observers=watching)
    for launch, trace in execution.traced():
        core.launch(launch.code, trace, progress)
    timing = core.result()
    table = load_technology(technology or default_technology(whole))
    cycle_time = 1e-6 / chip.chip.clock_energy_mhz
    run = Run(timing.cycles, cycle_time, chip.chip.sms, 4 * chip.sm.registers_per_sm, point.policies, chip)
    energy = account(timing.counters, point.policies, table, run)
    made_from = provenance_of(
        program,
        point,
        whole,
        size=size,
        technology=table,
        technology_file=technology if technology and technology.endswith(".toml") else "",
        check=check,
        max_instructions=max_instructions,
    )
    return Result(
        workload=program.name,
        design=point.to_dict(),
        machine=made_from.machine["label"],
        size=size if program.sized else "",
        technology=made_from.technology["name"],
        verified=execution.verified,
        checked=check,
        cycles=timing.cycles,
        warp_instructions=timing.warp_instructions,
        ipc=timing.ipc,
        occupancy=timing.occupancy,
        ctas_per_sm=timing.ctas_per_sm,
        registers_per_thread=timing.registers_per_thread,
        register_file_bytes=run.register_file_bytes,
        counters=timing.counters,
        energy_pj=energy.picojoules(),
        storage_bits=storage_bits(point, chip),
        wall_seconds=time.perf_counter() - started,
        kernels=timing.launches,
        energy_terms=energy.terms,
        power=power_over_time(timing.samples, energy, table, run),
        provenance=made_from,
        states=states_over_time(timing.samples, cycle_time),
        observed=timing.observed,
    )


def emulate(
    program: Program | Workload | str,
    design: Design | str = "baseline",
    machine: Machine | str = "gtx480",
    *,
    size: str = "small",
    max_instructions: int = DEFAULT_BUDGET,
) -> Emulation:
    """Execute a program without timing it, and compare its output with the reference.

    A launch that executes more than ``max_instructions`` warp instructions is stopped.
    """
    started = time.perf_counter()
    program, point = _program(program), make_design(design)
    check_size(size)
    whole = load_machine(machine) if isinstance(machine, str) else machine
    execution = _execute(program, point, whole, size, record=False, check=False, budget=max_instructions)
    return Emulation(
        workload=program.name,
        size=size if program.sized else "",
        verified=execution.verified,
        warp_instructions=sum(launch.stats.warp_instructions for launch in execution.launches),
        thread_instructions=sum(launch.stats.thread_instructions for launch in execution.launches),
        wall_seconds=time.perf_counter() - started,
        provenance=provenance_of(
            program, point, whole, size=size, technology=None, technology_file="", check=False, max_instructions=max_instructions
        ),
    )


def execute(
    program: Program,
    design: Design,
    machine: Machine,
    size: str,
    executions: Executions,
    *,
    check: bool = False,
    max_instructions: int = DEFAULT_BUDGET,
) -> Execution:
    """Execute a program with the code that a design compiles for it, or reuse an execution of the same code."""

    def make() -> Execution:
        return _execute(program, design, machine, size, record=True, check=check, budget=max_instructions)

    return executions.get((size, check, compile_key(design, machine)), make)


def _execute(
    program: Program, design: Design, machine: Machine, size: str, *, record: bool, check: bool, budget: int
) -> Execution:
    if budget < 1:
        raise WarploomError(f"max_instructions must be 1 or more, not {budget}")
    with activity(f"reading {program.place}"):
        module = program.module()
    device = Device(
        lambda kernel, threads, dynamic: compile_for(module, kernel, design, machine, threads, dynamic),
        record=True if record else None,
        check=check,
        budget=budget,
        memory=DeviceMemory(lenient=program.lenient),
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


def compile_key(design: Design, machine: Machine) -> tuple[Any, ...]:
    """What decides the code of a program: designs with equal keys run the same code."""
    passes = tuple(_pass_key(policy) for policy in design.policies if hasattr(policy, "compile"))
    share = design.register_file if passes or design.max_registers == FIT else 1.0
    return (passes, design.max_registers, share, machine.sm if passes or design.max_registers == FIT else None)


def _pass_key(policy: Any) -> tuple[Any, ...]:
    """A compile-time half and the parameters that matter to it: all, unless COMPILED_BY names them."""
    parameters = getattr(policy, "COMPILED_BY", policy._fields)
    return (type(policy), *(getattr(policy, name) for name in parameters))  # a file loaded again makes other types


def compile_for(
    module: Kernels,
    kernel: str,
    design: Design,
    machine: Machine,
    threads: int = USUAL_THREADS,
    shared_bytes: int = 0,
) -> Code:
    """The machine code of a kernel under a design: compiled under its register limit, then through its policies' passes.

    ``threads`` of a CTA and its dynamic ``shared_bytes`` are the launch's; a limit of "fit" and passes that reckon with
    the CTAs that fit an SM depend on them.
    """
    with activity(f"compiling kernel {kernel}"):
        return _compile_for(module, kernel, design, machine, threads, shared_bytes)


def _compile_for(module: Kernels, kernel: str, design: Design, machine: Machine, threads: int, shared_bytes: int) -> Code:
    smaller = shrunk(machine, design)
    limit = design.max_registers
    if limit == FIT:
        plain = replace(_compiled(module, kernel, None), threads=threads, dynamic_shared_bytes=shared_bytes)
        limit = _fitting_registers(plain, machine, smaller)
    assert limit is None or isinstance(limit, int)
    code = replace(_compiled(module, kernel, limit), threads=threads, dynamic_shared_bytes=shared_bytes)
    return compile_code(design.policies, code, smaller)


def _compiled(module: Kernels, kernel: str, limit: int | None) -> Code:
    """A kernel's code under a limit of registers: our backend's of PTX, or NVIDIA's."""
    if isinstance(module, Module):
        return compile_kernel(module, kernel, Options(max_registers=limit))
    return module.kernel(kernel, limit)


def shrunk(machine: Machine, design: Design) -> Machine:
    """The machine with the share of its register file that a design asks for: what programs and the compiler see."""
    return _with_share(machine, design.register_file)


def physical(machine: Machine, design: Design) -> Machine:
    """The machine with the registers that are really there: an allocation policy may make do with fewer than programs see."""
    allocation = design.policies.allocation
    share = allocation.physical_share() if hasattr(allocation, "physical_share") else 1.0
    return _with_share(machine, design.register_file * share)


def _with_share(machine: Machine, share: float) -> Machine:
    if share == 1:
        return machine
    rf = machine.register_file
    # Whole subarrays of every bank, so that gating keeps its shape.
    step = rf.subarrays_per_bank
    entries = max(step, int(rf.entries_per_bank * share) // step * step)
    registers = rf.banks * entries * rf.entry_bytes // 4
    smaller = replace(
        machine,
        sm=replace(
            machine.sm,
            registers_per_sm=registers,
            max_registers_per_thread=min(machine.sm.max_registers_per_thread, registers // 32),
        ),
        register_file=replace(rf, entries_per_bank=entries),
    )
    check_machine(smaller)
    return smaller


def default_technology(machine: Machine) -> str:
    """The energy table of a machine's own paper, or the common one."""
    return machine.name if machine.name in technology_names() else COMMON_TECHNOLOGY


def describe_workload(name: str, size: str, machine: Machine | str) -> dict[str, Any]:
    """A workload's row in the list: what it is, its launch, and what its execution counts."""
    workload = load_workload(name)
    chip = load_machine(machine) if isinstance(machine, str) else machine
    execution = execute(workload_program(name), make_design("baseline"), chip, size, Executions())
    row = profile([(launch.code, trace) for launch, trace in execution.traced()])
    main, trace = next(pair for pair in execution.traced() if pair[0].code.name == row["kernel"])
    return {
        "name": workload.name,
        "title": workload.title,
        "sets": sets_of(workload.name),
        "size": size,
        "verified": execution.verified,
        **row,
        "ctas_per_sm": occupancy(main.code, chip, baseline_policies().allocation, trace.warps_per_cta).ctas,
        "published": published_rows(workload.name),
    }


def _fitting_registers(plain: Code, whole: Machine, smaller: Machine) -> int:
    """The largest register limit with which the smaller file holds as many CTAs as the whole one holds without a limit."""
    warps = -(-plain.threads // WARP)
    wanted = occupancy(plain, whole, baseline_policies().allocation, warps).ctas
    for limit in range(plain.registers, FEWEST_REGISTERS, -1):
        if warps * rounded(limit, smaller) * wanted <= smaller.warp_registers:
            return limit
    return FEWEST_REGISTERS


def _program(program: Program | Workload | str) -> Program:
    if isinstance(program, Program):
        return program
    return program_named(program if isinstance(program, str) else program.name)
