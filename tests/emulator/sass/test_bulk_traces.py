"""What a trace says of copies of many bytes and of barriers in shared memory."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from support.tensor_tiles import REDUCTIONS, TENSORS, TILES
from support.transaction_kernels import COMMON, HOPPER
from warploom.chip.machines import load_machine
from warploom.chip.simulate import time_launches
from warploom.compiler.code.instruction import Code
from warploom.compiler.code.table import Flag, Space, static_table
from warploom.compiler.sass.module import SassModule, from_cuda
from warploom.designs import parse_design
from warploom.emulator.trace.format import (
    ARRIVALS_SHIFT,
    COUNTED,
    MOST_COUNTED,
    NUMBER_SHIFT,
    SPACE_MASK,
    SPACE_SHIFT,
    UNIT_BYTES,
    BarrierDeed,
    Trace,
)
from warploom.emulator.trace.store import TraceStore
from warploom.programs.device import Device

BEGIN, ARRIVE, WAIT, LEAVE = BarrierDeed


def _entries(code: Code, trace: Trace) -> list[tuple[int, int, list[tuple[int, int]]]]:
    """Flags, space and records of every entry of the first warp's memory column."""
    table = static_table(code)
    accesses = Flag.LOAD | Flag.STORE | Flag.ATOMIC | Flag.BARRIER | Flag.BULK
    first, end = (int(trace.start[n]["instruction"]) for n in (0, 1))
    memory, sector = int(trace.start[0]["memory"]), int(trace.start[0]["sector"])
    found = []
    for pc in trace.pc[first:end].tolist():
        flags = int(table[pc]["flags"])
        if not flags & accesses:
            continue
        entry = int(trace.memory[memory])
        memory += 1
        if flags & Flag.BARRIER:
            continue
        space = entry >> SPACE_SHIFT & SPACE_MASK
        end_of_records = sector + (entry & 0xFF if space != Space.SHARED else 0)
        records = (column[sector:end_of_records].tolist() for column in (trace.sector, trace.lanes))
        found.append((flags, space, list(zip(*records, strict=True))))
        sector = end_of_records
    assert memory == int(trace.start[1]["memory"]) and sector == int(trace.start[1]["sector"])
    return found


def _units(records: list[tuple[int, int]]) -> set[int]:
    """The pieces of 16 bytes of device memory that a copy accesses."""
    blocks = records[1:]
    return {
        first + row * distance + unit
        for (first, units), (distance, rows) in zip(blocks[::2], blocks[1::2], strict=True)
        for row in range(rows)
        for unit in range(units)
    }


def _deeds(code: Code, trace: Trace) -> list[tuple[int, int, int, int]]:
    """What the first warp does to barriers: deed, number, arrivals, amount."""
    records = [record for _, space, of_entry in _entries(code, trace) if space == COUNTED for record in of_entry]
    mask = (1 << ARRIVALS_SHIFT - NUMBER_SHIFT) - 1
    return [(what & 3, what >> NUMBER_SHIFT & mask, what >> ARRIVALS_SHIFT, amount) for what, amount in records]


@pytest.fixture(scope="module")
def tensors() -> SassModule:
    return from_cuda(TENSORS, "tensors.cu", "sm_90")


@pytest.fixture(scope="module")
def barriers() -> SassModule:
    return from_cuda(COMMON + HOPPER, "bytes.cu", "sm_90")


def _device(module: SassModule, folder: Path) -> Device:
    return Device(lambda name, _shape: module.kernel(name), record=TraceStore(folder), budget=1_000_000)


def _traced(device: Device) -> tuple[Code, Trace]:
    launch = device.launches[-1]
    assert launch.trace is not None
    return launch.code, launch.trace


