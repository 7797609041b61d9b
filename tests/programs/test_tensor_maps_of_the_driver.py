"""Tensor maps are those that the driver of an H200 made of the same descriptions."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from support.places import DATA
from warploom.base.errors import WarploomError
from warploom.emulator.sass.tensor_map import MAP_BYTES
from warploom.programs.tensor_maps import map_of

pytestmark = pytest.mark.oracle

RECORDED = DATA / "h200" / "tensor-maps.tsv"
WORDS = ["call", "type", "dimensions", "address", "interleave", "swizzle", "promotion", "nan"]


def _numbers(text: str, room: int = 5) -> list[int]:
    given = [int(each) for each in text.split(",")] if text != "-" else []
    return given + [0] * (room - len(given))


def _described(row: dict[str, str]) -> bytes:
    """What the library in the program would send."""
    columns = row["call"] == "im2col"
    given = row | {"call": str(int(columns)), "dimensions": str(len(row["sizes"].split(",")))}
    words = [int(given[name]) for name in WORDS] + (_numbers(row["box"], 2) if columns else [0, 0])
    for name in ("sizes", "strides", "steps", "lower" if columns else "box", "upper"):
        words += _numbers(row[name])
    return np.array(words, np.int64).tobytes()


def _rows() -> list[dict[str, str]]:
    lines = (line for line in RECORDED.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return list(csv.DictReader(lines, delimiter="\t"))


def test_maps_are_the_drivers_to_the_last_bit() -> None:
    made = [row for row in _rows() if row["map"] != "refused"]
    assert len(made) > 150
    for row in made:
        assert map_of(_described(row)) == bytes.fromhex(row["map"]).ljust(MAP_BYTES, b"\0"), row


def test_what_the_driver_refuses_is_refused() -> None:
    refused = [row for row in _rows() if row["map"] == "refused"]
    assert len(refused) > 40
    for row in refused:
        with pytest.raises(WarploomError, match="tensor"):
            map_of(_described(row))
