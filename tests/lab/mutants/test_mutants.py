"""Mutants: what can be changed in a source, that each is found again, and that a test which notices one kills it."""

from __future__ import annotations

import ast
import time
from collections import Counter
from pathlib import Path

import pytest

from support.places import ROOT
from warploom_lab.mutants.mutants import TAKEN_ALONG, TESTS, Laboratory, Mutant, Trial, changed, changes_of, draw, try_all

FILE = "designs/policies/grows.py"
SOURCE = b'''"""Says 3 things."""

LIMIT: int = 7


def grows(a: int, b: int) -> bool:
    """Whether a - b > 0."""
    if a == b and b < LIMIT:
        return False
    return a - b > 0


def add(kept: list[int], n: int) -> int:
    kept[0] += n
    kept.append(n)
    print(f"{n + 1}")
    return kept[0]
'''
TEST = """
from warploom.designs.policies.grows import add, grows

def test_grows() -> None:
    assert grows(2, 1) and not grows(1, 1) and not grows(1, 2)
"""


def test_every_kind_of_change_is_made() -> None:
    changes = [change.mutant for change in changes_of(FILE, SOURCE)]
    assert Counter(mutant.kind for mutant in changes) == {
        "comparison": 3,  # ==, < and >
        "and/or": 1,
        "condition": 1,
        "sign": 2,  # a - b and +=
        "statement": 3,
        "constant": 4,  # 7, 0 and two places of kept[0]
        "return": 3,
    }
    assert {mutant.after for mutant in changes if mutant.function == "add"} >= {"kept[0] -= n", "pass", "return (kept[0]) + 1"}


def test_every_change_is_found_again_behind_other_lines() -> None:
    later = b"import os\n\n\ndef other() -> int:\n    return 7\n\n" + SOURCE
    for change in changes_of(FILE, SOURCE):
        new = changed(later, change.mutant)
        assert new is not None and new != later
        ast.parse(new)
    gone = changes_of(FILE, SOURCE)[-1].mutant
    assert changed(SOURCE.replace(b"kept[0]\n", b"kept[-1]\n"), gone) is None


def test_every_room_has_tests() -> None:
    for places in TESTS.values():
        assert all((ROOT / "tests" / place).exists() for place in places)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree of one module with one test."""
    root = tmp_path / "tree"
    for name in TAKEN_ALONG:
        if "." in name or name == "Makefile":
            root.mkdir(exist_ok=True)
            (root / name).write_text("")
        else:
            (root / name).mkdir(parents=True)
    (root / "tests" / "designs" / "policies").mkdir(parents=True)
    (root / "tests" / "designs" / "policies" / "test_grows.py").write_text(TEST)
    (root / "src" / "warploom" / "designs" / "policies").mkdir(parents=True)
    (root / "src" / "warploom" / "__init__.py").write_text("")
    (root / "src" / "warploom" / FILE).write_bytes(SOURCE)
    return root


def test_the_seed_decides(tree: Path) -> None:
    assert draw(tree, 5, 4) == draw(tree, 5, 4) != draw(tree, 6, 4)


def find(function: str, kind: str) -> Mutant:
    """The first change of a kind in a function."""
    return next(c.mutant for c in changes_of(FILE, SOURCE) if (c.mutant.function, c.mutant.kind) == (function, kind))


def test_what_a_test_notices_is_killed_and_what_none_notices_survives(tree: Path, tmp_path: Path) -> None:
    gone = Mutant(FILE, "nowhere", "sign", "a + b", "(a - b)", 0, 1)
    tried = try_all(tree, [find("grows", "sign"), find("add", "sign"), gone], 1, 60, tmp_path)
    assert [trial.verdict for trial in tried] == ["killed", "survived", "no longer there"]
    assert tried[0].by == "tests/designs/policies/test_grows.py::test_grows"
    assert tried[1].passed == ["tests/designs/policies/test_grows.py"]


def test_a_test_that_always_fails_kills_nobody(tree: Path, tmp_path: Path) -> None:
    tests = tree / "tests" / "designs" / "policies" / "test_grows.py"
    tests.write_text("def test_never() -> None:\n    assert False\n" + TEST)
    tried = try_all(tree, [find("grows", "sign"), find("add", "sign")], 1, 60, tmp_path)
    assert [trial.verdict for trial in tried] == ["killed", "survived"]
    assert tried[0].by.endswith("::test_grows")


def test_without_time_nothing_is_decided(tree: Path, tmp_path: Path) -> None:
    assert try_all(tree, [find("grows", "sign")], 1, 0, tmp_path)[0].verdict == "undecided"


def test_a_file_of_tests_that_hangs_is_given_up(tree: Path, tmp_path: Path) -> None:
    (tree / "tests" / "designs" / "policies" / "test_grows.py").write_text(
        "def test_hangs() -> None:\n    while True:\n        pass\n"
    )
    trial = Trial(find("grows", "sign"))
    Laboratory(tree, tmp_path, time.monotonic() + 2).run_file(trial, 0, "tests/designs/policies/test_grows.py")
    assert (trial.verdict, trial.given_up) == ("", ["tests/designs/policies/test_grows.py"])
