"""No hierarchy."""

from __future__ import annotations

from typing import NamedTuple

from warploom.chip.sm import policy


@policy
class NoHierarchy(NamedTuple):
    """Results go to the main register file and operands come from it."""

    CHOICE = "hierarchy"
    NAME = "none"
    SOURCE = "what the papers compare with"
