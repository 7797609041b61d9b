"""Files that are kept to be read again: each carries a checksum, and a file that fails it is treated as missing.

A damaged file is removed with one line on standard error, and whoever needs it makes it again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from warploom.base.files import EVERYBODY, replace_file

_DIGEST_BYTES = 32
_TAIL = b"}\n"
_SEAL = "checksums.json"
_said: set[str] = set()


def say(text: str) -> None:
    """One line on standard error."""
    with suppress(OSError):  # it may lead to the disk that is full
        print(text, file=sys.stderr, flush=True)


def say_once(text: str) -> None:
    """One line on standard error, which is not said again in this process or its workers."""
    if text not in _said:
        say(text)
    _said.add(text)


def say_no_cache(folder: Path | None, error: OSError) -> None:
    """Say, once in a process, that nothing can be kept, and why."""
    if "no cache" not in _said:
        where = f"{folder}: it cannot be written ({error.strerror or error})" if folder else str(error)
        say(f"{where}; going on without a cache")
    _said.add("no cache")


def already_said() -> frozenset[str]:
    """What need not be said again; for `say_no_more` in another process."""
    return frozenset(_said)


def say_no_more(said: frozenset[str]) -> None:
    """Do not repeat what another process has said."""
    _said.update(said)


def write_kept(path: Path, data: bytes, rights: int = EVERYBODY) -> None:
    """Write bytes with their checksum, whole or not at all."""
    write_as_it_is(path, hashlib.sha256(data).digest() + data, rights)


def read_kept(path: Path) -> bytes | None:
    """The bytes that `write_kept` wrote; None if they are not there or damaged."""
    try:
        raw = path.read_bytes()
    except OSError:
        return None
    data = raw[_DIGEST_BYTES:]
    if hashlib.sha256(data).digest() != raw[:_DIGEST_BYTES]:
        discard(path)
        return None
    return data


def write_kept_json(path: Path, content: Any, rights: int = EVERYBODY) -> int:
    """Write a JSON value with its checksum, whole or not at all; the bytes that it takes."""
    data = json_to_keep(content)
    write_as_it_is(path, data, rights)
    return len(data)


def json_to_keep(content: Any) -> bytes:
    """What `write_kept_json` writes, for another process to write (`write_as_it_is`)."""
    text = json.dumps(content).encode()
    return b"".join((_head(text), text, _TAIL))


def write_as_it_is(path: Path, data: bytes, rights: int = EVERYBODY) -> None:
    """Write bytes that have their checksum already, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replace_file(path, rights) as draft:
        draft.write_bytes(data)


def read_kept_json(path: Path, within: Path | None = None) -> Any:
    """The value that `write_kept_json` wrote; None if it is not there or damaged.

    ``within`` is a folder that is worth nothing without it, and goes with it.
    """
    text = read_kept_text(path, within)
    return None if text is None else json.loads(text)


def read_kept_text(path: Path, within: Path | None = None) -> bytes | None:
    """The text of the value that `write_kept_json` wrote; None if it is not there or damaged."""
    try:
        raw = path.read_bytes()
    except OSError:
        return None
    text = raw[len(_head(b"")) : -len(_TAIL)]
    if raw.endswith(_TAIL) and raw.startswith(_head(text)):
        return text
    discard(within or path)
    return None


def _head(text: bytes) -> bytes:
    """What stands in front of a text, so that the whole is JSON, too."""
    return b'{"checksum": "%s",\n"content": ' % hashlib.sha256(text).hexdigest().encode()


def seal(folder: Path) -> None:
    """Note the checksums of the files of a folder that others read, who know nothing of checksums."""
    write_kept_json(folder / _SEAL, _checksums(folder))


def is_sealed(folder: Path) -> bool:
    """Whether a folder is there with the files that it was sealed with; a damaged one is removed."""
    if not folder.is_dir():
        return False
    if read_kept_json(folder / _SEAL) == _checksums(folder):
        return True
    discard(folder)
    return False


def _checksums(folder: Path) -> dict[str, str]:
    files = (entry for entry in folder.iterdir() if entry.is_file() and entry.name != _SEAL)
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(files)}


def discard(path: Path) -> None:
    """Remove a damaged file or folder and say so; of several processes that find the damage, one does."""
    try:
        if remove(path):
            say(f"{path}: it was damaged and is removed; what it held is made again when it is needed")
    except OSError as error:
        say(f"{path}: it is damaged, and cannot be removed ({error.strerror})")


def remove(path: Path) -> bool:
    """Remove a file or a whole folder at once, as others see it; False if another process was faster."""
    grave = path.with_name(f".removed-{os.getpid()}-{path.name}")
    try:
        os.rename(path, grave)
    except FileNotFoundError:
        return False
    if grave.is_dir():
        shutil.rmtree(grave, ignore_errors=True)
    else:
        grave.unlink(missing_ok=True)
    return True
