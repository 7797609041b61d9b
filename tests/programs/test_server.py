"""What a program sends to Warploom, whole or not."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from warploom.programs.protocol import OPERATIONS, Connection, Gone
from warploom.programs.server import run_program

HALF_A_FRAME = """
import os, socket, sys, time
line = socket.socket(socket.AF_UNIX)
line.connect("\\0" + os.environ["WARPLOOM_EXEC"])
line.sendall(bytes(int(sys.argv[2])))
if (child := os.fork()) == 0:
    time.sleep(60)  # which keeps the connection
    os._exit(0)
open(sys.argv[1], "w").write(str(child))
time.sleep(0.3)
os._exit(7)
"""


class NoRuntime:
    """Is never asked."""

    file = None
    broken = 0

    def close(self) -> None:
        """Nothing is held."""


@pytest.mark.parametrize("size", [1, 16, 100])
def test_half_a_question_does_not_keep_the_server_when_its_program_has_ended(size: int, tmp_path: Path) -> None:
    started = time.monotonic()
    runtime: Any = NoRuntime
    try:
        assert run_program([sys.executable, "-c", HALF_A_FRAME, str(tmp_path / "child"), str(size)], runtime) == 7
    finally:
        os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)
    assert time.monotonic() - started < 30


def frame(name: str, *words: int, data: bytes = b"", unanswered: int = 0) -> bytes:
    number = next(place for place, each in enumerate(OPERATIONS) if each.name == name)
    padded = [*words, *[0] * (12 - len(words))]
    fields = [number.to_bytes(4, "little"), unanswered.to_bytes(4, "little"), len(data).to_bytes(8, "little")]
    return b"".join([*fields, *(word.to_bytes(8, "little") for word in padded), data])


def test_questions_come_whole_however_they_are_cut() -> None:
    with_data = next(each.name for each in OPERATIONS if each.data)
    without = next(each.name for each in OPERATIONS if not each.data and each.words)
    stream = frame(with_data, 1, 2, 3, data=b"x" * 200_000) + frame(without, 7, unanswered=1)
    ours, theirs = socket.socketpair()
    line, found = Connection(ours), []
    for start in range(0, len(stream), 30_011):
        theirs.sendall(stream[start : start + 30_011])
        line.receive()
        while (question := line.question()) is not None:
            found.append(question)
    assert [question[0].name for question in found] == [with_data, without]
    assert found[0][1][-1] == b"x" * 200_000 and found[0][2] and not found[1][2]
    theirs.close()
    with pytest.raises(Gone):
        line.receive()
    line.close()
