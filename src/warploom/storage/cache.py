"""Where Warploom keeps what it can make again: compiled code, traces, and how long runs took."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from warploom.storage.kept import say_no_cache, write_kept

PARTS = {
    "jit": "compiled code",
    "traces": "traces of executed kernels",
    "timings": "how long runs took",
    "cudart": "the library in place of CUDA's runtime",
}


class NoCache(OSError):
    """There is no folder for a cache."""


def cache_directory(*parts: str) -> Path:
    """A folder of the user's cache: below ``WARPLOOM_CACHE`` if that is set, else below the platform's cache folder.

    Raises `NoCache` where neither that nor a home is known.
    """
    override = os.environ.get("WARPLOOM_CACHE")
    if override:
        root = Path(override)
    elif os.environ.get("XDG_CACHE_HOME"):
        root = Path(os.environ["XDG_CACHE_HOME"]) / "warploom"
    else:
        try:
            home = Path.home()
        except RuntimeError:
            raise NoCache("HOME is not set, and neither is WARPLOOM_CACHE") from None
        if not home.is_dir():
            raise NoCache(f"{home}: there is no such home, and WARPLOOM_CACHE is not set")
        root = home / ".cache" / "warploom"
    return root.absolute().joinpath(*parts)


def try_cache() -> None:
    """Write something into the cache and remove it; if that fails, say once that there is none."""
    folder = None
    try:
        folder = cache_directory()
        write_kept(folder / f".trial-{os.getpid()}", b"")
        (folder / f".trial-{os.getpid()}").unlink()
    except OSError as error:
        say_no_cache(folder, error)


@dataclass(frozen=True)
class CachePart:
    """What one part of the cache holds."""

    part: str
    folder: Path
    entries: int
    bytes: int


def holdings() -> list[CachePart]:
    """What is kept in the cache, part by part."""
    return [_holding(part, cache_directory(part)) for part in PARTS]


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
        folder = cache_directory(part)
        if folder.exists():
            shutil.rmtree(folder)
