"""Every paper's mechanisms at the point where they cost nothing."""

from __future__ import annotations

from pathlib import Path

from support.plain_python import run_checks


def test_mechanisms_that_cost_nothing_change_no_cycle() -> None:
    run_checks(Path(__file__).parent / "neutral_checks.py")
