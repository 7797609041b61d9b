"""Hand-made and random kernels for designs that rename registers, and how to run them on one checked SM."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from support.timing_kernels import Kernel, barrier, exit_, fma, load, op, store
from warploom.chip.machines import Machine, load_machine
from warploom.chip.result import TimingResult
from warploom.chip.simulate import Simulation
from warploom.chip.sm import compile_code
from warploom.compiler.code.instruction import Code
from warploom.designs import Design, parse_design
from warploom.runs.compilation import physical, shrunk

ONE_SM = load_machine("rfv").scaled(1)


def mov(dst: int) -> Any:
    return op("mov", dst, type="u32")


def compiled(kernel: Kernel, design: Design, machine: Machine = ONE_SM) -> tuple[Code, Kernel]:
    """The kernel's code as the design compiles it, and the kernel with that code."""
    code = replace(kernel.code(), threads=32 * kernel.warps_per_cta)
    code = compile_code(design.policies, code, shrunk(machine, design))
    blocks = [block.instructions for block in code.blocks]
    return code, replace(kernel, blocks=blocks, registers=code.registers)


def launch(code: Code, trace: Any, design: Design, machine: Machine = ONE_SM, *, naive: bool = False) -> TimingResult:
    """Run code that already is as it shall be."""
    architected = shrunk(machine, design)
    simulation = Simulation(design.policies, physical(machine, design), check=True, naive=naive, architected=architected)
    simulation.launch(code, trace)
    return simulation.result()


def run(kernel: Kernel, text: str, *, naive: bool = False) -> dict[str, Any]:
    """Compile a kernel under a design, run it checked, and return the counters with the cycles among them."""
    design = parse_design(text)
    code, made = compiled(kernel, design)
    result = launch(code, made.trace(), design, naive=naive)
    return {**result.counters, "cycles": result.cycles}


def random_kernel(seed: int, registers: int, length: int, warps: int, ctas: int) -> Kernel:
    """Arithmetic, loads, stores and barriers on random registers; at the end everything is stored."""
    chance = random.Random(seed)
    body: list[Any] = []
    live: list[int] = []
    for _ in range(length):
        what, dst = chance.random(), chance.randrange(registers)
        if what < 0.05:
            body.append(barrier())
            continue
        if len(live) < registers // 2 or what < 0.2:
            body.append(mov(dst))
        elif what < 0.35:
            body.append(load(dst, chance.choice(live)))
        elif what < 0.4:
            body.append(store(chance.choice(live), chance.choice(live)))
            continue
        else:
            body.append(fma(dst, *(chance.choice(live) for _ in range(3))))
        if dst not in live:
            live.append(dst)
    body += [store(register, register) for register in live]
    return Kernel([[*body, exit_()]], registers, warps_per_cta=warps, ctas=ctas)
