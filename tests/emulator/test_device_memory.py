"""Device memory: allocations never meet, holes are used again, and lenient memory takes what hardware takes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.base.errors import SimulationError, WarploomError
from warploom.emulator.device_memory import PAGE_BYTES, DeviceMemory
from warploom.emulator.sparse_bytes import SparseBytes
from warploom.programs.device import Device

BASE = 0x5000_0000


@given(st.lists(st.tuples(st.integers(0, 5000), st.booleans()), max_size=40))
def test_allocations_lie_apart_and_begin_with_zeros(steps: list[tuple[int, bool]]) -> None:
    memory = DeviceMemory(BASE)
    live: dict[int, int] = {}
    for size, frees in steps:
        if frees and live:
            freed = next(iter(live))
            memory.free(freed)
            live.pop(freed)
        address = memory.allocate(size, "something")
        assert address % 256 == 0 and address not in live
        assert all(address + size <= other or other + bytes_ <= address for other, bytes_ in live.items() if bytes_ and size)
        assert not memory.view(address, size).any()
        memory.view(address, size)[:] = 255
        live[address] = size
        assert memory.free_bytes == memory.total_bytes - sum(live.values())
    assert [tuple(row) for row in memory.bounds().tolist()] == (
        sorted((address, address + size) for address, size in live.items()) or [(0, 0)]
    )


def test_a_hole_is_used_again() -> None:
    memory = DeviceMemory()
    first, second, third = (memory.allocate(1000, "a") for _ in range(3))
    memory.free(second)
    assert memory.allocate(2000, "too large for it") > third
    assert memory.allocate(900, "fits") == second
    assert memory.find(first + 999) == (first, first + 1000, "a")
    assert memory.find(first + 1000) is None


def test_memory_larger_than_the_hosts_is_taken_when_it_is_touched() -> None:
    sparse, size = SparseBytes(1 << 40), 1 << 39
    memory = DeviceMemory(BASE, sparse)
    address = memory.allocate(size, "large")
    assert [len(contents) for _, _, contents in memory.contents()] == [0]
    memory.view(address + size - 5, 5)[:] = 1
    memory.view(address + (1 << 30), 1 << 17)[:] = 0  # touched, and the same as if it were not
    assert [(place - address, bytes_) for place, bytes_, _ in memory.contents()][1:] == [(size - (1 << 16), 1 << 16)]
    memory.free(address)
    assert not list(sparse.touched(0, 1 << 40))
    assert memory.allocate(size, "again") == address and not memory.view(address + size - 5, 5).any()


@given(st.lists(st.tuples(st.integers(0, 40_000), st.integers(0, 40_000)), max_size=6))
def test_what_is_cleared_is_zero_and_nothing_else(ranges: list[tuple[int, int]]) -> None:
    sparse, plain = SparseBytes(80_000), np.ones(80_000, np.uint8)
    sparse.array[:] = 1
    for start, length in ranges:
        sparse.clear(start, start + length)
        plain[start : start + length] = 0
    assert (sparse.array == plain).all()
    untouched = np.ones(80_000, bool)
    for first, last in sparse.touched(0, 80_000):
        untouched[first:last] = False
    assert not plain[untouched].any()
    sparse.close()


def test_a_place_that_is_taken_is_refused() -> None:
    memory = DeviceMemory(BASE)
    memory.allocate_at(BASE + 4096, 100, "there")
    with pytest.raises(WarploomError, match="cannot be allocated"):
        memory.allocate_at(BASE + 4096 + 64, 100, "also there")
    assert memory.allocate(100, "before") == BASE


def test_an_arena_of_others_does_not_grow() -> None:
    sparse = SparseBytes(1 << 16)
    memory = DeviceMemory(BASE, sparse)
    memory.view(memory.allocate(16, "some"), 16)[:] = 7
    assert sparse.array[:16].tolist() == [7] * 16
    with pytest.raises(WarploomError, match="do not fit"):
        memory.allocate(1 << 16, "all")


BEFORE = """.version 8.0\n.target sm_75\n.address_size 64
.visible .entry k(.param .u64 a, .param .s64 offset) {
.reg .b64 %rd<4>; .reg .b32 %r<2>;
ld.param.u64 %rd0, [a]; ld.param.s64 %rd1, [offset]; add.s64 %rd2, %rd0, %rd1;
ld.global.u32 %r0, [%rd2]; st.global.u32 [%rd0], %r0;
ret;\n}\n"""


@pytest.mark.parametrize(("offset", "tolerated"), [(-256, True), (4096, True), (-2 * PAGE_BYTES, False), (2 * PAGE_BYTES, False)])
def test_lenient_memory_takes_accesses_that_miss_by_a_little(offset: int, tolerated: bool) -> None:
    strict, lenient = (Device(BEFORE, record=None, memory=DeviceMemory(lenient=kind)) for kind in (False, True))
    values = np.full(16, 9, np.uint32)
    with pytest.raises(SimulationError, match="reads 4 bytes"):
        strict.launch("k", (1,), (1,), strict.array(values), offset)
    array = lenient.array(values)
    if tolerated:
        lenient.launch("k", (1,), (1,), array, offset)
        assert array.get()[0] == 0
    else:
        with pytest.raises(SimulationError, match="reads 4 bytes"):
            lenient.launch("k", (1,), (1,), array, offset)
