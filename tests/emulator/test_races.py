"""Races are named, with both accesses, and what is ordered is no race: in code of our backend and in machine code."""

from __future__ import annotations

import numpy as np
import pytest

from warploom.emulator.watch.findings import Finding
from warploom.programs import Device
from warploom.programs.named import program_named
from warploom.programs.workloads.registry import workload_names
from warploom.runs.simulate import emulate

CODES = ("ptx", "sm_75")
KNOWN = ("scalarprod",)  # its next pair is summed while the tree of the last one may still be read


def found(source: str, grid: int, block: int, words: int = 4096, code: str = "ptx") -> tuple[Finding, ...]:
    """What the check finds in a kernel ``k(int *data, int *flags)``."""
    device = Device(
        f'extern "C" __global__ void k(int* data, int* flags) {{{source}}}', file="k.cu", record=None, code=code, check="races"
    )
    data, flags = device.array(np.arange(words, dtype=np.int32)), device.array(np.zeros(words, np.int32))
    device.launch("k", (grid,), (block,), data, flags)
    return device.emulator.findings


SHARED = "__shared__ int s[256]; int t = threadIdx.x; s[t] = data[t]; "
TREE = (
    SHARED + "__syncthreads(); for (int d = 128; d > 0; d >>= 1) {{ if (t < d) s[t] += s[t + d]; {} }} "
    "if (t == 0) data[1024 + blockIdx.x] = s[0];"
)
WARP = (
    "__shared__ volatile int s[64]; int t = threadIdx.x; s[t] = data[t]; s[t + 32] = data[t + 32]; {0} "
    "int v = s[t] + s[t + 32]; {0} s[t] = v; {0} if (t < 16) s[t] += s[t + 16]; {0} data[t] = s[t % 16];"
)
HISTOGRAM = "__shared__ int h[16]; int t = threadIdx.x; if (t < 16) h[t] = 0; {} {}; {} if (t < 16) data[t] = h[t];"
BUFFERS = (
    "__shared__ int s[2][64]; int t = threadIdx.x; s[0][t] = data[t]; int sum = 0; "
    "for (int i = 0; i < 8; i++) {{ __syncthreads(); if (i < 7) s[{}][t] = data[i * 64 + t]; sum += s[i & 1][63 - t]; }} "
    "data[t] = sum;"
)
NAMED = "__shared__ int s[32]; int t = threadIdx.x; if (t < 32) {{ s[t] = data[t]; {} }} else {{ {} data[t] = s[63 - t]; }}"
ARRIVE, SYNC = 'asm volatile("bar.arrive 1, 64;" ::: "memory");', 'asm volatile("bar.sync 1, 64;" ::: "memory");'
ALONE = 'asm volatile("bar.sync 1, 32;" ::: "memory");'
LAST = (
    "__shared__ bool last; int t = threadIdx.x; if (t == 0) data[1000 + blockIdx.x] = blockIdx.x + 1; {} "
    "if (t == 0) last = atomicInc((unsigned*)flags, gridDim.x) == gridDim.x - 1; __syncthreads(); "
    "if (last) data[t] = data[1000 + t % gridDim.x];"
)
LOOKBACK = (
    "volatile int* f = flags; int b = blockIdx.x; if (threadIdx.x == 0) {{ int before = 0; "
    "if (b > 0) {{ while (f[b - 1] == 0); {0} before = data[2000 + b - 1]; }} "
    "data[2000 + b] = before + 1; {0} f[b] = 1; }}"
)
LOCK = (
    "if (threadIdx.x % 32 == 0) {{ while (atomicCAS(flags, 0, 1) != 0); {0} data[0] = data[0] + 1; {0} atomicExch(flags, 0); }}"
)
GRID = (
    "int t = threadIdx.x, b = blockIdx.x; data[1000 + b * 64 + t] = t; __syncthreads(); "
    "if (t == 0) {{ {0} atomicAdd(flags, 1); while (*(volatile int*)flags < gridDim.x); {0} }} __syncthreads(); "
    "data[t + 64 * b] = data[1000 + (b + 1) % gridDim.x * 64 + t];"
)
POLL = "if (blockIdx.x == 0) atomicAdd(flags, 1); else data[blockIdx.x] = *(volatile int*)flags;"
BYTES = "__shared__ char s[256]; int t = threadIdx.x; s[t] = t; data[t] = s[t] + 1; ((char*)flags)[blockIdx.x] = t;"

