"""The counts of sources: what counts as code, as typed, as long."""

from __future__ import annotations

import pytest

from warploom_lab.sources.count_sources import Counts, count, counts_of, room_of

FILE = '''"""A docstring
of two lines."""

from typing import Any

# a comment


def typed(first: dict[str, Any], *others: int) -> str:
    """What it does."""
    return "one"


class Place:
    def method(self, word):  # type: ignore[no-untyped-def]
        return word
'''


def test_a_file_is_counted() -> None:
    counts = counts_of(FILE)
    assert (counts.files, counts.lines, counts.code) == (1, 16, 6)
    assert (counts.functions, counts.long, counts.untyped) == (2, 0, 1)
    assert (counts.any, counts.any_dicts, counts.ignores) == (1, 1, 1)


def test_a_function_of_sixty_lines_is_not_long_and_one_of_sixty_one_is() -> None:
    for lines, long in ((60, 0), (61, 1)):
        assert counts_of("def f() -> None:\n" + "    pass\n" * (lines - 1)).long == long


@pytest.mark.parametrize(
    ("path", "room"),
    [
        ("src/warploom/chip/memory/cache.py", "chip"),
        ("src/warploom/kit.py", "(the package itself)"),
        ("lab/src/warploom_lab/__init__.py", "lab"),
        ("hatch_build.py", None),
        ("src/warploom/chip/machines/gtx480.toml", None),
    ],
)
def test_a_file_is_in_a_room(path: str, room: str | None) -> None:
    assert room_of(path) == room


def test_the_package_is_the_sum_of_its_rooms() -> None:
    files = {"src/warploom/chip/a.py": "x = 1\n", "src/warploom/cli/b.py": "y = 2\n\n", "tests/test_c.py": "z = 3\n"}
    counted = count(iter(files.items()))
    assert list(counted) == ["chip", "cli", "the package", "tests"]
    assert counted["the package"] == counted["chip"] + counted["cli"] == Counts(files=2, lines=3, code=2)
