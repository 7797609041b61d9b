"""A key of a machine file: what its table (`schema`) says of it where it declares it.

Everything that is to be known of a key stands there once: the file is checked by it, compiled code reads a record that is made of
it, and ``warploom machines --keys`` and the reference print it.
"""

from __future__ import annotations

from dataclasses import Field, dataclass, field, fields
from enum import IntEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class Key:
    """A unit, a meaning, and the values that are allowed: numbers from `low` to `high`, one of `words`, or true and false."""

    unit: str
    meaning: str
    low: float | None = None
    high: float | None = None
    power_of_two: bool = False
    words: type[IntEnum] | None = None
    unless: Any = None  # the value where no file says one; None: a file must

    @property
    def allowed(self) -> str:
        """The values in words."""
        if self.words is not None:
            return " or ".join(word.name.lower() for word in self.words)
        return f"{self.span}, a power of two" if self.power_of_two else self.span

    @property
    def span(self) -> str:
        """The same in short, as a table has room for it; nothing where the values are words."""
        if self.words is not None:
            return ""
        return "true or false" if self.low is None else f"{self.low:,} to {self.high:,}"


def number(low: float, high: float, unit: str, meaning: str, power_of_two: bool = False, unless: float | None = None) -> Any:
    """A field for a number between two bounds, both allowed."""
    return field(metadata={"key": Key(unit, meaning, low, high, power_of_two, unless=unless)})


def choice(words: type[IntEnum], meaning: str) -> Any:
    """A field for one of several words, the names of an enumeration in small letters; a record holds its number."""
    return field(metadata={"key": Key("word", meaning, words=words)})


def switch(meaning: str, unless: bool | None = None) -> Any:
    """A field for true or false."""
    return field(metadata={"key": Key("switch", meaning, unless=unless)})


def lowest(kind: type) -> Any:
    """A table that nobody looks at: the lowest value of each key, or its first word."""
    return kind(**{item.name: key_of(item).low or 0 for item in fields(kind)})


def key_of(item: Field[Any]) -> Key:
    """What its table says of a field."""
    key: Key = item.metadata["key"]
    return key