@pytest.mark.parametrize("name", [name for name, tile in TILES.items() if tile.kernel in ("load", "store", "add")])
def test_tiles(name: str, tensors: SassModule, tmp_path: Path) -> None:
    tile = TILES[name]
    element = np.dtype(tile.element)
    device = _device(tensors, tmp_path)
    there = device.array(np.zeros(tile.shape, element))
    made = device.tensor_map(there, tile.box, swizzle=tile.swizzle, steps=tile.steps, nan=tile.nan)
    at = [np.int32(place) for place in (*tile.at[::-1], 0, 0, 0, 0)[:5]]
    size = int(np.prod(tile.extents)) * element.itemsize
    facts = (np.int32(len(tile.shape)), np.int32(size))
    if tile.kernel == "load":
        out = device.array(np.zeros(size // 4, np.uint32))
        device.launch("load", (1,), (32,), made, out, *facts, *at, shared_bytes=size + 2048)
    else:
        how = np.int32(REDUCTIONS[tile.kernel])
        stored = device.array(np.zeros(4096, element))
        device.launch("store", (1,), (32,), made, stored, how, *facts, *at[:3], shared_bytes=size + 2048)
    copies = [records for flags, _, records in _entries(*_traced(device)) if flags & Flag.BULK]
    steps = (*tile.steps[:-1], 1) if tile.steps is not None else (1,) * len(tile.box)
    strides = np.zeros(tile.shape, element).strides
    expected = set()
    for index in itertools.product(*map(range, tile.extents)):
        place = tuple(start + i * step for start, i, step in zip(tile.at, index, steps, strict=True))
        if all(0 <= x < extent for x, extent in zip(place, tile.shape, strict=True)):
            byte = there.address + sum(x * stride for x, stride in zip(place, strides, strict=True))
            expected |= {byte // UNIT_BYTES, (byte + element.itemsize - 1) // UNIT_BYTES}
    assert len(copies) == 1
    assert _units(copies[0]) == expected
    assert copies[0][0] == (1 if tile.kernel == "load" else 0, size)


def test_a_copy_and_its_barrier(barriers: SassModule, tmp_path: Path) -> None:
    device = _device(barriers, tmp_path)
    source, target = (device.array(np.zeros(1024, np.int32)) for _ in range(2))
    device.launch("bulk", (1,), (32,), source, target, np.int32(4096), shared_bytes=4096)
    code, trace = _traced(device)
    copies = [records for flags, _, records in _entries(code, trace) if flags & Flag.BULK]
    units = 4096 // UNIT_BYTES
    assert copies[0] == [(1, 4096), (source.address // UNIT_BYTES, units), (0, 1)]
    assert copies[1] == [(0, 4096), (target.address // UNIT_BYTES, units), (0, 1)]
    assert _deeds(code, trace) == [(BEGIN, 0, 1, 1), (ARRIVE, 0, 1, 4096), (WAIT, 0, 0, 1)]


def test_phases_are_counted(barriers: SassModule, tmp_path: Path) -> None:
    device = _device(barriers, tmp_path)
    device.launch("counting", (1,), (1,), device.array(np.zeros(10, np.int32)))
    once = (ARRIVE, 0, 1, 0)
    leaves = (LEAVE, 0, 1, 0)
    waits = [(WAIT, 0, 0, phases) for phases in (1, 2)]
    expected = [(BEGIN, 0, 3, 1), once, once, once, waits[0], leaves, once, once, waits[1], once, once, once]
    assert _deeds(*_traced(device)) == expected


def test_lanes_at_one_barrier_are_one_record(barriers: SassModule, tmp_path: Path) -> None:
    device = _device(barriers, tmp_path)
    device.launch("rounds", (1,), (32,), device.array(np.zeros(32, np.int32)), np.int32(2))
    deeds = _deeds(*_traced(device))
    assert deeds[0] == (BEGIN, 0, 32, 1)
    assert [deed for deed in deeds if deed[0] == ARRIVE] == [(ARRIVE, 0, 32, 0)] * 4
    assert [deed for deed in deeds if deed[0] == WAIT] == [(WAIT, 0, 0, phases) for phases in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("kernel", "threads", "arguments"), [("rounds", 96, (3,)), ("counting", 1, ()), ("bytes", 1, ()), ("behind_copies", 32, None)]
)
def test_waits_come_to_their_end_in_time(
    barriers: SassModule, tmp_path: Path, kernel: str, threads: int, arguments: tuple[int, ...] | None
) -> None:
    """The checked core runs what was traced, also with arrivals that are dropped and bytes that come before they are expected."""
    device = _device(barriers, tmp_path)
    out = device.array(np.zeros(128, np.int32))
    given = [np.int32(one) for one in arguments] if arguments is not None else [out]
    device.launch(kernel, (2,), (threads,), out, *given)
    result = time_launches([_traced(device)], parse_design("modern").policies, load_machine("hopper"), check=True)
    assert result.warp_instructions == len(_traced(device)[1].pc)


IN_TURN = """
extern "C" __global__ void in_turn(int* out) {
    __shared__ alignas(8) state bars[64];
    state last = 0, before = 0;
    for (int n = 0; n < 64; n++) {
        begin(bars + n, 1);
        if (n > 1) while (!over(bars + n - 2, before)) ;
        before = last;
        last = arrive(bars + n);
    }
    out[0] = over(bars + 62, before) + over(bars + 63, last);
}
"""


def test_barriers_that_begin_do_not_disturb_others(tmp_path: Path) -> None:
    """As many as are followed: each begins while the one before the last is waited for."""
    device = _device(from_cuda(COMMON + IN_TURN, "turns.cu", "sm_90"), tmp_path)
    out = device.array(np.zeros(1, np.int32))
    device.launch("in_turn", (1,), (1,), out)
    assert out.get().tolist() == [2]
    code, trace = _traced(device)
    begun = [number for deed, number, _, _ in _deeds(code, trace) if deed == BEGIN]
    assert begun == list(range(MOST_COUNTED))
    result = time_launches([(code, trace)], parse_design("modern").policies, load_machine("hopper"), check=True)
    assert result.warp_instructions == len(trace.pc)


def test_a_copy_takes_its_time(barriers: SassModule, tmp_path: Path) -> None:
    cycles = []
    for size in (64, 32768):
        device = _device(barriers, tmp_path)
        source, target = (device.array(np.zeros(size // 4, np.int32)) for _ in range(2))
        device.launch("bulk", (1,), (32,), source, target, np.int32(size), shared_bytes=size)
        for lines in (0, 1024):
            machine = load_machine("hopper", **{"bulk.lines": lines})
            result = time_launches([_traced(device)] * 2, parse_design("modern").policies, machine, check=True)
            cycles.append(result.launches[1].cycles)  # its code is there
    little, with_unit, much, much_with_unit = cycles
    assert with_unit - little > 100  # the way to L2 and back, of which the barrier of the CTA and code hide some
    assert much_with_unit - much > with_unit - little + 32768 // 32  # and a sector a cycle on the way out
