"""What a real GPU answered to every instruction."""

from __future__ import annotations

import numpy as np
import pytest

from support.places import GOLDENS


@pytest.fixture(scope="session")
def goldens() -> dict[str, tuple[str, bytes]]:
    """The answers by the name of their case, each with the digest of the kernel that it belongs to."""
    with np.load(GOLDENS / "instructions.npz", allow_pickle=False) as stored:
        data, ends = stored["data"], stored["ends"]
        starts = np.concatenate([[0], ends[:-1]])
        return {
            str(name): (str(digest), data[start:end].tobytes())
            for name, digest, start, end in zip(stored["names"], stored["digests"], starts, ends, strict=True)
        }
