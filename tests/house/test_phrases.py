"""Help and errors are in plain English: what docs/style.md replaces does not come back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from support.places import ROOT

PACKAGE = ROOT / "src" / "warploom"
STRANGE = re.compile(
    r"^Of an? |^Of one |^So many |\bleave (this|\S+) away\b|(?<!there )\bis no \w+ file\b"
    r"|\bcombined so\b|\bbegins so\b|\breckoned with\b|\ball the same\b"
)


def spoken(file: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that users may read, with their lines: all but docstrings."""
    tree = ast.parse(file.read_text("utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def strange(folder: Path) -> list[str]:
    """Where a folder's modules say what the style page replaces."""
    found = ((file, line, text) for file in sorted(folder.rglob("*.py")) for line, text in spoken(file))
    return [f"{file.relative_to(folder)}:{line}: {text}" for file, line, text in found if STRANGE.search(text)]


def test_help_and_errors_are_in_plain_english() -> None:
    assert strange(PACKAGE) == []


def test_a_strange_phrase_is_found(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text('HELP = "Of a file: the kernel."\n\ndef f():\n    """So many records."""\n')
    assert strange(tmp_path) == ["one.py:1: Of a file: the kernel."]
