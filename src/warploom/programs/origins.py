"""Any origin of a program from its plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from warploom.base.errors import WarploomError
from warploom.programs.origin import Origin
from warploom.programs.own import PythonOrigin
from warploom.programs.own_kernel import OwnKernel
from warploom.programs.process import ProcessOrigin
from warploom.programs.program import WorkloadOrigin
from warploom.programs.replay import RecordingOrigin

KINDS: dict[str, type[Origin]] = {
    kind.KIND: kind for kind in (WorkloadOrigin, RecordingOrigin, OwnKernel, PythonOrigin, ProcessOrigin)
}


def origin_from_dict(data: Any, place: str) -> Origin:
    """What `Origin.to_dict` gave. The data may be a stranger's: it is looked at before it is believed."""
    kind = KINDS.get(str(data.get("kind"))) if isinstance(data, Mapping) else None
    if kind is None:
        raise WarploomError(f"{place}: `program` is damaged: it must be a table with `kind`, one of {', '.join(KINDS)}")
    wanted = {item.name: str(item.type) for item in fields(kind) if item.compare}
    given = {name: value for name, value in data.items() if name != "kind"}
    if unknown := given.keys() - wanted.keys():
        raise WarploomError(f"{place}: `program` is damaged: a {kind.KIND} has no {sorted(unknown)[0]!r}")
    try:
        return kind(**{name: _value(value, wanted[name]) for name, value in given.items()})
    except TypeError:
        raise WarploomError(f"{place}: `program` is damaged: {dict(data)!r}") from None


_TYPES: dict[str, type | tuple[type, ...]] = {"str": str, "int": int, "bool": bool, "str | None": (str, type(None))}


def _value(value: Any, wanted: str) -> Any:
    """A field's value, where it has the type that the field wants."""
    if wanted in ("Extent", "tuple[str, ...]"):
        inner = int if wanted == "Extent" else str
        if isinstance(value, list | tuple) and all(type(item) is inner for item in value):
            return tuple(value)
    elif isinstance(value, _TYPES[wanted]):
        return value
    raise TypeError
