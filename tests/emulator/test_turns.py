"""Warps that take turns: the same for a seed, another for another one, and no matter to programs that do not rely on an order."""

from __future__ import annotations

import numpy as np
import pytest

from warploom.base.errors import WarploomError
from warploom.emulator.turns import LONGEST, seed_of, turn_length
from warploom.programs import Device
from warploom.programs.named import program_named
from warploom.runs.simulate import emulate

RELIES = "__shared__ int s[256]; int t = threadIdx.x; s[t] = data[t]; if (t < 128) s[t] += s[t + 128]; data[t] = s[255 - t];"


def total(order: str, code: str) -> int:
    """What a kernel makes of its numbers that relies on the order of its warps."""
    text = f'extern "C" __global__ void k(int* data) {{{RELIES}}}'
    device = Device(text, file="k.cu", record=None, code=code, order=order)
    data = device.array(np.arange(256, dtype=np.int32))
    device.launch("k", (4,), (256,), data)
    return int(data.get().sum())


@pytest.mark.parametrize("code", ["ptx", "sm_75"])
def test_a_result_that_relies_on_the_order_shows(code: str) -> None:
    totals = [total(order, code) for order in ("usual", "turns", "turns:2", "turns:3")]
    assert len(set(totals)) > 1
    assert total("turns:3", code) == totals[3]


@pytest.mark.parametrize(("name", "code"), [("reduction", "ptx"), ("radixsort", "sm_75"), ("bfs-queue", "ptx"), ("nw", "ptx")])
def test_a_program_that_relies_on_no_order_is_right_in_any(name: str, code: str) -> None:
    assert emulate(program_named(name, code), size="tiny", order="turns:7").verified


def test_a_seed_gives_a_length_of_turns() -> None:
    assert (seed_of("usual"), seed_of("turns"), seed_of("turns:12")) == (0, 1, 12)
    assert {turn_length(seed) for seed in range(1, 1000)} == set(range(1, LONGEST + 1))


@pytest.mark.parametrize("order", ["", "turn", "turns:", "turns:0", "turns:x", "usual:1", "turns:5000000000"])
def test_another_order_is_refused(order: str) -> None:
    with pytest.raises(WarploomError, match="choose usual, turns, or turns:SEED"):
        seed_of(order)
