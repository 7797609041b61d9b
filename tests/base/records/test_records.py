"""A record is a class of typed fields: its dtype has them in order, aligned, and what is no field is refused."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.base.errors import WarploomError
from warploom.base.records import (
    Array,
    Lanes,
    Mask,
    Record,
    blank,
    blank_records,
    dtype_of,
    f8,
    field_names,
    flag,
    i1,
    i2,
    i4,
    i8,
    own_dtype,
    u1,
    u2,
    u4,
    u8,
)

KINDS = {"i1": i1, "i2": i2, "i4": i4, "i8": i8, "u1": u1, "u2": u2, "u4": u4, "u8": u8, "f8": f8, "?": flag}
LENGTH = 3


class Point(Record):
    x: i2
    y: i8


class Line(Record):
    ends: Annotated[Array[Point], 2]
    width: f8
    dashes: Annotated[Array[u1], LENGTH, 2 * LENGTH]


class Drawn(Record):
    colour: u4


class Figure(Line, Drawn):
    lanes: Lanes
    warps: Mask
    own: Any


class Untyped(Record):
    number: int


class WithoutLength(Record):
    numbers: Array[i8]


class Unknown(Record):
    number: i16  # type: ignore[name-defined]  # noqa: F821


def test_fields_stand_in_order_and_aligned() -> None:
    point = np.dtype([("x", "i2"), ("y", "i8")], align=True)
    line = [("ends", point, (2,)), ("width", "f8"), ("dashes", "u1", (LENGTH, 2 * LENGTH))]
    assert dtype_of(Point) == point
    assert dtype_of(Line) == np.dtype(line, align=True)


def test_fields_of_bases_come_first_and_open_ones_are_given() -> None:
    own = np.dtype([("z", "i4")])
    wanted = ["ends", "width", "dashes", "colour", "lanes", "warps", "own"]
    assert field_names(Figure) == tuple(wanted)
    dtype = dtype_of(Figure, {"own": own})
    assert list(dtype.names or ()) == wanted
    assert dtype["own"] == own
    assert (dtype["lanes"], dtype["warps"]) == (np.dtype("u4"), np.dtype("u8"))


@given(st.lists(st.tuples(st.sampled_from(list(KINDS)), st.lists(st.integers(1, 4), max_size=3)), min_size=1, max_size=12))
def test_a_class_is_what_numpy_makes_of_the_same_fields(fields: list[tuple[str, list[int]]]) -> None:
    plain = [(f"field_{n}", kind, tuple(shape)) if shape else (f"field_{n}", kind) for n, (kind, shape) in enumerate(fields)]
    hints: dict[str, Any] = {f"field_{n}": KINDS[kind] for n, (kind, _) in enumerate(fields)}
    array: Any = Array
    annotated: Any = Annotated
    hints |= {f"field_{n}": annotated[(array[KINDS[kind]], *shape)] for n, (kind, shape) in enumerate(fields) if shape}
    kind = type("Drawn", (Record,), {"__annotations__": hints, "__module__": __name__})
    assert dtype_of(kind) == np.dtype(plain, align=True)


def test_a_policy_that_keeps_nothing_has_a_byte() -> None:
    assert own_dtype(None) == np.dtype([("unused", "u1")])


def test_what_a_policy_keeps_is_a_record() -> None:
    assert own_dtype(Point) == dtype_of(Point)
    with pytest.raises(WarploomError, match="must be a class of typed fields"):
        own_dtype((("x", "i2"),))


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Untyped, "record Untyped: field 'number' has no type of warploom.base.records"),
        (WithoutLength, "record WithoutLength: field 'numbers' has no type"),
        (Unknown, "record Unknown: the type of field 'number' cannot be found: name 'i16' is not defined"),
        (Figure, "record Figure: field 'own' has no type"),
    ],
)
def test_what_is_no_field_is_refused(kind: type[Record], words: str) -> None:
    with pytest.raises(WarploomError, match=words):
        dtype_of(kind)


def test_blank_records_are_zeros_that_can_be_written() -> None:
    dtype = np.dtype([("number", "i8"), ("table", "u2", (5,))], align=True)
    records = blank_records(3, dtype)
    assert records.shape == (3,) and records.dtype.fields == dtype.fields
    assert not records.view(np.uint8).any()
    records[1].table[4] = 7
    assert records["table"].sum() == 7 and not blank_records(3, dtype).view(np.uint8).any()


BLANK = np.dtype([("number", "i8"), ("rest", "u1", (4096,))])
MANY = 1000  # of them are large


def test_memory_of_records_that_are_gone_is_used_again_and_clear() -> None:
    first = blank_records(MANY, BLANK)
    address = first.ctypes.data
    first["number"][::2] = 7
    first["rest"][3] = 255
    first["rest"][-1, -1] = 1
    del first
    again = blank_records(MANY, BLANK)
    assert again.ctypes.data == address or sys.platform != "linux"
    assert not again.view(np.uint8).any()


def test_memory_of_records_is_not_used_again_while_somebody_has_a_part_of_them() -> None:
    first = blank_records(MANY, BLANK)
    numbers, one = first["number"], first[5]
    del first
    second = blank_records(MANY, BLANK)
    second["number"] = 9
    assert not numbers.any()
    del numbers
    third = blank_records(MANY, BLANK)
    third["number"] = 9
    assert one["number"] == 0


def test_memory_is_new_where_the_system_does_not_tell_what_was_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blank, "_touched", lambda pages: None)
    for _ in range(2):
        records = blank_records(MANY, BLANK)
        assert not records.view(np.uint8).any()
        records["number"] = 7
        del records
