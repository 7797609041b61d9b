"""Products of matrices with many registers, without compilation."""

from __future__ import annotations

from pathlib import Path

from support.plain_python import run_checks


def test_products() -> None:
    run_checks(Path(__file__).parent / "product_checks.py")
