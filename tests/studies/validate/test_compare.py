"""The arithmetic of the table, by hand."""

from __future__ import annotations

import math

import pytest

from warploom.chip.result import TimedLaunch
from warploom.studies.validate.compare import Compared, compared, correlation, summaries
from warploom.studies.validate.recorded import MeasuredLaunch

pytestmark = pytest.mark.unit


def _measured(program: str, part: str, cycles: float, instructions: int = 100, **traffic: int) -> MeasuredLaunch:
    moved = {"l1_load_sectors": 0, "l2_sectors": 0, "dram_read_bytes": 0, "dram_write_bytes": 0} | traffic
    about = {
        "part": part,
        "program": program,
        "size": "small",
        "kernel": program,
        "launch": 0,
        "launches": 1,
        "grid": "1",
        "block": "32",
    }
    counted = {"cycles_as_is": cycles, "instructions": instructions, "thread_instructions": 32 * instructions, "registers": 16}
    return MeasuredLaunch(**about, cycles=cycles, measurements=2, spread=0.0, **counted, l1_load_hits=0, **moved)  # type: ignore[arg-type]


def _ours(measured: MeasuredLaunch, cycles: int, instructions: int = 100, **memory: int) -> Compared:
    busy = {"ctas": 1, "busy_sms": 1, "busy_cycles": cycles, "resident_cycles": cycles}
    told = {"issued_thread_instructions": 3200, "memory": memory}
    return compared(measured, TimedLaunch("k", cycles, instructions, cycles, **busy, **told))  # type: ignore[arg-type]


def test_errors_by_hand() -> None:
    rows = [
        _ours(
            _measured("a", "adjust", 1000, l2_sectors=1000, dram_read_bytes=320_000),
            1100,
            l2_accesses=950,
            l2_code_accesses=50,  # which a GPU's counter of what its SMs load and store does not have
            dram_reads=10_000,
        ),
        _ours(_measured("b", "adjust", 2000, l2_sectors=1000), 1800, instructions=101, l2_accesses=1300, dram_reads=7),
        _ours(_measured("c", "held-out", 500, instructions=99), 600, instructions=99),
    ]
    assert [row.error for row in rows] == pytest.approx([0.1, -0.1, 0.2])
    assert rows[0].traffic_error("l2_sectors") == pytest.approx(-0.1)
    assert rows[0].traffic_error("dram_read_bytes") == 0
    assert rows[1].traffic_error("dram_read_bytes") is None  # next to nothing was read
    assert rows[2].traffic_error("l2_sectors") is None  # the model does not say
    adjust, held_out, everything = summaries(rows, sms=2)
    assert (adjust.filling, adjust.filling_error) == (0, None)  # one CTA each
    assert (summaries(rows, sms=1)[0].filling, summaries(rows, sms=1)[0].filling_error) == (2, pytest.approx(0.1))
    assert (everything.workloads, everything.filling_workloads, summaries(rows, sms=1)[2].filling_workloads) == (3, 0, 3)
    assert (adjust.part, held_out.part, everything.part) == ("adjust", "held-out", "all")
    assert (adjust.launches, adjust.kernels, adjust.exact_instructions, adjust.exact_thread_instructions) == (2, 2, 1, 2)
    assert (held_out.exact_instructions, held_out.exact_thread_instructions) == (1, 0)
    assert adjust.mean_error == pytest.approx(0.1) and held_out.mean_error == pytest.approx(0.2)
    assert everything.mean_error == pytest.approx(0.4 / 3) and everything.median_error == pytest.approx(0.1)
    assert adjust.traffic["l2_sectors"] == pytest.approx((0.1 + 0.3) / 2)
    assert adjust.traffic["l1_load_sectors"] is None


def test_correlation_by_hand() -> None:
    assert correlation([1, 2, 3], [2, 4, 6]) == pytest.approx(1)
    assert correlation([1, 2, 3], [1, 3, 2]) == pytest.approx(0.5)
    assert math.isnan(correlation([1, 2], [5, 5]))
    assert math.isnan(correlation([1], [1]))
