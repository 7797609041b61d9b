"""Sweeps in processes of their own, and what they leave behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any


def begin(*words: Any) -> subprocess.Popen[str]:
    """``warploom sweep`` in a process of its own."""
    command = [sys.executable, "-m", "warploom", "sweep", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def complete(*words: Any) -> str:
    """``warploom sweep`` to its end; what it printed."""
    process = begin(*words)
    printed, said = process.communicate(timeout=3000)
    assert process.returncode == 0, said
    return printed + said


def outcome(folder: Path) -> Any:
    """The table of a sweep but for what differs from one making of a run to the next."""
    import pandas

    return pandas.read_parquet(folder / "results.parquet").drop(columns=["wall_seconds", "compile_seconds"])
