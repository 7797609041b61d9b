"""Recordings of a program beside CUDA's own runtime on an H200: replayed here, everything read back is what the GPU gave."""

from __future__ import annotations

import pytest

from support.places import DATA
from warploom.runs.simulate import emulate

pytestmark = pytest.mark.oracle

FOLDER = DATA / "recordings"
NAMES = sorted(file.stem for file in FOLDER.glob("*.wlr"))


def test_there_are_recordings() -> None:
    assert NAMES == ["cooperative", "managed", "pitched", "streams", "symbols", "threads"]


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_of_the_hardware_replays(name: str) -> None:
    result = emulate(str(FOLDER / f"{name}.wlr"))
    assert result.verified is True
    assert result.warp_instructions > 0
