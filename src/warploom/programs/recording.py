"""Recordings: what a program did with its device, step by step, in one file.

A file begins with a line that names its version. Steps follow: sizes and a checksum, a JSON object, data (compressed; data that
came before is only referred to). A file without a last step ``end`` was cut off: it is good up to there, and says so.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, TypeVar

from warploom.base.errors import WarploomError
from warploom.base.kept import say, say_once
from warploom.programs.steps import Begin, End, Failed, Order, Refused, Step, Stored, read_step, step_json

SUFFIX = ".wlr"
_MAGIC = b"warploom recording "
VERSION = 1
_HEAD = _MAGIC + f"{VERSION}\n".encode()
_SIZES = struct.Struct("<IQI")  # bytes of the JSON, bytes of the data, CRC of both
_CHECK = struct.Struct("<I")  # CRC of those three
_COMPRESSED_FROM = 64  # bytes
_MOST_TEXT = 64 << 20  # bytes of the JSON of one step; no program has variables for more
_AT_ONCE = 1 << 20  # bytes to check at a time

Kind = TypeVar("Kind", bound=Step)


def check_name(path: Path) -> None:
    """Refuse a name that would not be known as a recording's, and a place where none can be."""
    if path.suffix != SUFFIX:
        raise WarploomError(f"{path}: the name of a recording ends in {SUFFIX}.")
    if path.is_dir():
        raise WarploomError(f"{path}: a recording cannot be written there (it is a folder).")
    if not os.access(path.parent, os.W_OK):
        raise WarploomError(f"{path}: a recording cannot be written there (the folder is not there, or not to be written to).")


class _DraftFile:
    """A file that ends, and says so, where it cannot be written any more: that must not end the program which is recorded."""

    def __init__(self, draft: Path, path: Path) -> None:
        self.is_whole = True
        self._draft, self._path = draft, path
        self._file = draft.open("wb", buffering=0)  # whoever kills the simulator finds all steps so far

    def write(self, data: bytes) -> None:
        """Add all of it."""
        left = memoryview(data)
        try:
            while left and self.is_whole:
                left = left[self._file.write(left) :]
        except OSError as error:
            self.is_whole = False
            self._draft.unlink(missing_ok=True)
            say(f"{self._path}: it cannot be written ({error.strerror or error}); the program goes on, and is not recorded")

    def close(self) -> None:
        """There is no more."""
        self._file.close()


class RecordingWriter:
    """Writes a recording as things happen, under a name of its own (``.part``) until it is complete."""

    def __init__(self, path: Path, most_bytes: int | None = None) -> None:
        self.path = path
        self._left = most_bytes  # bytes that may still be written
        self._draft = path.with_name(path.name + ".part")
        self._known: dict[bytes, int] = {}
        self._steps = 0
        try:
            self._file = _DraftFile(self._draft, path)
        except OSError as error:
            raise WarploomError(f"{path}: a recording cannot be written there ({error.strerror or error}).") from None
        self._file.write(_HEAD)

    def write(self, step: Step, data: bytes = b"") -> None:
        """Add a step."""
        about = step_json(step)
        if data:
            about["size"] = len(data)
            digest = hashlib.sha256(data).digest()
            if digest in self._known:
                about["same"], data = self._known[digest], b""
            else:
                self._known[digest] = self._steps
                if len(data) >= _COMPRESSED_FROM:
                    about["packed"], data = True, zlib.compress(data, 1)
        whole = framed(json.dumps(about, separators=(",", ":")).encode(), data)
        if self._left is not None and not isinstance(step, End):
            if len(whole) > self._left:
                if self._left >= 0:
                    say(f"{self.path}: the recording has reached its size limit; the program goes on, and is not recorded")
                self._left = -1
                return
            self._left -= len(whole)
        self._file.write(whole)
        self._steps += 1

    def finish(self, ending: str) -> bool:
        """The program has ended in some way; the file gets its name. False if there is none, for want of room."""
        self.write(End(ending if self._left != -1 else "went on beyond the size limit of its recording"))
        self._file.close()
        if not self._file.is_whole:
            return False
        self._draft.replace(self.path)
        return True

    def abandon(self) -> None:
        """Nothing came of it."""
        self._file.close()
        self._draft.unlink(missing_ok=True)


def framed(text: bytes, data: bytes) -> bytes:
    """A step as it lies in the file."""
    sizes = _SIZES.pack(len(text), len(data), zlib.crc32(data, zlib.crc32(text)))
    return sizes + _CHECK.pack(zlib.crc32(sizes)) + text + data


