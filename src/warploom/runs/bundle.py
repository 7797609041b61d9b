"""Results with everything that they name, in one file: what they were made from can be run again on another machine.

A bundle is a zip archive: ``result.json``, a manifest with a digest of every file, and below ``tree/`` the files at the paths
that they have on the disk of whoever made it, so that files find each other there. A stranger's bundle is looked at before
any of it is written, and nothing of it is run as code unless a person says so.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from warploom import __version__
from warploom.base.errors import WarploomError
from warploom.base.files import is_file, replace_file
from warploom.base.sources import file_digest
from warploom.runs.provenance import checked_provenance
from warploom.runs.remake import read_records
from warploom.runs.values import plain

SUFFIX = ".zip"
FORMAT = 1
_RESULT, _MANIFEST, _TREE = "result.json", "bundle.json", "tree"
_MOST_FILES = 10_000
_MOST_BYTES = 2 << 30
_MOST_GROWTH = 200  # times that files may be larger than the archive, beyond what is small anyway
_SMALL_BYTES = 64 << 20
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"]", re.MULTILINE)
_HEADER_FOLDER = re.compile(r"(-I|--include-path=|-include-path=)(.+)")
_BUNDLED = ("workload", "kernel", "recording")  # kinds of programs that are files, or need none

Move = Callable[[str], str]


def write_bundle(results: Sequence[dict[str, Any]], place: str, out: Path, beside: Iterable[Path] = ()) -> list[Path]:
    """Write the bundle of results, as ``--json`` prints them, which come from ``place``; the files that are in it.

    ``beside`` are files for people to read, which no run needs.
    """
    if out.suffix.lower() != SUFFIX or not out.resolve().parent.is_dir():
        raise WarploomError(f"{out}: name a file that ends in {SUFFIX}, in a folder that is there")
    records = [_checked(plain(record), place) for record in results]
    files = sorted({file for record in records for file in _needed(record, place)} | {file.resolve() for file in beside})
    moved = [_with_paths(record, _into_tree) for record in records]
    manifest = {
        "format": FORMAT,
        "version": __version__,
        "files": {_into_tree(str(file)): _digest(file.read_bytes()) for file in files},
    }
    with replace_file(out) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_MANIFEST, json.dumps(manifest, indent=1))
        archive.writestr(_RESULT, json.dumps(plain(moved if len(moved) > 1 else moved[0])))
        for file in files:
            archive.write(file, _into_tree(str(file)))
    return files


@dataclass(frozen=True)
class Bundle:
    """A bundle that lies unpacked in a folder."""

    records: list[dict[str, Any]]
    code: list[Path]  # policy files of whoever made it, which nobody has run yet
    papers: list[Path]  # and papers' folders
    options: list[str]  # for the compiler, of folders in the bundle


def unpack_bundle(file: Path, folder: Path, copies: Sequence[Path] = ()) -> Bundle:
    """Unpack a bundle, perhaps a stranger's, into an empty folder.

    ``copies`` are policy files of a person's own: one that equals a file of the bundle stands in for it.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            entries = _checked_entries(archive, file)
            digests = _checked_manifest(_read(archive, entries, _MANIFEST, file), file)
            if entries.keys() != {_MANIFEST, _RESULT, *digests}:
                raise WarploomError(f"{file}: its files are not those of its list")
            (folder / _RESULT).write_bytes(_read(archive, entries, _RESULT, file))
            for name, digest in digests.items():
                data = _read(archive, entries, name, file)
                if _digest(data) != digest:
                    raise WarploomError(f"{file}: {name} in it is not what its list says")
                try:
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    (folder / name).write_bytes(data)
                except OSError as error:  # a name that no file can have, or a file where another needs a folder
                    raise WarploomError(f"{file}: {name[:100]} in it cannot be unpacked ({error.strerror})") from None
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
        raise WarploomError(f"{file}: not a bundle: {error}") from None

    def into_folder(path: str) -> str:
        """Only what is in the bundle is read: a path from elsewhere would be a file of whoever unpacks it."""
        parts = PurePosixPath(path).parts
        if parts[:1] != (_TREE,) or ".." in parts:
            raise WarploomError(f"{file}: the result in it names {path}, which is not in it")
        return str(folder.resolve() / path)

    records = [_with_paths(_checked(record, str(file)), into_folder) for record in read_records(folder / _RESULT)]
    own = {_digest(path.read_bytes()): path.resolve() for path in copies if path.is_file()}
    for entry in (entry for record in records for entry in _policy_entries(record)):
        _settle_policy(entry, own)
    policies = {Path(entry["file"]) for record in records for entry in _policy_entries(record)} - set(own.values())
    papers = {path.parent for path in policies if (path.parent / "__init__.py").is_file()}
    options = [option for record in records for option in _options(record) if _HEADER_FOLDER.fullmatch(option)]
    return Bundle(records, sorted(path for path in policies if path.parent not in papers), sorted(papers), options)


