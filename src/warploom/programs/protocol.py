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


class Operation(NamedTuple):
    """Something that the library may ask for."""

    name: str  # of the method of `Runtime` that does it
    words: int
    data: bool  # whether bytes follow


def _operations() -> tuple[Operation, ...]:
    text = (resources.files("warploom.programs") / "cudart" / "operations.h").read_text(encoding="utf-8")
    rows = re.findall(r"OPERATION\((\w+), (\d+), ([01])\)", text)
    return tuple(Operation(name.lower(), int(words), data == "1") for name, words, data in rows)


OPERATIONS = _operations()


class Gone(Exception):
    """The program has ended, or speaks another language."""


class Line:
    """One program's connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._frame = bytearray(_QUESTION.size)

    def fileno(self) -> int:
        """For selectors."""
        return self._connection.fileno()

    def question(self) -> tuple[Operation, list[int | bytes]]:
        """The next question: what, and its words and data."""
        self._fill(memoryview(self._frame))
        number, _, size, *words = _QUESTION.unpack(self._frame)
        if number >= len(OPERATIONS):
            raise Gone
        operation = OPERATIONS[number]
        given: list[int | bytes] = list(words[: operation.words])
        if operation.data:
            data = bytearray(size)
            self._fill(memoryview(data))
            given.append(bytes(data))
        return operation, given

    def answer(self, status: int, words: Sequence[int] = (), data: bytes = b"") -> None:
        """The answer to the last question."""
        padded = [word & _WORD for word in words] + [0] * (ANSWER_WORDS - len(words))
        self._send(_ANSWER.pack(status, 0, len(data), *padded) + data)

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

    def _fill(self, room: memoryview) -> None:
        while room:
            try:
                got = self._connection.recv_into(room)
            except OSError:
                raise Gone from None
            if not got:
                raise Gone
            room = room[got:]
