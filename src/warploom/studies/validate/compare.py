"""Ours beside measured, kernel by kernel, and how far they are apart in the mean."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from warploom.chip.result import TimedLaunch
from warploom.emulator.trace.format import SECTOR_BYTES
from warploom.studies.validate.recorded import SINGLE_SIZES, MeasuredLaunch
from warploom.studies.validate.split import PARTS

DRAM_TRAFFIC = ("dram_read_bytes", "dram_write_bytes")
TRAFFIC = ("l1_load_sectors", "l2_sectors", *DRAM_TRAFFIC)
LEAST_TRAFFIC = {"l1_load_sectors": 256, "l2_sectors": 256, "dram_read_bytes": 65536, "dram_write_bytes": 65536}
"""Below these, what the chip itself moves (code, parameters, its own bookkeeping) decides the number; no error is given there."""


@dataclass(frozen=True)
class Compared:
    """A launch as measured and as the model has it."""

    measured: MeasuredLaunch
    cycles: int
    instructions: int
    thread_instructions: int
    traffic: dict[str, int | None]  # by the names of `TRAFFIC`; None where the model does not count it
    kind: str = ""  # of the run that it was timed in, see `warploom.runs.kinds`

    @property
    def error(self) -> float:
        """The error for the cycles: 0.1 is ten per cent too many."""
        return self.cycles / self.measured.cycles - 1

    def traffic_error(self, name: str) -> float | None:
        """The error for one kind of traffic; None where little is moved, or one of both does not report it."""
        measured, ours = getattr(self.measured, name), self.traffic[name]
        return None if ours is None or measured is None or measured < LEAST_TRAFFIC[name] else ours / measured - 1

    @property
    def dram_error(self) -> float | None:
        """Of all that is moved between L2 and DRAM."""
        ours = [self.traffic[name] for name in DRAM_TRAFFIC]
        moved = [getattr(self.measured, name) for name in DRAM_TRAFFIC]
        if None in ours or None in moved or sum(moved) < LEAST_TRAFFIC[DRAM_TRAFFIC[0]]:
            return None
        return sum(filter(None, ours)) / sum(moved) - 1


@dataclass(frozen=True)
class Summary:
    """A part of the launches together."""

    part: str
    launches: int
    kernels: int
    mean_error: float  # mean absolute error of cycles
    median_error: float
    correlation: float  # Pearson's, of cycles
    log_correlation: float  # of the logarithms of cycles, in which small kernels count as much as large ones
    filling: int  # launches with a CTA for every SM of the chip
    filling_error: float | None  # mean absolute error of their cycles
    workloads: int  # programs that have sizes, unlike single kernels
    filling_workloads: int  # of which such a launch is among them
    exact_instructions: int  # launches whose instructions agree exactly
    exact_thread_instructions: int  # and those of their threads
    traffic: dict[str, float | None]  # median absolute error of each kind
    dram_error: float | None  # the same of reads and writes together
    writing: int  # launches that write to DRAM


def compared(measured: MeasuredLaunch, launch: TimedLaunch, kind: str = "") -> Compared:
    """Beside a measured launch, what a simulated one gave (an entry of ``Result.launches`` of launches timed alone)."""
    memory = launch.memory
    assert memory is not None and launch.issued_thread_instructions is not None
    return Compared(
        measured,
        launch.active_cycles,
        launch.warp_instructions,
        launch.issued_thread_instructions,
        {
            "l1_load_sectors": memory.get("l1_sectors") or None,  # counted where L1 fetches sectors
            "l2_sectors": memory["l2_accesses"] - memory.get("l2_code_accesses", 0) if "l2_accesses" in memory else None,
            "dram_read_bytes": memory["dram_reads"] * SECTOR_BYTES if "dram_reads" in memory else None,
            "dram_write_bytes": memory["dram_writes"] * SECTOR_BYTES if "dram_writes" in memory else None,
        },
        kind,
    )


def summaries(rows: Sequence[Compared], sms: int) -> list[Summary]:
    """Of each part, and of all together, on a chip of so many SMs."""
    parts = [(part, [row for row in rows if row.measured.part == part]) for part in PARTS]
    return [_summary(part, some, sms) for part, some in (*parts, ("all", list(rows))) if some]


def _summary(part: str, rows: Sequence[Compared], sms: int) -> Summary:
    errors = [abs(row.error) for row in rows]
    filling = [row for row in rows if row.measured.ctas >= sms]
    measured, ours = [row.measured.cycles for row in rows], [float(row.cycles) for row in rows]
    return Summary(
        part=part,
        launches=len(rows),
        kernels=len({(row.measured.name, row.measured.size) for row in rows}),
        mean_error=statistics.fmean(errors),
        median_error=statistics.median(errors),
        correlation=correlation(measured, ours),
        log_correlation=correlation([math.log(value) for value in measured], [math.log(value) for value in ours]),
        filling=len(filling),
        filling_error=statistics.fmean(abs(row.error) for row in filling) if filling else None,
        workloads=len(_workloads(rows)),
        filling_workloads=len(_workloads(filling)),
        exact_instructions=sum(row.instructions == row.measured.instructions for row in rows),
        exact_thread_instructions=sum(row.thread_instructions == row.measured.thread_instructions for row in rows),
        traffic={name: _median_of(row.traffic_error(name) for row in rows) for name in TRAFFIC},
        dram_error=_median_of(row.dram_error for row in rows),
        writing=sum(row.traffic_error("dram_write_bytes") is not None for row in rows),
    )


def _workloads(rows: Iterable[Compared]) -> set[str]:
    return {row.measured.program for row in rows if row.measured.size not in SINGLE_SIZES}


def _median_of(errors: Iterable[float | None]) -> float | None:
    known = [abs(error) for error in errors if error is not None]
    return statistics.median(known) if known else None


def correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Pearson's correlation; not a number where one of both does not vary."""
    try:
        return statistics.correlation(first, second)
    except statistics.StatisticsError:
        return math.nan