RACES = {
    "a tree without barriers": (TREE.format(""), 2, 256),
    "lanes that rely on lockstep": (WARP.format(""), 1, 32),
    "a histogram without atomics": (HISTOGRAM.format("__syncthreads();", "h[data[t] % 16]++", "__syncthreads();"), 1, 128),
    "a histogram read too early": (HISTOGRAM.format("__syncthreads();", "atomicAdd(&h[data[t] % 16], 1)", ""), 1, 128),
    "a histogram cleared too late": (HISTOGRAM.format("", "atomicAdd(&h[15 - data[t] % 16], 1)", "__syncthreads();"), 1, 128),
    "one buffer for two": (BUFFERS.format("i & 1"), 1, 64),
    "another named barrier": (NAMED.format(ALONE, ALONE), 1, 64),
    "the last block without a fence": (LAST.format(""), 4, 64),
    "the last block with a fence of the block": (LAST.format("__threadfence_block();"), 4, 64),
    "a block that reads its neighbour": ("int i = blockIdx.x * 64 + threadIdx.x; data[i] = data[i + 64] + 1;", 4, 64),
    "blocks that add without atomics": ("if (threadIdx.x == 0) data[0] += 1;", 4, 64),
    "a lookback without fences": (LOOKBACK.format(""), 4, 32),
    "a lock without fences": (LOCK.format(""), 4, 64),
    "a grid barrier without fences": (GRID.format(""), 4, 64),
    "lanes that write different values": ("__shared__ int s; s = threadIdx.x; __syncthreads(); data[threadIdx.x] = s;", 1, 32),
}
ORDERED = {
    "a tree": (TREE.format("__syncthreads();"), 2, 256),
    "lanes with __syncwarp": (WARP.format("__syncwarp();"), 1, 32),
    "a histogram": (HISTOGRAM.format("__syncthreads();", "atomicAdd(&h[data[t] % 16], 1)", "__syncthreads();"), 1, 128),
    "two buffers": (BUFFERS.format("(i + 1) & 1"), 1, 64),
    "a named barrier": (NAMED.format(ARRIVE, SYNC), 1, 64),
    "the last block": (LAST.format("__threadfence();"), 4, 64),
    "the last block, all lanes fenced": (LAST.format("__threadfence(); __syncthreads();"), 4, 64),
    "a lookback": (LOOKBACK.format("__threadfence();"), 4, 32),
    "a lock": (LOCK.format("__threadfence();"), 4, 64),
    "a grid barrier": (GRID.format("__threadfence();"), 4, 64),
    "lanes that write the same value": ("__shared__ int s; s = 7; __syncthreads(); data[threadIdx.x] = s;", 2, 64),
    "blocks that write the same value": ("if (data[threadIdx.x] >= 0) flags[0] = 1;", 4, 64),
    "bytes side by side": (BYTES.replace("data[t]", "data[t + 8 * blockIdx.x]"), 4, 1),
    "a word that polls see change": (POLL, 4, 1),
}


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("name", RACES)
def test_a_race_is_named(name: str, code: str) -> None:
    source, grid, block = RACES[name]
    assert found(source, grid, block, code=code)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("name", ORDERED)
def test_what_is_ordered_is_no_race(name: str, code: str) -> None:
    source, grid, block = ORDERED[name]
    assert [str(each) for each in found(source, grid, block, code=code)] == []


def test_both_accesses_are_named_once() -> None:
    """The same two instructions are counted, over all launches."""
    text = 'extern "C" __global__ void k(int* data)\n{\n    if (threadIdx.x == 0)\n        data[5] += 1;\n}\n'
    device = Device(text, file="k.cu", record=None, check="races")
    data = device.array(np.zeros(8, np.int32))
    for _ in range(2):
        device.launch("k", (3,), (32,), data)
    (told,) = (str(each) for each in device.emulator.findings if "reads 4 bytes" in each.sentence)
    assert told.startswith("k.cu:4: kernel k: race on 0x10000014, in array 0 at 0x10000000 of 32 bytes: ")
    assert "block (1, 0, 0), thread (0, 0, 0) reads 4 bytes" in told
    assert "which block (0, 0, 0), thread (0, 0, 0) writes" in told
    assert told.endswith("no fence with an atomic or volatile access is between them. (4 times)")


