"""Checks that run without compilation: as plain Python, small kernels take less time than compiling for one more policy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run_checks(checks: Path) -> None:
    """Run a file of checks in a process of its own, in which Numba compiles nothing."""
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(checks)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
