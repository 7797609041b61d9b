"""The one door to what Warploom keeps for itself and can make again: compiled code, traces, machine code, how long runs took.

`Cache` opens one part of the cache; a part that is not declared in `PARTS` has no door. Compiled code is run as it is found, so
a cache that somebody else may write to is refused, as ssh refuses keys.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.files import OWNER_WRITES
from warploom.base.kept import read_kept, read_kept_json, say_no_cache, write_kept, write_kept_json

_FOLDER = 0o755  # rights of folders, before the umask takes away from them
_OTHERS_WRITE = 0o022
_ROOT = 0  # who may write everywhere anyway


@dataclass(frozen=True)
class Part:
    """What is in a part of the cache."""

    what: str
    most: int | None = None  # entries; the one that was not used for longest goes first
    written_by_itself: str = ""  # why its files are not written by `Cache.write`


PARTS = {
    "jit": Part("compiled code", most=250),  # some 5 MB each; every module and every combination of policies has one
    "sass": Part("machine code and its text", most=4000),
    "traces": Part("traces of executed kernels", written_by_itself="columns are mapped and grow; trace.json has their checksums"),
    "timings": Part("how long runs took"),
    "sources": Part("digests of our own sources", most=200),
    "cudart": Part(
        "the libraries in place of CUDA's runtime and driver", written_by_itself="the linker reads it; the folder is sealed"
    ),
    "locks": Part("who compiles what just now", written_by_itself="the files are empty"),
}


class NoCache(OSError):
    """There is no folder for a cache."""


class UnsafeCache(WarploomError):
    """Others than the user may write to the cache."""


def cache_root() -> Path:
    """The user's cache: ``WARPLOOM_CACHE`` if that is set, else in the platform's cache folder.

    Raises `NoCache` where neither that nor a home is known.
    """
    override = os.environ.get("WARPLOOM_CACHE")
    if override:
        return Path(override).absolute()
    if os.environ.get("XDG_CACHE_HOME"):
        return Path(os.environ["XDG_CACHE_HOME"]).absolute() / "warploom"
    try:
        home = Path.home()
    except RuntimeError:
        raise NoCache("HOME is not set, and neither is WARPLOOM_CACHE") from None
    if not home.is_dir():
        raise NoCache(f"{home}: there is no such home, and WARPLOOM_CACHE is not set")
    return home.absolute() / ".cache" / "warploom"


class Cache:
    """One part of the cache. What it gives back is what was written, or nothing.

    Names are those of files, perhaps in a folder of the part. Where nothing can be kept, nothing is, and one line says so.
    """

    def __init__(self, part: str) -> None:
        self.part = part
        self._about = PARTS[part]

    def folder(self, *names: str) -> Path:
        """A folder of the part, which need not be there. Raises `NoCache`, or `UnsafeCache` if others may write to it."""
        for folder in self._way(*names):
            _check_ours(folder)
        return cache_root().joinpath(self.part, *names)

    def make_folder(self, *names: str) -> Path:
        """The same, there."""
        folder = self.folder(*names)
        cache_root().parent.mkdir(parents=True, exist_ok=True)
        for each in self._way(*names):
            each.mkdir(_FOLDER, exist_ok=True)
        return folder

    def _way(self, *names: str) -> Iterator[Path]:
        """The folders that lead to one: the cache, the part, and on."""
        folder = cache_root()
        yield folder
        for name in (self.part, *names):
            folder = folder / name
            yield folder

    def read(self, name: str) -> bytes | None:
        """What was written under a name; None if it is not there or damaged."""
        try:
            data = read_kept(self._file(name))
            if data is not None:
                self._note_use(name)
        except NoCache:
            return None
        return data

    def read_json(self, name: str) -> Any:
        """The value that was written under a name; None if it is not there or damaged."""
        try:
            return read_kept_json(self._file(name))
        except NoCache:
            return None

    def write(self, name: str, data: bytes) -> None:
        """Keep bytes with their checksum."""
        try:
            is_new = not self._entry(name).exists()
            write_kept(self._made(name), data, OWNER_WRITES)
            if is_new:
                self._prune()
        except OSError as error:
            say_no_cache(_root_if_any(), error)

    def write_json(self, name: str, content: Any) -> None:
        """Keep a JSON value with its checksum."""
        try:
            write_kept_json(self._made(name), content, OWNER_WRITES)
        except OSError as error:
            say_no_cache(_root_if_any(), error)

    def _file(self, name: str) -> Path:
        *folders, file = name.split("/")
        return self.folder(*folders) / file

    def _made(self, name: str) -> Path:
        *folders, file = name.split("/")
        return self.make_folder(*folders) / file

    def _entry(self, name: str) -> Path:
        return self.folder() / name.partition("/")[0]

    def _note_use(self, name: str) -> None:
        if self._about.most is not None:
            with suppress(OSError):
                os.utime(self._entry(name))

    def _prune(self) -> None:
        """Remove the entries that have not been used for longest."""
        if self._about.most is None:
            return
        with suppress(OSError):  # a race with another process
            entries = sorted(os.scandir(self.folder()), key=lambda entry: entry.stat().st_mtime)
            for old in entries[: -self._about.most]:
                _remove(Path(old.path))


def _check_ours(folder: Path) -> None:
    """Refuse a folder of somebody else, or one that somebody else may write to."""
    try:
        about = folder.stat()
    except OSError:
        return  # not there yet, or not for us to use
    if about.st_uid not in (os.getuid(), _ROOT):
        raise UnsafeCache(
            f"{folder}: this folder of the cache belongs to another user, and code is run from there; name a folder of your own "
            "with WARPLOOM_CACHE"
        )
    if about.st_mode & _OTHERS_WRITE:
        raise UnsafeCache(
            f"{folder}: others may write to this folder of the cache, and code is run from there; take that from them "
            f"(chmod -R go-w {cache_root()}) if all of it is yours, or name another with WARPLOOM_CACHE"
        )


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _root_if_any() -> Path | None:
    try:
        return cache_root()
    except NoCache:
        return None


def try_cache() -> None:
    """Write something into the cache and remove it; if that fails, say once that there is none."""
    trial = f".trial-{os.getpid()}"
    try:
        file = Cache("locks").make_folder() / trial
        write_kept(file, b"")
        file.unlink()
    except OSError as error:
        say_no_cache(_root_if_any(), error)


@dataclass(frozen=True)
class CachePart:
    """How much is in a part of the cache."""

    part: str
    folder: Path
    entries: int
    bytes: int


def holdings() -> list[CachePart]:
    """What is kept in the cache, part by part."""
    return [_holding(part, cache_root() / part) for part in PARTS]


def _holding(part: str, folder: Path) -> CachePart:
    sizes = {}
    for entry in folder.iterdir() if folder.is_dir() else ():
        files = [entry, *entry.rglob("*")] if entry.is_dir() else [entry]
        sizes[entry.name] = sum(_size(file) for file in files)
    entries = sum(not name.startswith(".") for name in sizes)  # hidden: unfinished, or what the part keeps books in
    return CachePart(part, folder, entries, sum(sizes.values()))


def _size(file: Path) -> int:
    try:
        return file.stat().st_size if file.is_file() else 0
    except OSError:
        return 0  # another process removed it


def clear() -> None:
    """Remove everything that is kept in the cache, and nothing else that may lie in its folder."""
    for part in PARTS:
        folder = cache_root() / part
        if folder.exists():
            shutil.rmtree(folder)
