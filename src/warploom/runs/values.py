"""Nested values of results: their leaves under dotted names, and as JSON has them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np


def flat(values: dict[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    """The leaves of nested values, under dotted names."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def plain(value: Any) -> Any:
    """The same value in JSON's own types: NumPy's numbers and arrays converted, what is not finite as null."""
    if type(value) is float:  # first, because most values are: those of power and states over time
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
