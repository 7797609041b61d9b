"""What the papers rely on in the sorting, stencil, physics, image and shader workloads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warploom.base.library import find_paper
from warploom.compiler.backend import Options, compile_kernel
from warploom.compiler.code.instruction import Code
from warploom.compiler.code.lanes import FULL
from warploom.compiler.code.table import Flag, Space, static_table
from warploom.compiler.ptx import parse
from warploom.emulator.emulator import ExecutedLaunch
from warploom.emulator.trace.store import TraceStore
from warploom.programs.device import Device
from warploom.programs.workloads.registry import load_workload, workload_ptx

SHADERS = ("phong", "parallax", "ssao", "noise", "shadow", "bloom")
REGMUTEX_ROWS = {  # registers and base set of the paper's table
    "bfs-queue": (21, 18),
    "dwt2d": (44, 38),
    "hotspot3d": (32, 24),
    "particlefilter": (32, 20),
    "radixsort": (33, 30),
    "lavamd": (37, 28),
    "mergesort": (15, 12),
    "montecarlo": (13, 12),
    "spmv": (16, 12),
    "srad": (18, 12),
    "tpacf": (28, 20),
}
CATEGORIES = {
    "videoenhance": "video",
    "lavamd": "simulation",
    "nbody": "simulation",
    "imageblur": "image",
    "jpeg": "image",
    "dgemm": "hpc",
    "fft": "hpc",
} | dict.fromkeys(SHADERS, "shader")
NAMES = sorted({*REGMUTEX_ROWS, *CATEGORIES})


@pytest.mark.parametrize("name", NAMES)
def test_inputs_are_the_same_every_time_and_the_reference_leaves_them_alone(name: str) -> None:
    workload = load_workload(name)
    first, second = workload.inputs("tiny"), workload.inputs("tiny")
    workload.reference(first)
    assert first.keys() == second.keys()
    for key, values in first.items():
        assert values.dtype == second[key].dtype
        np.testing.assert_array_equal(values, second[key])


@pytest.mark.parametrize("name", NAMES)
def test_a_reference_is_finite_and_has_something_to_say(name: str) -> None:
    workload = load_workload(name)
    expected = workload.reference(workload.inputs("tiny"))
    assert set(workload.tolerance) <= set(expected)
    for output, values in expected.items():
        assert np.isfinite(values).all()
        relative, absolute = workload.tolerance.get(output, (0.0, 0.0))
        spread = values.max() - values.min()
        assert spread > 5 * (absolute + relative * abs(values).max()), f"a constant could pass for {output}"


class Recorder:
    """A device that executes nothing and remembers what was launched."""

    def __init__(self) -> None:
        self.ctas: list[int] = []
        self.threads = 0

    def array(self, values: np.ndarray) -> Recorder.Contents:
        return self.Contents(values)

    def texture(self, values: np.ndarray, *, linear: bool = False, wrap: bool = False, normalized: bool = False) -> np.ndarray:
        assert normalized or not wrap, "hardware wraps normalised coordinates only"
        return values

    def launch(
        self, kernel: str, grid: tuple[int, ...], block: tuple[int, ...], *arguments: object, shared_bytes: int = 0
    ) -> None:
        self.ctas.append(int(np.prod(grid)))
        self.threads += int(np.prod(grid) * np.prod(block))

    class Contents:
        def __init__(self, values: np.ndarray) -> None:
            self.values = values.copy()

        def get(self) -> np.ndarray:
            return self.values.copy()

        def set(self, values: np.ndarray) -> None:
            self.values = values.copy()


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"bfs-queue"}))  # whose launches depend on what the last one found
def test_small_is_larger_than_tiny_and_occupies_fifteen_sms(name: str) -> None:
    workload = load_workload(name)
    devices = {size: Recorder() for size in ("tiny", "small")}
    for size, device in devices.items():
        workload.host(device, workload.inputs(size))
    assert max(devices["tiny"].ctas) >= 2
    assert max(devices["small"].ctas) >= 15
    assert devices["small"].threads >= 4 * devices["tiny"].threads


@pytest.mark.parametrize(("name", "row"), REGMUTEX_ROWS.items())
def test_rows_of_the_regmutex_table(name: str, row: tuple[int, int]) -> None:
    published = find_paper("regmutex").workloads[name]
    assert (published["registers"], published["base_set"]) == row


@pytest.mark.parametrize(("name", "category"), CATEGORIES.items())
def test_categories_of_the_register_cache_paper(name: str, category: str) -> None:
    assert find_paper("rfc").workloads[name]["category"] == category


@pytest.mark.parametrize("name", NAMES)
def test_shaders_fetch_textures_and_nothing_else_does(name: str) -> None:
    module = parse(workload_ptx(name), name)
    fetches = {
        kernel: sum(instruction.opcode.name == "tex" for instruction in function.body)
        for kernel, function in module.kernels.items()
    }
    if name in SHADERS:
        assert all(fetches.values()), fetches
    else:
        assert not any(fetches.values()), fetches


MAIN_KERNELS = {  # kernel, threads per CTA
    "bfs-queue": ("bfs_queue", 512),
    "dwt2d": ("dwt97", 128),
    "hotspot3d": ("hotspot3d", 256),
    "particlefilter": ("likelihood", 512),
    "radixsort": ("sort_tiles", 256),
    "lavamd": ("lavamd", 128),
    "mergesort": ("sort_tiles", 256),
    "montecarlo": ("montecarlo", 256),
    "spmv": ("spmv_jds", 192),
    "srad": ("diffusion_coefficients", 256),
    "tpacf": ("tpacf", 256),
}
OCCUPANCY_LIMITED = ("dwt2d", "hotspot3d", "particlefilter", "radixsort")  # of the left column of the table


@pytest.fixture(scope="module")
def compiled() -> dict[str, Code]:
    return {
        name: compile_kernel(parse(workload_ptx(name), name), kernel, Options(verify=False))
        for name, (kernel, _) in MAIN_KERNELS.items()
    }


def test_registers_come_near_the_paper_table(compiled: dict[str, Code]) -> None:
    apart = {name: (code.registers, REGMUTEX_ROWS[name][0]) for name, code in compiled.items()}
    near = [name for name, (ours, published) in apart.items() if abs(ours - published) <= 0.25 * published]
    assert len(near) >= 2 / 3 * len(apart), apart


@pytest.mark.parametrize("name", OCCUPANCY_LIMITED)
def test_registers_limit_the_occupancy_of_the_left_column(name: str, compiled: dict[str, Code]) -> None:
    """On a Fermi SM: 32768 registers given out in steps of four a thread, 1536 threads, 8 CTAs, 48 KB of shared memory."""
    code, threads = compiled[name], MAIN_KERNELS[name][1]
    by_registers = 32768 // (threads * (-(-code.registers // 4) * 4))
    otherwise = min(1536 // threads, 8, 48 * 1024 // max(code.shared_bytes, 1))
    assert 1 <= by_registers < otherwise


def launches(name: str, folder: Path) -> list[ExecutedLaunch]:
    """The launches of the tiny size, with their traces."""
    workload = load_workload(name)
    device = Device(workload_ptx(name), file=f"{name}/kernel.ptx", record=TraceStore(folder))
    workload.host(device, workload.inputs("tiny"))
    return device.launches


def masks(records: list[ExecutedLaunch]) -> np.ndarray:
    return np.concatenate([record.trace.mask for record in records if record.trace is not None])


@pytest.mark.parametrize(("name", "share"), [("tpacf", 0.3), ("bfs-queue", 0.5), ("parallax", 0.15)])
def test_lanes_go_different_ways(name: str, share: float, tmp_path: Path) -> None:
    assert (masks(launches(name, tmp_path)) != FULL).mean() > share


@pytest.mark.parametrize("name", ["dgemm", "fft", "nbody", "hotspot3d"])
def test_every_lane_executes_every_instruction(name: str, tmp_path: Path) -> None:
    assert (masks(launches(name, tmp_path)) == FULL).all()


@pytest.mark.parametrize("name", SHADERS)
def test_every_pass_of_a_shader_reads_its_textures(name: str, tmp_path: Path) -> None:
    for record in launches(name, tmp_path):
        trace = record.trace
        assert trace is not None
        fetches = np.flatnonzero(static_table(record.code)["space"] == Space.TEXTURE)
        executed = trace.mask[np.isin(trace.pc, fetches)]
        assert len(executed) >= trace.ctas * trace.warps_per_cta  # every warp at least once


@pytest.mark.parametrize("name", ["tpacf", "bfs-queue", "jpeg"])
def test_threads_meet_in_atomics(name: str, tmp_path: Path) -> None:
    record = max(launches(name, tmp_path), key=lambda record: record.stats.warp_instructions)
    assert record.trace is not None
    atomics = np.flatnonzero(static_table(record.code)["flags"] & int(Flag.ATOMIC))
    assert np.isin(record.trace.pc, atomics).any()
