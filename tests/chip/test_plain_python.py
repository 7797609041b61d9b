"""The same core without compilation: breaking policies on purpose, and the loop that steps every cycle."""

from __future__ import annotations

from pathlib import Path

from support.plain_python import run_checks


def test_plain_python() -> None:
    run_checks(Path(__file__).parent / "plain_python_checks.py")
