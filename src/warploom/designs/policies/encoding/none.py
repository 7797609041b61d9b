"""No encoding."""

from __future__ import annotations

from typing import NamedTuple

from warploom.chip.sm import policy


@policy
class NoEncoding(NamedTuple):
    """Registers are stored as they are."""

    CHOICE = "encoding"
    NAME = "none"
    SOURCE = "what the papers compare with"
