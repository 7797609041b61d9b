"""The machine that the checks of sub-cores run on."""

from __future__ import annotations

import pytest

from warploom.chip.machines import Machine, load_machine


@pytest.fixture(scope="module")
def hopper() -> Machine:
    """One SM of Hopper."""
    return load_machine("hopper").scaled(1)
