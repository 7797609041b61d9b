"""printf, assert, malloc and free on the device, in machine code of three architectures and in code of our own backend."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from warploom.base.printed import printed_to
from warploom.cli.app import run_command
from warploom.compiler.cuda import compile_to_ptx
from warploom.compiler.sass.module import SassModule, from_cuda
from warploom.emulator.faults import KernelFault
from warploom.emulator.printing import MOST_BYTES, formatted
from warploom.emulator.records import Fault
from warploom.programs.device import Device

SOURCE = """
#include <cassert>
#include <cstdio>
extern "C" {
__global__ void hello(int* out, float x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int count = -5;
    if (i % 4 == 1) count = printf("thread %d of %s: %5.2f%%, %lld\\n", i, "many", x * i, -1ll << 40);
    else if (i % 4 == 2) count = printf("plain\\n");
    out[i] = count;
}
__global__ void check(int* out, int n) {
    int i = threadIdx.y * blockDim.x + threadIdx.x;
    assert(i < n && "too many");
    out[i] = i;
}
__global__ void memory(int* out, int rounds) {
    int i = threadIdx.x, sum = 0;
    for (int r = 0; r < rounds; r++) {
        int* mine = (int*)malloc((i + 1) * sizeof(int));
        long long* other = new long long[2];
        for (int n = 0; n <= i; n++) mine[n] = n;
        other[1] = 1000000007ll * i;
        for (int n = 0; n <= i; n++) sum += mine[n];
        sum += (int)(other[1] >> 20);
        free(mine);
        delete[] other;
    }
    out[i] = sum;
}
__global__ void greedy(int* out) { out[threadIdx.x] = malloc(1 << 20) != nullptr; }
__global__ void keep(int** out) { int* p = (int*)malloc(8); p[1] = threadIdx.x; out[threadIdx.x] = p; }
__global__ void look(int** in, int* out) { out[threadIdx.x] = in[threadIdx.x][1]; free(in[threadIdx.x]); }
}
"""
CODES = ("ptx", "sm_75", "sm_80", "sm_90")
Source = SassModule | str


@pytest.fixture(scope="module", params=CODES)
def module(request: pytest.FixtureRequest) -> Source:
    if request.param == "ptx":
        return compile_to_ptx(SOURCE, "supplied.cu")
    return from_cuda(SOURCE, "supplied.cu", request.param)


def _device(module: Source) -> Device:
    source = module if isinstance(module, str) else (lambda name, _shape: module.kernel(name))
    return Device(source, record=None, budget=1_000_000)


def _run(module: Source, kernel: str, threads: int, *arguments: object) -> np.ndarray:
    device = _device(module)
    out = device.array(np.full(threads, -1, np.int32))
    device.launch(kernel, (1,), (threads,), out, *arguments)
    return out.get()


def test_printf_writes_lane_after_lane(module: Source) -> None:
    printed = io.StringIO()
    with printed_to(printed):
        counts = _run(module, "hello", 8, np.float32(1.5))
    odd = "thread {} of many: {:5.2f}%, -1099511627776\n"
    lines = sorted(printed.getvalue().splitlines(keepends=True))
    assert lines == sorted([odd.format(1, 1.5), odd.format(5, 7.5), "plain\n", "plain\n"])
    assert counts.tolist() == [-5, 4, 0, -5, -5, 4, 0, -5]


def test_what_one_call_prints_stays_together(module: Source) -> None:
    printed = io.StringIO()
    with printed_to(printed):
        _run(module, "hello", 32, np.float32(0.0))
    threads = [int(line.split()[1]) for line in printed.getvalue().splitlines() if line.startswith("thread")]
    assert threads == list(range(1, 32, 4))


def test_an_assertion_stops_the_launch_with_its_place(module: Source) -> None:
    device = _device(module)
    out = device.array(np.zeros(64, np.int32))
    with pytest.raises(KernelFault) as raised:
        device.launch("check", (3, 2), (8, 8), out, np.int32(61))
    assert raised.value.fault is Fault.ASSERTION
    line = SOURCE.splitlines().index('    assert(i < n && "too many");') + 1
    words = str(raised.value)
    assert words.startswith(f"supplied.cu:{line}: ") and "check(int *, int)" in words
    assert words.endswith('block: [0,0,0], thread: [5,7,0] Assertion `i < n && "too many"` failed.')


def test_assertions_that_hold_change_nothing(module: Source) -> None:
    assert _run(module, "check", 32, np.int32(32)).tolist() == list(range(32))


def test_memory_comes_and_goes(module: Source) -> None:
    rounds = 3
    expected = [rounds * (i * (i + 1) // 2 + (1000000007 * i >> 20)) for i in range(64)]
    assert _run(module, "memory", 64, np.int32(rounds)).tolist() == expected


def test_a_heap_that_is_used_up_gives_null(module: Source) -> None:
    assert _run(module, "greedy", 32).sum() == 8  # of 8 MiB, as CUDA has it


def test_memory_stays_for_the_next_launch(module: Source) -> None:
    device = _device(module)
    pointers, out = device.array(np.zeros(32, np.uint64)), device.array(np.zeros(32, np.int32))
    device.launch("keep", (1,), (32,), pointers)
    device.launch("look", (1,), (32,), pointers, out)
    assert out.get().tolist() == list(range(32)) and len(set(pointers.get().tolist())) == 32


@pytest.mark.parametrize("code", ["ptx", "sm_90"])
def test_a_timed_run_prints_and_checks(code: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The results of calls are written like any other; with --json the text goes elsewhere."""
    source = tmp_path / "supplied.cu"
    source.write_text(SOURCE)
    words = ["run", str(source), "--code", code, "--grid", "1", "--sms", "1", "--check"]
    status = run_command([*words, "--kernel", "hello", "--block", "8", "--arg", "out=s32[8]", "--arg", "x=1.5"])
    out, _ = capsys.readouterr()
    assert status == 0 and out.count("plain\n") == 2 and "thread 5 of many:  7.50%, -1099511627776\n" in out
    status = run_command([*words, "--kernel", "memory", "--block", "32", "--arg", "out=s32[32]", "--arg", "rounds=2", "--json"])
    out, _ = capsys.readouterr()
    assert status == 0 and json.loads(out)["cycles"] > 0


