"""No gating."""

from __future__ import annotations

from typing import NamedTuple

from warploom.chip.sm import policy


@policy
class NoGating(NamedTuple):
    """Every access switches all 32 lanes."""

    CHOICE = "gating"
    NAME = "none"
    SOURCE = "what the papers compare with"
