"""What a policy class may hold, and the checks that its names and parameters make sense."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from warploom.base.errors import WarploomError
from warploom.base.records import own_dtype
from warploom.base.spelling import did_you_mean
from warploom.chip.sm.choices import CHOICES
from warploom.chip.sm.hooks import HOOKS

# What a policy class may hold besides hooks and parameters; see docs/tutorial/first-policy.md.
PYTHON_METHODS = frozenset(
    {
        "compile",
        "annotate",
        "registers_per_warp",
        "resident_limit",
        "physical_share",
        "counters",
        "summary",
        "energy",
        "versus",
        "storage_bits",
        "area",
        "conflict",
        "describe",
    }
)
ATTRIBUTES = frozenset(
    {"CHOICE", "NAME", "SOURCE", "LIMITS", "STATE", "NOTES", "MEANING", "COMPILED_BY", "GIVEN", "IDEAL", "COUNTERS"}
)


def check_policy_class(kind: Any) -> None:
    """Refuse a class that is not a policy, and names that would silently never be called."""
    name = getattr(kind, "__name__", repr(kind))
    where = f"policy class {name}"
    is_named_tuple = isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_field_defaults")
    if not is_named_tuple:
        raise WarploomError(f"{where}: a policy is a NamedTuple class; write 'class {name}(NamedTuple):'")
    if getattr(kind, "CHOICE", None) not in CHOICES:
        raise WarploomError(f"{where}: CHOICE must be one of {', '.join(CHOICES)}, not {getattr(kind, 'CHOICE', None)!r}")
    if not isinstance(getattr(kind, "NAME", None), str):
        raise WarploomError(f"{where}: give it a NAME, the word by which designs call it")
    without = [field for field in kind._fields if field not in kind._field_defaults]
    if without:
        raise WarploomError(f"{where}: parameter {without[0]!r} needs a default")
    limits = getattr(kind, "LIMITS", {})
    for field in kind._fields:
        if not isinstance(kind._field_defaults[field], bool) and field not in limits:
            raise WarploomError(
                f"{where}: LIMITS must say what parameter {field!r} may be, as (lowest, highest) or a tuple of words"
            )
    for field in getattr(kind, "GIVEN", ()):
        if field not in kind._fields:
            raise WarploomError(f"{where}: GIVEN names {field!r}, which is not one of its parameters")
    for part in ("STATE", "NOTES"):
        for name in _fields_of(where, part, getattr(kind, part, None)):
            if hasattr(np.void, name):
                raise WarploomError(
                    f"{where}: the field name {name!r} is hidden by an attribute of NumPy's records; take another"
                )
    known = set(HOOKS[kind.CHOICE]) | PYTHON_METHODS
    for attribute in vars(kind):
        if attribute.startswith("_") or attribute in kind._fields or attribute in ATTRIBUTES or attribute in known:
            continue
        if callable(getattr(kind, attribute)):
            raise WarploomError(
                f"{where}: {attribute!r} is not a hook of the choice {kind.CHOICE}{did_you_mean(attribute, known)}"
            )


def _fields_of(where: str, part: str, kept: Any) -> tuple[str, ...]:
    try:
        return own_dtype(kept).names or ()
    except WarploomError as error:
        raise WarploomError(f"{where}: {part}: {error}") from None


def checked_parameters(kind: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a policy with defaults filled in, each of its default's type and within its limits."""
    where = f"{kind.CHOICE}={kind.NAME}"
    for key in given:
        if key not in kind._fields:
            hint = did_you_mean(key, set(kind._fields)) if kind._fields else "; it has none"
            raise WarploomError(f"{where}: it has no parameter {key!r}{hint}")
    out = {}
    for field in kind._fields:
        default = kind._field_defaults[field]
        out[field] = _checked(where, field, given.get(field, default), default, getattr(kind, "LIMITS", {}).get(field))
    return out


def _checked(where: str, field: str, value: Any, default: Any, limits: Any) -> Any:
    if isinstance(default, bool):
        if value not in (True, False):
            raise WarploomError(f"{where}: {field} must be true or false, not {value!r}")
        return bool(value)
    if isinstance(default, str):
        if value not in limits:
            raise WarploomError(f"{where}: {field} must be one of {', '.join(limits)}, not {value!r}")
        return str(value)
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole and not (
        isinstance(value, float) and math.isfinite(value) and (isinstance(default, float) or value.is_integer())
    ):
        kind = "a whole number" if isinstance(default, int) else "a number"
        raise WarploomError(f"{where}: {field} must be {kind}, not {value!r}")
    low, high = limits
    if not low <= value <= high:
        raise WarploomError(f"{where}: {field} must lie between {low} and {high}, not {value}")
    return type(default)(value)
