"""Registers that are drowsy when idle, without compilation."""

from __future__ import annotations

from pathlib import Path

from support.plain_python import run_checks


def test_idle_registers() -> None:
    run_checks(Path(__file__).parent / "idle_drowsy_checks.py")
