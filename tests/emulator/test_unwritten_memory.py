"""Reads of what nobody has written, uses of what was given back, and wrong frees are named where memory is checked."""

from __future__ import annotations

import numpy as np
import pytest

from warploom.base.errors import SimulationError
from warploom.programs import Device

CODES = ("ptx", "sm_75")


def device_of(source: str, code: str = "ptx", check: str = "memory") -> Device:
    text = f'extern "C" __global__ void k(int* data) {{{source}}}'
    return Device(text, file="k.cu", record=None, code=code, check=check)


def found(source: str, code: str, threads: int = 32) -> str:
    """What the check finds in a kernel with 64 numbers from 0."""
    device = device_of(source, code)
    device.launch("k", (1,), (threads,), device.array(np.arange(64, dtype=np.int32)))
    return "\n".join(map(str, device.emulator.findings))


@pytest.mark.parametrize("code", CODES)
def test_shared_memory_that_nobody_has_written_is_named(code: str) -> None:
    told = found("__shared__ int s[32]; int t = threadIdx.x; if (t < 16) s[t] = 0; __syncthreads(); data[t] = s[t];", code)
    assert "thread (16, 0, 0) reads 4 bytes at byte 0x40 of shared memory, which nobody has written" in told
    assert told.endswith("(16 times)")


@pytest.mark.parametrize("code", CODES)
def test_local_memory_that_nobody_has_written_is_named(code: str) -> None:
    told = found(
        "int a[16]; for (int i = 0; i < 4; i++) a[data[i] & 15] = i; data[threadIdx.x] = a[data[threadIdx.x] & 15];", code
    )
    assert "thread (4, 0, 0) reads 4 bytes at byte 0x10 of local memory, which nobody has written" in told


@pytest.mark.parametrize("code", CODES)
def test_memory_of_malloc_is_not_written_until_somebody_does(code: str) -> None:
    told = found("int* p = (int*)malloc(64); p[1] = 3; data[0] = p[1] + p[2]; free(p);", code, 1)
    assert told.count("which nobody has written") == 1
    assert "the heap of malloc" in told


@pytest.mark.parametrize("code", CODES)
def test_what_malloc_did_not_give_cannot_be_freed(code: str) -> None:
    told = found("int* p = (int*)malloc(64); p[0] = 1; data[0] = p[0]; free(p); free(data); free(nullptr); ", code, 1)
    assert told.count("to free, which malloc has not given or which was freed before") == 1
    assert "0x10000000" in told


@pytest.mark.parametrize("code", CODES)
def test_what_is_written_before_is_fine(code: str) -> None:
    source = "__shared__ char s[64]; int a[4] = {data[0], 1, 2, 3}; int t = threadIdx.x; s[t] = s[t + 32] = t; __syncthreads();"
    assert (
        found(
            f"{source} int* p = (int*)malloc(4); *p = a[data[t] & 3]; data[t] = s[63 - t] + atomicAdd(data, *p); free(p);", code
        )
        == ""
    )


def test_freed_memory_is_named_as_what_it_was() -> None:
    """It stays where it was, so that no other array lies there when it is used."""
    device = device_of("data[threadIdx.x] = 1;")
    freed, size = device.array(np.zeros(8, np.int32)), 32
    device.emulator.free(freed)
    assert device.array(np.zeros(8, np.int32)).address > freed.address
    with pytest.raises(SimulationError, match=f"in array 0 at 0x10000000 of {size} bytes, which was freed"):
        device.launch("k", (1,), (8,), freed)


def test_without_the_check_memory_is_used_again() -> None:
    device = device_of("data[threadIdx.x] = 1;", check="races")
    freed = device.array(np.zeros(8, np.int32))
    device.emulator.free(freed)
    assert device.array(np.zeros(8, np.int32)).address == freed.address