@pytest.mark.parametrize(
    ("form", "values", "text"),
    [
        (b"%5d|%-5d|%05d|%+d", np.array([42, 42, -42, 42], np.int32), b"   42|42   |-0042|+42"),
        (b"%x %#X %o %#o %u", np.array([255, 255, 8, 8, -1], np.int32), b"ff 0XFF 10 010 4294967295"),
        (b"%*d|%.*d", np.array([4, 7, 3, 7], np.int32), b"   7|007"),
        (b"%c%c %hhd %hu", np.array([72, 105, 511, -1], np.int32), b"Hi -1 65535"),
        (b"%e %G %.0f %a", np.array([12.5, 1e-10, 2.5, 1.0]), b"1.250000e+01 1E-10 2 0x1p+0"),
        (b"%05.1f %5f %f %+.2A", np.array([-1.25, np.inf, np.nan, 0.1]), b"-01.2   inf nan +0X1.9AP-4"),
        (b"%lld %lu %zx %p", np.array([2**64 - 1, 2**63, 255, 4096], np.uint64), b"-1 9223372036854775808 ff 0x1000"),
        (b"100%% %y", np.array([], np.int32), b"100% %y"),
    ],
)
def test_formats_are_those_of_c(form: bytes, values: np.ndarray, text: bytes) -> None:
    memory = values.astype(values.dtype).tobytes()
    assert formatted(form, lambda at, size: memory[at : at + size], lambda _address, _most: b"")[0] == text


@pytest.mark.parametrize(
    ("form", "longest"),
    [
        (b"%1000000000d", MOST_BYTES),
        (b"%.2000000000f", MOST_BYTES),
        (b"%-99999999999999999999d|", MOST_BYTES),
        (b"%.99999999999999999999x", MOST_BYTES),
        (b"%.1000000000a", MOST_BYTES),
        (b"%*d", MOST_BYTES),
        (b"%s" * 100_000, MOST_BYTES),
    ],
)
def test_what_one_call_prints_is_bounded(form: bytes, longest: int) -> None:
    memory = np.array([2**30] * 4, np.int32).tobytes()  # also 2.0 and a little, as a double
    text, _ = formatted(form, lambda at, size: memory[at : at + size], lambda _address, most: b"x" * min(most, 1000))
    assert len(text) == longest


def test_a_string_with_a_precision_needs_no_end() -> None:
    asked = []

    def find(_address: int, most: int) -> bytes:
        asked.append(most)
        return b"abcdef"[:most]

    assert formatted(b"%.3s|%5.1s", lambda _at, size: bytes(size), find)[0] == b"abc|    a"
    assert asked == [3, 1]


WIDE = """
#include <cstdio>
extern "C" __global__ void wide(int* out) { out[threadIdx.x] = printf("%1000000000d\\n", 5) + printf("%.2000000000f\\n", 5.0); }
extern "C" __global__ void long_text(const char* text, int* out) { out[threadIdx.x] = printf(text); }
"""


def test_a_kernel_cannot_print_without_bound() -> None:
    printed = io.StringIO()
    device = Device(compile_to_ptx(WIDE, "wide.cu"), record=None)
    with printed_to(printed):
        device.launch("wide", (1,), (2,), device.array(np.zeros(2, np.int32)))
        text = device.array(np.full(1 << 20, ord("x"), np.uint8))  # a string that ends nowhere
        device.launch("long_text", (1,), (2,), text, device.array(np.zeros(2, np.int32)))
    assert 4 * MOST_BYTES <= len(printed.getvalue()) <= 6 * MOST_BYTES
