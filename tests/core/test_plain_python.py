"""The same core without compilation: breaking policies on purpose, and the loop that steps every cycle."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_plain_python():
    checks = Path(__file__).parent / "plain_python_checks.py"
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(checks)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
