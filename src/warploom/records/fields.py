"""The types of fields, and how a class of annotated fields becomes a NumPy dtype."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Annotated, Any, Generic, TypeVar, get_args, get_origin

import numpy as np

# A number of so many bytes: i signed, u unsigned, f floating. To a type checker it is an ordinary number.
i1 = Annotated[int, "i1"]
i2 = Annotated[int, "i2"]
i4 = Annotated[int, "i4"]
i8 = Annotated[int, "i8"]
u1 = Annotated[int, "u1"]
u2 = Annotated[int, "u2"]
u4 = Annotated[int, "u4"]
u8 = Annotated[np.uint64, "u8"]  # never mixed with signed numbers, which would turn both into floats
f8 = Annotated[float, "f8"]
flag = Annotated[bool, "?"]
# Sets, one bit a member; made, tested and searched with `register_file.bits`.
Mask = Annotated[np.uint64, "u8"]  # of warps or of 64 registers
Lanes = Annotated[np.uint32, "u4"]  # of the lanes of a warp

Element = TypeVar("Element")


class Record:
    """The base of all records."""


class Array(Generic[Element]):
    """A field of several elements of one kind; its lengths stand beside it: ``Annotated[Array[i2], 64, 512]``."""

    def __getitem__(self, index: int | tuple[int, ...]) -> Element:
        raise NotImplementedError("a record's class is for type checkers; records are made by NumPy")

    def __setitem__(self, index: int | tuple[int, ...], value: Element) -> None:
        raise NotImplementedError("a record's class is for type checkers; records are made by NumPy")

    def __len__(self) -> int:
        raise NotImplementedError("a record's class is for type checkers; records are made by NumPy")


def dtype_of(kind: type[Record], given: Mapping[str, np.dtype] | None = None) -> np.dtype:
    """The aligned dtype of a record; ``given`` has the dtypes of the fields that are annotated with `Any`."""
    given = given or {}
    fields = [(name, given[name]) if hint is Any else (name, *_format(hint)) for name, hint in _hints(kind).items()]
    return np.dtype(fields, align=True)


def field_names(kind: type[Record]) -> tuple[str, ...]:
    """The names of a record's fields, in order."""
    return tuple(_hints(kind))


def own_dtype(fields: Any) -> np.dtype:
    """The dtype of what a policy or an observer keeps (`STATE`, `NOTES`): a class of fields, or a tuple of NumPy fields.

    Where it keeps nothing it is a single unused byte, for a record cannot be empty.
    """
    if isinstance(fields, type) and issubclass(fields, Record):
        return dtype_of(fields)
    return np.dtype(list(fields) or [("unused", "u1")], align=True)


def _hints(kind: type) -> dict[str, Any]:
    """The annotations of a class and, before them, of its bases from left to right."""
    found: dict[str, Any] = {}
    for base in kind.__bases__:
        found |= _hints(base)
    names = vars(sys.modules[kind.__module__])
    for name, hint in vars(kind).get("__annotations__", {}).items():
        found[name] = eval(hint, dict(names)) if isinstance(hint, str) else hint
    return found


def _format(hint: Any) -> tuple[Any, ...]:
    """What stands after the name in a NumPy field."""
    if isinstance(hint, type) and issubclass(hint, Record):
        return (dtype_of(hint),)
    if get_origin(hint) is not Annotated:
        raise TypeError(f"{hint!r} is not the type of a field; take i8, Mask, a Record or Annotated[Array[...], length]")
    kind, *lengths = get_args(hint)
    if get_origin(kind) is Array:
        return (*_format(get_args(kind)[0]), tuple(lengths))
    return (lengths[0],)
