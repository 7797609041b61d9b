"""Machine code that ran on an H200: the same outputs, and for every instruction the same counts of warps and threads."""

from __future__ import annotations

import csv
import json
from typing import Any

import numpy as np
import pytest

from support.places import DATA
from warploom.compiler.sass.module import from_cubin
from warploom.programs.device import Device
from warploom.studies.validate.programs import initial_value

pytestmark = pytest.mark.oracle

NAMES = sorted(file.stem for file in (DATA / "h200" / "cubin").glob("*.cubin"))


@pytest.fixture(scope="module")
def counted() -> dict[str, list[tuple[str, tuple[int, ...]]]]:
    """Of each kernel, its instructions in order: text and counts."""
    found: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
    with (DATA / "h200" / "instructions.tsv").open() as file:
        for row in csv.DictReader(file, delimiter="\t"):
            numbers = tuple(int(row[key]) for key in ("warps_executed", "threads_executed", "threads_predicated_on"))
            found.setdefault(row["kernel"], []).append((row["sass"], numbers))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_counts_of_every_instruction(name: str, counted: dict[str, list[tuple[str, tuple[int, ...]]]]) -> None:
    about = json.loads((DATA / "timing-reference" / f"{name}.json").read_text())
    module = from_cubin((DATA / "h200" / "cubin" / f"{name}.cubin").read_bytes(), f"{name}.cubin")
    device = Device(lambda kernel, _threads: module.kernel(kernel), record=None, count=True)
    values = {argument["name"]: initial_value(argument) for argument in about["args"]}
    passed = {
        key: device.array(value) if isinstance(value, np.ndarray) and value.ndim else value for key, value in values.items()
    }
    device.launch(about["kernel"], tuple(about["grid"]), tuple(about["block"]), *passed.values())

    scope: dict[str, Any] = {"np": np, **{key: value.copy() for key, value in values.items()}}
    exec(about["check"], scope)
    tolerance = dict(about["tol"])
    few = tolerance.pop("mismatch_fraction", 0)
    for key, expected in scope["expected"].items():
        assert np.mean(~np.isclose(passed[key].get(), expected, **tolerance)) <= few

    counts = device.launches[0].counts
    assert counts is not None
    for pc, (text, expected) in enumerate(counted[name]):
        got = tuple(int(number) for number in counts[pc]) if pc < len(counts) else (0, 0, 0)
        assert got == expected, f"{16 * pc:#x} {text}"
