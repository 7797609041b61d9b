"""Policies in a user's own files: loaded with the helper modules beside them, and loaded again when any of it was edited."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.files import is_file
from warploom.base.sources import PACKAGE, digest_files, is_installed, remember_class, source_files
from warploom.chip.sm.registry import forget, load_all, registering

_loaded: dict[Path, PolicyFile] = {}
_opened: list[set[Path]] = []  # while a file is loaded: the files that it reads
_watching = False
_SYSTEM = ("/proc", "/sys", "/dev", "/etc")


@dataclass(frozen=True)
class PolicyFile:
    """A policy file as it was when it was loaded."""

    path: Path
    digest: str  # as `_digest` gives it
    data: frozenset[Path]
    classes: tuple[Any, ...]

    @property
    def is_current(self) -> bool:
        return _digest(self.path, self.data) == self.digest


def load_policy_file(path: str | Path) -> list[Any]:
    """Load the policies of a user's Python file; they work like ours. Returns the classes that it registered.

    Modules beside the file can be imported. Loaded again after an edit of the file, of a module that it imports or of data
    that it reads, its policies take the place of those before; without an edit nothing happens.
    """
    path = Path(path).resolve()
    if not is_file(path):
        raise WarploomError(f"{path}: there is no such policy file")
    load_all()
    known = _loaded.get(path)
    if known is None or not known.is_current:
        known = _loaded[path] = _load(path, known)
    return list(known.classes)


def loaded_policy_files() -> tuple[PolicyFile, ...]:
    """The policy files of this process, in the order in which they were loaded."""
    return tuple(_loaded.values())


def _digest(path: Path, data: frozenset[Path] = frozenset()) -> str:
    """Of its text and all that it imports, which can be known before it runs; behind a hyphen, of the data that it read."""
    text = digest_files(source_files(path))
    return f"{text}-{digest_files(data)}" if data else text


def _load(path: Path, previous: PolicyFile | None) -> PolicyFile:
    sources = source_files(path)
    before = digest_files(sources)
    name = f"warploom_policy_{path.stem}_{before[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise WarploomError(f"{path}: a policy file is a Python file; give it the ending .py")
    module = importlib.util.module_from_spec(spec)
    importlib.invalidate_caches()
    try:
        with registering() as classes, _own_helpers(path, sources), _files_read() as data:
            if previous is not None:
                forget(previous.classes)
            sys.modules[name] = module
            exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
            if _digest(path) != before:
                raise WarploomError("it was edited while it was loaded; load it again")
    except WarploomError as error:
        sys.modules.pop(name, None)
        raise WarploomError(f"{path}: {error}") from None
    except Exception as error:
        sys.modules.pop(name, None)
        raise WarploomError(f"{path}: it cannot be loaded: {type(error).__name__}: {error}") from None
    read = frozenset(data)
    digest = _digest(path, read)
    for kind in classes:
        remember_class(kind, digest)
    return PolicyFile(path, digest, read, tuple(classes))


@contextmanager
def _own_helpers(path: Path, sources: frozenset[Path]) -> Iterator[None]:
    """Let a policy file import modules from its folder, as a script can, and let it have all its modules anew.

    A module of the same name that another policy file brought, or that was edited since, must not be taken for one of its own.
    """
    own = {file for file in sources if not file.is_relative_to(PACKAGE) and not is_installed(file)}
    names = {".".join(file.relative_to(path.parent).with_suffix("").parts) for file in own if file.is_relative_to(path.parent)}
    names |= {name.removesuffix(".__init__") for name in names}
    aside = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name != "__main__" and file and (name in names or Path(os.path.realpath(file)) in own):
            aside[name] = sys.modules.pop(name)
    folder = str(path.parent)
    sys.path.insert(0, folder)
    # Python takes the bytecode of one text for that of another of equal length if both were saved within a second.
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    except BaseException:
        sys.modules.update(aside)
        raise
    finally:
        sys.dont_write_bytecode = writes
        sys.path.remove(folder)
    for name, module in aside.items():
        sys.modules.setdefault(name, module)


@contextmanager
def _files_read() -> Iterator[set[Path]]:
    """Yield the data files that are opened for reading in the block; not Python's own, whose imports are followed anyway."""
    global _watching
    if not _watching:
        sys.addaudithook(_note_opened)
        _watching = True
    found: set[Path] = set()
    _opened.append(found)
    try:
        yield found
    finally:
        _opened.pop()


def _note_opened(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "open" or not _opened:
        return
    file, _, flags = arguments
    if not isinstance(file, str | bytes | os.PathLike) or (flags or 0) & (os.O_WRONLY | os.O_RDWR):
        return
    path = Path(os.path.abspath(os.fsdecode(file)))
    ours_or_pythons = any(path.is_relative_to(folder) for folder in (PACKAGE, sys.prefix, sys.base_prefix, *_SYSTEM))
    if path.suffix not in (".py", ".pyc", ".so") and not ours_or_pythons and not is_installed(path) and path.is_file():
        _opened[-1].add(path)
