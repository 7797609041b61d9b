"""Traces on disk: written as they come, found again by the content that they depend on, kept within a bound.

A trace is a folder of plain ``.npy`` columns and a JSON file with their lengths and checksums. It is written under a temporary
name and then renamed, so a trace that is there is complete. Columns are memory-mapped when read; nothing is ever unpickled. The
first time that a process reads a trace it computes the checksums again (a second for 1.7 GB); a trace that does not match is not
there. Where nothing can be written, a trace stays in memory, and so does a small one in a store that is told to let it: to make
the files of small launches, check and map them takes longer than to execute the launches again.
"""

from __future__ import annotations

import math
import mmap
import os
import weakref
import zlib
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, ClassVar

import numpy as np

from warploom.base.cache import Cache, NoCache
from warploom.base.errors import WarploomError
from warploom.base.kept import discard, read_kept_json, remove, say_no_cache, write_kept_json
from warploom.emulator.trace.drafts import TraceDraft, sweep
from warploom.emulator.trace.format import (
    LANES_DTYPE,
    MASK_DTYPE,
    MEMORY_DTYPE,
    PC_DTYPE,
    SECTOR_DTYPE,
    START_DTYPE,
    VALUE_DTYPE,
    Trace,
)

COLUMNS: dict[str, np.dtype] = {
    "pc": PC_DTYPE,
    "mask": MASK_DTYPE,
    "value": VALUE_DTYPE,
    "memory": MEMORY_DTYPE,
    "sector": SECTOR_DTYPE,
    "lanes": LANES_DTYPE,
    "start": START_DTYPE,
}
DEFAULT_LIMIT = 8 << 30
_HEADER_BYTES = 256
_ABOUT = "trace.json"
_WRITTEN = ".written"  # a file of a byte for each KiB that was written since the limit was last looked after
_PARTS = 16  # how often that is while as much is written as the limit allows
MOST_IN_MEMORY = 256 << 20  # bytes of all traces of a process that stay there because they are small
_in_memory = 0


def _header(dtype: np.dtype, length: int) -> bytes:
    """The head of a ``.npy`` file, always of the same size, so that it can be rewritten when the length is known."""
    description = np.lib.format.dtype_to_descr(dtype)
    text = repr({"descr": description, "fortran_order": False, "shape": (length,)})
    body = text.ljust(_HEADER_BYTES - 11) + "\n"
    return b"\x93NUMPY\x01\x00" + (_HEADER_BYTES - 10).to_bytes(2, "little") + body.encode("ascii")


class TraceWriter:
    """Takes the columns of a trace piece by piece. Call `finish`, or `abandon` if the launch fails."""

    def __init__(self, store: TraceStore, about: dict[str, Any]) -> None:
        self._store = store
        self._about = about
        self._draft: TraceDraft | None = None  # once it is on disk
        self._files: dict[str, IO[bytes]] = {}
        self._pieces: dict[str, list[np.ndarray]] = {name: [] for name in COLUMNS}  # while it is in memory
        self._checksums = dict.fromkeys(COLUMNS, 0)
        self._room: float = min(store.small, MOST_IN_MEMORY - _in_memory)  # bytes that it may have there
        self.lengths = dict.fromkeys(COLUMNS, 0)
        self._leave_memory_if_large()

    def append(self, **columns: np.ndarray) -> None:
        """Add the next entries of some columns, which nobody changes afterwards."""
        for name, values in columns.items():
            self._add(name, np.ascontiguousarray(values, COLUMNS[name]))
        self._leave_memory_if_large()

    def _add(self, name: str, piece: np.ndarray) -> None:
        if self._draft is not None:
            try:
                _write(self._files[name], piece.view(np.uint8).data)
                self._checksums[name] = zlib.crc32(piece.view(np.uint8).data, self._checksums[name])
            except OSError as error:
                self._stay_in_memory(error)
        if self._draft is None:
            self._pieces[name].append(piece)
        self.lengths[name] += len(piece)

    def _leave_memory_if_large(self) -> None:
        """Go to the disk with all that there is so far, as soon as that is more than may stay in memory."""
        if self._draft is not None or sum(COLUMNS[name].itemsize * self.lengths[name] for name in COLUMNS) < self._room:
            return
        pieces, self._pieces = self._pieces, {name: [] for name in COLUMNS}
        self.lengths = dict.fromkeys(COLUMNS, 0)
        try:
            self._draft = self._store.begin()
            for name, dtype in COLUMNS.items():
                self._files[name] = open(self._draft.folder / f"{name}.npy", "wb", buffering=0)  # noqa: SIM115 (closed by finish or abandon)
                _write(self._files[name], _header(dtype, 0))
        except OSError as error:
            self._stay_in_memory(error)
        for name, column in pieces.items():
            for piece in column:
                self._add(name, piece)

    def _stay_in_memory(self, error: OSError) -> None:
        """Take back what was written, and remove it from the disk."""
        say_no_cache(self._store.root, error)
        self._room = math.inf
        for name, dtype in COLUMNS.items():
            length = self.lengths[name]
            if self._draft is not None and length:
                self._pieces[name] = [np.fromfile(self._draft.folder / f"{name}.npy", dtype, length, offset=_HEADER_BYTES)]
        self.abandon()
        self._draft = None

    def finish(self) -> Trace:
        """Complete the trace and put it into the store."""
        ends = (self.lengths["pc"], self.lengths["value"], self.lengths["memory"], self.lengths["sector"])
        self.append(start=np.array([ends], START_DTYPE))
        if self._draft is not None:
            try:
                for name, file in self._files.items():
                    file.seek(0)
                    _write(file, _header(COLUMNS[name], self.lengths[name]))
                    file.close()
                about = self._about | {"lengths": self.lengths, "checksums": self._checksums}
                write_kept_json(self._draft.folder / _ABOUT, about)
                return self._store.accept(self._draft, self._about["key"])
            except OSError as error:
                self._stay_in_memory(error)
        return _trace(self._about, {name: _kept_in_memory(dtype, self._pieces[name]) for name, dtype in COLUMNS.items()})

    def abandon(self) -> None:
        """Throw away what was written."""
        for file in self._files.values():
            with suppress(OSError):
                file.close()
        if self._draft is not None:
            self._draft.release()


