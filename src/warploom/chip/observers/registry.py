"""Which observers there are, and the checks that a class is one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.records import own_dtype
from warploom.base.spelling import did_you_mean
from warploom.chip.observers.hot_spots import HotSpots
from warploom.chip.observers.pipeline_log import PipelineLog
from warploom.chip.observers.timeline import Timeline
from warploom.chip.observers.value_lifetimes import ValueLifetimes
from warploom.chip.sm.observing import POINTS

_KNOWN: dict[str, Any] = {kind.NAME: kind for kind in (ValueLifetimes, HotSpots, PipelineLog, Timeline)}
_KNOWN_NAMES = POINTS | {"NAME", "STATE", "report", "drain", "for_code", "begin"}


def observer_names() -> list[str]:
    """The names of those that come with Warploom."""
    return list(_KNOWN)


def observer_kinds() -> list[Any]:
    """The classes of those that come with Warploom."""
    return list(_KNOWN.values())


def make_observers(wanted: Iterable[Any]) -> tuple[Any, ...]:
    """Observers by name or as they are, each checked and none twice."""
    made: list[Any] = []
    for one in wanted:
        if isinstance(one, str):
            if one not in _KNOWN:
                raise WarploomError(f"there is no observer {one!r}{did_you_mean(one, observer_names())}")
            one = _KNOWN[one]()
        _check(type(one))
        if any(type(other).NAME == type(one).NAME for other in made):
            raise WarploomError(f"observer {type(one).NAME}: it is attached twice")
        made.append(one)
    return tuple(made)


def _check(kind: Any) -> None:
    where = f"observer class {kind.__name__}"
    if not (issubclass(kind, tuple) and hasattr(kind, "_fields")):
        raise WarploomError(f"{where}: an observer is a NamedTuple class; write 'class {kind.__name__}(NamedTuple):'")
    for name in ("NAME", "STATE"):
        if not hasattr(kind, name):
            raise WarploomError(f"{where}: it has no {name}")
    try:
        own_dtype(kind.STATE)
    except WarploomError as error:
        raise WarploomError(f"{where}: STATE: {error}") from None
    if not hasattr(kind, "report"):
        raise WarploomError(f"{where}: it has no method report, which says what it saw")
    for name, value in vars(kind).items():
        if not name.startswith("_") and name not in kind._fields and callable(value) and name not in _KNOWN_NAMES:
            raise WarploomError(f"{where}: {name!r} is no point at which an observer looks{did_you_mean(name, sorted(POINTS))}")
