"""Slots of CTAs are used again by the next launch of the same shape, which must not notice."""

from __future__ import annotations

import numpy as np

from warploom.emulator.emulator import Emulator
from warploom.emulator.slots import KeptSlots
from warploom.programs.device import Device

KERNEL = """
extern "C" __global__ void sums(const int *in, int *out, int factor) {
    __shared__ int room[64];
    if (in[threadIdx.x] > 10) room[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    int local[4] = {0, 0, 0, 0};
    local[in[threadIdx.x] & 3] = factor;
    out[blockIdx.x * 64 + threadIdx.x] = room[63 - threadIdx.x] + local[threadIdx.x & 3];
}
extern "C" __global__ void waits(int *flag, int *out) {
    if (blockIdx.x == 0) while (atomicAdd(flag, 0) == 0) {}
    else if (blockIdx.x == 3) atomicExch(flag, 1);
    out[blockIdx.x] = 1;
}
"""


def sums(device: Device, values: np.ndarray, factor: int) -> np.ndarray:
    given, out = device.array(values), device.array(np.zeros(128, np.int32))
    device.launch("sums", (2,), (64,), given, out, factor)
    return out.get()


def test_a_second_launch_finds_nothing_of_the_first() -> None:
    first, second = np.arange(64, dtype=np.int32), np.arange(64, dtype=np.int32)[::-1].copy()
    device = Device(KERNEL, file="sums.cu")
    sums(device, first, 5)
    again, alone = sums(device, second, 7), sums(Device(KERNEL, file="sums.cu"), second, 7)
    assert (again == alone).all()
    assert (again != sums(Device(KERNEL, file="sums.cu"), first, 5)).any()


def test_slots_that_grew_are_not_kept() -> None:
    device = Device(KERNEL, file="sums.cu")
    for _ in range(2):
        out = device.array(np.zeros(4, np.int32))
        device.launch("waits", (4,), (1,), device.array(np.zeros(1, np.int32)), out)
        assert (out.get() == 1).all()
    assert kept_slots(device.emulator) == 0
    sums(device, np.zeros(64, np.int32), 1)
    assert kept_slots(device.emulator) == 1


def test_few_shapes_are_kept() -> None:
    device, out = Device(KERNEL, file="sums.cu"), np.zeros(64 * 40, np.int32)
    place, given = device.array(out), device.array(np.zeros(64, np.int32))
    for blocks in range(1, 41):
        device.launch("sums", (blocks,), (64,), given, place, 1)
    assert 1 < kept_slots(device.emulator) < 40


def kept_slots(emulator: Emulator) -> int:
    slots: KeptSlots = emulator._slots
    return len(slots._kept)
