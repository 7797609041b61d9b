"""The script that records what a GPU's special-function unit answers: what it asks for, and how answers are stored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warploom_lab.goldens import function_goldens as script

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(("first", "end"), [(1.0, 2.0), (-2.0, -1.0)])
def test_every_number_of_an_interval_is_asked_for(first: float, end: float) -> None:
    asked = script.inputs(first, end, 1)
    assert len(asked) == len(np.unique(asked)) == 2**23
    assert asked[0] == np.float32(first) and asked.min() >= first and asked.max() <= end
    assert (script.inputs(first, end, 64) == asked[::64]).all()


def test_what_is_stored_is_read_again(tmp_path: Path) -> None:
    every = 4096
    made = {}
    for name, intervals in script.RANGES.items():
        for place, interval in enumerate(intervals):
            made[f"{name}/{place}"] = -np.log2(np.abs(script.inputs(*interval, every)))  # of both signs, and all exponents
    stored = {key: script.packed(answers) for key, answers in made.items()}
    np.savez_compressed(tmp_path / "functions.npz", every=np.int64(every), **stored)  # type: ignore[arg-type]
    for name, pairs in script.read_answers(tmp_path / "functions.npz").items():
        for place, (asked, answers) in enumerate(pairs):
            assert len(asked) == len(answers) and (answers == made[f"{name}/{place}"]).all()
