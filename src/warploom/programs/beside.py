"""A recording made beside a real GPU: the library tells what was done there, and it is noted in addresses of ours.

Pointers are the GPU's own. In parameters and data, every aligned word of 64 bits that lies in a live allocation becomes an
address of ours; nothing else has the value of one but by a very rare chance.
"""

from __future__ import annotations

import bisect
import struct
import sys
from collections.abc import Callable

import numpy as np

from warploom.base.errors import WarploomError
from warploom.compiler.sass.fatbin import read_image
from warploom.emulator.device_memory import DeviceMemory
from warploom.emulator.sparse_bytes import SparseBytes
from warploom.programs.blocks import PitchedRows
from warploom.programs.codes import CudaError, CudaStatus, MemoryKind
from warploom.programs.modules import KernelShape, ProgramModules
from warploom.programs.parameters import masked
from warploom.programs.program import PTX
from warploom.programs.recorder import Recorder
from warploom.programs.runtime import FIRST_ADDRESS, Answer, unpacked_cluster
from warploom.programs.selection import ChosenLaunches, Selection
from warploom.programs.steps import LAST_ADDRESS

_MADE = 2  # what a library says of a launch that has ended, all of it shown


class BesideGpu:
    """Takes the place of a `Runtime` where a real one does the work."""

    file: int | None = None  # there is no memory to share
    broken = 0

    def __init__(self, name: str, recorder: Recorder, code: str = PTX, chosen: ChosenLaunches | None = None) -> None:
        """``code`` is what the parameters of kernels are read from; with ``chosen``, nothing but these launches is noted."""
        self._name, self._recorder = name, Selection(recorder, chosen) if chosen is not None else recorder
        self._selection = self._recorder if isinstance(self._recorder, Selection) else None
        self._memory = DeviceMemory(FIRST_ADDRESS, SparseBytes(LAST_ADDRESS - FIRST_ADDRESS))  # only its addresses count
        self._modules = ProgramModules(code)
        self._kernels: list[KernelShape] = []
        self._places: list[tuple[int, int, int]] = []  # first address on the GPU, one past the last, first address of ours
        self._seen: dict[int, bytes] = {}  # contents of memory that the program sees without calls
        self._host_memory: set[int] = set()
        self.owed = 0
        recorder.begin(name, lenient=True)

    def close(self) -> None:
        """Nothing is held."""

    def say(self, text: str) -> None:
        """One line for the person who runs the program."""
        print(f"warploom: {text}", file=sys.stderr, flush=True)

    def printed(self) -> bytes:
        """What kernels print is printed by the GPU's own library."""
        return b""

    def hello(self, _process: int) -> Answer:
        """The library has connected; there is no memory to share."""
        return (0, 0), b""

    def module(self, data: bytes) -> Answer:
        """A fat binary is registered."""
        try:
            number = self._modules.add(read_image(data, self._name), self._name)
        except WarploomError as problem:
            self.say(str(problem))
            raise CudaError(CudaStatus.INVALID_KERNEL_IMAGE) from None
        self._recorder.module(number, data)
        return (number,), b""

    def kernel(self, module: int, name: bytes) -> Answer:
        """What a launch must know of a kernel."""
        try:
            shape = self._modules.find(module, name.decode())
        except WarploomError as problem:
            self.say(str(problem))
            raise CudaError(CudaStatus.INVALID_DEVICE_FUNCTION) from None
        self._kernels.append(shape)
        self._recorder.kernel(len(self._kernels) - 1, module, name.decode())
        table = b"".join(struct.pack("<II", offset, size) for offset, size in shape.parameters)
        return (len(self._kernels) - 1, shape.bytes, len(shape.parameters)), table

    def placed(self, module: int, address: int, size: int, name: bytes) -> Answer:
        """Where a variable lies on the GPU."""
        ours = self._memory.allocate(size, name.decode())
        bisect.insort(self._places, (address, address + size, ours))
        self._recorder.variables(module, {name.decode(): (ours, size)})
        return (), b""

    def allocated(self, address: int, size: int, kind: int) -> Answer:
        """The program has memory on the GPU."""
        ours = self._memory.allocate(size, MemoryKind(kind).words)
        bisect.insort(self._places, (address, address + size, ours))
        if MemoryKind(kind).on_host:
            self._host_memory.add(address)
        self._recorder.allocate(ours, size, kind)
        return (), b""

    def free(self, address: int, _kind: int) -> Answer:
        """Memory is given back."""
        place = next(entry for entry in self._places if entry[0] == address)
        self._places.remove(place)
        self._host_memory.discard(address)
        self._seen.pop(address, None)
        self._memory.free(place[2])
        self._recorder.free(place[2])
        return (), b""

    def wanted(self, number: int, again: int, parameters: bytes) -> Answer:
        """What a launch that is about to be made can read and the recording lacks, piece by piece; and that it was made."""
        if self._selection is None:
            return (0, 1), b""
        if again == _MADE:
            self._selection.over()
            return (0, 0), b""
        if not again and not self._selection.begins(self._kernels[number].name):
            return (0, 0), b""
        words = masked(parameters, self._kernels[number].used) if not again else b""
        fresh = self._selection.reached(self._pointers(words), number)
        ranges = [(start, end - start) for start, end, ours in self._places if ours in fresh]
        return (len(ranges), 1), b"".join(struct.pack("<QQ", *each) for each in ranges)

    def _pointers(self, data: bytes) -> set[int]:
        """The allocations of ours that data points into."""
        words = np.unique(np.frombuffer(data[: len(data) // 8 * 8], np.uint64))
        if not len(words) or not self._places:
            return set()
        starts, ends, ours = (np.array(column, np.uint64) for column in zip(*self._places, strict=True))
        place = np.searchsorted(starts, words, "right").astype(np.int64) - 1
        inside = (place >= 0) & (words < ends[place])
        return set(ours[place[inside]].tolist())

    def _place_of(self, address: int) -> tuple[int, int, int] | None:
        place = bisect.bisect_right(self._places, (address, 1 << 64, 0)) - 1
        return self._places[place] if place >= 0 and address < self._places[place][1] else None

    def wrote(self, *words: int | bytes) -> Answer:
        """Data went to the GPU, or the program changed memory that both see."""
        self._note(self._recorder.wrote, *words)
        return (), b""

    def read_back(self, *words: int | bytes) -> Answer:
        """Data came from the GPU."""
        self._note(self._recorder.read_back, *words)
        return (), b""

    def _note(self, note: Callable[[PitchedRows, bytes], None], *words: int | bytes) -> None:
        *shape, data = words
        assert isinstance(data, bytes)
        block = PitchedRows(*(int(word) for word in shape))
        if block.address in self._host_memory:  # it is shown at every launch
            if self._seen.get(block.address) == data:
                return
            self._seen[block.address] = data
        if self._selection is not None:
            self._selection.points_to(self._pointers(data))
        note(block.at(self._ours(block.address)), self._translated(data))

    def moved(self, *words: int) -> Answer:
        """A copy from the GPU to itself."""
        to, to_pitch, to_slice, source, source_pitch, source_slice, *shape = words
        target = PitchedRows(self._ours(to), to_pitch, to_slice, *shape)
        self._recorder.moved(target, PitchedRows(self._ours(source), source_pitch, source_slice, *shape))
        return (), b""

    def fill(self, address: int, *words: int) -> Answer:
        """cudaMemset in all its forms."""
        self._recorder.fill(PitchedRows(self._ours(address), *words[:5]), words[5])
        return (), b""

    def launch(self, number: int, *words: int | bytes) -> Answer:
        """A launch that is about to be made."""
        *shape, parameters = words
        gx, gy, gz, bx, by, bz, dynamic, _stream, cooperative, together = (int(word) for word in shape)
        assert isinstance(parameters, bytes)
        if min(gx, gy, gz, bx, by, bz) < 1:  # CUDA refuses it as well, and nothing happens
            return (), b""
        given = self._translated(masked(parameters, self._kernels[number].used))
        cluster = unpacked_cluster(together)
        self._recorder.launch(self._memory, {}, number, (gx, gy, gz), (bx, by, bz), dynamic, cooperative, cluster, given)
        return (), b""

    def _ours(self, address: int) -> int:
        place = self._place_of(address)
        if place is None:
            raise WarploomError(f"{self._name}: {address:#x} is no part of an allocation that was recorded.")
        return address - place[0] + place[2]

    def _translated(self, data: bytes) -> bytes:
        """Data in which pointers to the GPU's memory are ours."""
        words = np.frombuffer(data[: len(data) // 8 * 8], np.uint64)
        if not len(words) or not self._places:
            return data
        starts, ends, ours = (np.array(column, np.uint64) for column in zip(*self._places, strict=True))
        place = np.searchsorted(starts, words, "right").astype(np.int64) - 1
        found = (place >= 0) & (words < ends[place])
        if not found.any():
            return data
        moved = np.where(found, words - starts[place] + ours[place], words)
        return moved.tobytes() + data[len(moved) * 8 :]
