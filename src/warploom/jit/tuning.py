"""Habits of Numba that cost time while it compiles, and are left off. What it compiles stays the same."""

from __future__ import annotations

import gc
from typing import Any

import numba
from llvmlite.binding import ffi
from numba.core import compiler_lock, event, types
from numba.core.targetconfig import TargetConfig
from numba.core.typing.context import BaseContext

# What is used here besides what the imports name.
INNER_PARTS: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (compiler_lock._CompilerLock, ("_lock", "acquire", "release")),
    (ffi, ("lib", "unregister_lock_callback")),
    (type(ffi.lib), ("_lock",)),
    (type(ffi.lib._lock), ("_cblist",)),
    (TargetConfig, ("_values", "options")),
    (BaseContext, ("resolve_function_type", "resolve_getattr")),
    (types.Function, ("typing_key",)),
)
_SCALARS = (types.Integer, types.Boolean, types.Float)


def install() -> None:
    """Change them for this process."""
    _remember_descriptions()
    _remember_fields()
    _remember_operators()
    _compare_options_by_what_is_set()
    _lock_without_events()
    event.register("numba:compile", _CollectLater())


def _remember_descriptions() -> None:
    """Let Numba describe a type of records once; it does so in every pass over a function that has one as an argument."""
    kind: Any = numba.types.Record
    describe = kind.__repr__

    def remembered(record: Any) -> str:
        if "_description" not in record.__dict__:
            record._description = describe(record)
        return record._description

    kind.__repr__ = remembered


def _remember_fields() -> None:
    """The type of a record's field is looked up once, not at every place that reads it."""
    contexts: Any = BaseContext
    resolve = contexts.resolve_getattr
    known: dict[tuple[Any, str], Any] = {}

    def remembered(context: Any, kind: Any, attribute: str) -> Any:
        if not isinstance(kind, types.Record):
            return resolve(context, kind, attribute)
        if (kind, attribute) not in known:
            known[kind, attribute] = resolve(context, kind, attribute)
        return known[kind, attribute]

    contexts.resolve_getattr = remembered


def _remember_operators() -> None:
    """What an operator makes of two numbers is found once; Numba tries its overloads for arrays, strings and dates each time."""
    contexts: Any = BaseContext
    resolve = contexts.resolve_function_type
    known: dict[tuple[Any, tuple], Any] = {}

    def remembered(context: Any, function: Any, arguments: tuple, named: dict) -> Any:
        called = function.typing_key if isinstance(function, types.Function) else None
        builtin = getattr(called, "__module__", None) in ("_operator", "builtins")
        if not builtin or named or not all(isinstance(argument, _SCALARS) for argument in arguments):
            return resolve(context, function, arguments, named)
        if (function, arguments) not in known:
            known[function, arguments] = resolve(context, function, arguments, named)
        return known[function, arguments]

    contexts.resolve_function_type = remembered


def _compare_options_by_what_is_set() -> None:
    """Sets of options are keys of many tables: they are equal at once if the same are set, and the hash is of the names alone."""
    configuration: Any = TargetConfig
    compare = configuration.__eq__
    hashes: dict[type, int] = {}

    def equal(first: Any, second: Any) -> Any:
        if first is second or (type(first) is type(second) and first._values == second._values):
            return True
        return compare(first, second)

    def hashed(options: Any) -> int:
        kind = type(options)
        if kind not in hashes:
            hashes[kind] = hash(tuple(sorted(options.options)))
        return hashes[kind]

    configuration.__eq__, configuration.__hash__ = equal, hashed


def _lock_without_events() -> None:
    """The locks of the compiler and of LLVM are taken a hundred thousand times; nobody here listens to that.

    Numba would tell the timers of all functions that are being compiled, one inside the other.
    """
    lock: Any = compiler_lock._CompilerLock
    lock.acquire = lambda held: held._lock.acquire()
    lock.release = lambda held: held._lock.release()
    for taken, given_back in list(ffi.lib._lock._cblist):
        if taken.__module__ == "numba.core.base":
            ffi.unregister_lock_callback(taken, given_back)


class _CollectLater(event.Listener):
    """Garbage is collected after a function has been compiled, not while: the millions of objects made then live to its end."""

    depth = 0
    was_enabled = True

    def on_start(self, started: Any) -> None:
        if self.depth == 0:
            self.was_enabled = gc.isenabled()
            gc.disable()
        self.depth += 1

    def on_end(self, ended: Any) -> None:
        self.depth -= 1
        if self.depth == 0 and self.was_enabled:
            gc.enable()
