"""The tutorials are executed: files are written, commands run, and what they print is what the page shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.places import ROOT

pytestmark = pytest.mark.compiled
FOLDER = ROOT / "docs" / "tutorial"
BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def steps(page: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a page with the lines that it shows; a file that a page shows is written by a command, too."""
    for kind, title, text in BLOCK.findall((FOLDER / page).read_text("utf-8")):
        if title:
            yield f"cat > {title} <<'END'\n{text}END", []
        elif kind == "console":
            for shown in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, *lines = shown.splitlines()
                yield command, [line.rstrip() for line in lines]


def is_shown(lines: list[str], printed: list[str]) -> str:
    """The first line of a page that was not printed, in order; `...` stands for any lines."""
    at = 0
    for line in lines:
        if line and line != "...":
            if line not in printed[at:]:
                return line
            at += printed[at:].index(line) + 1
    return ""


@pytest.mark.parametrize("page", ["whole-program.md", "first-paper.md"])
def test_a_tutorial_prints_what_it_shows(page: str, tmp_path: Path) -> None:
    if page == "whole-program.md" and not shutil.which("nvcc"):
        pytest.skip("no nvcc here: pip install nvidia-cuda-nvcc nvidia-cuda-runtime")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    taken = list(steps(page))
    assert len(taken) > 5
    for command, lines in taken:
        both: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}  # as a terminal shows them
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env={**os.environ, "PATH": path}, **both)
        assert done.returncode == 0, f"{command}: {done.stdout}"
        assert is_shown(lines, [line.rstrip() for line in done.stdout.splitlines()]) == "", done.stdout


def test_a_line_that_is_not_printed_is_found() -> None:
    assert is_shown(["one", "...", "three"], ["one", "two", "three"]) == ""
    assert is_shown(["three", "one"], ["one", "two", "three"]) == "one"
