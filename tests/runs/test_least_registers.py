"""``max_registers=least``: as few registers as need no spill."""

from __future__ import annotations

import pytest

from warploom.base.errors import WarploomError
from warploom.chip.machines import load_machine
from warploom.compiler.ptx import parse
from warploom.designs import parse_design
from warploom.programs.workloads.registry import workload_ptx
from warploom.runs.compilation import compile_for

KERNELS = [("matrixmul", "matrixmul"), ("reduction", "reduction"), ("neuralnet", "convolution2"), ("hotspot", "hotspot")]


@pytest.mark.parametrize(("workload", "kernel"), KERNELS)
def test_one_register_less_would_spill(workload: str, kernel: str) -> None:
    module, machine = parse(workload_ptx(workload), workload), load_machine("rfv")
    plain, least = (compile_for(module, kernel, parse_design(text), machine) for text in ("baseline", "max_registers=least"))
    assert least.registers <= plain.registers
    assert least.local_bytes == plain.local_bytes == 0
    try:
        fewer = compile_for(module, kernel, parse_design(f"max_registers={least.registers - 1}"), machine)
    except WarploomError:
        return  # some instruction needs them all
    assert fewer.local_bytes > 0


def test_the_compiler_spends_registers_that_it_could_do_without() -> None:
    module, machine = parse(workload_ptx("reduction"), "reduction"), load_machine("rfv")
    spent, least = (compile_for(module, "reduction", parse_design(text), machine) for text in ("baseline", "max_registers=least"))
    assert least.registers < spent.registers


def test_a_kernel_has_no_more_registers_than_the_machine_can_name() -> None:
    """Seventy values are live at once: a GTX480's threads have 63 registers, a Hopper's 255."""
    loads = "\n".join(f"ld.global.u32 %r{n}, [%rd1+{4 * n}];" for n in range(70))
    stores = "\n".join(f"st.global.u32 [%rd1+{4 * n}], %r{n};" for n in reversed(range(70)))
    text = f"""
        .version 7.0
        .target sm_75
        .address_size 64
        .visible .entry wide(.param .u64 out) {{
            .reg .b32 %r<70>;
            .reg .b64 %rd<2>;
            ld.param.u64 %rd1, [out];
            {loads}
            bar.sync 0;
            {stores}
            ret;
        }}
    """
    fermi, hopper = (
        compile_for(parse(text, "wide.ptx"), "wide", parse_design("baseline"), load_machine(name))
        for name in ("gtx480", "hopper")
    )
    assert hopper.registers >= 70
    assert fermi.registers == load_machine("gtx480").sm.max_registers_per_thread == 63
