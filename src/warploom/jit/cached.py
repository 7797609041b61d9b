"""``njit`` as this project uses it: compiled once, cached on disk, and never stale.

Numba's own disk cache looks only at the file that holds a function; after an edit in a *callee's* file it returns the old code.
Here every function is cached in a directory named by a digest of the sources that it can depend on: its module and, transitively,
the modules of this package that it imports. A function whose callees are chosen by type at compile time (hooks of policies)
is compiled for those types by `specialised`, and their sources count as well.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numba
from numba.core import config as _numba_config
from numba.extending import intrinsic as _numba_intrinsic

from warploom.cache import cache_directory
from warploom.jit.ways import WAY

config: Any = _numba_config  # its attributes are made at run time
intrinsic: Any = _numba_intrinsic  # functions that emit LLVM code; Numba's own hints describe them before decoration
_PACKAGE = Path(__file__).parent.parent
_IMPORT = re.compile(r"^\s*(?:from|import)\s+(warploom[\w.]*)(?:\s+import\s+\(?([\w ,]*))?", re.MULTILINE)
_KEPT_DIGESTS = 250  # some 5 MB each; every module and every combination of policies has one


def _files(module: str) -> list[Path]:
    """The files that a dotted name of this package stands for: a module, or a package's ``__init__``."""
    base = _PACKAGE.joinpath(*module.split(".")[1:])
    return [path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()]


@functools.cache
def _closure(path: Path) -> frozenset[Path]:
    """A source file and all of this package that it imports, directly or not; nothing for code that has no file."""
    if not path.is_file():
        return frozenset()
    seen: set[Path] = set()
    pending = [path]
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.add(current)
        for match in _IMPORT.finditer(current.read_text(encoding="utf-8")):
            module, names = match.group(1), match.group(2) or ""
            pending += _files(module)
            pending += [file for name in names.split(",") if name.strip() for file in _files(f"{module}.{name.split()[0]}")]
    return frozenset(seen)


def _directory(sources: Iterable[str]) -> str:
    """The cache directory of a function: one for each state of the sources that it depends on."""
    files = {file for source in sources for file in _closure(Path(source).resolve())}
    digest = hashlib.sha256(repr((sys.version, numba.__version__, WAY.name, config.BOUNDSCHECK, config.OPT)).encode())
    for file in sorted(files):
        digest.update(str(file.relative_to(_PACKAGE) if file.is_relative_to(_PACKAGE) else file).encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    override = os.environ.get("NUMBA_CACHE_DIR")
    root = Path(override) if override else cache_directory("jit")
    directory = root / digest.hexdigest()[:20]
    _use(directory)
    return str(directory)


def source_digest(source: str) -> str:
    """A digest of a source file and all of this package that it imports: equal digests, equal behaviour."""
    digest = hashlib.sha256()
    for file in sorted(_closure(Path(source))):
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:20]


@functools.cache
def _use(directory: Path) -> None:
    """Mark a directory as in use and remove those that have not been used for longest."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        os.utime(directory)
        others = sorted((path for path in directory.parent.iterdir() if path.is_dir()), key=lambda path: path.stat().st_mtime)
        for old in others[:-_KEPT_DIGESTS]:
            shutil.rmtree(old, ignore_errors=True)
    except OSError:
        pass  # a read-only home or a race with another process: Numba then compiles without a disk cache


def _compiled(function: Callable, sources: Iterable[str], options: dict[str, Any]) -> Any:
    """A dispatcher with its disk cache."""
    dispatcher = numba.njit(**options)(function)
    if hasattr(dispatcher, "enable_caching"):  # not with NUMBA_DISABLE_JIT
        previous, config.CACHE_DIR = config.CACHE_DIR, _directory(sources)
        try:
            dispatcher.enable_caching()
        finally:
            config.CACHE_DIR = previous
    return dispatcher


def njit(function: Callable | None = None, **options: Any) -> Any:
    """``numba.njit`` with this project's options and disk cache, as a decorator with or without arguments."""
    if function is None:
        return functools.partial(njit, **options)
    return _compiled(function, [function.__code__.co_filename], {**WAY.by_itself, **options})


def whole(function: Callable) -> Any:
    """A function that is compiled with all its callees at once, cached on disk, and called by Python or by other wholes.

    It must not make arrays or other objects. In return it does not count references to the arrays inside of records: the
    records of the timing core are full of them, and counting every look at one took an eighth of its time.
    """
    return _compiled(function, [function.__code__.co_filename], WAY.whole)


@functools.cache
def specialised(function: Callable, kinds: tuple[type, ...]) -> Any:
    """A `whole` whose callees are chosen by these argument types when it is compiled (hooks of policies).

    Its cache directory also follows the sources of the types, wherever they are: a user's policy file counts like ours, and
    an edit of one policy leaves what was compiled for others alone.
    """
    sources = [function.__code__.co_filename, *(inspect.getfile(kind) for kind in kinds)]
    return _compiled(function, sources, WAY.whole)


def specialised_anew(function: Callable) -> Any:
    """What `specialised` makes, but neither taken from the disk nor put there: to measure how long it takes."""
    return numba.njit(**WAY.whole)(function)
