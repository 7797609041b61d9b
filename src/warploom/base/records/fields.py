"""The types of fields, and how a class of annotated fields becomes a NumPy dtype."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, Generic, TypeVar, cast, get_args, get_origin

import numpy as np

from warploom.base.errors import WarploomError

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

# The conversion to a number of 64 bits with a sign, in compiled code; to a type checker that is an ordinary number as well.
int64: Callable[[Any], int] = cast(Any, np.int64)

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


def typed(_kind: type[Element], records: np.ndarray) -> Array[Element]:
    """NumPy's records as compiled code is told of them: the same, to a type checker an array of their class."""
    return cast(Any, records)


def dtype_of(kind: Any, given: Mapping[str, np.dtype] | None = None) -> np.dtype:
    """The aligned dtype of a record's class; ``given`` has the dtypes of the fields that are annotated with `Any`."""
    return _dtype(kind, tuple((given or {}).items()))


@cache
def _dtype(kind: Any, later: tuple[tuple[str, np.dtype], ...]) -> np.dtype:
    given = dict(later)
    fields: list[Any] = []
    for name, hint in _hints(kind).items():
        form = (given[name],) if hint is Any and name in given else _format(f"record {kind.__name__}: field {name!r}", hint)
        fields.append((name, *form))
    return np.dtype(fields, align=True)


def field_names(kind: Any) -> tuple[str, ...]:
    """The names of a record's fields, in order."""
    return tuple(_hints(kind))


def field_types(kind: Any) -> dict[str, Any]:
    """The annotations of a record's fields by name, in order."""
    return dict(_hints(kind))


def own_dtype(kind: Any) -> np.dtype:
    """The dtype of what a policy or an observer keeps (`STATE`, `NOTES`): a record, or None where it keeps nothing.

    Then it is a single unused byte, for a record cannot be empty.
    """
    if kind is None:
        return np.dtype([("unused", "u1")])
    if not (isinstance(kind, type) and issubclass(kind, Record)):
        raise WarploomError(
            f"what is kept must be a class of typed fields, derived from warploom.base.records.Record, not {kind!r}"
        )
    return dtype_of(kind)


def with_length(kind: Any, length: int, other: int) -> Any:
    """The record with arrays of another length where it has this one: a class of its own, for its dtype alone."""
    hints = {}
    for name, hint in _hints(kind).items():
        content, *given = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        changed = tuple(other if each == length else each for each in given)
        hints[name] = Annotated[(content, *changed)] if get_origin(content) is Array else hint
    return type(f"{kind.__name__}Of{other}", (Record,), {"__annotations__": hints, "__module__": kind.__module__})


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """The annotations of a class and, before them, of its bases from left to right."""
    found: dict[str, Any] = {}
    for base in kind.__bases__:
        found |= _hints(base)
    names = dict(vars(sys.modules[kind.__module__]))
    for name, hint in inspect.get_annotations(kind).items():
        try:
            found[name] = eval(hint, names) if isinstance(hint, str) else hint
        except NameError as error:
            raise WarploomError(f"record {kind.__name__}: the type of field {name!r} cannot be found: {error}") from None
    return found


def _format(where: str, hint: Any) -> tuple[Any, ...]:
    """What stands after the name in a NumPy field."""
    if isinstance(hint, type) and issubclass(hint, Record):
        return (dtype_of(hint),)
    kind, *given = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if get_origin(kind) is Array and given and all(isinstance(length, int) and length > 0 for length in given):
        return (*_format(where, get_args(kind)[0]), tuple(given))
    if len(given) == 1 and isinstance(kind, type) and issubclass(kind, (int, float, np.uint32, np.uint64)):
        return (given[0],)
    raise WarploomError(f"{where} has no type of warploom.base.records; write i8, Mask, a Record or Annotated[Array[i8], length]")
