"""Modules that an extra brings: imported where they are needed, with one sentence where they are not installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from warploom.base.errors import WarploomError


def imported(module: str, needed_by: str, extra: str) -> Any:
    """A module that is there with an extra; `needed_by` begins the sentence otherwise, such as "a table needs"."""
    try:
        return import_module(module)
    except ImportError:
        library = module.partition(".")[0]
        raise WarploomError(f"{needed_by} {library}: pip install 'warploom[{extra}]'") from None
