"""How the library in a program and Warploom speak: fixed frames over a Unix socket, data behind them."""

from __future__ import annotations

import re
import socket
import struct
from collections.abc import Sequence
from importlib import resources
from typing import NamedTuple

QUESTION_WORDS, ANSWER_WORDS = 12, 8
_QUESTION = struct.Struct(f"<IIQ{QUESTION_WORDS}Q")
_ANSWER = struct.Struct(f"<iIQ{ANSWER_WORDS}Q")
_WORD = (1 << 64) - 1
_AT_ONCE = 1 << 16  # bytes to take from the socket


class LibraryCall(NamedTuple):
    """Something that the library may ask for."""

    name: str  # of the method of `Runtime` that does it
    words: int
    data: bool  # whether bytes follow


def _operations() -> tuple[LibraryCall, ...]:
    text = (resources.files("warploom.programs") / "shared" / "operations.h").read_text(encoding="utf-8")
    rows = re.findall(r"OPERATION\((\w+), (\d+), ([01])\)", text)
    return tuple(LibraryCall(name.lower(), int(words), data == "1") for name, words, data in rows)


OPERATIONS = _operations()


class Gone(Exception):
    """The program has ended, or speaks another language."""


class Connection:
    """One program's connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._come = bytearray()  # bytes that have come and were not looked at

    def fileno(self) -> int:
        """For selectors."""
        return self._connection.fileno()

    def receive(self) -> None:
        """Take what has come; there is something, or this waits."""
        try:
            came = self._connection.recv(_AT_ONCE)
        except OSError:
            raise Gone from None
        if not came:
            raise Gone
        self._come += came

    def question(self) -> tuple[LibraryCall, list[int | bytes], bool] | None:
        """The next question: what, its words and data, and whether an answer is wanted. None until all of it has come."""
        if len(self._come) < _QUESTION.size:
            return None
        number, unanswered, size, *words = _QUESTION.unpack_from(self._come)
        if number >= len(OPERATIONS):
            raise Gone
        operation = OPERATIONS[number]
        given: list[int | bytes] = list(words[: operation.words])
        end = _QUESTION.size + (size if operation.data else 0)
        if len(self._come) < end:
            return None
        if operation.data:
            given.append(bytes(self._come[_QUESTION.size : end]))
        del self._come[:end]
        return operation, given, not unanswered

    def answer(self, status: int, words: Sequence[int] = (), data: bytes = b"", printed: bytes = b"") -> None:
        """The answer to the last question, and what kernels have printed since the one before."""
        padded = [word & _WORD for word in words] + [0] * (ANSWER_WORDS - len(words))
        self._send(_ANSWER.pack(status, len(printed), len(data), *padded) + data + printed)

    def send_file(self, file: int) -> None:
        """Hand a file over."""
        socket.send_fds(self._connection, [b"\0"], [file])

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def _send(self, data: bytes) -> None:
        try:
            self._connection.sendall(data)
        except OSError:
            raise Gone from None
