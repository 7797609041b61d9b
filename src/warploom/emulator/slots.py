"""Where the CTAs of a launch are resident: their warps, registers and memory, and the record of the machine as launches begin.

Compiled code clears a slot whenever a CTA begins in it, so that the next launch of the same kernel and shape takes the slots as
the one before has left them: to make them anew takes longer than a small launch.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from warploom.base.records import Array, dtype_of, i8, typed
from warploom.compiler.code.memory_map import LOCAL_WINDOW, SHARED_WINDOW
from warploom.emulator.clusters import RECORD_BYTES as CLUSTER_BYTES
from warploom.emulator.encode import EncodedKernel
from warploom.emulator.extents import Shape
from warploom.emulator.lanes import ROW_BYTES
from warploom.emulator.memory import WINDOW_BYTES
from warploom.emulator.records import EmulatedMachine, ResidentCta
from warploom.emulator.sass.constants import WIDE_WINDOWS
from warploom.emulator.sass.matrices import PLACES_BYTES
from warploom.emulator.scheduler import SPECIALS

CLOCKS = ("clock", "clock64", "clock_hi", "globaltimer", "globaltimer_lo", "globaltimer_hi")
MOST_RESIDENT_WARPS = 2048
_ALIGNMENT = 128
_MOST_KEPT = 16


class ResidentSlots:
    """Room for resident CTAs of one kernel under one shape."""

    def __init__(self, kernel: EncodedKernel, grid: Shape, block: Shape, cluster: Shape, shared_bytes: int) -> None:
        self.warps_per_cta, self.row_bytes = -(-math.prod(block) // 32), kernel.rows * ROW_BYTES
        self._predicate_bytes = _rounded(4 * kernel.predicates, 8)
        self._local_stride = _rounded(kernel.code.local_bytes, 4) * 32
        self._shared_stride = _rounded(shared_bytes, 8)
        together, ctas = math.prod(cluster), math.prod(grid)
        most = min(ctas, MOST_RESIDENT_WARPS // self.warps_per_cta)
        self._most = max(together, most // together * together)
        self.special_rows, self.clock_rows = _special_rows(kernel, SPECIALS), _special_rows(kernel, CLOCKS)
        self.scratch = np.zeros((3, 2 * ROW_BYTES), np.uint8)
        self._saved, self._banks = np.zeros(PLACES_BYTES, np.uint8), np.zeros(32 + 32 * 128, np.uint8)
        self._addresses, self._survey = np.zeros(32, np.uint64), np.zeros(4, np.uint64)
        self._begin = self._machine(kernel, grid, block, cluster, shared_bytes)
        self.key = (id(kernel), grid, block, cluster, shared_bytes)
        self.first_count, self.count = together, 0
        self.warps, self.ctas = np.zeros(0, dtype_of(kernel.warp)), np.zeros(0, dtype_of(ResidentCta))
        self._rows = self._predicates = self._local = self._shared = self._clusters = np.zeros(0, np.uint8)
        self.grow(together)

    def _machine(self, kernel: EncodedKernel, grid: Shape, block: Shape, cluster: Shape, shared_bytes: int) -> bytes:
        """What all launches of this shape have in common."""
        machine = np.zeros(1, dtype_of(EmulatedMachine))
        machine["instructions"] = len(kernel.instructions)
        machine["grid"], machine["block"], machine["threads"] = grid, block, math.prod(block)
        machine["warps_per_cta"], machine["ctas"] = self.warps_per_cta, math.prod(grid)
        machine["cluster"], machine["cluster_size"] = cluster, math.prod(cluster)
        machine["flush_unit"] = _ctas_of_whole_rows(grid, cluster)
        machine["row_bytes"], machine["register_bytes"] = self.row_bytes, kernel.registers * ROW_BYTES
        machine["predicate_bytes"], machine["always"] = self._predicate_bytes, 4 * kernel.always
        machine["local_bytes"], machine["local_stride"] = kernel.code.local_bytes, self._local_stride
        machine["shared_bytes"], machine["shared_stride"] = shared_bytes, self._shared_stride
        machine["most_slots"] = self._most
        windows = (SHARED_WINDOW, LOCAL_WINDOW, WINDOW_BYTES) if kernel.code.binary is None else WIDE_WINDOWS
        machine["shared_window"], machine["local_window"], machine["window_bytes"] = windows
        machine["saved"], machine["addresses"] = self._saved.ctypes.data, self._addresses.ctypes.data
        machine["survey"], machine["banks"] = self._survey.ctypes.data, self._banks.ctypes.data
        return machine.tobytes()

    def new_machine(self) -> np.ndarray:
        """The record of the machine for a launch."""
        return np.frombuffer(bytearray(self._begin), dtype_of(EmulatedMachine))

    def grow(self, count: int) -> None:
        """Make room for so many CTAs at a time, or as many as there can ever be."""
        count = min(count, self._most)
        warps = count * self.warps_per_cta
        self.warps, self.ctas, self.count = _longer(self.warps, warps), _longer(self.ctas, count), count
        self._rows = _longer(self._rows, warps * self.row_bytes)
        self._predicates = _longer(self._predicates, warps * self._predicate_bytes)
        self._local = _longer(self._local, warps * self._local_stride)
        self._shared = _longer(self._shared, count * self._shared_stride)
        self._clusters = _longer(self._clusters, count * CLUSTER_BYTES)
        self.rows_at, self._shared_at = self._rows.ctypes.data, self._shared.ctypes.data
        self._others_at = self._predicates.ctypes.data, self._local.ctypes.data, self._clusters.ctypes.data
        places = np.arange(warps)
        self.warps["rows"] = self.rows_at + places * self.row_bytes
        self.warps["predicates"] = self._others_at[0] + places * self._predicate_bytes
        self.warps["local"] = self._others_at[1] + places * self._local_stride
        self.ctas["shared"] = self._shared_at + np.arange(count) * self._shared_stride

    def attach(self, machine: np.ndarray) -> None:
        """Tell the machine where the slots are."""
        machine["rows"], machine["shared"], machine["slots"] = self.rows_at, self._shared_at, self.count
        machine["predicates"], machine["local"], machine["clusters"] = self._others_at


class KeptSlots:
    """The slots of the shapes that were launched last. An emulator runs one launch at a time."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Any, ...], ResidentSlots] = {}

    def take(self, kernel: EncodedKernel, grid: Shape, block: Shape, cluster: Shape, shared_bytes: int) -> ResidentSlots:
        """ResidentSlots for a launch; the kernel stays alive as long as this does, since its identity is part of their key."""
        kept = self._kept.pop((id(kernel), grid, block, cluster, shared_bytes), None)
        return kept or ResidentSlots(kernel, grid, block, cluster, shared_bytes)

    def give_back(self, slots: ResidentSlots) -> None:
        """A launch has ended; slots that have grown are large and seldom wanted again."""
        if slots.count > slots.first_count:
            return
        self._kept[slots.key] = slots
        if len(self._kept) > _MOST_KEPT:
            del self._kept[next(iter(self._kept))]


def _special_rows(kernel: EncodedKernel, names: tuple[str, ...]) -> Array[i8]:
    return typed(int, np.array([kernel.specials.get(name, -1) for name in names], np.int64))


def _ctas_of_whole_rows(grid: Shape, cluster: Shape) -> int:
    """How many CTAs, in the order in which clusters begin, come before none that the grid has before them."""
    if cluster[2] > 1:
        return grid[0] * grid[1] * cluster[2]
    return grid[0] * cluster[1] if cluster[1] > 1 else 1


def _rounded(size: int, to: int) -> int:
    return -(-size // to) * to


def _longer(array: np.ndarray, length: int) -> np.ndarray:
    """The same contents with more room; bytes begin at a multiple of 128."""
    if array.dtype == np.uint8:
        raw = np.zeros(length + _ALIGNMENT, np.uint8)
        skip = -raw.ctypes.data % _ALIGNMENT
        grown = raw[skip : skip + length]
    else:
        grown = np.zeros(length, array.dtype)
    grown[: len(array)] = array
    return grown
