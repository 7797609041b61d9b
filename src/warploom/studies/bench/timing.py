"""How fast the timing core is (whole chip with caches and DRAM, one core of the host, after warm-up) and how long it compiles."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields
from importlib import resources
from multiprocessing import get_context
from typing import Any

import numpy as np

from warploom.chip.machines import load_machine
from warploom.chip.run_chip import reset_chip, run_chip
from warploom.chip.simulate import Simulation, time_launches
from warploom.chip.sm import Policies, baseline_policies, make_policy
from warploom.compiler.code.instruction import Code
from warploom.emulator.trace.format import Trace
from warploom.emulator.trace.store import TraceStore
from warploom.jit import specialised_anew
from warploom.programs.device import Device

REPEATS = 3
VECTOR = 1 << 18
MATRIX, TILE = 256, 16

_HEAD = """
.version 7.5
.target sm_35
.address_size 64
.visible .entry {name}(.param .u64 a, .param .u64 out, .param .u32 limit)
{{
    .reg .pred %p<4>;
    .reg .b32 %r<16>;
    .reg .f32 %f<8>;
    .reg .b64 %d<8>;
    ld.param.u64 %d1, [a];
    ld.param.u64 %d2, [out];
    ld.param.u32 %r9, [limit];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    mov.u32 %r5, %r4;
    mov.u32 %r6, 0;
    mov.f32 %f1, 0f00000000;
"""
_TAIL = """
    mul.wide.u32 %d6, %r4, 4;
    add.s64 %d7, %d2, %d6;
    st.global.f32 [%d7], %f1;
    ret;
}
"""
# Eight loads per warp of lines from anywhere in the array: almost every one misses the first-level cache.
GATHER = (
    _HEAD.format(name="gather")
    + """
    and.b32 %r10, %r4, 31;
    shr.u32 %r5, %r4, 5;
next:
    mad.lo.s32 %r5, %r5, 1664525, 1013904223;
    shr.u32 %r7, %r5, 3;
    and.b32 %r8, %r7, %r9;
    and.b32 %r8, %r8, 1048544;
    or.b32 %r8, %r8, %r10;
    mul.wide.u32 %d4, %r8, 4;
    add.s64 %d5, %d1, %d4;
    ld.global.f32 %f2, [%d5];
    add.f32 %f1, %f1, %f2;
    add.s32 %r6, %r6, 1;
    setp.lt.s32 %p1, %r6, 8;
    @%p1 bra next;
"""
    + _TAIL
)
# Lanes go two ways in every turn, and leave the loop after different numbers of turns.
DIVERGENT = (
    _HEAD.format(name="divergent")
    + """
next:
    mad.lo.s32 %r5, %r5, 1664525, 1013904223;
    and.b32 %r7, %r5, 65536;
    setp.eq.s32 %p1, %r7, 0;
    @%p1 bra even;
    fma.rn.f32 %f1, %f1, 0f3F000000, 0f3F800000;
    fma.rn.f32 %f1, %f1, 0f3F000000, 0f3F800000;
    fma.rn.f32 %f1, %f1, 0f3F000000, 0f3F800000;
    bra join;
even:
    add.f32 %f1, %f1, 0f3F800000;
    mul.f32 %f1, %f1, 0f3F000000;
join:
    add.s32 %r6, %r6, 1;
    shr.u32 %r8, %r5, 16;
    and.b32 %r8, %r8, %r9;
    setp.lt.s32 %p2, %r6, %r8;
    @%p2 bra next;
"""
    + _TAIL
)

Traced = tuple[Code, Trace]


def _workload(name: str) -> str:
    return (resources.files("warploom.programs.workloads") / name / "kernel.ptx").read_text()


def _vectoradd(device: Device) -> None:
    a, b = (np.arange(VECTOR, dtype=np.float32) for _ in range(2))
    out = device.array(np.zeros(VECTOR, np.float32))
    device.launch("vectoradd", (VECTOR // 256,), (256,), device.array(a), device.array(b), out, np.int32(VECTOR))


def _matrixmul(device: Device) -> None:
    a, b = (np.random.default_rng(1).uniform(-1, 1, (MATRIX, MATRIX)).astype(np.float32) for _ in range(2))
    c = device.array(np.zeros((MATRIX, MATRIX), np.float32))
    arguments = (device.array(a), device.array(b), c, np.int32(MATRIX), np.int32(MATRIX))
    device.launch("matrixmul", (MATRIX // TILE, MATRIX // TILE), (TILE, TILE), *arguments)


def _one_array(kernel: str, limit: int, ctas: int) -> Callable[[Device], None]:
    def launch(device: Device) -> None:
        a = device.array(np.zeros(1 << 20, np.float32))
        out = device.array(np.zeros(ctas * 256, np.float32))
        device.launch(kernel, (ctas,), (256,), a, out, np.uint32(limit))

    return launch


def bench_cases() -> dict[str, tuple[Traced, Policies]]:
    """The cases: a traced launch and the design that it is timed under."""
    baseline = baseline_policies()
    two_level = baseline._replace(scheduler=make_policy("scheduler", "two-level", active=16))
    gather, divergent = _one_array("gather", (1 << 20) - 1, 120), _one_array("divergent", 63, 180)
    launches = {
        "vector add 256k": _trace(_workload("vectoradd"), _vectoradd),
        "tiled matrix product 256": _trace(_workload("matrixmul"), _matrixmul),
        "divergent": _trace(DIVERGENT, divergent),
        "memory-bound gather": _trace(GATHER, gather),
    }
    cases = {name: (launch, baseline) for name, launch in launches.items()}
    for name in ("tiled matrix product 256", "memory-bound gather"):
        cases[f"{name}, two-level"] = (launches[name], two_level)
    return cases


def _trace(ptx: str, launch: Callable[[Device], None]) -> Traced:
    with tempfile.TemporaryDirectory() as folder:
        device = Device(ptx, record=TraceStore(folder))
        launch(device)
        record = device.launches[0]
        assert record.trace is not None
        return record.code, _in_memory(record.trace)


def _in_memory(trace: Trace) -> Trace:
    """A copy that outlives its files."""
    columns: dict[str, Any] = {}
    for field in fields(trace):
        value = getattr(trace, field.name)
        columns[field.name] = np.array(value) if isinstance(value, np.ndarray) else value
    return Trace(**columns)


def bench_timing(designs: dict[str, Policies] | None = None) -> dict[str, dict[str, float]]:
    """Warp instructions and chip cycles per second of processor time; the best of a few runs after warm-up."""
    machine = load_machine("gtx480")
    cases = bench_cases()
    if designs is not None:
        launches = {name: launch for name, (launch, _) in cases.items() if not name.endswith("two-level")}
        cases = {f"{name}, {title}": (launch, design) for title, design in designs.items() for name, launch in launches.items()}
    results = {}
    for name, (launch, design) in cases.items():
        time_launches([launch], design, machine)
        best = None
        for _ in range(REPEATS):
            started = time.process_time()
            result = time_launches([launch], design, machine)
            seconds = time.process_time() - started
            if best is None or seconds < best:
                best = seconds
        assert best is not None
        results[name] = {
            "warp_instructions_per_second": result.warp_instructions / best,
            "cycles_per_second": result.cycles / best,
            "seconds": best,
        }
    return results


def bench_compilation(designs: dict[str, Policies]) -> dict[str, dict[str, float]]:
    """Seconds that a launch under a combination of policies takes when nothing has been compiled for it yet.

    Each is measured in a process of its own. What all combinations share (emulator, memory system) comes from the disk.
    """
    processes = ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1)
    with processes:
        processes.submit(_load_shared_parts).result()  # the first process puts them on the disk
        return {name: {"seconds": processes.submit(_first_launch, design).result()} for name, design in designs.items()}


def _load_shared_parts() -> Traced:
    launch, baseline = bench_cases()["vector add 256k"]
    time_launches([launch], baseline, load_machine("gtx480"))
    return launch


def _first_launch(design: Policies) -> float:
    launch = _load_shared_parts()
    simulation = Simulation(design, load_machine("gtx480"))
    simulation.reset_chip, simulation.run_chip = specialised_anew(reset_chip), specialised_anew(run_chip)
    started = time.perf_counter()
    simulation.launch(*launch)
    return time.perf_counter() - started
