"""Clusters of CTAs: resident together, they synchronise at a barrier of their own, and reach each other's shared memory.

An address in shared memory has the rank of a CTA in its cluster above 24 bits of offset. The barrier of a cluster counts warps;
a warp that has ended counts as come. What it has counted is in four words, those of the cluster's first slot.
"""

from __future__ import annotations

import numpy as np

from warploom.base.records import Lanes, int64
from warploom.emulator.pointers import get32, put32
from warploom.emulator.records import EmulatedMachine, ResidentCta, ResidentWarp
from warploom.jit import callee

RANK_AT = 24
OFFSET = (1 << RANK_AT) - 1
RECORD_BYTES = 16
_ARRIVED, _PHASE, _GONE, _LEAVING = 0, 4, 8, 12


@callee
def index_in_grid(machine: EmulatedMachine, number: int) -> int:
    """The number of a CTA in the grid, x fastest, of the one that is the n-th to begin: cluster after cluster."""
    size = machine.cluster_size
    if size == 1:
        return number
    grid, cluster = machine.grid, machine.cluster
    along, down = grid[0] // cluster[0], grid[1] // cluster[1]
    which, rank = number // size, number % size
    x = which % along * cluster[0] + rank % cluster[0]
    y = which // along % down * cluster[1] + rank // cluster[0] % cluster[1]
    z = which // (along * down) * cluster[2] + rank // (cluster[0] * cluster[1])
    return x + grid[0] * (y + grid[1] * z)


@callee
def shared_place(machine: EmulatedMachine, cta: ResidentCta, address: int, size: int) -> int:
    """Where bytes of shared memory lie that an address with a rank means; 0 if there are none."""
    offset, rank = address & OFFSET, address >> RANK_AT
    if address < 0 or rank >= machine.cluster_size or offset + size > machine.shared_bytes:
        return 0
    first = cta.slot if machine.cluster_size == 1 else cta.leader
    return machine.shared + (first + rank) * machine.shared_stride + offset


@callee
def _settle(machine: EmulatedMachine, record: int) -> None:
    """If all warps of the cluster have come, the next phase begins."""
    arrived, gone = get32(record + _ARRIVED), get32(record + _GONE)
    if int64(arrived) + int64(gone) >= machine.cluster_size * machine.warps_per_cta:
        put32(record + _ARRIVED, np.uint32(0))
        put32(record + _PHASE, get32(record + _PHASE) + np.uint32(1))
        put32(record + _GONE, gone + get32(record + _LEAVING))
        put32(record + _LEAVING, np.uint32(0))


@callee
def _record(machine: EmulatedMachine, cta: ResidentCta) -> int:
    return machine.clusters + RECORD_BYTES * int64(cta.leader)


@callee
def arrive_in_cluster(machine: EmulatedMachine, cta: ResidentCta, warp: ResidentWarp, mask: Lanes) -> None:
    """Lanes arrive at the barrier of their cluster; the warp has when all of its lanes have."""
    warp.cluster_lanes |= mask
    if warp.alive & ~warp.cluster_lanes == 0:
        warp.cluster_lanes = np.uint32(0)
        warp.cluster_arrivals += 1
        record = _record(machine, cta)
        put32(record + _ARRIVED, get32(record + _ARRIVED) + np.uint32(1))
        _settle(machine, record)


@callee
def cluster_has_come(machine: EmulatedMachine, cta: ResidentCta, warp: ResidentWarp) -> bool:
    """Whether the phase at which the warp arrived last is over."""
    return bool(warp.cluster_lanes == 0) and warp.cluster_arrivals <= int64(get32(_record(machine, cta) + _PHASE))


@callee
def leave_cluster(machine: EmulatedMachine, cta: ResidentCta, warp: ResidentWarp) -> None:
    """A warp has ended: from the next phase on at which it has not arrived, nobody waits for it."""
    record = _record(machine, cta)
    waited_for = warp.cluster_arrivals > int64(get32(record + _PHASE))
    count = record + (_LEAVING if waited_for else _GONE)
    put32(count, get32(count) + np.uint32(1))
    _settle(machine, record)
