"""Compiled functions on disk, each in a file of its own with a checksum.

Numba's own cache trusts what it finds: a damaged file is a traceback or worse, and two processes that write its index at the same
time can exchange the code of two functions. Here a file is named by the signature that it is for and also holds it.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from warploom.storage.kept import read_kept, say_no_cache, write_kept

CAN_KEEP = all(hasattr(CompileResult, name) for name in ("_reduce", "_rebuild"))
"""Whether this version of Numba has what taking a compiled function apart and putting it together again needs."""

_KEPT_FOLDERS = 250  # some 5 MB each; every module and every combination of policies has one


class KeptCode(NullCache):
    """What a dispatcher asks for the compiled code of one function, and gives it to."""

    def __init__(self, function: Callable, folder: Path) -> None:
        self._folder = folder
        code = function.__code__
        cells = tuple(cell.cell_contents for cell in function.__closure__ or ())
        self._closure = hashlib.sha256(dumps(cells)).hexdigest() if cells else ""
        self._stem = f"{Path(code.co_filename).stem}.{function.__qualname__}-{code.co_firstlineno}".replace("<locals>", "")

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(self._folder)

    def _key(self, signature: Any, codegen: Any) -> tuple[Any, ...]:
        return signature, codegen.magic_tuple(), self._closure  # the second is the processor

    def _file(self, key: tuple[Any, ...]) -> Path:
        return self._folder / f"{self._stem}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.code"

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled code for a signature, if it is there."""
        target.refresh()
        key = self._key(signature, target.codegen())
        data = read_kept(self._file(key))
        if data is None:
            return None
        try:
            kept_for, code = pickle.loads(data)
            if kept_for != key:
                return None  # two signatures of one description: the other one has the file
            with suppress(OSError):
                os.utime(self._folder)
            return CompileResult._rebuild(target, *code)
        except Exception:  # what is pickled may name a module that is not there any more; then it is compiled again
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep compiled code, unless it holds addresses of this process."""
        if result.lifted or result.library.has_dynamic_globals:
            return
        key = self._key(signature, result.codegen)
        try:
            is_new = not self._folder.is_dir()
            write_kept(self._file(key), dumps((key, result._reduce())))
            if is_new:
                self._prune()
        except OSError as error:
            say_no_cache(self._folder.parent.parent, error)

    def _prune(self) -> None:
        """Remove the folders that have not been used for longest."""
        with suppress(OSError):  # a race with another process
            folders = [path for path in self._folder.parent.iterdir() if path.is_dir()]
            for old in sorted(folders, key=lambda path: path.stat().st_mtime)[:-_KEPT_FOLDERS]:
                shutil.rmtree(old, ignore_errors=True)
