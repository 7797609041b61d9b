"""A user's own kernel as plain data: the file, the launch and its arguments, from which the program can be made anywhere."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from warploom.errors import WarploomError
from warploom.errors.names import did_you_mean
from warploom.workloads.custom import SUFFIXES, check_exists, file_program, is_file_name, parse_extent, read_source
from warploom.workloads.program import PTX, Program, is_lenient

Extent = tuple[int, int, int]


@dataclass(frozen=True)
class OwnKernel:
    """One kernel of a file and its launch. ``arguments``, ``symbols`` and ``expect`` are written as on the command line."""

    file: str
    grid: Extent
    block: Extent
    kernel: str | None = None  # by name; the only one of the file without it
    arguments: tuple[str, ...] = ()
    shared_bytes: int = 0
    options: tuple[str, ...] = ()  # for the compiler of CUDA C++
    symbols: tuple[str, ...] = ()
    expect: tuple[str, ...] = ()
    lenient: bool = False

    def program(self, code: str | None = None, usual: str = PTX, save: tuple[str, ...] = ()) -> Program:
        """The program that launches it once; its arrays are kept where ``save`` says."""
        return file_program(
            self.file,
            kernel=self.kernel,
            grid=self.grid,
            block=self.block,
            arguments=self.arguments,
            shared_bytes=self.shared_bytes,
            code=code,
            usual=usual,
            options=self.options,
            lenient=self.lenient,
            symbols=self.symbols,
            save=save,
            expect=self.expect,
        )

    def digest(self) -> str:
        """What tells it from every other, also from the same file with other contents, headers or expected arrays."""
        launch = [(item.name, getattr(self, item.name)) for item in fields(self) if item.name != "file"]
        expected = [_file_digest(text.partition("=")[2].strip()) for text in self.expect]
        return hashlib.sha256(repr((launch, _contents(self.file, self.options), expected)).encode()).hexdigest()[:32]


@cache
def _contents(file: str, options: tuple[str, ...]) -> str:
    """What is in a file; of CUDA C++ what its compiler makes of it, because that knows the headers."""
    if Path(file).suffix.lower() == ".cu":
        return hashlib.sha256(read_source(file, PTX, PTX, options).ptx.encode()).hexdigest()
    return _file_digest(file)


def _file_digest(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def own_kernel_from_dict(table: Any, place: str) -> OwnKernel:
    """A kernel from the table of a plan."""
    if not isinstance(table, Mapping):
        raise WarploomError(f"{place}: write it as a table with file, grid, block and arguments")
    known = ("file", "kernel", "grid", "block", "arguments", "shared_bytes", "options", "symbols", "expect", "memory")
    for name in table:
        if name not in known:
            raise WarploomError(f"{place}: {name!r} is not an entry of a kernel{did_you_mean(name, known)}")
    for name in ("file", "grid", "block"):
        if name not in table:
            raise WarploomError(f"{place}: a kernel of your own needs {name}")
    for name in ("file", "kernel", "memory"):
        if not isinstance(table.get(name, ""), str):
            raise WarploomError(f"{place}: {name} is a word, not {table[name]!r}")
    file = str(Path(table["file"]).resolve())
    if not is_file_name(file):
        raise WarploomError(f"{place}: {table['file']!r} is no kernel file; its name ends in {', '.join(SUFFIXES)}")
    check_exists(file)
    shared = table.get("shared_bytes", 0)
    if isinstance(shared, bool) or not isinstance(shared, int) or shared < 0:
        raise WarploomError(f"{place}: shared_bytes is a whole number from 0, not {shared!r}")
    return OwnKernel(
        file=file,
        grid=_extent(table["grid"], "grid"),
        block=_extent(table["block"], "block"),
        kernel=table.get("kernel"),
        arguments=_texts(table, "arguments", place),
        shared_bytes=shared,
        options=_texts(table, "options", place),
        symbols=_texts(table, "symbols", place),
        expect=_texts(table, "expect", place),
        lenient=is_lenient(table.get("memory", "strict")),
    )


def _extent(value: Any, what: str) -> Extent:
    """A grid or block: ``64``, ``"64,64"`` or ``[64, 64]``."""
    return parse_extent(",".join(map(str, value)) if isinstance(value, list | tuple) else str(value), what)


def _texts(table: Mapping[str, Any], name: str, place: str) -> tuple[str, ...]:
    value = table.get(name, [])
    if not isinstance(value, list | tuple) or not all(isinstance(text, str) for text in value):
        raise WarploomError(f"{place}: {name} is a list of texts, not {value!r}")
    return tuple(value)
