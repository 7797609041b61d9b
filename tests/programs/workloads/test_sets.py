"""Each paper's set has the workloads that the paper measures, and inputs are what the papers say they are."""

import numpy as np
import pytest

from warploom.base.library import find_paper
from warploom.programs.workloads.registry import load_workload, workload_names, workload_set
from warploom.programs.workloads.workload import SIZES

SETS = {
    "rfv": "matrixmul blackscholes dct8x8 reduction vectoradd backprop bfs heartwall hotspot scalarprod neuralnet lud "
    "gaussian lib lps mum",
    "warped-rf": "cutcp blackscholes mri-q sgemm pathfinder streamcluster backprop dct8x8 nn hotspot heartwall nw bfs lbm sad",
    "regmutex": "bfs-queue cutcp dwt2d hotspot3d mri-q particlefilter radixsort sad gaussian heartwall lavamd mergesort "
    "montecarlo spmv srad tpacf",
    "compression": "aes backprop bfs dwt2d gaussian hotspot lib lps mum nw pathfinder sad spmv srad streamcluster",
    "rfc": "sad videoenhance lavamd nbody pathfinder imageblur dct8x8 jpeg dgemm sgemm fft phong parallax ssao noise "
    "shadow bloom",
}


@pytest.mark.parametrize("name", SETS)
def test_sets_are_those_of_the_papers(name: str) -> None:
    assert set(workload_set(name)) == set(SETS[name].split())


def test_rfc_workloads_have_a_category() -> None:
    assert all(row.get("category") for row in find_paper("rfc").workloads.values())


@pytest.mark.parametrize("name", workload_names())
def test_tiny_inputs_are_the_same_every_time(name: str) -> None:
    first, second = load_workload(name).inputs("tiny"), load_workload(name).inputs("tiny")
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[key], second[key]) and first[key].dtype == second[key].dtype for key in first)


@pytest.mark.parametrize("size", SIZES)
def test_inputs_of_lib_are_constant(size: str) -> None:
    assert all(np.ptp(values) == 0 for values in load_workload("lib").inputs(size).values())


@pytest.mark.parametrize("size", SIZES)
def test_inputs_of_pathfinder_are_digits(size: str) -> None:
    assert set(np.unique(load_workload("pathfinder").inputs(size)["wall"])) == set(range(10))


def test_aes_encrypts_the_standard_example() -> None:
    key = np.arange(16, dtype=np.uint8)
    text = np.arange(16, dtype=np.uint8) * 0x11
    cipher = load_workload("aes").reference({"text": text, "key": key})["cipher"]
    assert cipher.tobytes().hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"  # FIPS 197, appendix C.1
