"""Results of runs in a folder, so that what was interrupted goes on where it was and nothing is made twice.

A result arrives as a file of its own, written whole or not at all: ``<key>.json``, with a checksum. When there are many of them
they are folded into ``runs-<digest>.parquet``, one row a run, whose name says what its contents must digest to. Several processes
may read, write and fold at the same time. Whatever is damaged is treated as missing.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from warploom.base.files import make_draft
from warploom.base.kept import discard, read_kept_json, read_kept_text, write_as_it_is
from warploom.base.locks import Lock
from warploom.runs.rows import joined, pyarrow, row_of, table_of

FOLD_AT = 256  # results in files of their own
MERGE_AT = 8  # tables
_WHOLE = "result"  # the column with the whole result, as JSON
_DIGEST_DIGITS = 32
_ABANDONED_SECONDS = 3600


class Store:
    """A folder of results by key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._names: list[str] = []  # the tables when we last looked, newest first
        self._sound: dict[str, int] = {}  # results in files of their own that were sound, and when those were written
        self._folded: dict[str, dict[str, int]] = {}  # table: the row of each of its keys
        self._wholes: dict[str, Any] = {}  # table: its column of whole results, once it has been read

    def load(self, key: str) -> dict[str, Any] | None:
        """The result under a key; None if it has not been made, not by this simulator, or is damaged."""
        alone = read_kept_json(self._alone(key))
        if alone is not None and _is_whole(alone):
            return alone
        name = self._table_with(key)  # looked at second: a result is in a table before its own file goes
        if name is None:
            return None
        if name not in self._wholes:
            table = self._read(name, [_WHOLE])
            if table is None:
                del self._folded[name]
                return self.load(key)
            self._wholes[name] = table[_WHOLE]
        return self._sound_result(name, self._wholes[name][self._folded[name][key]].as_py())

    def _sound_result(self, name: str, text: Any) -> dict[str, Any] | None:
        """The result that a row of a table holds; a table with a row that is none is damaged, whatever its name says."""
        with suppress(ValueError, TypeError, RecursionError):
            if _is_whole(result := json.loads(text)):
                return result
        discard(self.folder / name)
        del self._folded[name], self._wholes[name]
        return None

    def save(self, key: str, file: bytes) -> None:
        """Keep a result, encoded by `warploom.runs.result.encode`."""
        write_as_it_is(self._alone(key), file)

    def keys(self) -> set[str]:
        """The keys of all results that are sound."""
        alone = {file.stem for file in self._own_files() if self._is_sound(file)}
        return alone.union(*(self._folded[name] for name in self._tables()))

    def _is_sound(self, file: Path) -> bool:
        """Whether a file holds a whole result; it is read once."""
        written = _age(file)
        if self._sound.get(file.stem) != written and read_kept_text(file) is not None:
            self._sound[file.stem] = written
        return self._sound.get(file.stem) == written

    def __contains__(self, key: str) -> bool:
        return read_kept_text(self._alone(key)) is not None or self._table_with(key) is not None

    def _table_with(self, key: str) -> str | None:
        """The table that holds a key: one that we know, or one that has come since."""
        for known in (lambda: self._names, self._tables):
            for name in known():
                if key in self._folded.get(name, ()):
                    return name
        return None

    def rows(self) -> Any:
        """All results as one Arrow table: a row a run, nested values as columns with dotted names."""
        arrow = pyarrow()
        alone = self._rows_alone()
        seen = {row["key"] for row in alone}
        parts = [table_of(alone).drop_columns([_WHOLE])] if alone else []
        for name in self._tables():
            table = self._read(name, but=_WHOLE)
            if table is None:
                return self.rows()
            keys = table["key"].to_pylist()
            parts.append(table.filter(arrow.array([key not in seen for key in keys])))
            seen.update(keys)
        return joined(parts)

    def fold_if_many(self) -> None:
        """Fold results in files of their own into a table where there are many, unless another process is at it."""
        if len(_names(self.folder, _is_result)) >= FOLD_AT:  # asked after every run
            self.fold()

    def fold(self) -> None:
        """Fold all results in files of their own into a table, and tables into one where there are many."""
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = Lock(self.folder / ".folding")
        if not lock.acquire():
            return
        try:
            self._remove_abandoned()
            alone = self._rows_alone()
            if alone:
                self._write(table_of(alone))
                for row in alone:
                    self._alone(row["key"]).unlink(missing_ok=True)
            if len(names := self._tables()) >= MERGE_AT:
                self._merge(names)
        finally:
            lock.release()

    def _remove_abandoned(self) -> None:
        """Remove what processes that were killed had begun to write."""
        for draft in _listed(self.folder, lambda name: name.startswith(".") and name.endswith((".json", ".table"))):
            if draft.suffix == ".table" or time.time_ns() - _age(draft) > _ABANDONED_SECONDS * 10**9:  # we alone write tables
                draft.unlink(missing_ok=True)

    def _merge(self, names: list[str]) -> None:
        read = {name: table for name in names if (table := self._read(name)) is not None}
        whole = joined(list(read.values()))
        first = {key: row for row, key in reversed(list(enumerate(whole["key"].to_pylist())))}
        made = self._write(whole.take(sorted(first.values())))
        for name in read:
            if name != made:
                (self.folder / name).unlink(missing_ok=True)

    def _alone(self, key: str) -> Path:
        return self.folder / f"{key}.json"

    def _own_files(self) -> list[Path]:
        return _listed(self.folder, _is_result)

    def _rows_alone(self) -> list[dict[str, Any]]:
        rows = []
        for file in self._own_files():
            text = read_kept_text(file)
            if text is not None:
                rows.append(row_of(file.stem, json.loads(text)) | {_WHOLE: text.decode()})
        return rows

    def _tables(self) -> list[str]:
        """The names of the sound tables, newest first; their keys are known afterwards."""
        files = _listed(self.folder, lambda name: name.startswith("runs-") and name.endswith(".parquet"))
        names = [file.name for file in sorted(files, key=_age, reverse=True)]
        for name in names:
            if name not in self._folded:
                table = self._read(name, ["key"])
                if table is None:
                    return self._tables()
                self._folded[name] = {key: row for row, key in enumerate(table["key"].to_pylist())}
        self._names = names
        return names

    def _read(self, name: str, columns: list[str] | None = None, but: str = "") -> Any:
        """A table, or some of its columns, or all but one.

        None if it is not there any more: another process merged it into a larger one, or it was damaged.
        """
        arrow, path = pyarrow(), self.folder / name
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        if hashlib.sha256(data).hexdigest()[:_DIGEST_DIGITS] != path.stem.removeprefix("runs-"):
            discard(path)
            return None
        try:
            file = arrow.parquet.ParquetFile(arrow.BufferReader(data))
            if {"key", _WHOLE} <= {*file.schema_arrow.names}:
                return file.read(columns or [column for column in file.schema_arrow.names if column != but])
        except (arrow.ArrowException, OSError):
            pass  # its name says what is in it, and that is no table of ours
        discard(path)
        return None

    def _write(self, table: Any) -> str:
        """Write a table under the name that its contents give it."""
        with _draft(self.folder) as draft:
            pyarrow().parquet.write_table(table, draft, compression="zstd")
            name = f"runs-{hashlib.sha256(draft.read_bytes()).hexdigest()[:_DIGEST_DIGITS]}.parquet"
            os.replace(draft, self.folder / name)
        return name


def _listed(folder: Path, wanted: Callable[[str], bool]) -> list[Path]:
    """The files of a folder with the names that are wanted, in order."""
    return [folder / name for name in sorted(_names(folder, wanted))]


def _names(folder: Path, wanted: Callable[[str], bool]) -> list[str]:
    try:
        return list(filter(wanted, os.listdir(folder)))
    except FileNotFoundError:
        return []


def _is_result(name: str) -> bool:
    """Whether a file is that of one result."""
    return name.endswith(".json") and not name.startswith(".")


def _is_whole(result: Any) -> bool:
    """Whether a stored value is a result: one always has cycles."""
    return isinstance(result, dict) and "cycles" in result


def _age(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


@contextmanager
def _draft(folder: Path) -> Iterator[Path]:
    """A file beside the tables that is gone when the block ends, unless it was renamed."""
    draft = make_draft(folder, suffix=".table")
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)
