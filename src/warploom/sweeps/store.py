"""Results of runs in a folder, so that what was interrupted goes on where it was and nothing is made twice.

A result arrives as a file of its own, written whole or not at all: ``<key>.json``, with a checksum. When there are many of them
they are folded into ``runs-<digest>.parquet``, one row a run, whose name says what its contents must digest to. Several processes
may read, write and fold at the same time. Whatever is damaged counts as not there.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from warploom.errors import WarploomError
from warploom.simulation.result import plain
from warploom.storage.kept import discard, read_kept_json, write_kept_json
from warploom.storage.locks import Lock
from warploom.sweeps.rows import row_of

FOLD_AT = 256  # results in files of their own
MERGE_AT = 8  # tables
_WHOLE = "result"  # the column with the whole result, as JSON
_DIGEST_DIGITS = 32
_DRAFT = ".table-"


class Store:
    """A folder of results by key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._folded: dict[str, dict[str, int]] = {}  # table: the row of each of its keys
        self._wholes: dict[str, Any] = {}  # table: its column of whole results, once it has been read

    def load(self, key: str) -> dict[str, Any] | None:
        """The result under a key; None if it has not been made, not by this simulator, or is damaged."""
        alone = read_kept_json(self._alone(key))
        if alone is not None:
            return alone
        for name in self._tables():  # looked at second: a result is in a table before its own file goes
            if key in self._folded[name]:
                if name not in self._wholes:
                    table = self._read(name, [_WHOLE])
                    if table is None:
                        return self.load(key)
                    self._wholes[name] = table[_WHOLE]
                return json.loads(self._wholes[name][self._folded[name][key]].as_py())
        return None

    def save(self, key: str, result: dict[str, Any]) -> int:
        """Keep a result; the bytes that it takes."""
        write_kept_json(self._alone(key), plain(result))
        return self._alone(key).stat().st_size

    def keys(self) -> set[str]:
        """The keys of all results that are sound."""
        alone = {file.stem for file in self._own_files() if read_kept_json(file) is not None}
        return alone.union(*(self._folded[name] for name in self._tables()))

    def __contains__(self, key: str) -> bool:
        return read_kept_json(self._alone(key)) is not None or any(key in self._folded[name] for name in self._tables())

    def rows(self) -> Any:
        """All results as one Arrow table: a row a run, nested values as columns with dotted names."""
        arrow = _pyarrow()
        alone = self._rows_alone()
        seen = {row["key"] for row in alone}
        parts = [arrow.Table.from_pylist([_without_whole(row) for row in alone])] if alone else []
        for name in self._tables():
            table = self._read(name, but=_WHOLE)
            if table is None:
                return self.rows()
            keys = table["key"].to_pylist()
            wanted = [row for row, key in enumerate(keys) if key not in seen]
            seen.update(keys)
            parts.append(table if len(wanted) == len(keys) else table.take(wanted))
        return arrow.concat_tables(parts, promote_options="permissive") if parts else arrow.Table.from_pylist([])

    def fold_if_many(self) -> None:
        """Fold results in files of their own into a table where there are many, unless another process is at it."""
        if sum(1 for _ in self._own_files()) >= FOLD_AT:
            self.fold()

    def fold(self) -> None:
        """Fold all results in files of their own into a table, and tables into one where there are many."""
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = Lock(self.folder / ".folding")
        if not lock.acquire():
            return
        try:
            for draft in self.folder.glob(f"{_DRAFT}*"):
                draft.unlink()  # of a process that was killed
            alone = self._rows_alone()
            if alone:
                self._write(_pyarrow().Table.from_pylist(alone))
                for row in alone:
                    self._alone(row["key"]).unlink(missing_ok=True)
            if len(names := self._tables()) >= MERGE_AT:
                self._merge(names)
        finally:
            lock.release()

    def _merge(self, names: list[str]) -> None:
        arrow = _pyarrow()
        read = {name: table for name in names if (table := self._read(name)) is not None}
        whole = arrow.concat_tables(list(read.values()), promote_options="permissive")
        first = {key: row for row, key in reversed(list(enumerate(whole["key"].to_pylist())))}
        made = self._write(whole.take(sorted(first.values())))
        for name in read:
            if name != made:
                (self.folder / name).unlink(missing_ok=True)

    def _alone(self, key: str) -> Path:
        return self.folder / f"{key}.json"

    def _own_files(self) -> Iterator[Path]:
        return (file for file in _listed(self.folder) if file.suffix == ".json" and not file.name.startswith("."))

    def _rows_alone(self) -> list[dict[str, Any]]:
        rows = []
        for file in self._own_files():
            result = read_kept_json(file)
            if result is not None:
                rows.append(row_of(file.stem, result) | {_WHOLE: json.dumps(result)})
        return rows

    def _tables(self) -> list[str]:
        """The names of the sound tables, newest first; their keys are known afterwards."""
        files = [file for file in _listed(self.folder) if file.suffix == ".parquet" and file.name.startswith("runs-")]
        names = [file.name for file in sorted(files, key=_age, reverse=True)]
        for name in names:
            if name not in self._folded:
                table = self._read(name, ["key"])
                if table is None:
                    return self._tables()
                self._folded[name] = {key: row for row, key in enumerate(table["key"].to_pylist())}
        return names

    def _read(self, name: str, columns: list[str] | None = None, but: str = "") -> Any:
        """A table, or some of its columns, or all but one.

        None if it is not there any more: another process merged it into a larger one, or it was damaged.
        """
        arrow, path = _pyarrow(), self.folder / name
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        if hashlib.sha256(data).hexdigest()[:_DIGEST_DIGITS] != path.stem.removeprefix("runs-"):
            discard(path)
            return None
        file = arrow.parquet.ParquetFile(arrow.BufferReader(data))
        return file.read(columns or [column for column in file.schema_arrow.names if column != but])

    def _write(self, table: Any) -> str:
        """Write a table under the name that its contents give it."""
        with _draft(self.folder) as draft:
            _pyarrow().parquet.write_table(table, draft, compression="zstd")
            name = f"runs-{hashlib.sha256(draft.read_bytes()).hexdigest()[:_DIGEST_DIGITS]}.parquet"
            os.replace(draft, self.folder / name)
        return name


def _without_whole(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != _WHOLE}


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except FileNotFoundError:
        return []


def _age(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


@contextmanager
def _draft(folder: Path) -> Iterator[Path]:
    """A file beside the tables that is gone when the block ends, unless it was renamed."""
    descriptor, name = tempfile.mkstemp(prefix=_DRAFT, dir=folder)
    os.close(descriptor)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise WarploomError("stored runs need pyarrow: pip install 'warploom[report]'") from None
    return pyarrow