@dataclass
class Recording:
    """A recording that was read: every step has been checked, data is read when it is wanted."""

    path: Path
    steps: list[Step] = field(default_factory=list)
    _stored: list[Stored] = field(default_factory=list)
    _places: list[tuple[int, int]] = field(default_factory=list)  # of the data in the file

    @property
    def ending(self) -> str:
        """How the program ended; empty if the recording was cut off."""
        last = self.steps[-1] if self.steps else None
        return last.how if isinstance(last, End) else ""

    @property
    def lenient(self) -> bool:
        """Whether accesses were let through that miss their arrays by a little."""
        first = self.steps[0] if self.steps else None
        return isinstance(first, Begin) and first.lenient

    @property
    def effective(self) -> Sequence[Step]:
        """The steps that had an effect: up to a launch that was stopped, which begins to have none."""
        failed = (number for number, step in enumerate(self.steps) if isinstance(step, Failed))
        return self.steps[: max(0, next(failed, len(self.steps) + 1) - 1)]

    def size(self, number: int) -> int:
        """Bytes of the data of a step."""
        return self._stored[number].size

    def data(self, number: int) -> bytes:
        """The data of a step."""
        stored = self._stored[number]
        if stored.same is not None:
            return self.data(stored.same)
        start, size = self._places[number]
        with self.path.open("rb") as file:
            file.seek(start)
            data = file.read(size)
        if len(data) < size:
            raise WarploomError(f"{self.place(number)}: its data is gone; the file has changed since it was read.")
        return self._unpacked(number, data, stored.size) if stored.packed else data

    def place(self, number: int) -> str:
        """Where a step stands, for messages."""
        return f"{self.path}: step {number} ({self.steps[number].DO})"

    def of_kind(self, kind: type[Kind]) -> Iterator[Kind]:
        """All steps of a kind."""
        return (step for step in self.steps if isinstance(step, kind))

    def _unpacked(self, number: int, data: bytes, size: int) -> bytes:
        """Unpacked data: never more than the step says, whatever the packed bytes hold."""
        unpacking = zlib.decompressobj()
        try:
            data = unpacking.decompress(data, size)
            whole = len(data) == size and not unpacking.decompress(unpacking.unconsumed_tail, 1) and unpacking.eof
        except zlib.error as problem:
            raise WarploomError(f"{self.place(number)}: its data cannot be unpacked ({problem}).") from None
        if not whole:
            raise WarploomError(f"{self.place(number)}: its data does not unpack to the {size} bytes that it says.")
        return data


def read_recording(path: str | Path) -> Recording:
    """Read a recording; a file that is none, is damaged, or holds what no program can do, is refused in one sentence."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            _check_head(path, file.readline(64))
            recording, order = Recording(path), Order()
            while (frame := _next_frame(recording, file)) is not None:
                text, place = frame
                step, stored = _step(recording, text, order, place[1])
                recording.steps.append(step)
                recording._stored.append(stored)
                recording._places.append(place)
    except OSError as error:
        raise WarploomError(f"{path}: cannot be read ({error.strerror or error}).") from None
    return recording


def say_if_cut_off(recording: Recording) -> None:
    """Tell whoever runs or reads a recording that it has no end; once in a process."""
    if not recording.ending:
        where = f"after step {len(recording.steps) - 1}" if recording.steps else "before its first step"
        say_once(f"{recording.path}: the recording was cut off {where}, and shows nothing of what came then")


def _check_head(path: Path, head: bytes) -> None:
    if not head.startswith(_MAGIC):
        raise WarploomError(f"{path}: this is not a recording of a program.")
    if head != _HEAD:
        version = head.removeprefix(_MAGIC).decode("ascii", "replace").strip()
        raise WarploomError(f"{path}: the recording has version {version}; this Warploom reads version {VERSION}.")


def _next_frame(recording: Recording, file: BinaryIO) -> tuple[bytes, tuple[int, int]] | None:
    """The text of the next step, and where its data lies; None at the end of the file, also in the middle of a step."""
    head = file.read(_SIZES.size + _CHECK.size)
    if len(head) < _SIZES.size + _CHECK.size:
        return None
    sizes = head[: _SIZES.size]
    if _CHECK.pack(zlib.crc32(sizes)) != head[_SIZES.size :]:
        raise _damaged(recording)
    text_size, data_size, checksum = _SIZES.unpack(sizes)
    if text_size > _MOST_TEXT:
        raise _damaged(recording)
    start = file.tell() + text_size
    if start + data_size > os.fstat(file.fileno()).st_size:
        return None
    text = file.read(text_size)
    found = zlib.crc32(text)
    for at in range(0, data_size, _AT_ONCE):
        found = zlib.crc32(file.read(min(_AT_ONCE, data_size - at)), found)
    if found != checksum:
        raise _damaged(recording)
    return text, (start, data_size)


def _step(recording: Recording, text: bytes, order: Order, kept_bytes: int) -> tuple[Step, Stored]:
    """The step that a text describes, of whose data so many bytes lie in the file."""
    try:
        step, stored = read_step(json.loads(text))
        order.take(step, stored)
        if not stored.packed and kept_bytes != (0 if stored.same is not None else stored.size):
            raise Refused(f"has {stored.size} bytes of data, of which {kept_bytes} are in the file")
    except Refused as problem:
        raise WarploomError(f"{recording.path}: step {len(recording.steps)} {problem}.") from None
    except (ValueError, RecursionError) as problem:
        raise WarploomError(f"{recording.path}: step {len(recording.steps)} is no JSON ({problem}).") from None
    return step, stored


def _damaged(recording: Recording) -> WarploomError:
    return WarploomError(f"{recording.path}: the recording is damaged in step {len(recording.steps)}.")
