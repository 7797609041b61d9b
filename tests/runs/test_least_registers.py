"""``max_registers=least``: as few registers as need no spill."""

from __future__ import annotations

import pytest

from warploom.designs import parse_design
from warploom.errors import WarploomError
from warploom.machines import load_machine
from warploom.ptx import parse
from warploom.simulation.compilation import compile_for
from warploom.workloads.registry import workload_ptx

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
