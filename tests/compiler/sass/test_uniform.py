"""Machine code on machines without uniform registers: their values become registers of threads, and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from support.executed import executed
from warploom.chip.machines import Machine, load_machine
from warploom.compiler.code.classes import op_class
from warploom.compiler.code.instruction import Bank, Code, Instruction
from warploom.compiler.code.table import static_table
from warploom.compiler.sass.module import SassModule, from_cuda
from warploom.compiler.sass.uniform import as_registers_of_threads, names_uniform_registers
from warploom.designs import parse_design
from warploom.emulator.shape import LaunchShape
from warploom.emulator.trace.format import BIN_SHIFT
from warploom.programs.device import Device
from warploom.programs.program import workload_program
from warploom.runs.compilation import compile_for, compile_key
from warploom.runs.execution import Executions
from warploom.runs.simulate import simulate

WITH = ("hopper", "ampere", "ada", "ampere-collectors")
WITHOUT = ("gtx480", "gpgpusim-gtx480", "rfc", "warped-rf", "compression", "rfv", "regmutex", "ltrf-large", "bow-free")
# Pairs and many values; votes in divergent code; loops under barriers; uniform predicates; early exits.
WORKLOADS = ("hotspot", "bfs-queue", "lps", "mri-q", "pathfinder")
DESIGNS = {
    "baseline": "gtx480",
    "rfc": "rfc",
    "warped-rf": "warped-rf",
    "compression": "compression",
    "rfv": "rfv",
    "regmutex": "regmutex",
}
QUICK = {("bfs-queue", "rfv"), ("hotspot", "baseline"), ("pathfinder", "compression")}
UNIFORM_WORDS = {Bank.U: 1, Bank.UD: 2, Bank.UQ: 4}


def having(machine: Machine, uniform_registers: int) -> Machine:
    """The same machine with or without uniform registers."""
    return replace(machine, sm=replace(machine.sm, uniform_registers=uniform_registers))


def code_of(name: str, kernel: str, machine: str, design: str = "baseline", architecture: str = "sm_75") -> Code:
    return compile_for(workload_program(name, architecture).module(), kernel, parse_design(design), load_machine(machine))


def uniform_reads(instruction: Instruction) -> int:
    return sum(UNIFORM_WORDS.get(register.bank, 0) for register in instruction.reads)


def uniform_writes(instruction: Instruction) -> int:
    return sum(UNIFORM_WORDS.get(register.bank, 0) for register in instruction.dsts)


def test_machines_say_what_they_have() -> None:
    assert all(load_machine(name).sm.uniform_registers == 63 for name in WITH)
    assert all(load_machine(name).sm.uniform_registers == 0 for name in WITHOUT)


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_the_same_instructions_on_registers_of_threads(name: str, architecture: str) -> None:
    module = workload_program(name, architecture).module()
    assert isinstance(module, SassModule)
    assert any(names_uniform_registers(module.kernel(kernel)) for kernel in module.kernels)
    for kernel in module.kernels:
        own = module.kernel(kernel)
        code = as_registers_of_threads(own)
        assert not names_uniform_registers(code)
        assert not any(i.op.name in ("UIADD3", "ULDC", "VOTEU") for i in code.instructions())
        for before, after in zip(own.instructions(), code.instructions(), strict=True):
            assert op_class(before.op) == op_class(after.op) and before.op.modifiers == after.op.modifiers
            assert (before.target, before.targets, before.address) == (after.target, after.targets, after.address)
            assert sum(len(r.words) for r in after.reads) == sum(len(r.words) for r in before.reads) + uniform_reads(before)
            assert sum(len(r.words) for r in after.dsts) == sum(len(r.words) for r in before.dsts) + uniform_writes(before)
            for register in (*after.reads, *after.dsts):
                assert all(word < code.registers for word in register.words)
                assert register.number % max(1, len(register.words)) == 0


@pytest.mark.parametrize("machine", WITH)
def test_code_is_the_compilers_own_where_the_machine_has_them(machine: str) -> None:
    module = workload_program("hotspot", "sm_90").module()
    own = module.kernel("hotspot")  # type: ignore[union-attr]
    made = code_of("hotspot", "hotspot", machine, architecture="sm_90")
    assert list(made.instructions()) == list(own.instructions()) and made.registers == own.registers
    assert names_uniform_registers(made)


def test_code_that_names_none_is_left_alone() -> None:
    own = workload_program("vectoradd", "sm_75").module().kernel("vectoradd")  # type: ignore[union-attr]
    assert as_registers_of_threads(own) is own
    chip, executions = load_machine("gtx480").scaled(1), Executions()
    runs = [
        simulate(workload_program("vectoradd", "sm_75"), "baseline", having(chip, number), size="tiny", executions=executions)
        for number in (0, 63)
    ]
    assert runs[0].cycles == runs[1].cycles and runs[0].counters == runs[1].counters


def test_machines_with_and_without_do_not_share_an_execution() -> None:
    chip, point = load_machine("gtx480"), parse_design("baseline")
    assert compile_key(point, having(chip, 0)) != compile_key(point, having(chip, 63))
    assert compile_key(point, having(chip, 62)) == compile_key(point, having(chip, 63))


def test_each_read_and_write_of_them_is_counted() -> None:
    """What the register file is asked for more is what the program asks of uniform registers."""
    chip, executions, program = load_machine("gtx480").scaled(1), Executions(), workload_program("hotspot", "sm_75")
    free, counted = (
        simulate(program, "baseline", having(chip, number), size="tiny", executions=executions) for number in (63, 0)
    )
    with_them, without = executions.made.values()
    reads = writes = 0
    for launch, trace in with_them.traced():
        executed = np.bincount(np.asarray(trace.pc), minlength=len(launch.code))
        for times, instruction in zip(executed, launch.code.instructions(), strict=True):
            reads += int(times) * uniform_reads(instruction)
            writes += int(times) * uniform_writes(instruction)
    assert reads > 0 and writes > 0
    assert counted.counters["rf_reads"] == free.counters["rf_reads"] + reads
    assert counted.counters["rf_writes"] == free.counters["rf_writes"] + writes
    assert counted.counters["warp_instructions"] == free.counters["warp_instructions"]
    _values_are_equal_in_all_lanes(without)


def _values_are_equal_in_all_lanes(execution: object) -> None:
    """The trace shows results of the uniform datapath that all lanes write as registers whose lanes are equal."""
    seen = 0
    own = workload_program("hotspot", "sm_75").module()
    for launch, trace in execution.traced():  # type: ignore[attr-defined]
        table, instructions = static_table(launch.code), list(own.kernel(launch.code.name).instructions())  # type: ignore[union-attr]
        at = 0
        for pc, mask in zip(np.asarray(trace.pc), np.asarray(trace.mask), strict=True):
            written = int(table[pc]["n_writes"])
            if instructions[pc].op.name.startswith("U") and mask == 0xFFFFFFFF:
                assert all(int(value) >> BIN_SHIFT & 3 == 0 for value in trace.value[at : at + written])
                seen += written
            at += written
    assert seen > 0


@pytest.mark.parametrize(
    ("name", "point"),
    [
        pytest.param(name, point, marks=[] if (name, point) in QUICK else pytest.mark.slow)
        for name in WORKLOADS
        for point in DESIGNS
    ],
)
def test_results_stay_right_and_the_checker_agrees(name: str, point: str) -> None:
    machine = load_machine(DESIGNS[point]).scaled(1)
    result = simulate(workload_program(name, "sm_75"), point, machine, size="tiny", check=True)
    assert result.verified and result.checked


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
@pytest.mark.parametrize("name", ["heartwall", "particlefilter", "radixsort", "tpacf", "hotspot3d", "bfs", "sad", "ssao", "mum"])
def test_more_programs_give_their_results(name: str, architecture: str) -> None:
    point, chip = parse_design("baseline"), load_machine("gtx480").scaled(1)
    assert executed(workload_program(name, architecture), point, chip, "tiny", check=True).verified


def test_a_limit_of_registers_holds_for_both_together() -> None:
    own = workload_program("dwt2d", "sm_75").module().kernel("dwt97", 32)  # type: ignore[union-attr]
    assert own.registers <= 32 < as_registers_of_threads(own).registers
    limited = code_of("dwt2d", "dwt97", "rfc", "max_registers=32")
    assert limited.registers <= 32 and limited.local_bytes > own.local_bytes


def _changed(module: SassModule, change: Callable[[Code], Code], kernel: str, _shape: LaunchShape) -> Code:
    return change(module.kernel(kernel))


def test_uniform_values_of_diverged_lanes_are_their_own() -> None:
    """Lanes that vote apart each keep their own answer, in the register that the others write too."""
    source = """
    extern "C" __global__ void k(unsigned *out) {
        unsigned lane = threadIdx.x, mask = 0;
        if (lane % 3 == 0) { mask = __activemask(); out[lane] = mask + __popc(mask); }
        else if (lane % 3 == 1) { mask = __activemask(); out[lane] = mask - __ffs(mask); }
        else out[lane] = __activemask();
    }"""
    answers = []
    for change in (lambda code: code, as_registers_of_threads):
        module = from_cuda(source, "votes.cu", "sm_75")
        assert names_uniform_registers(module.kernel("k"))
        device = Device(partial(_changed, module, change), record=None)
        out = device.array(np.zeros(32, np.uint32))
        device.launch("k", (1,), (32,), out)
        answers.append(out.get())
    assert np.array_equal(answers[0], answers[1])
    assert len(set(answers[0])) == 3
