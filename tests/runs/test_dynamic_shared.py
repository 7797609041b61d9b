"""A launch's dynamic shared memory decides how many CTAs fit an SM, and so what the compiler makes of the kernel."""

from __future__ import annotations

import numpy as np

from support.executed import traced
from warploom.chip.machines import load_machine
from warploom.compiler.code.instruction import Code
from warploom.compiler.ptx import parse
from warploom.designs import parse_design
from warploom.emulator.shape import LaunchShape
from warploom.papers.regmutex.base_set import base_registers
from warploom.papers.rfv.lifetimes import exempt_registers
from warploom.programs.device import Device
from warploom.programs.program import Program
from warploom.programs.source import Source
from warploom.programs.workloads.workload import Arrays, Gpu
from warploom.runs.compilation import compile_for
from warploom.runs.execution import Executions

VALUES = 40  # live at once
MACHINE = load_machine("gtx480")  # 32768 registers and 48 KB of shared memory in an SM
MUCH = 40_000  # bytes: one CTA fits an SM


def _ptx() -> str:
    loads = [f"ld.global.u32 v{n}, [at+{4 * n}];" for n in range(VALUES)]
    sums = [f"mad.lo.u32 v0, v0, v{n}, v{VALUES - n};" for n in range(1, VALUES)]
    body = "\n".join(
        [
            f".reg .b32 t, w, v<{VALUES}>; .reg .b64 p, at;",
            "ld.param.u64 p, [a]; cvta.to.global.u64 p, p; mov.u32 t, %tid.x; mul.wide.u32 at, t, 4; add.s64 at, p, at;",
            *loads,
            *sums,
            "mov.u32 w, s; st.global.u32 [at], v0; ret;",
        ]
    )
    head = ".version 9.0\n.target sm_75\n.address_size 64\n.extern .shared .align 4 .b8 s[];\n"
    return f"{head}.visible .entry k(.param .u64 a)\n{{\n{body}\n}}\n"


def _program(*dynamic_bytes: int) -> Program:
    """Launches one kernel once with each amount of dynamic shared memory."""

    def host(gpu: Gpu, arrays: Arrays) -> Arrays:
        buffer = gpu.array(arrays["a"])
        for amount in dynamic_bytes:
            gpu.launch("k", (2,), (256,), buffer, shared_bytes=amount)
        return {"a": buffer.get()}

    return Program(
        "dynamic", Source.of_text(_ptx(), "dynamic.ptx"), lambda _size: {"a": np.zeros(512, np.uint32)}, host, sized=False
    )


def _codes(design: str, *dynamic_bytes: int) -> list[Code]:
    made = traced(_program(*dynamic_bytes), parse_design(design), MACHINE, "tiny", Executions())
    return [launch.code for launch in made.launches]


def test_a_fitting_register_limit_reckons_with_it() -> None:
    plain = compile_for(parse(_ptx(), "dynamic.ptx"), "k", parse_design("baseline"), MACHINE)
    little, much = _codes("baseline + register_file=0.5 + max_registers=fit", 0, MUCH)
    assert plain.registers > VALUES
    assert little.registers < plain.registers and little.spill_loads > 0  # three CTAs must fit half a register file
    assert much.registers == plain.registers and much.spill_loads == 0  # shared memory lets only one in: it has room


def test_renaming_reckons_with_it() -> None:
    """With fewer warps resident, each has more entries of the renaming table."""
    little, much = _codes("rfv(table_bytes=256)", 0, MUCH)
    assert exempt_registers(little) > exempt_registers(much)


def test_sharing_reckons_with_it() -> None:
    """Where shared memory lets no more CTAs in, there is nothing to gain from sharing registers."""
    little, much = _codes("regmutex", 0, MUCH)
    assert 0 < base_registers(little) < little.registers
    assert base_registers(much) == 0


def test_launches_of_one_kernel_share_code_only_where_it_is_the_same() -> None:
    first, other, again = _codes("rfv", 0, MUCH, 0)
    assert again is first and other is not first
    assert (first.dynamic_shared_bytes, other.dynamic_shared_bytes) == (0, MUCH)


def test_a_device_without_a_design_notes_it_too() -> None:
    gpu = Device(_ptx(), record=None)
    assert (
        gpu.code("k", LaunchShape((1, 1, 1), (128, 1, 1), 64)).dynamic_shared_bytes == 64
        and gpu.code("k").dynamic_shared_bytes == 0
    )


def test_executions_that_are_kept_are_of_one_program_each() -> None:
    kept, design = Executions(), parse_design("baseline")
    once, twice = _program(0), _program(0, MUCH)
    made = [traced(program, design, MACHINE, "tiny", kept) for program in (once, twice, once)]
    assert [len(execution.launches) for execution in made] == [1, 2, 1]
    assert made[0] is made[2]
