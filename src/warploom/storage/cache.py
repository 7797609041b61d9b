"""Where Warploom keeps what it can make again: compiled code and traces."""

from __future__ import annotations

import os
from pathlib import Path


def cache_directory(*parts: str) -> Path:
    """A folder of the user's cache: below ``WARPLOOM_CACHE`` if that is set, else below the platform's cache folder."""
    override = os.environ.get("WARPLOOM_CACHE")
    if override:
        root = Path(override)
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "warploom"
    return root.joinpath(*parts)
