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
