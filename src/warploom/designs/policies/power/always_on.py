"""Every entry leaks in full, all the time."""

from __future__ import annotations

from typing import NamedTuple

from warploom.chip.sm import policy


@policy
class AlwaysOn(NamedTuple):
    """Every entry is on."""

    CHOICE = "power"
    NAME = "always-on"
    SOURCE = "what the papers compare with"
