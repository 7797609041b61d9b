"""What is executed does not depend on what the processor at hand offers beyond its architecture's least."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.oracle

PLAIN = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
GOLDENS = Path(__file__).with_name("test_instruction_goldens.py")


def test_instructions_on_a_plain_processor(tmp_path: Path) -> None:
    """All instructions against the answers of a GPU, in code for a processor without AVX, FMA and the like."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", "0", "-k", "test_like_hardware", str(GOLDENS)]
    environment = {**os.environ, **PLAIN, "WARPLOOM_CACHE": str(tmp_path)}
    for name in ("NUMBA_CACHE_DIR", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        environment.pop(name, None)
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-2000:]
