"""Recordings: what a program did with its device, step by step, in one file.

A file begins with a line that names its version. Steps follow: sizes and a checksum, a JSON object, data (compressed; data that
came before is only referred to). A file without a last step ``end`` was cut off: it is good up to there, and says so.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warploom.errors import WarploomError

SUFFIX = ".wlr"
_MAGIC = b"warploom recording "
VERSION = 1
_HEAD = _MAGIC + f"{VERSION}\n".encode()
_SIZES = struct.Struct("<IQI")  # bytes of the JSON, bytes of the data, CRC of both
_CHECK = struct.Struct("<I")  # CRC of those three
_COMPRESSED_FROM = 64  # bytes


def check_name(path: Path) -> None:
    """Refuse a name that would not be known as a recording's."""
    if path.suffix != SUFFIX:
        raise WarploomError(f"{path}: the name of a recording ends in {SUFFIX}.")


class RecordingWriter:
    """Writes a recording as things happen, under a name of its own (``.part``) until it is complete."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._draft = path.with_name(path.name + ".part")
        self._known: dict[bytes, int] = {}
        self._steps = 0
        try:
            self._file = self._draft.open("wb")
        except OSError as error:
            raise WarploomError(f"{path}: a recording cannot be written there ({error.strerror or error}).") from None
        self._file.write(_HEAD)

    def write(self, what: str, data: bytes = b"", **about: Any) -> None:
        """Add a step."""
        about["do"] = what
        if data:
            about["size"] = len(data)
            digest = hashlib.sha256(data).digest()
            if digest in self._known:
                about["same"], data = self._known[digest], b""
            else:
                self._known[digest] = self._steps
                if len(data) >= _COMPRESSED_FROM:
                    about["packed"], data = True, zlib.compress(data, 1)
        text = json.dumps(about, separators=(",", ":")).encode()
        sizes = _SIZES.pack(len(text), len(data), zlib.crc32(data, zlib.crc32(text)))
        self._file.write(sizes + _CHECK.pack(zlib.crc32(sizes)) + text)
        self._file.write(data)
        self._file.flush()  # whoever kills the simulator finds all steps so far
        self._steps += 1

    def finish(self, ending: str) -> None:
        """The program has ended in some way; the file gets its name."""
        self.write("end", how=ending)
        self._file.close()
        self._draft.replace(self.path)

    def abandon(self) -> None:
        """Nothing came of it."""
        self._file.close()
        self._draft.unlink(missing_ok=True)


@dataclass
class Recording:
    """A recording that was read: every step has been checked, data is read when it is wanted."""

    path: Path
    steps: list[dict[str, Any]] = field(default_factory=list)
    _places: list[tuple[int, int]] = field(default_factory=list)  # of the data in the file

    @property
    def ending(self) -> str:
        """How the program ended; empty if the recording was cut off."""
        return self.steps[-1].get("how", "") if self.steps and self.steps[-1]["do"] == "end" else ""

    def data(self, number: int) -> bytes:
        """The data of a step."""
        about = self.steps[number]
        if "same" in about:
            return self.data(about["same"])
        start, size = self._places[number]
        with self.path.open("rb") as file:
            file.seek(start)
            data = file.read(size)
        return zlib.decompress(data) if about.get("packed") else data

    def numbered(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """All steps with their numbers."""
        return iter(enumerate(self.steps))


def read_recording(path: str | Path) -> Recording:
    """Read a recording; a file that is none, or is damaged, is refused in one sentence."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            head = file.readline(64)
            if not head.startswith(_MAGIC):
                raise WarploomError(f"{path}: this is not a recording of a program.")
            if head != _HEAD:
                version = head.removeprefix(_MAGIC).decode("ascii", "replace").strip()
                raise WarploomError(f"{path}: the recording has version {version}; this Warploom reads version {VERSION}.")
            recording = Recording(path)
            while len(head := file.read(_SIZES.size + _CHECK.size)) == _SIZES.size + _CHECK.size:
                sizes = head[: _SIZES.size]
                if _CHECK.pack(zlib.crc32(sizes)) != head[_SIZES.size :]:
                    raise _damaged(recording)
                text_size, data_size, checksum = _SIZES.unpack(sizes)
                text, start, data = file.read(text_size), file.tell(), file.read(data_size)
                if len(text) < text_size or len(data) < data_size:
                    break  # cut off
                if zlib.crc32(data, zlib.crc32(text)) != checksum:
                    raise _damaged(recording)
                recording.steps.append(json.loads(text))
                recording._places.append((start, data_size))
    except OSError as error:
        raise WarploomError(f"{path}: cannot be read ({error.strerror or error}).") from None
    return recording


def _damaged(recording: Recording) -> WarploomError:
    return WarploomError(f"{recording.path}: the recording is damaged in step {len(recording.steps)}.")
