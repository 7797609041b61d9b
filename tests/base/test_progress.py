"""What a long step tells of itself."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from warploom.base import progress
from warploom.base.progress import activity, made_of_code, under_way


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A clock that the test turns."""
    turned = SimpleNamespace(now=100.0)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: turned.now))
    return turned


def test_steps_are_told_from_the_whole_to_the_part() -> None:
    with activity("running") as whole, activity("timing kernel k"):
        whole.how_far = "1 of 2 done"
        assert under_way() == "running (1 of 2 done), timing kernel k"
    assert under_way() == ""


def test_the_time_that_is_left_follows_from_what_was_done_since_the_first_note(clock: SimpleNamespace) -> None:
    with activity("timing kernel k") as step:
        clock.now += 60  # code is compiled
        step.advance(10, 50, "block 10 of 50")
        clock.now += 4
        step.advance(14, 50, "block 14 of 50")
        assert str(step) == "timing kernel k (block 14 of 50)"  # too soon to tell
        clock.now += 4
        step.advance(18, 50, "block 18 of 50")
        assert str(step) == "timing kernel k (block 18 of 50, about 32 s left)"
        step.advance(50, 50, "block 50 of 50")
        assert str(step) == "timing kernel k (block 50 of 50)"


def test_the_innermost_step_that_needs_compiled_code_names_it() -> None:
    with activity("running"), activity("timing kernel k", code="the core"), activity("reading"):
        assert made_of_code() == "the core"
    assert made_of_code() == ""
