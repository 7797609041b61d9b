"""Functions that are compiled only as parts of others: chosen by type, compiled once, and gone from the finished code."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba.core import event

from warploom.base.errors import WarploomError
from warploom.jit import callee, make_callable, specialised_anew
from warploom.jit.ways import WAY

RECORD = np.dtype([("narrow", "i2"), ("wide", "i8"), ("mask", "u8")], align=True)


class Compiled(event.Listener):
    """Notes which functions are compiled."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def on_start(self, started: Any) -> None:
        self.names.append(started.data["dispatcher"].py_func.__name__)

    def on_end(self, ended: Any) -> None:
        pass


def record() -> Any:
    made = np.zeros(1, RECORD).view(np.recarray)[0]
    made.narrow, made.wide, made.mask = -3, 1 << 40, np.uint64(1 << 63)
    return made


@callee(widened=True)
def twice(number: int) -> int:
    """A callee."""
    return 2 * number


@callee(inlined=True)
def upper_half(mask: np.uint64) -> np.uint64:
    """A callee that takes a mask: those are not widened."""
    return mask >> np.uint64(32)


def both(row: Any) -> int:
    """A whole."""
    return twice(row.narrow) + twice(row.wide) + np.int64(upper_half(row.mask))


def test_a_callee_is_compiled_once_for_fields_of_all_widths() -> None:
    compiled = Compiled()
    whole = specialised_anew(both)
    with event.install_listener("numba:compile", compiled):
        assert whole(record()) == both(record()) == -6 + (2 << 40) + (1 << 31)
    assert compiled.names.count("twice") == 1


@pytest.mark.skipif(WAY.name != "quick", reason="the plain way links as Numba does")
def test_a_whole_keeps_nothing_but_itself() -> None:
    whole = specialised_anew(both)
    whole(record())
    (text,) = whole.inspect_llvm().values()
    defined = re.findall(r"^define.*$", text, re.MULTILINE)
    assert len(defined) == 2, "the function and its wrapper for Python"
    assert not any("twice" in line or "upper_half" in line for line in defined)


class Add(NamedTuple):
    """A policy, in small."""

    amount: int


class Negate(NamedTuple):
    """Another."""


def act(policy: Any, number: int) -> int:
    """A hook point, in small."""
    return number + policy.amount if isinstance(policy, Add) else -number


def add(policy: Any, number: int) -> int:
    """What acts for Add."""
    return number + policy.amount


def negate(policy: Any, number: int) -> int:
    """What acts for Negate."""
    return -number


make_callable(act, lambda policy, *_: {Add: add, Negate: negate}[policy.instance_class], inlined=True, widened=False)


def act_on_both(first: Any, second: Any, number: int) -> int:
    """A whole."""
    return act(second, act(first, number))


def test_the_type_of_an_argument_chooses_what_is_called() -> None:
    whole = specialised_anew(act_on_both)
    assert whole(Add(5), Negate(), 2) == act_on_both(Add(5), Negate(), 2) == -7
    assert whole(Negate(), Add(5), 2) == act_on_both(Negate(), Add(5), 2) == 3


def plain(number: int) -> str:
    """What plain Python calls."""
    return str(number)


@callee(stands_for=plain)
def _compiled_plain(number: int) -> int:
    return number + 1


def through(number: int) -> Any:
    """A whole."""
    return plain(number)


def test_a_callee_can_stand_for_another_function() -> None:
    assert through(1) == "1"
    assert specialised_anew(through)(1) == 2


def missing_field(row: Any) -> Any:
    return row.missing


def missing_field_set(row: Any) -> Any:
    row.missing = 1


def missing_key(row: Any) -> Any:
    return chosen_by_key(row.wide)


def chosen_by_key(number: int) -> int:
    return number


def choose_by_key(*_: Any) -> Any:
    """A choice that fails for a reason of its own."""
    empty: dict[str, Any] = {}
    return empty["another key"]


make_callable(chosen_by_key, choose_by_key, inlined=True, widened=False)


def unknown_name(row: Any) -> Any:
    return unknown(row)  # type: ignore[name-defined]  # noqa: F821


def makes_a_list(row: Any) -> Any:
    return [row.wide, row.narrow]


def adds_a_word(row: Any) -> Any:
    return row.wide + "word"


def too_many(row: Any, other: Any) -> Any:
    return row.wide


@pytest.mark.parametrize(
    ("mistaken", "reason"),
    [
        (missing_field, "the record has no field 'missing'"),
        (missing_field_set, "the record has no field 'missing'"),
        (missing_key, "KeyError: 'another key'"),
        (unknown_name, "NameError: name 'unknown' is not defined"),
        pytest.param(
            makes_a_list,
            "it makes a list, an array or a string",
            marks=pytest.mark.skipif(WAY.name != "quick", reason="the plain way counts references, so a list can be made"),
        ),
        (adds_a_word, "there is no add(int64, Literal[str](word)) for these types"),
        (too_many, "it was called with other arguments: missing a required argument: 'other'"),
    ],
)
def test_a_mistake_is_one_sentence_with_its_place(mistaken: Any, reason: str) -> None:
    callee(mistaken)

    def whole(row: Any) -> Any:
        return mistaken(row)

    with pytest.raises(WarploomError) as raised:
        specialised_anew(whole)(record())
    text = str(raised.value)
    assert "\n" not in text
    assert reason in text
    place = re.match(rf"{re.escape(__file__)}:(\d+): {mistaken.__name__} cannot be compiled: ", text)
    assert place
    first = mistaken.__code__.co_firstlineno
    assert first <= int(place.group(1)) <= first + 1
