"""Fields that are packed into bits: what does not fit is a fault, and nothing is written over its neighbours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.small_ptx import device, fault
from support.transaction_kernels import COMMON, HOPPER
from warploom.base.errors import WarploomError
from warploom.base.records import dtype_of
from warploom.compiler.sass.module import from_cuda
from warploom.emulator.memory import log_access
from warploom.emulator.records import EmulatedMachine, Fault
from warploom.emulator.trace.format import COUNTED, MOST_ABOUT, MOST_RECORDS, PARALLEL_SHIFT, SPACE_SHIFT
from warploom.emulator.trace.store import TraceStore
from warploom.jit import njit
from warploom.programs.device import Device

MANY = """
extern "C" __global__ void many(int* out, int times) {
    __shared__ alignas(8) state bar;
    if (threadIdx.x == 0) begin(&bar, 1);
    __syncthreads();
    asm volatile("mbarrier.arrive.shared.b64 _, [%0], %1;" :: "r"(in_shared(&bar)), "r"(times) : "memory");
    out[threadIdx.x] = 1;
}
"""


@njit
def _log(machine: Any, space: int, count: int, about: Any) -> None:
    log_access(machine[0], space, count, about)


def _logged(space: int, count: int, about: int) -> tuple[np.void, np.ndarray]:
    machine, column = np.zeros(1, dtype_of(EmulatedMachine)), np.zeros(2, np.uint16)
    machine["log_memory"] = column.ctypes.data
    _log(machine, space, count, about)
    return machine[0], column


def test_the_most_that_an_entry_of_memory_holds() -> None:
    machine, column = _logged(COUNTED, MOST_RECORDS, MOST_ABOUT)
    assert column.tolist() == [MOST_RECORDS | COUNTED << SPACE_SHIFT | MOST_ABOUT << PARALLEL_SHIFT, 0]
    assert (machine["n_memory"], machine["n_sector"], machine["fault"]) == (1, MOST_RECORDS, Fault.NONE)


@pytest.mark.parametrize(
    ("space", "count", "about"),
    [(0, MOST_RECORDS + 1, 0), (0, -1, 0), (COUNTED + 1, 1, 0), (0, 1, MOST_ABOUT + 1), (0, 1, -1)],
)
def test_what_an_entry_of_memory_does_not_hold(space: int, count: int, about: int) -> None:
    machine, column = _logged(space, count, about)
    assert machine["fault"] == Fault.UNRECORDED and machine["fault_address"] == np.uint64(count & (1 << 64) - 1)
    assert not column.any() and machine["n_memory"] == machine["n_sector"] == 0


@pytest.mark.parametrize("form", ["arrive", "sync"])
@pytest.mark.parametrize("threads", [33, 1056, 8192, 65536])
def test_a_barrier_that_counts_what_no_block_has(form: str, threads: int) -> None:
    message = fault(device(f"mov.u32 w, {threads}; bar.{form} 1, w;"), 1, (32,), np.zeros(1, np.uint32))
    assert f"counts {threads} threads; name a multiple of 32, at most 1024" in message


def test_arrivals_beyond_their_field(tmp_path: Path) -> None:
    """32 lanes arrive 2^20 - 1 times each: 25 bits, where a record has 22 of them."""
    module = from_cuda(COMMON + HOPPER + MANY, "many.cu", "sm_90")

    def launch(record: TraceStore | None, times: int) -> None:
        gpu = Device(lambda name, _shape: module.kernel(name), record=record, budget=10_000)
        gpu.launch("many", (1,), (32,), gpu.array(np.zeros(32, np.int32)), np.int32(times))

    launch(TraceStore(tmp_path), 1000)
    launch(None, (1 << 20) - 1)
    with pytest.raises(WarploomError, match="does more at once than a trace has room for"):
        launch(TraceStore(tmp_path), (1 << 20) - 1)
    with pytest.raises(WarploomError, match="does more at once than a trace has room for"):
        launch(TraceStore(tmp_path), -1)
