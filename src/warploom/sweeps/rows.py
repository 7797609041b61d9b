"""A result as one row of a table."""

from __future__ import annotations

import json
from typing import Any

from warploom.simulation.provenance import brief
from warploom.simulation.result import flat

MADE_FROM = "made_from"  # the column with the whole provenance, as JSON


def row_of(key: str, result: dict[str, Any]) -> dict[str, Any]:
    """A stored result as a row: its numbers under dotted names, where it is from in brief and, as JSON, in full."""
    made_from = result.get("provenance") or {}
    short = result | {"provenance": brief(made_from)}
    numbers = {name: value for name, value in flat(short) if not isinstance(value, list)}
    return {"key": key, **numbers, MADE_FROM: json.dumps(made_from)}
