"""Policy files that tests load are not handed to the workers of later tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def policy_files_of_the_block() -> Iterator[None]:
    """Forget what the block loads: its folder may be gone when a later test starts workers, which load it too."""
    before = set(_loaded())
    yield
    loaded = _loaded()
    new = [path for path in loaded if path not in before]
    if not new:
        return
    from warploom.chip.sm.registry import forget

    for path in new:
        forget(loaded.pop(path).classes)


def _loaded() -> dict[Path, Any]:
    module = sys.modules.get("warploom.chip.sm.user_files")
    return {} if module is None else module._loaded
