"""Functions for compiled code to call: chosen by the types of the arguments, compiled once for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

import numba
from numba.core import types
from numba.core.typing.templates import AbstractTemplate, infer_global

from warploom.base.errors import WarploomError
from warploom.jit.errors import explain
from warploom.jit.ways import WAY

Function = TypeVar("Function", bound=Callable[..., Any])
_NARROW = (types.int8, types.int16, types.int32, types.uint8, types.uint16)


def make_callable(function: Callable, choose: Callable[..., Callable], *, inlined: bool, widened: bool) -> None:
    """Let compiled code call a function: a call compiles what `choose` answers to the types of its arguments.

    ``inlined``: LLVM must copy it into its callers. ``widened``: whole numbers of less than 64 bits become 64 bits wide, so that
    what is called with fields of many records is compiled once.
    """
    options = WAY.inlined if inlined else WAY.separate
    dispatchers: dict[Callable, Any] = {}
    compiled: dict[tuple, Any] = {}

    class Call(AbstractTemplate):
        key = function

        def generic(self, args: tuple, kws: dict) -> Any:
            """The signature of a call."""
            chosen = choose(*args)
            if chosen not in dispatchers:
                dispatchers[chosen] = numba.njit(**options)(chosen)
            called = types.Dispatcher(dispatchers[chosen])
            taken = tuple(types.int64 if widened and argument in _NARROW else argument for argument in args)
            try:
                signature: Any = called.get_call_type(self.context, taken, kws)
            except WarploomError:  # from a callee of this one
                raise
            except Exception as error:
                raise WarploomError(explain(chosen, error)) from error
            compiled[signature.args] = called.get_overload(signature)
            return signature

        def get_impl_key(self, signature: Any) -> Any:
            """What a lowered call refers to."""
            return compiled[signature.args]

    infer_global(function, types.Function(Call))


@overload
def callee(function: Function) -> Function: ...
@overload
def callee(
    function: Function | None = None, *, inlined: bool = False, widened: bool = False, stands_for: Callable | None = None
) -> Any: ...
def callee(function: Any = None, *, inlined: bool = False, widened: bool = False, stands_for: Callable | None = None) -> Any:
    """A function for compiled code to call, as a decorator with or without arguments.

    ``inlined`` and ``widened`` as in `make_callable`. ``stands_for``: it is called where the source names another function,
    which remains for plain Python.
    """

    def mark(marked: Callable) -> Callable:
        make_callable(stands_for or marked, lambda *_: marked, inlined=inlined, widened=widened)
        return marked

    return mark if function is None else mark(function)


@overload
def inlined(function: Function) -> Function: ...
@overload
def inlined(*, stands_for: Callable) -> Callable[[Function], Function]: ...
def inlined(function: Any = None, *, stands_for: Callable | None = None) -> Any:
    """A callee that is small, or called in one place: copied into its callers, compiled once for whole numbers of all widths."""
    return callee(function, inlined=True, widened=True, stands_for=stands_for)


def separate(function: Function) -> Function:
    """A callee that is large and called in several places: whether it is copied is left to the compiler."""
    return callee(function, widened=True)
