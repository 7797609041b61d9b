"""``njit`` as this project uses it: compiled once, cached on disk, and never stale.

Numba's own disk cache looks only at the file that holds a function; after an edit in a *callee's* file it returns the old code.
Here every function is kept in a folder named by a digest of all that it can depend on: its module with everything that this
imports (`base/sources.py`), the versions of Python and Numba, the processor. A function whose callees are chosen by type at
compile time (hooks of policies) is compiled for those types by `specialised`, and their sources count as well.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable
from typing import Any, Concatenate, ParamSpec, TypeVar

import numba
from numba.extending import intrinsic as _numba_intrinsic

from warploom.base.sources import class_digest, file_digest, surroundings
from warploom.jit.kept_code import CAN_KEEP, KeptCode
from warploom.jit.ways import WAY

Function = TypeVar("Function", bound=Callable[..., Any])
Arguments = ParamSpec("Arguments")


def _folder(digests: Iterable[str]) -> str:
    """Where in the cache a function is kept: one folder for each state of all that it depends on."""
    return hashlib.sha256(repr((surroundings(), WAY.name, list(digests))).encode()).hexdigest()[:20]


def _compiled(function: Callable, digests: list[str | None], options: dict[str, Any]) -> Any:
    """A dispatcher whose code is kept on disk, unless the source of something that it depends on is not in a file (None)."""
    dispatcher = numba.njit(**options)(function)
    known = [digest for digest in digests if digest is not None]
    if CAN_KEEP and hasattr(dispatcher, "_cache") and None not in digests:  # not with NUMBA_DISABLE_JIT
        dispatcher._cache = KeptCode(function, _folder(known))
    return dispatcher


def _digest(function: Callable) -> str | None:
    return file_digest(function.__code__.co_filename)


def intrinsic(function: Callable[Concatenate[Any, Arguments], Any]) -> Callable[Arguments, Any]:
    """A function for compiled code to call that emits LLVM code; its first argument, Numba's typing context, is not passed."""
    made: Any = _numba_intrinsic(function)  # Numba's own hints describe it as if the context were passed
    return made


def njit(function: Callable | None = None, **options: Any) -> Any:
    """``numba.njit`` with this project's options and disk cache, as a decorator with or without arguments."""
    if function is None:
        return functools.partial(njit, **options)
    return _compiled(function, [_digest(function)], {**WAY.by_itself, **options})


def whole(function: Function) -> Function:
    """A function that is compiled with all its callees at once, cached on disk, and called by Python or by other wholes.

    It must not make arrays or other objects. In return it does not count references to the arrays inside of records: the
    records of the timing core are full of them, and counting every look at one took an eighth of its time.
    """
    return _compiled(function, [_digest(function)], WAY.whole)


@functools.cache
def specialised(function: Callable, kinds: tuple[type, ...]) -> Any:
    """A `whole` whose callees are chosen by these argument types when it is compiled (hooks of policies).

    Its cache directory also follows the sources of the types, wherever they are: a user's policy file counts like ours, and
    an edit of one policy leaves what was compiled for others alone.
    """
    return _compiled(function, [_digest(function), *map(class_digest, kinds)], WAY.whole)


def specialised_anew(function: Callable) -> Any:
    """What `specialised` makes, but neither taken from the disk nor put there: to measure how long it takes."""
    return numba.njit(**WAY.whole)(function)