def _write(file: IO[bytes], data: bytes | memoryview) -> None:
    """Write all of it: without a buffer, a nearly full disk takes only a part."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def _kept_in_memory(dtype: np.dtype, pieces: list[np.ndarray]) -> np.ndarray:
    """A column in memory, which counts as long as anybody holds it."""
    global _in_memory
    column = pieces[0] if len(pieces) == 1 else np.concatenate([np.zeros(0, dtype), *pieces])
    column.flags.writeable = False  # like one that is mapped
    _in_memory += column.nbytes
    weakref.finalize(column, _no_longer_in_memory, column.nbytes).atexit = False
    return column


def _no_longer_in_memory(size: int) -> None:
    global _in_memory
    _in_memory -= size


def _trace(about: dict[str, Any], columns: dict[str, np.ndarray]) -> Trace:
    return Trace(
        key=about["key"],
        kernel=about["kernel"],
        grid=tuple(about["grid"]),
        block=tuple(about["block"]),
        warps_per_cta=about["warps_per_cta"],
        **columns,
    )


class TraceStore:
    """A folder of traces, by key. Those of fewer than ``small`` bytes stay in memory, as long as all of them are not too many."""

    _sound: ClassVar[set[tuple[object, ...]]] = set()  # traces that this process has checked, by all their files

    def __init__(self, root: Path | str | None = None, limit: int | None = None, small: int = 0) -> None:
        self.root: Path | None = None
        self.reason = NoCache()  # why there is no folder
        self._cache = Cache("traces") if root is None else None
        self._is_swept = False
        try:
            self.root = self._cache.folder() if self._cache is not None else Path(root or "")
        except NoCache as error:
            self.reason = error
        if limit is None:
            text = os.environ.get("WARPLOOM_TRACE_LIMIT", "")
            try:
                limit = int(float(text) * (1 << 30)) if text else DEFAULT_LIMIT
            except (ValueError, OverflowError):
                raise WarploomError(f"WARPLOOM_TRACE_LIMIT: '{text}' is not a number of GiB.") from None
        self.limit = limit
        self.small = small

    def get(self, key: str) -> Trace | None:
        """The trace with this key, if it is there and sound."""
        if self.root is None:
            return None
        return self._read(self.root / key)

    def _read(self, folder: Path) -> Trace | None:
        about = read_kept_json(folder / _ABOUT, within=folder)
        if about is None and folder.is_dir():  # another process may have put it there since
            about = read_kept_json(folder / _ABOUT, within=folder)
            if about is None:
                discard(folder)
        if about is None:
            return None
        try:
            columns = {name: self._column(folder / f"{name}.npy", dtype, about) for name, dtype in COLUMNS.items()}
            self._check(folder, columns, about["checksums"])
        except (OSError, ValueError, KeyError):
            discard(folder)
            return None
        with suppress(OSError):
            os.utime(folder)
        return _trace(about, columns)

    @staticmethod
    def _column(path: Path, dtype: np.dtype, about: dict[str, Any]) -> np.ndarray:
        length = about["lengths"][path.stem]
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if mapped[:_HEADER_BYTES] != _header(dtype, length) or len(mapped) != _HEADER_BYTES + length * dtype.itemsize:
            raise ValueError(f"{path}: not {length} entries of type {dtype}")
        return np.frombuffer(mapped, dtype, offset=_HEADER_BYTES)  # `np.load` takes longer than a small launch

    @classmethod
    def _check(cls, folder: Path, columns: dict[str, np.ndarray], checksums: dict[str, int]) -> None:
        states = [(folder / file).stat() for file in (_ABOUT, *(f"{name}.npy" for name in COLUMNS))]
        identity = tuple((state.st_dev, state.st_ino, state.st_mtime_ns) for state in states)
        if identity in cls._sound:
            return
        for name, column in columns.items():
            if zlib.crc32(column.view(np.ndarray).view(np.uint8).data) != checksums[name]:
                raise ValueError(f"{folder / name}: the checksum does not match")
        cls._sound.add(identity)

    def write(
        self, key: str, kernel: str, grid: tuple[int, ...], block: tuple[int, ...], warps_per_cta: int, **notes: Any
    ) -> TraceWriter:
        """Begin a trace."""
        about = {"key": key, "kernel": kernel, "grid": list(grid), "block": list(block), "warps_per_cta": warps_per_cta}
        return TraceWriter(self, about | notes)

    def begin(self) -> TraceDraft:
        """A folder to write a trace in; the first time, what others left behind is swept."""
        if self.root is None:
            raise self.reason
        if self._cache is not None:
            self._cache.make_folder()
        else:
            self.root.mkdir(parents=True, exist_ok=True)
        if not self._is_swept:
            self._is_swept = True
            sweep(self.root)
        return TraceDraft(self.root)

    def accept(self, draft: TraceDraft, key: str) -> Trace:
        """Move a complete trace to its place; if another process was faster, its trace is as good.

        It is mapped before: others may remove what is in its place, and it stays readable nevertheless.
        """
        assert self.root is not None
        trace = self._read(draft.folder)
        if trace is None:
            raise WarploomError(f"{self.root / key}: the trace that was just written cannot be read back.")
        with suppress(OSError):
            try:
                draft.folder.rename(self.root / key)
            except OSError:
                if self.get(key) is None:  # what was there was damaged; `get` has removed it
                    draft.folder.rename(self.root / key)
        draft.release()
        with suppress(OSError):
            if self._much_was_written(self.root / key):
                self.prune(key)
        return trace

    def _much_was_written(self, folder: Path) -> bool:
        """Count a new trace, and say whether it is time to look after the limit.

        To look at all traces after each would cost more than small launches take, and the more the more there are.
        """
        assert self.root is not None
        size = _folder_bytes(folder)
        with (self.root / _WRITTEN).open("ab") as tally:  # all processes append to one file
            tally.write(bytes(-(-size >> 10)))
            return tally.tell() << 10 > self.limit // _PARTS

    def prune(self, keep: str = "") -> None:
        """Remove what was abandoned, then the traces that have not been used for longest until all fit the limit, together with
        what will be written before the next look. What is being written counts when it is complete.

        Mapped columns stay readable.
        """
        assert self.root is not None
        (self.root / _WRITTEN).unlink(missing_ok=True)
        sweep(self.root)
        ages = []
        for name in (name for name in os.listdir(self.root) if not name.startswith(".")):
            try:
                ages.append((os.stat(self.root / name).st_mtime, _folder_bytes(self.root / name), name))
            except OSError:
                continue  # another process removed it
        total, most = sum(size for _, size, _ in ages), self.limit - self.limit // _PARTS
        for _, size, name in sorted(ages):
            if total > most and name != keep:
                remove(self.root / name)
                total -= size


def _folder_bytes(folder: Path) -> int:
    with os.scandir(folder) as files:  # quicker than a `Path` for each of some ten thousand files
        return sum(file.stat().st_size for file in files)
