"""Every workload has every size, and at size ``chip`` its main kernels have a CTA for each of 132 SMs."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

import numpy as np
import pytest

from warploom.programs.program import workload_program
from warploom.programs.workloads.registry import load_workload, workload_names
from warploom.programs.workloads.workload import SIZES, Sizes
from warploom.runs.simulate import emulate

SMS = 132
OWN = {  # CTAs of the kernels that have most of the instructions, in their largest launch; paper has fewer than 132 of one
    "bfs-queue": {"bfs_queue": 1127},
    "heartwall": {"heartwall": 204},
    "lavamd": {"lavamd": 216},
    "lib": {"libor": 192},
    "lps": {"lps": 288},
    "matrixmul": {"matrixmul": 1024},
    "mri-q": {"mri_q": 250},
    "nbody": {"nbody_step": 264},
    "neuralnet": {"convolution2": 13_200, "connected3": 264},
    "nw": {"upper_left": 264, "lower_right": 263},
    "particlefilter": {"likelihood": 270, "normalise": 270, "resample": 270},
    "radixsort": {"sort_tiles": 512, "scatter": 512},
    "reduction": {"reduction": 512},
    "scalarprod": {"scalarprod": 512},
    "streamcluster": {"gains": 384},
    "tpacf": {"tpacf": 265},
}


class Held:
    """An array on a device that executes nothing."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def get(self) -> np.ndarray:
        return self.values.copy()

    def set(self, values: np.ndarray) -> None:
        self.values = values


class Grids:
    """A device that executes nothing and remembers the largest grid of every kernel."""

    def __init__(self) -> None:
        self.ctas: dict[str, int] = {}

    def array(self, values: np.ndarray) -> Held:
        return Held(values.copy())

    def texture(self, values: np.ndarray, **_: bool) -> Held:
        return Held(values)

    def launch(self, kernel: str, grid: tuple[int, ...], block: tuple[int, ...], *_: Any, shared_bytes: int = 0) -> None:
        self.ctas[kernel] = max(self.ctas.get(kernel, 0), prod(grid))


def largest_grids(name: str, size: str) -> dict[str, int]:
    """CTAs of the largest launch of every kernel."""
    if name == "bfs-queue":
        return {"bfs_queue": max(ctas_of_frontiers(size))}
    device = Grids()
    workload = load_workload(name)
    workload.host(device, workload.inputs(size))
    return device.ctas


@cache
def ctas_of_frontiers(size: str) -> list[int]:
    """The launches of bfs-queue, each of which follows from what the one before found: one for every level of the search."""
    workload = load_workload("bfs-queue")
    levels = workload.reference(workload.inputs(size))["level"]
    return [-(-frontier // 512) for frontier in np.bincount(levels[levels >= 0]).tolist()]


def test_chip_is_paper_where_nothing_else_is_said() -> None:
    assert [Sizes(1, 2, 3)[size] for size in SIZES] == [1, 2, 3, 3]
    assert [Sizes(1, 2, 3, 4)[size] for size in SIZES] == [1, 2, 3, 4]


@pytest.mark.parametrize("name", workload_names())
def test_inputs_of_every_size(name: str) -> None:
    workload = load_workload(name)
    made = {size: workload.inputs(size) for size in SIZES}
    assert all(arrays.keys() == made["tiny"].keys() for arrays in made.values())
    same = all(np.array_equal(made["chip"][key], values) for key, values in made["paper"].items())
    assert same == (workload.sizes.chip is None)


def test_what_has_a_size_of_its_own_for_the_chip() -> None:
    assert {name for name in workload_names() if load_workload(name).sizes.chip is not None} == set(OWN)


@pytest.mark.parametrize("name", workload_names())
def test_chip_has_a_cta_for_every_sm(name: str) -> None:
    ctas = largest_grids(name, "chip")
    assert max(ctas.values()) >= SMS
    assert OWN.get(name, {}).items() <= ctas.items()


@pytest.mark.parametrize("name", sorted(OWN.keys() - {"bfs-queue"}))
def test_paper_does_not_fill_the_chip(name: str) -> None:
    ctas = largest_grids(name, "paper")
    assert min(ctas[kernel] for kernel in OWN[name]) < SMS


def test_the_middle_frontier_of_bfs_queue_fills_the_chip_at_size_chip_only() -> None:
    middle = {size: ctas[len(ctas) // 2] for size in ("paper", "chip") for ctas in (ctas_of_frontiers(size),)}
    assert middle["paper"] < SMS <= middle["chip"]


@pytest.mark.slow
@pytest.mark.parametrize("code", ["ptx", "sm_90"])
@pytest.mark.parametrize("name", OWN)
def test_references_of_chip(name: str, code: str) -> None:
    assert emulate(workload_program(name, code), size="chip").verified
