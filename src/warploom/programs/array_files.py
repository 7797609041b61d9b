"""Arrays in ``.npy`` files of people."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def read_npy(path: Path) -> np.ndarray:
    """The array in a file. Raises `ValueError` with the reason where there is none, or less of it than the file says."""
    try:
        return np.array(np.lib.format.open_memmap(path, mode="r"))  # mapped: a size that is not there takes no memory
    except (OSError, EOFError, OverflowError, RecursionError, TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise ValueError(f"it cannot be read as a NumPy array: {reason}") from None
