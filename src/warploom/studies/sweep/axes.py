"""The values along one axis of a plan: a single one, a list, or a range."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from warploom.base.errors import WarploomError

MOST = 100_000  # values of a range, or inputs of a workload
_RANGE = 'a range is { from = 1, to = 2, step = 0.5 }, or { from = 1, to = 64, count = 7 } with `scale = "log"` if wanted'


def values_of(value: Any, place: str) -> list[Any]:
    """Every value that an entry of a plan stands for, in order, each once."""
    if isinstance(value, dict):
        return _range(value, place)
    found = list(value) if isinstance(value, list | tuple) else [value]
    if not found:
        raise WarploomError(f"{place}: the list is empty; leave the entry away or give it a value")
    for item in found:
        if isinstance(item, dict | list | tuple):
            raise WarploomError(f"{place}: {item!r} cannot stand in a list; give numbers, words, true or false")
    distinct: list[Any] = []
    for item in found:
        if not any(item == other and type(item) is type(other) for other in distinct):
            distinct.append(item)
    return distinct


def _range(table: dict[str, Any], place: str) -> list[Any]:
    known = {"from", "to", "step", "count", "scale"}
    if not {"from", "to"} <= table.keys() or not table.keys() <= known or ("step" in table) == ("count" in table):
        raise WarploomError(f"{place}: {table!r} is not a range; {_RANGE}")
    for name, value in table.items():
        if name != "scale" and (isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value)):
            raise WarploomError(f"{place}: `{name}` of a range must be a number, not {value!r}")
    if table.get("scale", "linear") not in ("linear", "log"):
        raise WarploomError(f"{place}: `scale` of a range is linear or log, not {table['scale']!r}")
    first, last = table["from"], table["to"]
    if "step" in table:
        if "scale" in table:
            raise WarploomError(f"{place}: `scale` goes with `count`; a step is always the same")
        return _steps(first, last, table["step"], place)
    return _counted(first, last, table["count"], table.get("scale", "linear"), place)


def _steps(first: float, last: float, step: float, place: str) -> list[Any]:
    """Decimal arithmetic, so that 0.1, 0.2, 0.3 are what they look like; the last value belongs to the range."""
    begin, end, width = (Decimal(str(number)) for number in (first, last, step))
    if width == 0 or (end - begin) / width < 0:
        raise WarploomError(f"{place}: a step of {step} does not lead from {first} to {last}")
    number = int((end - begin) / width) + 1
    _check_number(number, place)
    whole = all(isinstance(value, int) for value in (first, step))
    return [int(begin + index * width) if whole else float(begin + index * width) for index in range(number)]


def _counted(first: float, last: float, count: Any, scale: str, place: str) -> list[Any]:
    if not isinstance(count, int) or count < 1:
        raise WarploomError(f"{place}: `count` of a range must be a whole number from 1, not {count!r}")
    _check_number(count, place)
    if scale == "log" and (first <= 0 or last <= 0):
        raise WarploomError(f"{place}: a range with a logarithmic scale lies above 0")
    values = [_between(first, last, index / (count - 1) if count > 1 else 0.0, scale) for index in range(count)]
    if isinstance(first, int) and isinstance(last, int):
        values = [round(value) for value in values]
    return list(dict.fromkeys(values))


def _between(first: float, last: float, share: float, scale: str) -> float:
    if share in (0.0, 1.0):
        return last if share else first
    if scale == "log":
        return math.exp((1 - share) * math.log(first) + share * math.log(last))
    return (1 - share) * first + share * last


def _check_number(number: int, place: str) -> None:
    if number > MOST:
        raise WarploomError(f"{place}: the range has {number:,} values; {MOST:,} are the most")


def limit_of(value: Any) -> Any:
    """What an axis says of ``max_registers``, which may also be the word ``none``."""
    return None if value == "none" else value
