"""What the functions do that CUDA supplies to code on the device: printf, malloc, free, and what a failed assertion calls.

A warp that calls one stops, and Python does it for each of its lanes; then the warp goes on.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from warploom.base.checks import MEMORY
from warploom.compiler.code.supplied import Supplied
from warploom.emulator.device_heap import DeviceHeap
from warploom.emulator.lanes import ROW_BYTES
from warploom.emulator.printing import MOST_BYTES, formatted
from warploom.emulator.records import Fault
from warploom.emulator.watch.findings import Finding, Findings, position

if TYPE_CHECKING:
    from warploom.emulator.launch import RunningLaunch

MOST_STRING_BYTES = 1 << 20
_PIECE_BYTES = 64  # of a string, read at a time
_WORD_BYTES = 4


@dataclass
class Caller:
    """One lane that calls a function: its arguments, and the memory that it sees."""

    launch: RunningLaunch
    cta: np.void
    warp: np.void
    record: np.void
    lane: int

    def argument(self, index: int, words: int = 2) -> int:
        """An argument of the function."""
        value = 0
        for word in range(words):
            place = int(self.warp["rows"]) + int(self.record["rows"][index]) + word * ROW_BYTES + _WORD_BYTES * self.lane
            value |= int.from_bytes(ctypes.string_at(place, _WORD_BYTES), "little") << 32 * word
        return value

    def answer(self, value: int) -> None:
        """Put the result where the code expects it."""
        for word in range(int(self.record["writes"])):
            place = int(self.warp["rows"]) + int(self.record["write_rows"][word]) + _WORD_BYTES * self.lane
            ctypes.memmove(place, (value >> 32 * word & 0xFFFFFFFF).to_bytes(_WORD_BYTES, "little"), _WORD_BYTES)

    def read(self, address: int, size: int) -> bytes | None:
        """Bytes at a generic address; None if they are not all there."""
        state = self.launch.machine[0]
        window = int(state["window_bytes"])
        in_shared, in_local = address - int(state["shared_window"]), address - int(state["local_window"])
        if 0 <= in_local < window:
            return self._local(in_local, size) if in_local + size <= int(state["local_bytes"]) else None
        if 0 <= in_shared < window:
            fits = in_shared + size <= int(state["shared_bytes"])
            return ctypes.string_at(int(self.cta["shared"]) + in_shared, size) if fits else None
        bounds = self.launch.memory.bounds()
        inside = np.any((bounds[:, 0] <= address) & (address + size <= bounds[:, 1]))
        return self.launch.memory.view(address, size).tobytes() if inside else None

    def _local(self, at: int, size: int) -> bytes:
        """Words of the lanes lie side by side."""
        first, last = at // _WORD_BYTES, -(-(at + size) // _WORD_BYTES)
        base = int(self.warp["local"]) + _WORD_BYTES * self.lane
        words = b"".join(ctypes.string_at(base + word * ROW_BYTES, _WORD_BYTES) for word in range(first, last))
        return words[at - first * _WORD_BYTES :][:size]

    def string(self, address: int, most: int = MOST_STRING_BYTES) -> bytes | None:
        """The bytes before the next zero, at most so many; None where memory ends before."""
        found = bytearray()
        while len(found) < most:
            at = address + len(found)
            piece = self.read(at, _PIECE_BYTES) or self.read(at, 1)
            if piece is None:
                return None
            text, end, _ = piece.partition(b"\0")
            found += text
            if end:
                break
        return bytes(found[:most])

    @property
    def thread(self) -> int:
        """Its number in the block."""
        return int(self.warp["number"]) * 32 + self.lane


@dataclass
class SuppliedFunctions:
    """The functions as one emulator supplies them: what was printed goes out when a launch ends, the heap stays."""

    heap: DeviceHeap
    say: Callable[[str], None]
    found: Findings
    printed: bytearray = field(default_factory=bytearray)
    failed: str = ""  # the assertion that stopped the last launch

    def call(self, function: Supplied, caller: Caller) -> Fault:
        """Do what one lane wants; a fault stops the launch."""
        if function is Supplied.VPRINTF:
            return self._print(caller)
        if function is Supplied.MALLOC:
            caller.answer(self.heap.allocate(caller.argument(1)))
        elif function is Supplied.FREE:
            self._free(caller)
        else:
            self.failed = _assertion(caller)
            return Fault.ASSERTION
        return Fault.NONE

    def _free(self, caller: Caller) -> None:
        address = caller.argument(1)
        if self.heap.free(address) or not address or MEMORY not in caller.launch.checks:
            return
        launch, pc = caller.launch, int(caller.record["pc"])
        code = launch.kernel.code
        block = position(int(caller.cta["index"]), launch.grid)
        line = list(code.instructions())[pc].line
        place = f"{code.source}:{line}: " if code.source and line else ""
        who = f"kernel {code.name}, block {block}, thread {position(caller.thread, launch.block)}"
        what = f"gives {address:#x} to free, which malloc has not given or which was freed before (instruction {pc})."
        self.found.add([Finding(MEMORY, code.name, f"{place}{who} {what}", key=(pc,))])

    def _print(self, caller: Caller) -> Fault:
        format_ = caller.string(caller.argument(1))
        if format_ is None:
            caller.answer(-1)
            return Fault.NONE
        arguments = caller.argument(2)
        text, count = formatted(format_, lambda at, size: caller.read(arguments + at, size), caller.string)
        self.printed += text
        if len(self.printed) > MOST_BYTES:
            self.flush()
        caller.answer(count)
        return Fault.NONE

    def flush(self) -> None:
        """Hand on what was printed."""
        if self.printed:
            text = bytes(self.printed)
            self.printed.clear()
            self.say(text.decode("utf-8", "replace"))


def _assertion(caller: Caller) -> str:
    """The message of a failed assertion, in CUDA's words."""
    condition, file, function = ((caller.string(caller.argument(n)) or b"?").decode("utf-8", "replace") for n in (1, 2, 4))
    block = _place(int(caller.cta["index"]), caller.launch.grid)
    thread = _place(caller.thread, caller.launch.block)
    return f"{file}:{caller.argument(3, 1)}: {function}: block: {block}, thread: {thread} Assertion `{condition}` failed."


def _place(index: int, shape: tuple[int, int, int]) -> str:
    return f"[{index % shape[0]},{index // shape[0] % shape[1]},{index // (shape[0] * shape[1])}]"
