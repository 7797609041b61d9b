"""Notes what a program does with its device, while it does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from warploom.emulator.device_memory import DeviceMemory
from warploom.emulator.extents import Shape
from warploom.programs.blocks import PitchedRows
from warploom.programs.codes import MemoryKind
from warploom.programs.recording import RecordingWriter
from warploom.programs.steps import (
    AddModule,
    Allocate,
    Begin,
    Copy,
    Failed,
    FillMemory,
    FindKernel,
    Free,
    LaunchKernel,
    MakeTexture,
    PlaceVariables,
    Read,
    Write,
)


class Recorder:
    """Turns calls into steps of a recording.

    Memory that the program sees without calls (pinned, managed) is compared with what it held before: what the program changed
    is noted before the next launch, what a kernel changed as a result behind it.
    """

    def __init__(self, writer: RecordingWriter) -> None:
        self._write = writer.write
        self._seen: dict[int, np.ndarray] = {}  # what memory that the host sees held when it was last looked at

    def begin(self, program: str, lenient: bool) -> None:
        """The program begins."""
        self._write(Begin(program, lenient))

    def module(self, number: int, data: bytes) -> None:
        """A fat binary."""
        self._write(AddModule(number), data)

    def kernel(self, number: int, module: int, name: str) -> None:
        """A kernel that is about to be launched for the first time."""
        self._write(FindKernel(number, module, name))

    def variables(self, module: int, places: Mapping[str, tuple[int, int]]) -> None:
        """Where the variables of a module lie."""
        self._write(PlaceVariables(module, dict(places)))

    def allocate(self, address: int, size: int, kind: int) -> None:
        """An allocation."""
        self._write(Allocate(address, size, int(kind)))

    def free(self, address: int) -> None:
        """The end of an allocation."""
        self._seen.pop(address, None)
        self._write(Free(address))

    def fill(self, block: PitchedRows, byte: int) -> None:
        """cudaMemset in all its forms."""
        self._write(FillMemory(block, byte))

    def copy(self, memory: DeviceMemory, to_device: int, from_device: int, *words: int) -> None:
        """A copy that has been made: something written, something read back, or both."""
        to, to_pitch, to_slice, source, source_pitch, source_slice, width, rows, slices = words
        target = PitchedRows(to, to_pitch, to_slice, width, rows, slices)
        origin = PitchedRows(source, source_pitch, source_slice, width, rows, slices)
        if to_device and from_device:
            self.moved(target, origin)
        elif to_device:
            self.wrote(target, target.read(memory))
        else:
            self.read_back(origin, origin.read(memory))

    def moved(self, target: PitchedRows, origin: PitchedRows) -> None:
        """A copy from the device to itself."""
        self._write(Copy(target, origin))

    def wrote(self, block: PitchedRows, data: bytes) -> None:
        """Something written to the device."""
        self._write(Write(block), data)

    def read_back(self, block: PitchedRows, data: bytes) -> None:
        """Something read back from the device."""
        self._write(Read(block), data)

    def launch(
        self,
        memory: DeviceMemory,
        kinds: Mapping[int, MemoryKind],
        kernel: int,
        grid: Shape,
        block: Shape,
        dynamic: int,
        cooperative: int,
        cluster: Shape | None,
        parameters: bytes,
    ) -> None:
        """A launch that is about to be made."""
        self._look(Write, memory, kinds)
        self._write(LaunchKernel(kernel, grid, block, dynamic, cooperative, cluster), parameters)

    def launched(self, memory: DeviceMemory, kinds: Mapping[int, MemoryKind]) -> None:
        """The launch has ended."""
        self._look(Read, memory, kinds)

    def failed(self, why: str) -> None:
        """The launch was stopped."""
        self._write(Failed(why))

    def texture(self, handle: int, words: Sequence[int]) -> None:
        """A texture object."""
        self._write(MakeTexture(handle, tuple(words)))

    def _look(self, what: type[Write | Read], memory: DeviceMemory, kinds: Mapping[int, MemoryKind]) -> None:
        for address, kind in kinds.items():
            if not kind.on_host:
                continue
            found = memory.find(address)
            assert found is not None
            size = found[1] - address
            now, before = memory.view(address, size), self._seen.get(address)
            if before is None or not np.array_equal(now, before):
                self._seen[address] = now.copy()
                self._write(what(PitchedRows(address, size, size, size, 1, 1)), now.tobytes())
