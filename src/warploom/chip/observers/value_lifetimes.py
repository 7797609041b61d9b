"""How long values live and how often they are read."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from warploom.base.records import Array, Lanes, Record, i4, i8
from warploom.chip.machines.limits import MAX_WARPS
from warploom.chip.sm.bits import highest
from warploom.chip.sm.context import Context
from warploom.chip.sm.counter import CounterMeaning
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.chip.sm.layout import MAX_REGISTERS
from warploom.chip.sm.services import inlined

LIFETIMES = 24  # bin 0: never read, or read in the cycle of its write; bin n: 2**(n - 1) to 2**n - 1 cycles
READS = 9  # 0 to 7 reads, and more


class Lives(Record):
    """When each register was written and read, and what follows from it."""

    written: Annotated[Array[i8], MAX_WARPS, MAX_REGISTERS]  # cycle + 1; 0: nothing
    last_read: Annotated[Array[i8], MAX_WARPS, MAX_REGISTERS]  # likewise
    read: Annotated[Array[i4], MAX_WARPS, MAX_REGISTERS]
    lifetimes: Annotated[Array[i8], LIFETIMES]
    reads: Annotated[Array[i8], READS]
    cycles: i8
    values: i8
    values_read: i8


@inlined
def _close(own: Lives, warp: int, register: int) -> None:
    """Count a value that is overwritten or whose warp exits."""
    if own.written[warp, register] > 0:
        cycles = own.last_read[warp, register] - own.written[warp, register]
        own.lifetimes[min(highest(cycles) + 1, LIFETIMES - 1)] += 1
        own.reads[min(own.read[warp, register], READS - 1)] += 1
        own.cycles += cycles
        own.values += 1
        own.values_read += own.read[warp, register] > 0
        own.written[warp, register] = 0


class ValueLifetimes(NamedTuple):
    """Cycles from the issue of a write to that of the last read of its value, and reads of each value.

    A write under a partial mask begins a new value like any other; what a program reads without having written it is no value.
    """

    NAME = "value-lifetimes"
    STATE = Lives
    COUNTERS = {
        "values": CounterMeaning("values", "Values that were written to registers."),
        "values_read": CounterMeaning("values", "Values that were read before they were overwritten."),
        "lifetimes": CounterMeaning(
            "values", "Values by the cycles from the issue of the write to that of the last read: bin n has 2^(n - 1) to 2^n - 1."
        ),
        "reads": CounterMeaning("values", "Values by how often they were read."),
        "mean_lifetime": CounterMeaning(
            "cycles", "Mean time from the issue of the write to that of the last read, of the values that were read."
        ),
    }

    def on_issued(observer, own: Lives, ctx: Context, cycle: int, warp: int, pc: int, mask: Lanes) -> None:
        row = ctx.code[pc]
        for operand in range(row.n_reads):
            register = int(row.reads[operand])
            own.last_read[warp, register] = cycle + 1
            own.read[warp, register] += 1
        for number in range(row.n_writes):
            register = int(row.writes[number])
            _close(own, warp, register)
            own.written[warp, register] = cycle + 1
            own.last_read[warp, register] = cycle + 1
            own.read[warp, register] = 0

    def on_exited(observer, own: Lives, ctx: Context, cycle: int, warp: int) -> None:
        for register in range(ctx.info.registers):
            _close(own, warp, register)

    def report(observer, states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
        """Histograms, and the mean lifetime of the values that are read."""
        read = int(states["values_read"].sum())
        return {
            "values": int(states["values"].sum()),
            "values_read": read,
            "lifetimes": [int(count) for count in states["lifetimes"].sum(axis=0)],
            "reads": [int(count) for count in states["reads"].sum(axis=0)],
            "mean_lifetime": int(states["cycles"].sum()) / max(1, read),
        }
