"""Our cycles against the recorded simulator's, for the same instructions on the same configuration."""

from __future__ import annotations

import numpy as np
import pytest
from timing_reference import Case, Executed, cases, execute, simulate

# Every kernel once, as the reference runs it by default; the other schedulers, file sizes and cold caches are marked slow.
USUAL = [case for case in cases() if case.scheduler == "gto" and case.warm and case.registers == 32768]
OTHERS = [case for case in cases() if case not in USUAL]


def _compare(chosen: list[Case]) -> None:
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
    assert np.median(sizes) < 0.05, "the median difference of cycles"
    assert sizes.max() < 0.15, max(differences.items(), key=lambda pair: abs(pair[1]))


def test_cycles_of_every_kernel():
    assert len(USUAL) == 27
    _compare(USUAL)


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", ["gto", "lrr", "two_level_active:6:0:1"])
def test_cycles_of_the_other_runs(scheduler):
    _compare([case for case in OTHERS if case.scheduler == scheduler])
