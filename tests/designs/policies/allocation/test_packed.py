"""Two registers in one entry (`allocation=packed`)."""

from __future__ import annotations

import pytest

from warploom.base.errors import WarploomError
from warploom.chip.machines import load_machine
from warploom.designs import design
from warploom.designs.policies.allocation.narrow_values import entries_of
from warploom.programs.program import workload_program
from warploom.runs.compilation import compile_for
from warploom.runs.simulate import simulate

PACKED = "allocation=packed"


def test_fewer_entries_than_registers() -> None:
    """The absolute differences of bytes that sad adds up need few bits."""
    module, machine = workload_program("sad").module(), load_machine("gtx480")
    plain, packed = (compile_for(module, "sad4", design(name), machine) for name in ("baseline", PACKED))
    assert (plain.registers, entries_of(plain)) == (31, 31)
    assert entries_of(packed) == 28 < packed.registers
    assert len(packed) == len(plain)  # no instruction more


@pytest.mark.parametrize("workload", ("sad", "radixsort", "nw"))
def test_every_read_sees_its_own_half(workload: str) -> None:
    """The shadow checker follows each byte of an entry."""
    assert simulate(workload, PACKED, size="tiny", check=True).verified


def test_entries_that_are_shared_are_not_allocated_twice() -> None:
    plain, packed = (simulate("sad", name, size="tiny") for name in ("baseline", PACKED))
    assert packed.counters["allocated_cycles"] / packed.cycles < plain.counters["allocated_cycles"] / plain.cycles


def test_without_narrow_values_nothing_changes() -> None:
    plain, packed = (simulate("matrixmul", name, size="tiny") for name in ("baseline", PACKED))
    assert packed.cycles == plain.cycles
    assert packed.counters == plain.counters


@pytest.mark.parametrize("other", ("hierarchy=rfc", "encoding=bdi"))
def test_what_knows_one_register_an_entry_is_refused(other: str) -> None:
    with pytest.raises(WarploomError, match="two registers may share"):
        design(f"{PACKED} + {other}")
