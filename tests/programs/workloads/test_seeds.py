"""Workloads with other seeds: other inputs, a right output, and a provenance that makes the same again."""

from __future__ import annotations

import numpy as np
import pytest

from warploom.base.errors import WarploomError
from warploom.programs.program import workload_program
from warploom.programs.workloads.registry import load_workload, workload_names
from warploom.runs.remake import differences, make_again
from warploom.runs.simulate import emulate

SEEDED = [name for name in workload_names() if load_workload(name).seed is not None]


@pytest.mark.parametrize("name", SEEDED)
def test_another_seed_makes_other_inputs_of_the_same_shape(name: str) -> None:
    workload = load_workload(name)
    assert workload.seed is not None
    plain, own, other = (workload.inputs("tiny"), *(workload.inputs("tiny", seed=workload.seed + more) for more in (0, 1)))
    assert all(np.array_equal(values, own[key]) for key, values in plain.items())
    assert any(not np.array_equal(values, other[key]) for key, values in plain.items())
    assert {key: values.dtype for key, values in plain.items()} == {key: values.dtype for key, values in other.items()}


# A read of mum's sixteenth seed matches the very end of the reference, from where the kernel cannot go on.
@pytest.mark.parametrize(("name", "seed"), [("mum", 16), ("bfs", 8), ("spmv", 1000), ("vectoradd", 0)])
def test_its_output_is_right(name: str, seed: int) -> None:
    made = emulate(workload_program(name, seed=seed), size="tiny")
    assert made.verified is True
    record = made.to_dict()
    assert record["provenance"]["spec"]["seed"] == seed
    assert differences(record, make_again(record, "here")) == []


def test_a_workload_without_chance_takes_no_seed() -> None:
    with pytest.raises(WarploomError, match="'lib' takes no seed: nothing in its inputs is random"):
        workload_program("lib", seed=1)
    with pytest.raises(WarploomError, match="a seed is a whole number"):
        workload_program("bfs", seed=-1)
