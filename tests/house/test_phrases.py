"""Help, errors, docstrings and pages are in plain English: what docs/style.md replaces does not come back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.places import ROOT

DOCS = ROOT / "docs"
STRANGE = re.compile(
    r"^Of an? |^Of one |^So many |\bleave (this|\S+) away\b|(?<!there )\bis no \w+ file\b"
    r"|\bcombined so\b|\bbegins so\b|\breckoned with\b|\ball the same\b"
)
# Also in pages: what stands for something, comes beside a chip or goes on.
STRANGE_IN_PAGES = re.compile(
    STRANGE.pattern + r"|\bbeside an H200\b|\bstands? in the place of\b|\bgoes (on|first)\b|\b(added|was) so\b|\bis told\b"
)
# Notebooks of the laboratory say what was done when; the others are written by scripts. The style page lists the phrases.
NOT_READ = ("lab", "reference/counters.md", "reference/machine-keys.md", "reference/workloads.md", "style.md")


def spoken(file: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that users or readers of the code see, with their lines: strings, and docstrings line by line."""
    tree = ast.parse(file.read_text("utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            lines = node.value.splitlines() if id(node) in docstrings else [node.value]
            yield from ((node.lineno + below, line.strip()) for below, line in enumerate(lines))


def strange(folder: Path) -> list[str]:
    """Where a folder's modules say what the style page replaces."""
    found = ((file, line, text) for file in sorted(folder.rglob("*.py")) for line, text in spoken(file))
    return [f"{file.relative_to(folder)}:{line}: {text}" for file, line, text in found if STRANGE.search(text)]


def pages() -> list[Path]:
    """The pages that people write: of the manual, of the papers, and those in the root of the repository."""
    skipped = [DOCS / name for name in NOT_READ]
    manual = [page for page in DOCS.rglob("*.md") if not any(page.is_relative_to(place) for place in skipped)]
    papers = (ROOT / "src" / "warploom" / "papers").glob("*/README.md")
    return sorted([*manual, *papers, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"])


def strange_in_page(page: Path) -> list[str]:
    """The paragraphs, items and rows of a page that say what the style page replaces, without code."""
    prose = re.sub(r"(?ms)^```.*?^```$|^    .*?$|`[^`\n]*`", "", page.read_text("utf-8"))
    parts = re.split(r"\n\s*\n|\n(?=\s*[-*|] )|\n(?=\d+\. )", prose)
    texts = (" ".join(part.split()).lstrip("-*| ") for part in parts)
    return [f"{page.name}: {text}" for text in texts if STRANGE_IN_PAGES.search(text)]


@pytest.mark.parametrize("folder", ["src/warploom", "lab/src"])
def test_help_errors_and_docstrings_are_in_plain_english(folder: str) -> None:
    assert strange(ROOT / folder) == []


def test_pages_are_in_plain_english() -> None:
    read = pages()
    assert {DOCS / "house.md", DOCS / "how-to" / "exec.md", ROOT / "README.md"} <= set(read)
    assert [found for page in read for found in strange_in_page(page)] == []


def test_a_strange_phrase_is_found(tmp_path: Path) -> None:
    text = 'HELP = "Of a file: the kernel."\n\ndef f():\n    """Say.\n\n    So many records.\n    """\n'
    (tmp_path / "one.py").write_text(text)
    assert strange(tmp_path) == ["one.py:1: Of a file: the kernel.", "one.py:6: So many records."]


def test_a_strange_phrase_of_a_page_is_found_across_lines_and_not_in_code(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n\nIt goes\non.\n\n- `goes on`\n- So many SMs.\n\n    it goes on\n\n```\ngoes on\n```\n")
    assert strange_in_page(page) == ["page.md: It goes on.", "page.md: So many SMs."]
