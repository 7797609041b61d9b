"""New records, all zeros."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np


def blank_records(count: int, dtype: np.dtype) -> Any:
    """So many records of zeros, in memory that the system clears page by page when it is first touched.

    Records are sized for the largest machine and mostly stay untouched. `numpy.zeros` would take memory that the process has
    used and freed, and clear all of it.
    """
    size = count * dtype.itemsize
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(pages, np.uint8, size).view(dtype).view(np.recarray)
