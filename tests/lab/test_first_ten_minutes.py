"""What a new user types in the first ten minutes works from beginning to end, in a folder of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.places import ROOT

pytestmark = pytest.mark.compiled
SCRIPT = ROOT / "lab" / "first-ten-minutes.sh"


def typed(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the script where `warploom` is the one under test."""
    commands = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    words = ["sh", str(SCRIPT), str(folder)]
    return subprocess.run(words, capture_output=True, text=True, env={**os.environ, "PATH": commands}, cwd=folder.parent)


def test_every_step_works_and_only_what_is_not_here_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "ten"
    ended = typed(folder)
    assert ended.returncode == 0, ended.stdout[-1500:] + ended.stderr[-1500:]
    left_out = [line for line in ended.stdout.splitlines() if line.startswith("left out")]
    assert len(left_out) == (shutil.which("nvcc") is None)
    assert "three times 63 is 189" in ended.stdout
    assert "all 4 results are the same to the digit" in ended.stderr
    assert "error: " not in ended.stderr
    for made in ("demo.html", "compare.html", "figure.pdf", "values.npy", "driver.wlr", "plan.zip", "result.zip"):
        assert (folder / made).stat().st_size > 300, made


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    ended = typed(tmp_path)
    assert ended.returncode == 2
    assert "it is not empty" in ended.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]
