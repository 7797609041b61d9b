"""Our cycles against the recorded simulator's, for the same instructions on the same configuration."""

from __future__ import annotations

import numpy as np
import pytest

from support.timing_reference import Case, Executed, cases, execute, simulate
from warploom.chip.machines import load_machine
from warploom.chip.simulate import time_launches
from warploom.chip.sm import baseline_policies
from warploom.compiler.backend import Options
from warploom.programs.device import Device

pytestmark = pytest.mark.oracle

# Every kernel once, as the reference runs it by default; the other schedulers, file sizes and cold caches are marked slow.
USUAL = [case for case in cases() if case.scheduler == "gto" and case.warm and case.registers == 32768]
LATER = ("gather_", "spmv_", "histogram_")  # recorded when the model stood: kernels that it was not adjusted on
OTHERS = [case for case in cases() if case not in USUAL]


def _compare(chosen: list[Case], median: float = 0.05, most: float = 0.15) -> None:
    executed: dict[str, Executed] = {}
    differences = {}
    for case in chosen:
        if case.name not in executed:
            executed[case.name] = execute(case.name)
        result = simulate(executed[case.name], case)
        assert result.warp_instructions == case.warp_instructions, case.title
        assert result.ctas_per_sm == int(case.row["cta_limit_per_SM"]), case.title
        differences[case.title] = result.cycles / case.cycles - 1
        print(f"{case.title:60s} {case.cycles:8d} {result.cycles:8d} {100 * differences[case.title]:+6.1f}%")
    sizes = np.abs(list(differences.values()))
    assert np.median(sizes) < median, "the median difference of cycles"
    assert sizes.max() < most, max(differences.items(), key=lambda pair: abs(pair[1]))


def test_cycles_of_every_kernel() -> None:
    first = [case for case in USUAL if not case.name.startswith(LATER)]
    assert len(first) == 27
    _compare(first)


def test_cycles_of_gathers_sparse_products_and_histograms() -> None:
    """Lines of several slices take turns on their way to an SM, and atomics on different words of a sector go together."""
    later = [case for case in USUAL if case.name.startswith(LATER)]
    assert len(later) == 7
    _compare(later, median=0.025, most=0.06)


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", ["gto", "lrr", "two_level_active:6:0:1"])
def test_cycles_of_the_other_runs(scheduler: str) -> None:
    _compare([case for case in OTHERS if case.scheduler == scheduler])


HISTOGRAM = """.version 9.0
.target sm_75
.address_size 64
.visible .entry count(.param .u64 out, .param .u32 bins)
{{
.reg .b32 t, n, at, v; .reg .b64 p; .shared .align 4 .b8 s[128];
ld.param.u64 p, [out]; ld.param.u32 n, [bins]; mov.u32 t, %tid.x;
and.b32 at, t, n; shl.b32 at, at, 2; mov.u32 v, s; add.u32 at, at, v;
{atomics}
bar.sync 0; ld.shared.u32 v, [at]; st.global.u32 [p], v;
ret;
}}
"""


def _atomics_in_shared_memory(machine: str, bins: int) -> int:
    device = Device(HISTOGRAM.format(atomics="red.shared.add.u32 [at], 1;\n" * 40), Options(literal=True, registers=8))
    device.launch("count", (1,), (128,), device.array(np.zeros(4, np.uint32)), np.uint32(bins - 1))
    record = device.launches[0]
    assert record.trace is not None
    return time_launches([(record.code, record.trace)], baseline_policies(), load_machine(machine)).cycles


def test_atomics_on_one_word_of_shared_memory() -> None:
    """The reference serialises different words of a bank alone; a GTX480 also lanes that want the same word."""
    assert _atomics_in_shared_memory("gpgpusim-gtx480", bins=1) == _atomics_in_shared_memory("gpgpusim-gtx480", bins=32)
    assert _atomics_in_shared_memory("gtx480", bins=1) > 3 * _atomics_in_shared_memory("gtx480", bins=32)
