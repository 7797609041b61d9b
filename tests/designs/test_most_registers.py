"""What is compiled for a machine names no more registers than its instructions can."""

from __future__ import annotations

import pytest

from warploom.backend import Options, compile_kernel
from warploom.designs import parse_design
from warploom.machines import load_machine
from warploom.programs.named import program_named
from warploom.ptx import parse
from warploom.sass.module import from_cubin, from_ptx
from warploom.simulation.compilation import compile_for, compile_key
from warploom.workloads.registry import workload_ptx

BASELINE = parse_design("baseline")
FERMI, AMPERE = load_machine("gtx480"), load_machine("ampere-collectors")
VALUES = 80  # live at once


def _many_values() -> str:
    loads = [f"ld.global.u32 v{n}, [p+{4 * n}];" for n in range(VALUES)]
    stores = [f"st.global.u32 [p+{4 * n}], v{VALUES - 1 - n};" for n in range(VALUES)]
    body = "\n".join([f".reg .b32 v<{VALUES}>; .reg .b64 p;", "ld.param.u64 p, [a];", *loads, "bar.sync 0;", *stores, "ret;"])
    return f".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 a)\n{{\n{body}\n}}\n"


def test_our_backend_spills_what_is_too_much_for_fermi() -> None:
    module = parse(_many_values(), "many.ptx")
    assert compile_for(module, "k", BASELINE, AMPERE).registers >= VALUES
    code = compile_for(module, "k", BASELINE, FERMI)
    assert code.registers <= FERMI.sm.max_registers_per_thread == 63 and code.spill_loads > 0


def test_a_larger_limit_of_the_design_does_not_lift_it() -> None:
    code = compile_for(parse(_many_values(), "many.ptx"), "k", parse_design("max_registers=100"), FERMI)
    assert code.registers <= 63


def test_nvidias_compiler_is_held_to_it_too() -> None:
    module = program_named("dwt2d", "sm_75").module()
    assert compile_for(module, "dwt97", BASELINE, AMPERE).registers > 63
    assert compile_for(module, "dwt97", BASELINE, load_machine("regmutex")).registers <= 63


def test_a_cubin_stays_what_it_is() -> None:
    made = from_ptx(workload_ptx("dwt2d"), "dwt2d", "sm_75")
    given = from_cubin(made.make(None), "dwt2d.cubin")
    assert compile_for(given, "dwt97", BASELINE, FERMI).registers > 63


@pytest.mark.parametrize("workload", ["matrixmul", "dwt2d"])
def test_code_that_needs_fewer_is_as_without_the_limit(workload: str) -> None:
    module = parse(workload_ptx(workload), workload)
    for kernel in module.kernels:
        plain, code = compile_kernel(module, kernel, Options()), compile_for(module, kernel, BASELINE, FERMI)
        assert [str(one) for one in code.instructions()] == [str(one) for one in plain.instructions()]


def test_machines_with_different_limits_do_not_share_executions() -> None:
    assert compile_key(BASELINE, FERMI) != compile_key(BASELINE, AMPERE)
