"""The text form of designs: items in, items out, complaints in one sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.base.errors import WarploomError
from warploom.designs.grammar import Item, format_value, parse_items


def test_items_with_choices_names_and_parameters() -> None:
    assert parse_items("rfv(shrink=0.7) + encoding=bdi + max_registers=24") == [
        Item("", "rfv", {"shrink": 0.7}),
        Item("encoding", "bdi"),
        Item("max_registers", "", value=24),
    ]


def test_values_of_every_kind() -> None:
    (item,) = parse_items("x(a=1, b=-2.5e+3, c=true, d=greedy, e='4,0 + 4,1', f=false)")
    assert item.parameters == {"a": 1, "b": -2500.0, "c": True, "d": "greedy", "e": "4,0 + 4,1", "f": False}


@given(
    st.one_of(
        st.booleans(),
        st.integers(-(10**9), 10**9),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(codec="ascii", exclude_characters="\"'\\", categories=["L", "N", "P", "S", "Zs"]), max_size=12),
    )
)
def test_a_value_reads_back_as_itself(value: bool | int | float | str) -> None:
    (item,) = parse_items(f"x(a={format_value(value)})")
    assert item.parameters["a"] == value
    assert type(item.parameters["a"]) is type(value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "the design is empty"),
        ("  ", "the design is empty"),
        ("a + + b", "nothing between two"),
        ("a +", "nothing between two"),
        ("rfv(shrink=0.5", "not closed"),
        ("rfv(0.5)", "as key=value"),
        ("rfv(shrink=1, shrink=2)", "given twice"),
        ("rfv(shrink=<>)", "neither a number"),
        ("4x", "'4x' is not a name"),
        ("=bdi", "is not a name"),
        ("encoding=", "is not a name"),
    ],
)
def test_nonsense_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(WarploomError, match=complaint):
        parse_items(text)