def test_too_much_to_remember_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warploom.emulator.watch.watcher.MOST_BYTES", 1 << 20)
    source = "for (int i = 0; i < 4096; i++) data[(blockIdx.x * 4096 + i) * 64 + threadIdx.x] = 1;"
    (told,) = found(source, 1, 64, words=64 * 4096)
    assert "take a smaller input to have all of it watched" in told.sentence


@pytest.mark.slow
@pytest.mark.parametrize("code", ["ptx", "sm_90"])
@pytest.mark.parametrize("name", workload_names())
def test_workloads_have_no_race_that_is_not_known(name: str, code: str) -> None:
    assert bool(findings_of(name, code)) == (name in KNOWN)


@pytest.mark.parametrize("name", ["hotspot", "radixsort", "bfs-queue", "reduction", "scalarprod"])
def test_a_few_workloads_have_no_race_that_is_not_known(name: str) -> None:
    assert bool(findings_of(name, "ptx")) == (name in KNOWN)


def findings_of(name: str, code: str) -> tuple[str, ...]:
    return emulate(program_named(name, code), size="tiny", check="races,memory").findings


COPIED = (
    "__shared__ int s[64]; int t = threadIdx.x; unsigned at = (unsigned)__cvta_generic_to_shared(s + t);"
    'asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.wait_all;" :: "r"(at), "l"(data + t) : "memory");'
    "{} data[t] = s[63 - t];"
)
COUNTED = (
    "__shared__ int s[64]; __shared__ unsigned long long b; int t = threadIdx.x;"
    "unsigned at = (unsigned)__cvta_generic_to_shared(&b);"
    'if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(at)); __syncthreads(); s[t] = data[t]; {}'
    'asm volatile("{{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }}" :: "r"(at) : "memory"); {} data[t] = s[63 - t];'
)
WAIT = (
    "int over = 0; while (!over)"
    'asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }"'
    ': "=r"(over) : "r"(at) : "memory");'
)
CLUSTER = (
    "__shared__ int s[32]; int t = threadIdx.x; s[t] = data[t + 32 * blockIdx.x];"
    'asm volatile("barrier.cluster.arrive;" ::: "memory"); {}'
    "unsigned at = (unsigned)__cvta_generic_to_shared(s + 31 - t), there; int v;"
    'asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(1 - blockIdx.x));'
    'asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(v) : "r"(there) : "memory"); data[1000 + t + 32 * blockIdx.x] = v; {}'
)
CLUSTER_WAIT = 'asm volatile("barrier.cluster.wait;" ::: "memory");'
CLUSTER_END = 'asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");'


@pytest.mark.parametrize(
    ("source", "grid", "block", "races"),
    [
        (COPIED.format("__syncthreads();"), 1, 64, False),
        (COPIED.format(""), 1, 64, True),
        (COUNTED.format("", WAIT), 1, 64, False),
        (COUNTED.format("", ""), 1, 64, True),
        (CLUSTER.format(CLUSTER_WAIT, CLUSTER_END), 2, 32, False),
        (CLUSTER.format("", CLUSTER_WAIT), 2, 32, True),
    ],
    ids=[
        "copies",
        "copies without a barrier",
        "an mbarrier",
        "an mbarrier that nobody waits at",
        "a cluster",
        "a cluster, too early",
    ],
)
def test_what_hopper_has_orders_too(source: str, grid: int, block: int, races: bool) -> None:
    text = f'extern "C" __global__ void k(int* data, int* flags) {{{source}}}'
    device = Device(text, file="k.cu", record=None, code="sm_90", check="races,memory")
    data = device.array(np.arange(4096, dtype=np.int32))
    device.launch("k", (grid,), (block,), data, data, cluster=(grid,))
    assert any(each.check == "races" for each in device.emulator.findings) == races, [*map(str, device.emulator.findings)]
    assert races or not device.emulator.findings
