"""Why a function cannot be compiled, in one sentence with its place, instead of Numba's pages."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable

from numba.core import types

_PLACES = (re.compile(r'^File "[^"]*", line (\d+)', re.MULTILINE), re.compile(r"^During: .* at .* \((\d+)\)$", re.MULTILINE))
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")  # where Numba finds colorama, it colours what it says
_UNBOUND = re.compile(r'^Cannot bind .* due to "TypeError: (.*?)"', re.MULTILINE)
_CALL = re.compile(r"^\s*>>> (.*)$", re.MULTILINE)
_SHOWN = 160  # characters of a message


def explain(function: Callable, error: Exception) -> str:
    """The file and line, the function, and what is wrong there."""
    code = function.__code__
    named = getattr(error, "loc", None)
    found = [named.line] if named else [int(line) for place in _PLACES for line in place.findall(_COLOURS.sub("", str(error)))]
    line = next((line for line in found if line >= code.co_firstlineno), code.co_firstlineno)
    return f"{code.co_filename}:{line}: {function.__qualname__} cannot be compiled: {_reason(error)}"


def _reason(error: Exception) -> str:
    text = _COLOURS.sub("", str(error))
    if isinstance(error, KeyError):
        return f"the record has no field {text}" if _asked_a_record(error) else f"KeyError: {text}"
    if "NRT required" in text:
        return "it makes a list, an array or a string; compiled hooks keep to numbers and the fields of records"
    unbound = _UNBOUND.search(text)
    if unbound:
        return f"it was called with other arguments: {unbound.group(1)}"
    call = _CALL.search(text)
    if call:
        return f"there is no {_short(call.group(1))} for these types"
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("Failed in nopython")]
    return _short(lines[0]) if lines else type(error).__name__


def _asked_a_record(error: KeyError) -> bool:
    """Whether it was raised by the type of a record, asked for one of its fields: Numba gives no other sign."""
    raised_in = [frame.f_locals.get("self") for frame, _ in traceback.walk_tb(error.__traceback__)][-1:]
    return any(isinstance(owner, types.Record) for owner in raised_in)


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ..."
