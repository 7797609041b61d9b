"""The six choices of which a design is made."""

from __future__ import annotations

from typing import Any, NamedTuple


class Policies(NamedTuple):
    """One policy for each choice."""

    scheduler: Any
    allocation: Any
    hierarchy: Any
    encoding: Any
    power: Any
    gating: Any


CHOICES = Policies._fields
