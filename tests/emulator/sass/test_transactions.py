"""Barriers in shared memory that count arrivals and bytes, and copies of many bytes, against what PTX promises."""

from __future__ import annotations

import numpy as np
import pytest

from support.transaction_kernels import COMMON, HOPPER
from warploom.base.errors import WarploomError
from warploom.compiler.sass.module import from_cuda
from warploom.programs.device import Device


@pytest.fixture(scope="module", params=["sm_80", "sm_90"])
def device(request: pytest.FixtureRequest) -> Device:
    module = from_cuda(COMMON, "barriers.cu", request.param)
    return Device(lambda name, _shape: module.kernel(name), record=None, budget=1_000_000)


@pytest.fixture(scope="module")
def hopper() -> Device:
    module = from_cuda(COMMON + HOPPER, "bytes.cu", "sm_90")
    return Device(lambda name, _shape: module.kernel(name), record=None, budget=1_000_000)


def test_threads_meet_in_many_phases(device: Device) -> None:
    out = device.array(np.zeros(96, np.int32))
    device.launch("rounds", (1,), (96,), out, np.int32(5))
    assert out.get().tolist() == [sum((i + 33) % 96 * r for r in range(5)) for i in range(96)]


def test_arrivals_are_counted_down_and_those_who_leave_do_not_come_again(device: Device) -> None:
    out = device.array(np.zeros(10, np.int32))
    device.launch("counting", (1,), (1,), out)
    assert out.get().tolist() == [3, 2, 0, 1, 1, 3, 1, 2, 1, 2]


def test_an_arrival_behind_copies(device: Device) -> None:
    values = np.arange(128, dtype=np.int32) ** 2
    out = device.array(np.zeros(32, np.int32))
    device.launch("behind_copies", (1,), (32,), device.array(values), out)
    assert out.get().tolist() == values[::-1][:32].tolist()


def test_a_phase_waits_for_bytes(hopper: Device) -> None:
    out = hopper.array(np.zeros(6, np.int32))
    hopper.launch("bytes", (1,), (1,), out)
    assert out.get().tolist() == [0, 0, 1, 0, 1, 0]


@pytest.mark.parametrize("count", [4, 1024, 10_000])
def test_copies_of_many_bytes(hopper: Device, count: int) -> None:
    values = np.random.default_rng(count).integers(0, 1000, count).astype(np.int32)
    out = hopper.array(np.zeros(count, np.int32))
    hopper.launch("bulk", (1,), (64,), hopper.array(values), out, np.int32(4 * count), shared_bytes=4 * count)
    assert np.array_equal(out.get(), 3 * values)


def test_a_copy_beyond_an_array_is_named(hopper: Device) -> None:
    array = hopper.array(np.zeros(64, np.int32))
    with pytest.raises(WarploomError, match=r"kernel bulk.*'UBLKCP.S.G.* array \d+"):
        hopper.launch("bulk", (1,), (64,), array, array, np.int32(512), shared_bytes=512)
