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
import os
import platform
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from types import CodeType
from typing import NamedTuple

from warploom.base.cache import Cache
from warploom.base.handed_on import homes

PACKAGE = Path(__file__).parent.parent
_INSTALLED = ("site-packages", "dist-packages")
_BY_NAME = {"emulator/sass/registry.py": "encode_*.py"}  # files of ours that import what they find beside them: the names
_ENTRANCE = PACKAGE / "__init__.py"  # what it offers is imported by whoever uses it
_STATEMENT = re.compile(rb"^[ \t]*((?:from[ \t]+[\w.]+[ \t]+import\b|import\b)(?:[^\n(\\]|\\\r?\n|\([^)]*\))*)", re.MULTILINE)
_classes: dict[type, str | None] = {}
_WORD = re.compile(rb"\bimport\b")
_MODULES = (".py", *importlib.machinery.EXTENSION_SUFFIXES)


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
def _is_own(file: Path) -> bool:
    return file.is_relative_to(PACKAGE)


@functools.cache
def _own_text(file: Path) -> bytes:
    return file.read_bytes()


def _text(file: Path) -> bytes:
    """A file's bytes: of this package those that this process began with, of others those of now."""
    return _own_text(file) if _is_own(file) else file.read_bytes()


@functools.cache
def _own_imports(file: Path) -> frozenset[Path]:
    """What a file of this package imports of it; the packages of others that it imports are among the `surroundings`."""
    pattern = _BY_NAME.get(file.relative_to(PACKAGE).as_posix())
    found = set(file.parent.glob(pattern)) if pattern else set()
    for wanted in _without_kit(imports_of(_text(file))) if file != _ENTRANCE else ():
        if wanted.level:
            found.update(_in_folder(file.parents[wanted.level - 1], wanted.module))
        elif wanted.module[0] == PACKAGE.name:
            found.update(_own_modules(wanted))
    return frozenset(found)


@functools.cache
def _homes() -> dict[str, Import]:
    """The module that each name of the kit is from."""
    return {name: Import(0, tuple(home.module.split("."))) for name, home in homes(PACKAGE / "kit.py").items()}


def _without_kit(wanted: set[Import]) -> set[Import]:
    """What a file imports, names of the kit as from the modules that they are from: all of the kit is nearly all of ours.

    A name that the kit does not hand on (``*``) stands for all of it.
    """
    kit = (PACKAGE.name, "kit")
    names = {one for one in wanted if one.module[:2] == kit and len(one.module) == 3}
    if not names or not all(one.module[2] in _homes() for one in names):
        return wanted
    return wanted - names - {Import(0, kit)} | {_homes()[one.module[2]] for one in names}


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
        if _is_own(file):
            pending += _own_imports(file)
        elif file.suffix == ".py":
            for wanted in _without_kit(imports_of(_text(file))):
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
        names += [base.with_name(base.name + ending) for ending in _MODULES]
    yield from (name.resolve() for name in names if name.is_file())


def digest_files(files: Iterable[Path]) -> str:
    """A digest of the names and contents of files; ours by their place in the package."""
    digest = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.parts):
        digest.update(_own_entry(file) if _is_own(file) else _entry(file, file))
    return digest.hexdigest()


def _entry(name: Path, file: Path) -> bytes:
    """What counts of a file: its name and a digest of its bytes."""
    text = hashlib.sha256(_text(file)).digest() if file.is_file() else b"not there"
    return f"{name}\0".encode() + text


@functools.cache
def _own_entry(file: Path) -> bytes:
    return _entry(file.relative_to(PACKAGE), file)


def syntax_digest(files: Iterable[Path]) -> str:
    """A digest of files of ours as Python compiles them: comments, docstrings, asserts and layout do not count.

    To compile them all takes a second, so what came out is kept for the same texts.
    """
    known = sorted(files)
    cache, name = Cache("sources"), f"{digest_files(known)[:32]}-{sys.implementation.cache_tag}"
    kept = cache.read(name)
    if kept is None:
        digest = hashlib.sha256()
        for file in known:
            digest.update(f"{file.relative_to(PACKAGE)}\0{_syntax(file)}\0".encode())
        kept = digest.hexdigest().encode()
        cache.write(name, kept)
    return kept.decode()


def _syntax(file: Path) -> str:
    """What a file says to a computer: Python's code of a module, anything else as it is."""
    if file.suffix != ".py":
        return hashlib.sha256(_text(file)).hexdigest()
    return repr(_instructions(compile(_text(file), file.name, "exec", dont_inherit=True, optimize=2)))


def _instructions(code: CodeType) -> tuple[object, ...]:
    """A code object without the lines that it is from."""
    constants = [_instructions(each) if isinstance(each, CodeType) else _constant(each) for each in code.co_consts]
    arguments = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return (arguments, names, code.co_code, code.co_exceptiontable, constants)


def _constant(value: object) -> object:
    """A constant in an order that is the same in every process."""
    return sorted(map(repr, value)) if isinstance(value, frozenset) else value


def file_digest(path: Path | str) -> str | None:
    """A digest of a source file and all that it imports; None for code that has no file.

    Equal digests in equal `surroundings` mean equal behaviour.
    """
    return _own_digest(Path(path)) if Path(path).is_relative_to(PACKAGE) else _digest(Path(path))


@functools.cache
def _own_digest(path: Path) -> str | None:
    return of_own_sources(f"digest of {path.resolve().relative_to(PACKAGE.resolve())}", lambda: _digest(path))


def of_own_sources(name: str, make: Callable[[], str | None]) -> str | None:
    """A text that follows from the files of this package alone, kept under a name: to read them all takes most of a short run."""
    cache, place = Cache("sources"), f"{_state()}/{hashlib.sha256(name.encode()).hexdigest()[:32]}"
    kept = cache.read(place)
    if kept is not None:
        return kept.decode()
    made = make()
    if made is not None:
        cache.write(place, made.encode())
    return made


@functools.cache
def _state() -> str:
    """What tells this package from what it was before an edit, without reading it: names, sizes and times of its files."""
    digest = hashlib.sha256(sys.version.encode())
    for folder, folders, names in os.walk(PACKAGE):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for path in sorted(f"{folder}/{name}" for name in names if name.endswith(_MODULES)):
            about = os.stat(path)
            digest.update(f"{path}\0{about.st_size}\0{about.st_mtime_ns}\0{about.st_ctime_ns}\0".encode())
    return digest.hexdigest()[:32]


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
