"""Sub-cores without operand collectors: small kernels, without compilation."""

from __future__ import annotations

from pathlib import Path

from plain_python import run_checks


def test_subcores() -> None:
    run_checks(Path(__file__).parent / "subcore_checks.py")
