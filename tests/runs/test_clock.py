"""The time of a run without that of compiling."""

from __future__ import annotations

import time

import numba
import pytest

from warploom.runs.run import Clock

pytestmark = pytest.mark.unit


def test_what_is_compiled_during_a_run_is_counted_apart() -> None:
    started = time.perf_counter()
    clock = Clock()
    function = numba.njit(lambda x: x + 1)
    assert function(1) == 2
    time.sleep(0.01)
    seconds = clock.seconds
    whole = time.perf_counter() - started
    assert clock.compiling > 0 and seconds >= 0.01
    assert seconds + clock.compiling <= whole  # nothing is counted twice
