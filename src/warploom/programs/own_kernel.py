"""A user's own kernel as plain data: the file, the launch and its arguments, from which the program can be made anywhere."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from warploom.base.errors import WarploomError
from warploom.base.files import is_file
from warploom.base.spelling import did_you_mean
from warploom.compiler.cuda.demangle import demangle
from warploom.compiler.cuda.options import about_files, is_header_folder
from warploom.compiler.sass.toolchain import tool_version
from warploom.programs.custom import kernel_program, named_kernels, parse_extent
from warploom.programs.origin import Digests, Origin
from warploom.programs.program import Program, is_lenient
from warploom.programs.source import PTX, SUFFIXES, Source, check_exists, is_file_name

Extent = tuple[int, int, int]
_FILE_LINES = re.compile(rb"^\s*\.file\s.*$", re.MULTILINE)  # of PTX: where the sources lie, not what they say


@dataclass(frozen=True)
class OwnKernel(Origin):
    """One kernel of a file and its launch. ``arguments``, ``symbols`` and ``expect`` are written as on the command line."""

    KIND: ClassVar[str] = "kernel"
    PLACES: ClassVar[tuple[str, ...]] = ("file",)

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
    save: tuple[str, ...] = field(default=(), compare=False)  # where arrays are kept after a launch: not what the kernel is

    @property
    def name(self) -> str:
        return Path(self.file).stem if self.kernel is None else f"{Path(self.file).stem}:{demangle(self.kernel).path}"

    def short(self, digests: Digests) -> str:
        grid, block = (",".join(map(str, extent)) for extent in (self.grid, self.block))
        shared = f", shared {self.shared_bytes}" if self.shared_bytes else ""
        file = f"{Path(self.file).name}#{digests['file'][:8]}"
        launch = f"{self.kernel} of {file}, grid {grid}, block {block}{shared}"
        return launch + "".join(f", {argument}" for argument in self.arguments)

    def code_for(self, asked: str, usual: str) -> str:
        """Binaries bring a code along; everything else becomes what is asked for, or the usual code."""
        text = Path(self.file).suffix.lower() in (".cu", ".ptx")
        return asked or (usual if text else Source.of_file(self.file).code_for(None, usual))

    def open(self, code: str, seed: int | None = None) -> Program:
        """The program that launches it once."""
        self._without_seed(seed, "a kernel of your own has the inputs that its arguments say")
        return kernel_program(self, code)

    def digests(self, code: str) -> Digests:
        """Of the file, of what its compiler makes of it where that also depends on headers, and of expected arrays."""
        found: Digests = {"file": _digest(Path(self.file).read_bytes())}
        if Path(self.file).suffix.lower() == ".cu":
            found["compiler"] = tool_version("NVRTC")
            if _has_headers(self.file, self.options):
                found["compiled"] = _compiled(self, code)
        if self.expect:
            found["expect"] = [_digest(Path(text.partition("=")[2].strip()).read_bytes()) for text in self.expect]
        return found

    def check_unchanged(self, digests: Digests, place: str) -> None:
        check_file(self.file, digests.get("file"), place)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _has_headers(file: str, options: tuple[str, ...]) -> bool:
    """Whether a file may include others."""
    return bool(about_files(options)) or b"#include" in Path(file).read_bytes().replace(b" ", b"")


def _compiled(own: OwnKernel, code: str) -> str:
    source, _, _ = named_kernels(Source.of_file(own.file, own.options), code, own.kernel)
    made = source.compiled(code)
    return _digest(_FILE_LINES.sub(b"", made) if code == PTX else made)


def check_file(file: str, digest: Any, place: str) -> None:
    """Refuse a file with other contents than a record was made with, before anything reads more out of it."""
    if not is_file(file):  # a device can be read for ever
        raise WarploomError(f"{place}: {file} is not there any more; restore it to make the result again")
    try:
        data = Path(file).read_bytes()
    except OSError as error:
        raise WarploomError(f"{file}: cannot be read ({error.strerror or error})") from None
    if _digest(data) != digest:
        raise WarploomError(f"{place}: {file} has changed since; restore it to make the result again")


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
        raise WarploomError(f"{place}: {table['file']!r} is not a kernel file; its name must end in {', '.join(SUFFIXES)}")
    check_exists(file)
    shared = table.get("shared_bytes", 0)
    if isinstance(shared, bool) or not isinstance(shared, int) or shared < 0:
        raise WarploomError(f"{place}: shared_bytes is a whole number from 0, not {shared!r}")
    options = _texts(table, "options", place)
    for option in about_files(options):
        if not is_header_folder(option):  # a plan is data, and chooses no file that a compiler writes
            raise WarploomError(f"{place}: the compiler's option {option!r} may write files; leave it out")
    return OwnKernel(
        file=file,
        grid=_extent(table["grid"], "grid"),
        block=_extent(table["block"], "block"),
        kernel=table.get("kernel"),
        arguments=_texts(table, "arguments", place),
        shared_bytes=shared,
        options=options,
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
