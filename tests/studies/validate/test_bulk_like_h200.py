"""Copies of many bytes and barriers in shared memory on `hopper`, beside an H200."""

from __future__ import annotations

import pytest

from warploom.base.errors import WarploomError
from warploom.chip.machines import load_machine
from warploom.studies.validate.recorded import folder_of, read_numbers
from warploom.studies.validate.runs import run_numbers
from warploom_lab.microbenchmarks import Microbenchmark, bulk

pytestmark = pytest.mark.oracle

MEASURED = {number.name: number for number in read_numbers(folder_of("h200"))[1]}
EXACT = 1.0  # cycles: stores, floods that one lane cannot make faster
NEAR = 0.075  # of the number: copies that wait for L2, of which some lines are nearer than others
OTHERWISE = {  # by how much ours are off, where it is more; 4 KB of every SM are spread over the slices more evenly here
    "bulk.flood.4KBx4.132sm": -0.17,
    "bulk.flood.4KBx16.132sm": -0.18,
    "bulk.flood.1KBx1.132sm": -0.08,
}
AT_ONCE = {  # one of each kind for every run of the tests
    *("bulk.latency.16B", "bulk.latency.4KB", "bulk.latency.32KB", "bulk.flood.1KBx4.1sm", "bulk.flood.16KBx4.1sm"),
    *("bulk.store.read.16B", "bulk.store.done.8KB", "mbarrier.alone", "mbarrier.turns"),
}
COMPARED = [one for one in bulk.benchmarks() if one.model is not None]


def _fail(name: str, error: WarploomError) -> None:
    raise error


def _is_exact(name: str) -> bool:
    return name.startswith("bulk.store") or name == "mbarrier.alone" or (".flood." in name and name.endswith("KBx4.1sm"))


def test_all_but_streams_are_compared() -> None:
    names = {one.name for one in COMPARED}
    assert len(names) == 47 and names >= AT_ONCE | set(OTHERWISE)


@pytest.mark.parametrize(
    "one",
    [pytest.param(one, id=one.name, marks=() if one.name in AT_ONCE else pytest.mark.slow) for one in COMPARED],
)
def test_cycles(one: Microbenchmark) -> None:
    measured = MEASURED[one.name]
    ((_, ours),) = run_numbers([one], [measured], load_machine("hopper"), "modern", lambda _: None, _fail)
    error = ours / measured.value - 1
    if one.name in OTHERWISE:
        assert error == pytest.approx(OTHERWISE[one.name], abs=0.02)
    elif _is_exact(one.name) and not one.name.startswith("bulk.flood.32KB"):
        assert ours == pytest.approx(measured.value, abs=EXACT)
    else:
        assert abs(error) <= NEAR
