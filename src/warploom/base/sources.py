"""What a result depends on besides its input: source files with all that they import, versions, and the processor.

A file's imports are read from its text, not from what happens to be loaded: modules beside it, relative ones, packages, and
this package. Of the standard library and of packages that others installed the version counts, not the text.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.machinery
import importlib.util
import inspect
import platform
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parent.parent
_INSTALLED = ("site-packages", "dist-packages")
_STATEMENT = re.compile(rb"^[ \t]*((?:from[ \t]+[\w.]+[ \t]+import\b|import\b)(?:[^\n(\\]|\\\r?\n|\([^)]*\))*)", re.MULTILINE)
_classes: dict[type, str | None] = {}
_WORD = re.compile(rb"\bimport\b")


class Import(NamedTuple):
    """One name that a file imports."""

    level: int  # dots in front of it
    module: tuple[str, ...]


def imports_of(text: bytes) -> set[Import]:
    """Everything that a Python source imports, anywhere in it. What cannot be parsed imports nothing."""
    statements = _STATEMENT.findall(text)
    try:
        if len(_WORD.findall(text)) == sum(len(_WORD.findall(statement)) for statement in statements):
            return _imports(ast.parse(b"\n".join(statements)))  # much quicker than the whole file
    except SyntaxError:
        pass  # prose that looks like a statement
    try:
        return _imports(ast.parse(text))
    except (SyntaxError, ValueError):
        return set()


def _imports(tree: ast.AST) -> set[Import]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {Import(0, tuple(alias.name.split("."))) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = tuple(node.module.split(".")) if node.module else ()
            found.add(Import(node.level, module))
            found |= {Import(node.level, (*module, alias.name)) for alias in node.names}  # a submodule, or just a name
    return found


@functools.cache
def _own_text(file: Path) -> bytes:
    return file.read_bytes()


def _text(file: Path) -> bytes:
    """A file's bytes: of this package those that this process began with, of others those of now."""
    return _own_text(file) if file.is_relative_to(PACKAGE) else file.read_bytes()


@functools.cache
def _own_imports(file: Path) -> frozenset[Path]:
    """What a file of this package imports of it; the packages of others that it imports are among the `surroundings`."""
    found: set[Path] = set()
    for wanted in imports_of(_text(file)):
        if wanted.level:
            found.update(_in_folder(file.parents[wanted.level - 1], wanted.module))
        elif wanted.module[0] == PACKAGE.name:
            found.update(_own_modules(wanted))
    return frozenset(found)


def _own_modules(wanted: Import) -> Iterator[Path]:
    return _modules(PACKAGE, wanted.module[1:])  # not the packages around it: everything would depend on all of ours


def source_files(path: Path | str) -> frozenset[Path]:
    """A source file and all files whose text counts that it imports, directly or not; none for code that has no file."""
    first = Path(path).resolve()
    if not first.is_file():
        return frozenset()
    seen: set[Path] = set()
    pending = [first]
    installed: set[Path] = set()  # these are not looked into
    while pending:
        file = pending.pop()
        if file in seen:
            continue
        seen.add(file)
        if file.is_relative_to(PACKAGE):
            pending += _own_imports(file)
        elif file.suffix == ".py":
            for wanted in imports_of(_text(file)):
                if wanted.level:
                    pending += _in_folder(file.parents[wanted.level - 1], wanted.module)
                elif wanted.module[0] == PACKAGE.name:
                    pending += _own_modules(wanted)
                elif near := list(_in_folder(first.parent, wanted.module, 1)):
                    pending += near
                elif wanted.module[0] not in sys.stdlib_module_names:
                    followed, others = _absolute(wanted.module, file)
                    pending += followed
                    installed |= others
    return frozenset(seen | installed)


def is_installed(file: Path) -> bool:
    """Whether a file belongs to an installed package."""
    return any(name in file.parts for name in _INSTALLED)


def _absolute(module: tuple[str, ...], importer: Path) -> tuple[set[Path], set[Path]]:
    """The files of a module on Python's path: those to look into, or those that stand for an installed package."""
    try:
        spec = importlib.util.find_spec(module[0])
    except (ImportError, ValueError, AttributeError):
        spec = None
    if spec is None:
        return set(), set()
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    top = {Path(spec.origin).resolve()} if spec.origin and Path(spec.origin).is_file() else set()
    of_importer = any(importer.is_relative_to(folder) for folder in folders)
    if any(map(is_installed, (*top, *folders))) and not of_importer:
        versions = {file for place in (*top, *folders) for file in place.parent.glob(f"{module[0]}-*.dist-info/METADATA")}
        return set(), versions | top
    return top | {file for folder in folders for file in _in_folder(folder, module[1:])}, set()


def _in_folder(folder: Path, module: tuple[str, ...], first: int = 0) -> Iterator[Path]:
    """The files of a dotted name below a folder: each package on the way, and the module."""
    for length in range(first, len(module) + 1):
        yield from _modules(folder, module[:length])


def _modules(folder: Path, module: tuple[str, ...]) -> Iterator[Path]:
    base = folder.joinpath(*module)
    names = [base / "__init__.py"]
    if module:
        names += [base.with_name(base.name + ending) for ending in (".py", *importlib.machinery.EXTENSION_SUFFIXES)]
    yield from (name.resolve() for name in names if name.is_file())


def digest_files(files: Iterable[Path]) -> str:
    """A digest of the names and contents of files; ours by their place in the package."""
    digest = hashlib.sha256()
    for file in sorted(files):
        name = file.relative_to(PACKAGE) if file.is_relative_to(PACKAGE) else file
        text = hashlib.sha256(_text(file)).digest() if file.is_file() else b"not there"
        digest.update(f"{name}\0".encode() + text)
    return digest.hexdigest()


def file_digest(path: Path | str) -> str | None:
    """A digest of a source file and all that it imports; None for code that has no file.

    Equal digests in equal `surroundings` mean equal behaviour.
    """
    return _own_digest(Path(path)) if Path(path).is_relative_to(PACKAGE) else _digest(Path(path))


@functools.cache
def _own_digest(path: Path) -> str | None:
    return _digest(path)


def _digest(path: Path) -> str | None:
    files = source_files(path)
    return digest_files(files) if files else None


def remember_class(kind: type, digest: str | None = None) -> None:
    """Note what a class depends on when it is made: its file may be edited while the class is in use."""
    if digest is None:
        with suppress(TypeError, OSError):  # a class typed into a session has no file
            digest = file_digest(inspect.getfile(kind))
    _classes[kind] = digest


def class_digest(kind: type) -> str | None:
    """A digest of the file that a class comes from with all that it imports; None if it comes from no file."""
    if kind not in _classes:
        remember_class(kind)
    return _classes[kind]


@functools.cache
def surroundings() -> tuple[str, ...]:
    """The versions of Python and of the packages that compute, and the processor that compiled code is made for."""
    import llvmlite.binding
    from numba.core import config

    settings = [f"{name}={getattr(config, name)}" for name in ("CPU_NAME", "CPU_FEATURES", "ENABLE_AVX", "BOUNDSCHECK", "OPT")]
    processor = (llvmlite.binding.get_host_cpu_name(), llvmlite.binding.get_host_cpu_features().flatten())
    versions = map(_version, ("numba", "numpy", "scipy", "llvmlite"))
    return (sys.version, platform.machine(), *versions, *processor, *settings)


def _version(package: str) -> str:
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return f"no {package}"
