"""Named tuples passed by reference: what is read through a reference is what the tuple holds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from warploom.jit import by_reference, callee, make_callable, specialised_anew


class Empty(NamedTuple):
    """A policy without parameters."""


class Pair(NamedTuple):
    """A policy with parameters of one type."""

    low: int
    high: int


class Mixed(NamedTuple):
    """A policy with parameters of several types."""

    share: float
    on: bool
    number: int


class Inner(NamedTuple):
    """A design, in small."""

    empty: Empty
    pair: Pair
    mixed: Mixed


class Outer(NamedTuple):
    """A context, in small."""

    inner: Inner
    table: np.ndarray
    number: int


CONTEXT = Outer(Inner(Empty(), Pair(3, 1 << 40), Mixed(0.25, True, -7)), np.arange(10), 2)


@callee
def pair_sum(pair: Any) -> int:
    """Takes an inner reference."""
    return pair.low + pair.high


@callee
def of_all(ctx: Any) -> Any:
    """Takes a reference."""
    mixed = ctx.inner.mixed
    return (pair_sum(ctx.inner.pair) + ctx.table[ctx.number]) * mixed.share + (mixed.number if mixed.on else 0)


def whole(values: Any) -> Any:
    """Makes a reference."""
    return of_all(by_reference(values))


def test_values_are_read_through_references() -> None:
    expected = (3 + (1 << 40) + 2) * 0.25 - 7
    assert whole(CONTEXT) == expected
    assert specialised_anew(whole)(CONTEXT) == expected


def kind_of(policy: Any) -> int:
    """A hook point, in small."""
    return {Empty: 1, Pair: 2, Mixed: 3}[type(policy)]


def one(policy: Any) -> int:
    """For Empty."""
    return 1


def two(policy: Any) -> int:
    """For Pair."""
    return 2


def three(policy: Any) -> int:
    """For Mixed."""
    return 3


make_callable(kind_of, lambda policy: {Empty: one, Pair: two, Mixed: three}[policy.instance_class], inlined=True, widened=False)


def kinds(values: Any) -> int:
    """Makes a reference and asks for the classes behind inner ones."""
    ctx = by_reference(values)
    return 100 * kind_of(ctx.inner.empty) + 10 * kind_of(ctx.inner.pair) + kind_of(ctx.inner.mixed)


def test_a_reference_knows_the_class_behind_it() -> None:
    assert kinds(CONTEXT) == 123
    assert specialised_anew(kinds)(CONTEXT) == 123
