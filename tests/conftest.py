"""Each test is of one of three kinds; a unit test that needs compiled code fails. No test leaves policy files to others."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from support.kinds import KINDS, kind_of_folder, nothing_compiled
from support.policy_files import policy_files_of_the_block

TESTS = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test that has no kind that of its folder."""
    for item in items:
        kinds = [kind for kind in KINDS if item.get_closest_marker(kind)]
        if not kinds:
            item.add_marker(kind_of_folder(item.path.parent.relative_to(TESTS)))
        elif len(kinds) > 1:
            raise pytest.UsageError(f"{item.nodeid}: a test is of one kind, not {' and '.join(kinds)}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Refuse compiled code to a unit test, its fixtures of a whole module too."""
    if item.get_closest_marker("unit") is None:
        return (yield)
    with nothing_compiled():
        return (yield)


@pytest.fixture(autouse=True, scope="module")
def _policy_files_of_a_module() -> Iterator[None]:
    with policy_files_of_the_block():
        yield


@pytest.fixture(autouse=True)
def _policy_files_of_a_test() -> Iterator[None]:
    with policy_files_of_the_block():
        yield
