"""Calls, recursion, function pointers, switches and divergence in machine code, against what the source says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from warploom.compiler.sass.module import SassModule, from_cuda
from warploom.programs.device import Device

SOURCE = """
__noinline__ __device__ int sum(int x) { int s = 0; for (int i = 0; i < x; i++) s += i * x; return s; }
__noinline__ __device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ int increment(int x) { return x + 1; }
__device__ int triple(int x) { return x * 3; }
__device__ int (*table[2])(int) = {increment, triple};
__device__ int counter = 5;
__constant__ int weights[4] = {1, 2, 3, 4};
extern "C" {
__global__ void calls(int* out) { int i = threadIdx.x; out[i] = sum(i & 7) + sum(i & 3); }
__global__ void recursion(int* out) { int i = threadIdx.x; out[i] = fib(i & 7); }
__global__ void pointers(int* out) { int i = threadIdx.x; out[i] = table[i & 1](i); }
__global__ void variables(int* out) {
    int i = threadIdx.x;
    atomicAdd(&counter, 1);
    __syncthreads();
    out[i] = weights[i & 3] + weights[2] + counter;
}
__global__ void choice(int* out) {
    int i = threadIdx.x, r;
    switch (i % 9) {
        case 0: r = i * 3; break;
        case 1: r = i ^ 77; break;
        case 2: r = __popc(i); break;
        case 3: r = i + 4; break;
        case 4: r = i / (i - 1); break;
        case 5: r = -i; break;
        case 6: r = 99; break;
        case 7: r = i << 3; break;
        default: r = -1;
    }
    out[i] = r;
}
__global__ void lock(int* out) {
    __shared__ int taken, total;
    if (threadIdx.x == 0) taken = total = 0;
    __syncthreads();
    bool done = false;
    while (!done) {
        if (atomicCAS(&taken, 0, 1) == 0) {
            total += threadIdx.x;
            __threadfence_block();
            atomicExch(&taken, 0);
            done = true;
        }
    }
    __syncthreads();
    out[threadIdx.x] = total;
}
__global__ void separate(int* out) {
    int i = threadIdx.x, s = 0;
    for (int k = 0; k < i; k++) {
        if ((k * i) % 5 == 3) continue;
        if (k > 20) break;
        s += __popc(__activemask()) > 0 ? k : -1000;
    }
    out[i] = __shfl_xor_sync(0xffffffff, s, 1);
}
__global__ void apart(int* out) {
    __shared__ int flag;
    int i = threadIdx.x, s = i;
    if (i == 0) flag = 0;
    __syncthreads();
    if (i & 1) {
        asm volatile("barrier.sync 0;" ::: "memory");
        out[i] = flag;
    } else {
        for (int k = 0; k < 5000; k++) s = (s * 7 + k) ^ (s >> 3);
        flag = 5;
        asm volatile("barrier.sync 0;" ::: "memory");
        out[i] = flag + (s == 12345);
    }
}
__global__ void partly(int* out) {
    __shared__ int sums[64];
    int i = threadIdx.x;
    sums[i] = i;
    __syncthreads();
    if (i < 2) {
        sums[i] += sums[i + 2];
        __syncwarp();
    }
    if (i == 0) out[64] = sums[0] + sums[1];
    __syncthreads();
    out[i] = out[64];
}
}
"""
THREADS = 64


def _fib(n: int) -> int:
    return n if n < 2 else _fib(n - 1) + _fib(n - 2)


def _sum(x: int) -> int:
    return sum(i * x for i in range(x))


def _separate(i: int) -> int:
    return sum(k for k in range(min(i, 21)) if (k * i) % 5 != 3)


CHOICES: dict[int, Callable[[int], int]] = {
    0: lambda i: i * 3,
    1: lambda i: i ^ 77,
    2: lambda i: i.bit_count(),
    3: lambda i: i + 4,
    4: lambda i: i // (i - 1),
    5: lambda i: -i,
    6: lambda _: 99,
    7: lambda i: i << 3,
    8: lambda _: -1,
}
EXPECTED: dict[str, Callable[[int], int]] = {
    "calls": lambda i: _sum(i & 7) + _sum(i & 3),
    "recursion": lambda i: _fib(i & 7),
    "pointers": lambda i: i * 3 if i & 1 else i + 1,
    "variables": lambda i: (i & 3) + 1 + 3 + 5 + THREADS,
    "choice": lambda i: CHOICES[i % 9](i),
    "lock": lambda _: sum(range(THREADS)),
    "separate": lambda i: _separate(i ^ 1),
    "apart": lambda _: 5,  # lanes that wait at a barrier wait there though others of their warp take more than a turn to come
    "partly": lambda _: 6,  # lanes at __syncwarp whose companions never come there
}


@pytest.fixture(scope="module", params=["sm_75", "sm_80", "sm_90"])
def module(request: pytest.FixtureRequest) -> SassModule:
    return from_cuda(SOURCE, "control.cu", request.param)


@pytest.mark.parametrize("kernel", EXPECTED)
def test_control_flow(kernel: str, module: SassModule) -> None:
    device = Device(lambda name, _threads: module.kernel(name), record=None, budget=10_000_000)
    out = device.array(np.zeros(THREADS + 1, np.int32))
    device.launch(kernel, (1,), (THREADS,), out)
    assert out.get()[:THREADS].tolist() == [EXPECTED[kernel](i) for i in range(THREADS)]


def test_recording_changes_nothing(module: SassModule, tmp_path: Path) -> None:
    from warploom.emulator.trace.store import TraceStore

    stats = []
    for store in (None, TraceStore(tmp_path)):
        device = Device(lambda name, _threads: module.kernel(name), record=store)
        device.launch("separate", (4,), (THREADS,), device.array(np.zeros(THREADS, np.int32)))
        stats.append(device.launches[0].stats)
    assert stats[0] == stats[1]
    trace = device.launches[0].trace
    assert trace is not None and trace.warp_instructions == stats[0].warp_instructions
