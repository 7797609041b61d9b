"""Traces on disk: written as they come, found again by the content that they depend on, kept within a bound.

A trace is a folder of plain ``.npy`` columns and a JSON file. It is written under a temporary name and then renamed, so a trace
that is there is complete. Columns are memory-mapped when read; nothing is ever unpickled.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import IO, Any

import numpy as np

from warploom.errors import WarploomError
from warploom.storage.cache import cache_directory
from warploom.trace.format import (
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
_WRITING = ".writing-"
_ABANDONED_SECONDS = 24 * 3600  # a trace unfinished for so long was left by a process that was killed


def _header(dtype: np.dtype, length: int) -> bytes:
    """The head of a ``.npy`` file, always of the same size, so that it can be rewritten when the length is known."""
    description = np.lib.format.dtype_to_descr(dtype)
    text = repr({"descr": description, "fortran_order": False, "shape": (length,)})
    body = text.ljust(_HEADER_BYTES - 11) + "\n"
    return b"\x93NUMPY\x01\x00" + (_HEADER_BYTES - 10).to_bytes(2, "little") + body.encode("ascii")


class TraceWriter:
    """Takes the columns of a trace piece by piece. Call `finish`, or `abandon` if the launch fails."""

    def __init__(self, store: TraceStore, about: dict[str, Any]) -> None:
        store.root.mkdir(parents=True, exist_ok=True)
        self._store = store
        self._about = about
        self._folder = Path(tempfile.mkdtemp(prefix=_WRITING, dir=store.root))
        self._files: dict[str, IO[bytes]] = {}
        self.lengths = dict.fromkeys(COLUMNS, 0)
        for name, dtype in COLUMNS.items():
            self._files[name] = open(self._folder / f"{name}.npy", "wb")  # noqa: SIM115 (closed by finish or abandon)
            self._files[name].write(_header(dtype, 0))

    def append(self, **columns: np.ndarray) -> None:
        """Write the next entries of some columns."""
        for name, values in columns.items():
            self._files[name].write(np.ascontiguousarray(values, COLUMNS[name]).data)
            self.lengths[name] += len(values)

    def finish(self) -> Trace:
        """Complete the trace and put it into the store."""
        ends = (self.lengths["pc"], self.lengths["value"], self.lengths["memory"], self.lengths["sector"])
        self.append(start=np.array([ends], START_DTYPE))
        for name, file in self._files.items():
            file.seek(0)
            file.write(_header(COLUMNS[name], self.lengths[name]))
            file.close()
        (self._folder / "trace.json").write_text(json.dumps(self._about, indent=1) + "\n", encoding="utf-8")
        return self._store.accept(self._folder, self._about["key"])

    def abandon(self) -> None:
        """Throw away what was written."""
        for file in self._files.values():
            file.close()
        shutil.rmtree(self._folder, ignore_errors=True)


class TraceStore:
    """A folder of traces, by key."""

    def __init__(self, root: Path | str | None = None, limit: int | None = None) -> None:
        self.root = Path(root) if root is not None else cache_directory("traces")
        if limit is None:
            text = os.environ.get("WARPLOOM_TRACE_LIMIT", "")
            try:
                limit = int(float(text) * (1 << 30)) if text else DEFAULT_LIMIT
            except ValueError:
                raise WarploomError(f"WARPLOOM_TRACE_LIMIT: '{text}' is not a number of GiB.") from None
        self.limit = limit

    def get(self, key: str) -> Trace | None:
        """The trace with this key, if it is there."""
        folder = self.root / key
        try:
            about = json.loads((folder / "trace.json").read_text(encoding="utf-8"))
            columns = {name: self._column(folder / f"{name}.npy", dtype) for name, dtype in COLUMNS.items()}
            os.utime(folder)
        except (OSError, ValueError):
            return None
        return Trace(
            key=key,
            kernel=about["kernel"],
            grid=tuple(about["grid"]),
            block=tuple(about["block"]),
            warps_per_cta=about["warps_per_cta"],
            **columns,
        )

    @staticmethod
    def _column(path: Path, dtype: np.dtype) -> np.ndarray:
        if path.stat().st_size == _HEADER_BYTES:  # an empty file cannot be mapped
            return np.zeros(0, dtype)
        column = np.load(path, mmap_mode="r", allow_pickle=False)
        if column.dtype != dtype:
            raise ValueError(f"{path}: unexpected type {column.dtype}")
        return column

    def about(self, key: str) -> dict[str, Any]:
        """What else was noted with a trace."""
        return json.loads((self.root / key / "trace.json").read_text(encoding="utf-8"))

    def write(
        self, key: str, kernel: str, grid: tuple[int, ...], block: tuple[int, ...], warps_per_cta: int, **notes: Any
    ) -> TraceWriter:
        """Begin a trace."""
        about = {"key": key, "kernel": kernel, "grid": list(grid), "block": list(block), "warps_per_cta": warps_per_cta}
        return TraceWriter(self, about | notes)

    def accept(self, folder: Path, key: str) -> Trace:
        """Move a complete trace to its place; if another process was faster, its trace is as good."""
        try:
            folder.rename(self.root / key)
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
        self.prune(key)
        trace = self.get(key)
        if trace is None:
            raise WarploomError(f"{self.root / key}: the trace that was just written cannot be read back.")
        return trace

    def prune(self, keep: str = "") -> None:
        """Remove the traces that have not been used for longest until all fit the limit. Mapped columns stay readable."""
        ages = []
        for folder in self.root.iterdir():
            try:
                size = sum(file.stat().st_size for file in folder.iterdir())
                ages.append((folder.stat().st_mtime, size, folder))
            except OSError:
                continue  # another process removed it
        total = sum(size for _, size, _ in ages)
        for age, size, folder in sorted(ages, key=lambda entry: entry[0]):
            if total <= self.limit:
                break
            if folder.name != keep and not (folder.name.startswith(_WRITING) and time.time() - age < _ABANDONED_SECONDS):
                shutil.rmtree(folder, ignore_errors=True)
                total -= size
