"""The text form of a design: items joined by ``+``.

An item is a name, alone or with the choice that it is for, and parameters in parentheses::

    rfv(shrink=0.7) + encoding=bdi + max_registers=24

This module only reads and writes text; what the names mean is decided in `warploom.designs.design`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from warploom.base.errors import WarploomError

Value = bool | int | float | str

_NAME = re.compile(r"[A-Za-z][\w-]*")
_PLAIN_WORD = re.compile(r"[A-Za-z][\w.-]*")
_INTEGER = re.compile(r"[+-]?[0-9]{1,300}")  # what is longer is as good as infinite, which no parameter may be
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Item:
    """One item of a design's text. Either ``name`` with ``parameters``, or a plain ``key=number``."""

    key: str  # the choice or option in front of "=", or ""
    name: str  # policy or design, or "" where a value follows the key
    parameters: dict[str, Value] = field(default_factory=dict)
    value: Value | None = None


def parse_items(text: str) -> list[Item]:
    """Split a design's text into items."""
    if not text.strip():
        raise WarploomError("the design is empty; write a name such as 'baseline' or a combination such as 'encoding=bdi'")
    return [_item(part.strip(), text) for part in _split(text, "+")]


def _item(part: str, text: str) -> Item:
    if not part:
        raise WarploomError(f"design {text!r}: there is nothing between two '+' signs or at an end")
    head, parenthesis, rest = part.partition("(")
    key, equals, name = (piece.strip() for piece in head.partition("="))
    if not equals:
        key, name = "", key
    parameters: dict[str, Value] = {}
    if parenthesis:
        if not rest.endswith(")"):
            raise WarploomError(f"design {text!r}: the parenthesis after {name!r} is not closed")
        parameters = _parameters(rest[:-1], name, text)
    if equals and not _NAME.fullmatch(key):
        raise WarploomError(f"design {text!r}: {key!r} in front of '=' is not a name")
    if equals and not parenthesis and _NUMBER.fullmatch(name):
        return Item(key, "", value=_value(name, text))
    if not _NAME.fullmatch(name):
        raise WarploomError(f"design {text!r}: {name or part!r} is not a name")
    return Item(key, name, parameters)


def _parameters(inside: str, name: str, text: str) -> dict[str, Value]:
    parameters: dict[str, Value] = {}
    if not inside.strip():
        return parameters
    for part in _split(inside, ","):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not _NAME.fullmatch(key) or not value:
            raise WarploomError(f"design {text!r}: write the parameters of {name!r} as key=value, not {part.strip()!r}")
        if key in parameters:
            raise WarploomError(f"design {text!r}: parameter {key!r} of {name!r} is given twice")
        parameters[key] = _value(value, text)
    return parameters


def _value(word: str, text: str) -> Value:
    if word in ("true", "false"):
        return word == "true"
    if _INTEGER.fullmatch(word):
        return int(word)
    if _NUMBER.fullmatch(word):
        return float(word)
    if len(word) >= 2 and word[0] == word[-1] and word[0] in "'\"":
        return word[1:-1]
    if _PLAIN_WORD.fullmatch(word):
        return word
    raise WarploomError(f"design {text!r}: the value {word!r} is neither a number, true, false, a word nor in quotation marks")


def format_value(value: Value) -> str:
    """The text of a parameter's value, such that it reads back as the same value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if _PLAIN_WORD.fullmatch(value) and value not in ("true", "false"):
        return value
    return f'"{value}"' if '"' not in value else f"'{value}'"


def _split(text: str, separator: str) -> list[str]:
    """Split at a separator that stands outside parentheses and quotation marks."""
    parts, depth, quote, start = [], 0, "", 0
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
        elif character == separator and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    parts.append(text[start:])
    return parts
