"""What tests take from the run that everybody watches."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from warploom.runs.result import Result


def events_of(watched: Result, observer: str) -> list[tuple[Any, ...]]:
    """What an observer drained, over all launches."""
    return [event for launch in watched.observed[observer] for event in launch["events"]]


def code_of(watched: Result) -> Any:
    """The code that ran, as far as writers of files look at it."""
    rows = watched.observed["hot-spots"][0]["report"][:-1]
    return SimpleNamespace(instructions=lambda: [row["instruction"] for row in rows])
