"""Signs of life: a live line on a terminal, a line now and then elsewhere, and nothing beside a progress bar."""

from __future__ import annotations

import io
import sys
import time

import pytest
from rich.console import Console

from warploom.base.progress import activity
from warploom.cli import output
from warploom.cli.heartbeat import EVERY_SECONDS, FIRST_AFTER_SECONDS, heartbeat
from warploom.cli.output import message

pytestmark = pytest.mark.unit


class Terminal(io.StringIO):
    """What says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_without_a_terminal_a_line_a_minute_at_most_follows_the_first() -> None:
    assert FIRST_AFTER_SECONDS == 10 and EVERY_SECONDS >= 60


def test_without_a_terminal_there_are_whole_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with heartbeat(0.01, 0.01), activity("working"):
        time.sleep(0.1)
    lines = capsys.readouterr().err.split("\n")
    assert len(lines) > 2 and set(lines) == {"working, 0 s so far", ""}


def test_on_a_terminal_one_line_changes_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with heartbeat(0.01, 0.01), activity("working"):
        time.sleep(0.1)
        message("a message")
    shown = terminal.getvalue()
    assert shown.count("\r\x1b[Kworking, 0 s so far\r") > 1 and shown.count("\n") == 1
    assert "\r\x1b[Ka message\n" in shown and shown.endswith(("\r\x1b[K", "a message\n"))


def test_a_program_that_writes_to_the_terminal_too_is_not_overwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with heartbeat(0.01, 0.01, live=False), activity("working"):
        time.sleep(0.1)
    assert "\r" not in terminal.getvalue() and "working, 0 s so far\n" in terminal.getvalue()


def test_nothing_is_said_where_nothing_is_under_way(capsys: pytest.CaptureFixture[str]) -> None:
    with heartbeat(0.01, 0.01):
        time.sleep(0.05)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("width", [80, 200])
def test_a_progress_bar_keeps_to_one_line(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(output, "messages_console", lambda: Console(file=shown, force_terminal=True, width=width))
    with output.progress_bar(49, "running") as step, activity("compiling the core for this combination of policies"):
        step("particlefilter baseline", 3)
        time.sleep(0.25)  # two frames
    frames = [frame for frame in shown.getvalue().split("\r") if "particlefilter baseline" in frame]
    assert any("compiling the" in frame and "3/49" in frame for frame in frames)
    # One goes up to where the bar was when it is erased at the end; each more is of a bar of several lines.
    assert shown.getvalue().count("\x1b[1A") <= 1


def test_there_is_no_bar_where_nothing_is_to_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(output, "messages_console", lambda: Console(file=shown, force_terminal=True, width=80))
    with output.progress_bar(0, "running"):
        pass
    assert shown.getvalue() == ""
