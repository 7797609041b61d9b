"""From a kernel and a launch to the code that a design runs: under its register limit, then through its policies' passes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.progress import activity
from warploom.chip.machines import Machine
from warploom.chip.machines.loader import check as check_machine
from warploom.chip.sm import baseline_policies, compile_code
from warploom.chip.sm.occupancy import occupancy, rounded
from warploom.compiler.backend import Options, compile_kernel
from warploom.compiler.code.instruction import Code
from warploom.compiler.ptx.module import Module
from warploom.compiler.sass.settling import settle
from warploom.compiler.sass.uniform import as_registers_of_threads
from warploom.designs import FIT, LEAST, Design
from warploom.emulator.shape import USUAL_SHAPE, LaunchShape
from warploom.programs.program import CompiledKernels, Kernels

FEWEST_REGISTERS = 8  # that the compiler is asked to make do with when it must fit a smaller file
MOST_REGISTERS = 255  # of a thread that an instruction of SASS can name


def compile_for(module: Kernels, kernel: str, design: Design, machine: Machine, shape: LaunchShape = USUAL_SHAPE) -> Code:
    """The machine code of a kernel under a design, for launches of a shape.

    A limit of "fit" and passes that reckon with the CTAs that fit an SM depend on the shape.
    """
    with activity(f"compiling kernel {kernel}"):
        smaller = shrunk(machine, design)
        limit = design.max_registers
        if limit == FIT:
            limit = _fitting_registers(_for_shape(_compiled(module, kernel, None, machine), shape), machine, smaller)
        elif limit == LEAST:
            limit = _least_registers(module, kernel, machine)
        assert limit is None or isinstance(limit, int)
        plain = _for_shape(_compiled(module, kernel, limit, machine), shape)
        compiled = compile_code(design.policies, plain, smaller)
        return compiled if compiled is plain else settle(compiled)


def _compiled(module: Kernels, kernel: str, limit: int | None, machine: Machine) -> Code:
    """A kernel's code under a limit of registers and the machine's own, of which NVIDIA's compiler and ours know nothing."""
    code, most = _compiled_within(module, kernel, limit, machine), machine.sm.max_registers_per_thread
    if code.registers <= most or code.literal:
        return code
    try:
        return _compiled_within(module, kernel, most, machine)
    except WarploomError:  # machine code without its source runs as it is
        return code


def _compiled_within(module: Kernels, kernel: str, limit: int | None, machine: Machine) -> Code:
    """A kernel's code under a limit of registers: our backend's of PTX, or NVIDIA's."""
    if isinstance(module, Module):
        return compile_kernel(module, kernel, Options(max_registers=limit))
    return module.kernel(kernel, limit) if machine.sm.uniform_registers else _without_uniform_registers(module, kernel, limit)


def _without_uniform_registers(module: CompiledKernels, kernel: str, limit: int | None) -> Code:
    """NVIDIA's code for a machine where uniform values are in registers of threads.

    NVIDIA's compiler knows of no such machine. Where its registers and those that uniform values need beside them are more than
    the limit, it is asked to make do with fewer of its own until both fit, or until it cannot; what it then spills is its choice.
    """
    most = MOST_REGISTERS if limit is None else limit
    own = module.kernel(kernel, limit)
    code = as_registers_of_threads(own)
    while code is not own and code.registers > most and own.registers > FEWEST_REGISTERS:
        too_many = code.registers - most
        fewer = _with_fewer(module, kernel, max(FEWEST_REGISTERS, own.registers - too_many), code.registers)
        if fewer.registers >= own.registers:
            break
        own, code = fewer, as_registers_of_threads(fewer)
    return code


def _with_fewer(module: CompiledKernels, kernel: str, limit: int, needed: int) -> Code:
    try:
        return module.kernel(kernel, limit)
    except WarploomError as problem:
        raise WarploomError(
            f"{problem} On a machine without uniform registers, kernel {kernel} needs {needed} registers per thread as it is."
        ) from None


def _for_shape(code: Code, shape: LaunchShape) -> Code:
    return replace(code, threads=shape.threads, dynamic_shared_bytes=shape.dynamic_shared_bytes)


def _fitting_registers(plain: Code, whole: Machine, smaller: Machine) -> int:
    """The largest register limit with which the smaller file holds as many CTAs as the whole one holds without a limit."""
    warps = -(-plain.threads // 32)
    wanted = occupancy(plain, whole, baseline_policies().allocation, warps).ctas
    for limit in range(plain.registers, FEWEST_REGISTERS, -1):
        if warps * rounded(limit, smaller) * wanted <= smaller.warp_registers:
            return limit
    return FEWEST_REGISTERS


def _least_registers(module: Kernels, kernel: str, machine: Machine) -> int | None:
    """The lowest register limit that makes the compiler spill no more than without one; None where none saves a register."""
    plain = _compiled(module, kernel, None, machine)
    least, limit = plain.registers, None
    while least > 1:
        try:
            fewer = _compiled(module, kernel, least - 1, machine)
        except WarploomError:  # some instruction needs more
            break
        if fewer.local_bytes > plain.local_bytes or fewer.registers >= least:
            break
        limit, least = least - 1, fewer.registers
    return limit


def compile_key(design: Design, machine: Machine) -> tuple[Any, ...]:
    """What decides the code of a program: designs with equal keys run the same code."""
    passes = tuple(_pass_key(policy) for policy in design.policies if hasattr(policy, "compile"))
    share = design.register_file if passes or design.max_registers == FIT else 1.0
    sm = machine.sm if passes or design.max_registers == FIT else None
    return (passes, design.max_registers, share, sm, machine.sm.uniform_registers > 0)


def _pass_key(policy: Any) -> tuple[Any, ...]:
    """A compile-time half and the parameters that matter to it: all, unless COMPILED_BY names them."""
    parameters = getattr(policy, "COMPILED_BY", policy._fields)
    return (type(policy), *(getattr(policy, name) for name in parameters))  # a file loaded again makes other types


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
