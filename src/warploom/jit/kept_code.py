"""Compiled functions on disk, each in a file of its own with a checksum.

Numba's own cache trusts what it finds: a damaged file is a traceback or worse, and two processes that write its index at the same
time can exchange the code of two functions. Here a file is named by the signature that it is for and also holds it.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from warploom.base.cache import Cache

CAN_KEEP = all(hasattr(CompileResult, name) for name in ("_reduce", "_rebuild"))
"""Whether this version of Numba has what taking a compiled function apart and putting it together again needs."""

_CACHE = Cache("jit")


class KeptCode(NullCache):
    """What a dispatcher asks for the compiled code of one function, and gives it to."""

    def __init__(self, function: Callable, folder: str) -> None:
        self._folder = folder
        code = function.__code__
        cells = tuple(cell.cell_contents for cell in function.__closure__ or ())
        self._closure = hashlib.sha256(dumps(cells)).hexdigest() if cells else ""
        self._stem = f"{Path(code.co_filename).stem}.{function.__qualname__}-{code.co_firstlineno}".replace("<locals>", "")

    @property
    def cache_path(self) -> str:
        """The folder, in the cache."""
        return self._folder

    def _key(self, signature: Any, codegen: Any) -> tuple[Any, ...]:
        return signature, codegen.magic_tuple(), self._closure  # the second is the processor

    def _name(self, key: tuple[Any, ...]) -> str:
        return f"{self._folder}/{self._stem}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.code"

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled code for a signature, if it is there.

        All that Numba can compile (`refresh`) is registered only once something has to be: that takes longer than to load code.
        """
        rtsys.initialize(target)
        key = self._key(signature, target.codegen())
        data = _CACHE.read(self._name(key))
        if data is None:
            return None
        try:
            kept_for, code = pickle.loads(data)
            if kept_for != key:
                return None  # two signatures of one description: the other one has the file
            return CompileResult._rebuild(target, *code)
        except Exception:  # what is pickled may name a module that is not there any more; then it is compiled again
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep compiled code, unless it holds addresses of this process."""
        if result.lifted or result.library.has_dynamic_globals:
            return
        key = self._key(signature, result.codegen)
        _CACHE.write(self._name(key), dumps((key, result._reduce())))