def _checked(record: dict[str, Any], place: str) -> dict[str, Any]:
    """A record whose parts are of the types that paths are looked for in."""
    known = checked_provenance(record.get("provenance"), place)
    program = known["spec"].get("program")
    if not isinstance(program, dict) or program.get("kind") not in _BUNDLED:
        kind = program.get("kind") if isinstance(program, dict) else program
        raise WarploomError(
            f"{place}: a program of kind {kind!r} has no file to bundle; record it, and bundle a run of the recording"
        )
    for name in _CHANGES:
        listed = program.get(name, [])
        if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
            raise WarploomError(f"{place}: `program.{name}` is damaged: {listed!r}")
    if not isinstance(program.get("file", ""), str) or not isinstance(known["spec"].get("technology", ""), str):
        raise WarploomError(f"{place}: `spec` is damaged: the name of a file is not a text")
    for entry in known["digests"]["policies"].values():
        if not isinstance(entry, dict) or not isinstance(entry.get("file", ""), str):
            raise WarploomError(f"{place}: `provenance.digests.policies` is damaged: {entry!r}")
    return record


def _program(record: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = record["provenance"]["spec"]["program"]
    return found


def _options(record: dict[str, Any]) -> list[str]:
    return list(_program(record).get("options", ()))


def _policy_entries(record: dict[str, Any]) -> list[dict[str, str]]:
    """What a record says of those of its policies that are not ours."""
    return [entry for entry in record["provenance"]["digests"]["policies"].values() if entry.get("file")]


def _settle_policy(entry: dict[str, str], copies: Mapping[str, Path]) -> None:
    """Note which file a policy comes from here. Its digest there is of its path too, so it is made anew; that the file is the
    one of the result, the list of the bundle has said."""
    file = Path(entry["file"])
    if is_file(file):
        file = copies.get(_digest(file.read_bytes()), file)
        entry |= {"file": str(file), "digest": file_digest(file) or ""}


def _with_paths(record: dict[str, Any], move: Move) -> dict[str, Any]:
    """A record whose files lie elsewhere."""
    record = copy.deepcopy(record)
    spec, program = record["provenance"]["spec"], _program(record)
    if "file" in program:
        program["file"] = move(program["file"])
    program |= {name: [change(text, move) for text in program[name]] for name, change in _CHANGES.items() if name in program}
    if spec.get("technology", "").endswith(".toml"):
        spec["technology"] = move(spec["technology"])
    for entry in _policy_entries(record):
        entry["file"] = move(entry["file"])
    return record


def _moved_option(text: str, move: Move) -> str:
    found = _HEADER_FOLDER.fullmatch(text)
    return f"{found[1]}{move(found[2])}" if found else text


def _moved_argument(text: str, move: Move) -> str:
    before, colon, fill = text.rpartition(":")
    return f"{before}{colon}{move(fill)}" if fill.endswith(".npy") else text


def _moved_expectation(text: str, move: Move) -> str:
    name, _, path = text.partition("=")
    return f"{name}={move(path.strip())}"


_CHANGES = {
    "options": _moved_option,
    "arguments": _moved_argument,
    "symbols": _moved_argument,
    "expect": _moved_expectation,
}


def _into_tree(path: str) -> str:
    """Where a file of this disk lies in a bundle."""
    return str(PurePosixPath(_TREE, *Path(path).resolve().parts[1:]))


def _needed(record: dict[str, Any], place: str) -> Iterator[Path]:
    """The files that a record names, and those that they include."""
    named: list[str] = []

    def note(path: str) -> str:
        named.append(path)
        return path

    _with_paths(record, note)
    folders = [Path(found[2]) for option in _options(record) if (found := _HEADER_FOLDER.fullmatch(option))]
    for path in (Path(each).resolve() for each in named):
        if path.is_dir():
            continue  # of headers: those that are included are found from the kernel's file
        if not is_file(path):
            raise WarploomError(f"{place}: {path} is not there any more; restore it to bundle the result")
        yield path
        if path.suffix == ".cu":
            yield from _headers(path, folders)
        if path.suffix == ".py" and (path.parent / "__init__.py").is_file():  # of a paper
            yield from (each for each in path.parent.rglob("*") if each.is_file() and "__pycache__" not in each.parts)


def _headers(file: Path, folders: Sequence[Path]) -> set[Path]:
    """The headers that a file includes, and those that these include, wherever they are not the compiler's own."""
    found: set[Path] = set()
    waiting = [file]
    while waiting:
        current = waiting.pop()
        for match in _INCLUDE.finditer(current.read_bytes()):
            header = _first_file([current.parent, *folders], match[1].decode("utf-8", "replace"))
            if header is not None and header not in found:
                found.add(header)
                waiting.append(header)
    return found


def _first_file(folders: Iterable[Path], name: str) -> Path | None:
    return next((path for folder in folders if is_file(path := (folder / name).resolve())), None)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _checked_entries(archive: zipfile.ZipFile, file: Path) -> dict[str, zipfile.ZipInfo]:
    """The entries by name, none of which leads out of a folder or fills a disk."""
    entries = archive.infolist()
    if len(entries) > _MOST_FILES or sum(entry.file_size for entry in entries) > _most_bytes(file):
        raise WarploomError(f"{file}: unpacked, it would be far larger than a bundle is; nothing of it was unpacked")
    for entry in entries:
        path = PurePosixPath(entry.filename)
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise WarploomError(f"{file}: {entry.filename} in it is a link, which no bundle has; nothing of it was unpacked")
        if path.is_absolute() or ".." in path.parts or str(path) != entry.filename or "\\" in entry.filename:
            raise WarploomError(f"{file}: {entry.filename} in it leads out of its folder; nothing of it was unpacked")
    by_name = {entry.filename: entry for entry in entries}
    if len(by_name) != len(entries):
        raise WarploomError(f"{file}: two files in it have one name; nothing of it was unpacked")
    return by_name


def _most_bytes(file: Path) -> int:
    return min(_MOST_BYTES, max(_SMALL_BYTES, _MOST_GROWTH * file.stat().st_size))


def _read(archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo], name: str, file: Path) -> bytes:
    """One entry, which is as long as it says."""
    if name not in entries:
        raise WarploomError(f"{file}: not a bundle: there is no {name} in it")
    with archive.open(entries[name]) as opened:
        return opened.read(entries[name].file_size + 1)


def _checked_manifest(data: bytes, file: Path) -> dict[str, str]:
    """The digests of a bundle's files, by name."""
    try:
        manifest = json.loads(data)
    except (ValueError, RecursionError):
        manifest = None
    files = manifest.get("files") if isinstance(manifest, dict) else None
    if not isinstance(manifest, dict) or not isinstance(files, dict) or not all(name.startswith(f"{_TREE}/") for name in files):
        raise WarploomError(f"{file}: not a bundle: its list of files is damaged")
    if manifest.get("format") != FORMAT:
        raise WarploomError(f"{file}: a bundle of another version of Warploom, {manifest.get('version')}; this is {__version__}")
    return files
