"""Compiled code on disk is never stale: an edit in the file of a function that another file calls is seen."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import warploom

CALL = """
import numpy as np
from warploom.core.memory.dram import bursts_of
machine = np.zeros(1, [("dram_burst_bytes", "i8"), ("compat_sectors_travel_alone", "i8")]).view(np.recarray)[0]
machine.dram_burst_bytes = 32
print(bursts_of(machine, 7, False), sum(bursts_of.stats.cache_hits.values()))
"""


def call(package: Path, cache: Path) -> tuple[int, int]:
    """What a compiled function gives in a fresh process, and how often its code came from the disk."""
    environment = {**os.environ, "PYTHONPATH": str(package), "WARPLOOM_CACHE": str(cache)}
    environment.pop("NUMBA_CACHE_DIR", None)
    ended = subprocess.run([sys.executable, "-c", CALL], env=environment, capture_output=True, text=True, check=True)
    value, loaded = ended.stdout.split()
    return int(value), int(loaded)


def test_an_edit_in_a_callees_file_is_seen(tmp_path: Path) -> None:
    package, cache = tmp_path / "package", tmp_path / "cache"
    shutil.copytree(Path(warploom.__file__).parent, package / "warploom", ignore=shutil.ignore_patterns("__pycache__", "*.cu"))
    assert call(package, cache) == (3, 0)
    assert call(package, cache) == (3, 1)
    callee = package / "warploom" / "core" / "memory" / "bits.py"
    text = callee.read_text()
    body = text.index("def sectors_in(")
    changed = text[:body] + text[body:].replace("    return ", "    return 100 + ", 1)
    assert changed != text
    callee.write_text(changed)
    assert call(package, cache) == (103, 0)
    callee.write_text(text)
    assert call(package, cache) == (3, 1)  # what was compiled before the edit is still there
