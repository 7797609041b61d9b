"""Tests are found by name: their folders are those of the sources, and what they share is in ``tests/support`` alone."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

from support.kinds import KINDS, OF_FOLDERS, kind_of_folder
from support.places import ROOT, TESTS

SOURCES = (ROOT / "src" / "warploom", ROOT / "lab" / "src" / "warploom_lab")
OF_NO_SOURCE = {"data", "goldens", "house", "support"}  # `house`: what holds for the whole repository
INSIDE_PAPERS = {"papers/invented"}  # a paper that is in no package
AFTER_ORACLES = re.compile(r"_like_h200|_goldens")


@functools.cache
def files() -> dict[Path, ast.Module]:
    """Every Python file of the tests below ``tests``, parsed."""
    return {file.relative_to(TESTS): ast.parse(file.read_text("utf-8")) for file in sorted(TESTS.rglob("*.py"))}


def test_every_folder_is_one_of_the_sources() -> None:
    folders = {file.parent for file in files() if file.name.startswith("test_")}
    folders -= {folder for folder in folders if {*folder.parts[:1]} & OF_NO_SOURCE or str(folder) in INSIDE_PAPERS}
    assert len(folders) > 25
    for folder in folders:
        source = SOURCES[1] / folder.relative_to("lab") if folder.parts[:1] == ("lab",) else SOURCES[0] / folder
        assert source.is_dir(), f"tests/{folder}: {source} is no folder; tests lie where what they test lies"


def imported(tree: ast.Module) -> set[str]:
    """The modules that a file imports."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module or "")
    return found


def test_tests_share_what_is_in_support_and_nothing_else() -> None:
    """No test is imported by another; a helper that has another's name would be taken for it."""
    others = {file.stem for file in files() if file.parts[0] != "support" and not file.name.startswith("__")}
    folders = {file.parts[0] for file in files() if len(file.parts) > 1} - {"support"}
    for file, tree in files().items():
        wrong = {name for name in imported(tree) if name in others - {"test_support"} or name.split(".")[0] in folders}
        assert not wrong, f"tests/{file} imports {', '.join(wrong)}: what tests share is in tests/support"


def test_nobody_changes_where_python_looks() -> None:
    """pytest's `pythonpath` is the one place."""
    for file, tree in files().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in ("insert", "append", "extend"):
                assert ast.unparse(node.value) != "sys.path", f"tests/{file}:{node.lineno}"


def test_every_folder_has_a_kind() -> None:
    for folder, kind in OF_FOLDERS.items():
        assert (TESTS / folder).is_dir(), folder
        assert kind in KINDS
    assert kind_of_folder(Path("base")) == "unit"


def kinds_said(tree: ast.Module) -> str:
    """What a file says of the kind of its tests."""
    assigned = (node for node in tree.body if isinstance(node, ast.Assign))
    return next((ast.unparse(node.value) for node in assigned if ast.unparse(node.targets[0]) == "pytestmark"), "")


def test_what_reads_the_answers_of_others_is_an_oracle() -> None:
    """A file that reads them, or is named after them, says that it is one."""
    found = 0
    for file, tree in files().items():
        if not file.name.startswith("test_") or file.parts[0] == "lab":
            continue
        reads = any(node.id == "GOLDENS" for node in ast.walk(tree) if isinstance(node, ast.Name))
        reads |= "support.timing_reference" in imported(tree)
        if reads or AFTER_ORACLES.search(file.stem):
            found += 1
            assert "oracle" in kinds_said(tree), f"tests/{file} compares with others: pytestmark = pytest.mark.oracle"
    assert found > 10
