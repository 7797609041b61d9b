"""README.md: what it shows of the quick commands is what they print."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from support.places import ROOT

SHOWN = re.compile(r"^    \$ warploom (.+)\n((?:    .*\n|\n(?=    ))+)", re.MULTILINE)
README = (ROOT / "README.md").read_text("utf-8")
EXAMPLES = dict(SHOWN.findall(README.partition("## Cite")[0]))
QUICK = [words for words in EXAMPLES if words.split()[0] != "run"]  # to run compiles the core for each design


def test_three_commands_are_shown() -> None:
    assert [words.split()[0] for words in EXAMPLES] == ["inspect", "run", "designs"]


@pytest.mark.parametrize("words", QUICK)
def test_a_command_prints_what_is_shown(words: str) -> None:
    """Line by line, in order; `...` stands for lines that are left out."""
    printed = subprocess.run(
        [sys.executable, "-m", "warploom", *words.split()], check=True, capture_output=True, text=True
    ).stdout
    lines = [line.rstrip() for line in printed.splitlines()]
    shown = [line[4:].rstrip() for line in EXAMPLES[words].splitlines()]
    at = 0
    for line in shown:
        if line and line != "...":
            assert line in lines[at:], line
            at += lines[at:].index(line) + 1
    assert at
