"""A recording as a program: what was done with the device is done again, under any design, and every result is compared."""

from __future__ import annotations

import bisect
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from warploom.base.errors import WarploomError
from warploom.base.progress import activity
from warploom.compiler.code.instruction import Variable
from warploom.compiler.sass.fatbin import Room, read_image
from warploom.emulator.device_memory import FIRST_ADDRESS, LAST_ADDRESS, DeviceMemory
from warploom.emulator.faults import KernelFault
from warploom.emulator.sparse_bytes import SparseBytes
from warploom.programs.blocks import PitchedRows
from warploom.programs.codes import CudaError
from warploom.programs.device import Device
from warploom.programs.modules import KernelShape, LoadedModule, ProgramModules
from warploom.programs.origin import Digests, Origin
from warploom.programs.own_kernel import check_file
from warploom.programs.program import Program, check_code
from warploom.programs.recording import SUFFIX, Recording, read_recording, say_if_cut_off
from warploom.programs.source import PTX, Source
from warploom.programs.steps import (
    AddModule,
    Allocate,
    Copy,
    FillMemory,
    FindKernel,
    Free,
    LaunchKernel,
    MakeTexture,
    PlaceVariables,
    Read,
    Step,
    Write,
)
from warploom.programs.textures import make_texture
from warploom.programs.workloads.workload import Arrays, Gpu

_RESULTS = "bytes that differ in each result read back"
_SPARE = 1 << 32  # behind what the recording places, for variables that code lays out otherwise
_FAR = 1 << 20  # between what the recording places and what is placed now


def is_recording(name: str) -> bool:
    """Whether a word names a recording rather than a workload."""
    return name.endswith(SUFFIX)


@dataclass(frozen=True)
class RecordingOrigin(Origin):
    """A recording, by its file."""

    KIND: ClassVar[str] = "recording"
    PLACES: ClassVar[tuple[str, ...]] = ("file",)

    file: str

    @property
    def name(self) -> str:
        return Path(self.file).stem

    def short(self, digests: Digests) -> str:
        return f"{Path(self.file).name}#{digests['file'][:8]}"

    def digests(self, code: str) -> Digests:
        return {"file": hashlib.sha256(Path(self.file).read_bytes()).hexdigest()[:32]}

    def check_unchanged(self, digests: Digests, place: str) -> None:
        check_file(self.file, digests.get("file"), place)

    def open(self, code: str, seed: int | None) -> RecordedProgram:
        self._without_seed(seed, "a recording has the inputs that were recorded")
        return recorded_program(self.file, code)


@dataclass(frozen=True, eq=False)
class RecordedProgram(Program):
    """A program that is a recording. Its modules are those of the file, in the code that is asked for."""

    modules: Callable[[], ProgramModules] = lambda: ProgramModules(PTX)
    reach: int = 0  # one past the last address of its memory
    beyond: str = ""  # the first step whose memory needs more than 32 bits

    def device_memory(self) -> DeviceMemory:
        """Memory that has all addresses of the recording."""
        if self.reach <= LAST_ADDRESS:
            return super().device_memory()
        if self.code == PTX:
            raise WarploomError(
                f"{self.beyond}: it has memory beyond {LAST_ADDRESS:#x}, but code made of PTX has addresses of 32 bits; execute "
                "the machine code that it was recorded with (--code sm_90)."
            )
        return DeviceMemory(FIRST_ADDRESS, SparseBytes(self.reach + _SPARE - FIRST_ADDRESS), lenient=self.lenient)

    def module(self) -> ProgramModules:
        """All kernels of the program."""
        return self.modules()


def recorded_modules(recording: Recording, code: str) -> ProgramModules:
    """The modules that a recorded program brought along, and the kernels that it launched."""
    modules, room = ProgramModules(code), Room()
    for number, step in enumerate(recording.steps):
        with _naming(recording, number):
            if isinstance(step, AddModule):
                place = str(recording.path)
                entries = read_image(recording.data(number), place, room)
                for entry in entries:
                    _ = entry.data  # unpacked now, so that what is wrong with it is said of this step
                modules.add(entries, place)
            elif isinstance(step, FindKernel):
                modules.find(step.module, step.name)
    return modules


@contextmanager
def _naming(recording: Recording, number: int) -> Iterator[None]:
    """Let what is wrong with a step name it; a kernel that was stopped has a place of its own."""
    try:
        yield
    except KernelFault:
        raise
    except CudaError as problem:
        raise WarploomError(f"{recording.place(number)}: CUDA would refuse it ({problem}).") from None
    except WarploomError as problem:
        place = recording.place(number)
        why = str(problem).removeprefix(f"{place}: ").removeprefix(f"{recording.path}: ")
        raise WarploomError(f"{place}: {why}") from None


def recorded_program(path: str, code: str = PTX) -> RecordedProgram:
    """The program of a recording."""
    recording = read_recording(path)
    say_if_cut_off(recording)
    if not any(recording.of_kind(LaunchKernel)):
        raise WarploomError(f"{path}: the recorded program launched no kernel.")
    modules = cache(lambda: recorded_modules(recording, code))
    placed = _placed(recording)
    compared = sum(isinstance(step, Read) and step.block.size > 0 for step in recording.effective)

    def host(gpu: Gpu, _inputs: Arrays) -> Arrays:
        assert isinstance(gpu, Device)
        return {_RESULTS: _Replay(recording, modules(), gpu).run()}

    def reference(_inputs: Arrays) -> Arrays:
        return {_RESULTS: np.zeros(compared, np.int64)}

    return RecordedProgram(
        name=Path(path).stem,
        source=Source(path),
        inputs=lambda _size: {},
        host=host,
        reference=reference,
        doubt="nothing compared" if not compared else "" if recording.ending else "cut off",
        origin=RecordingOrigin(str(Path(path).resolve())),
        sized=False,
        lenient=recording.lenient,
        code=check_code(code),
        modules=modules,
        reach=max((address + size for address, size in placed), default=0),
        beyond=_first_beyond(recording),
    )


def _first_beyond(recording: Recording) -> str:
    for number, step in enumerate(recording.steps):
        places = [(step.address, step.bytes)] if isinstance(step, Allocate) else []
        places += step.places.values() if isinstance(step, PlaceVariables) else []
        if any(address + size > LAST_ADDRESS for address, size in places):
            return recording.place(number)
    return ""


def _placed(recording: Recording) -> list[tuple[int, int]]:
    """Where the recording has memory: address and bytes of allocations and of variables."""
    placed = [(step.address, step.bytes) for step in recording.of_kind(Allocate)]
    return placed + [place for step in recording.of_kind(PlaceVariables) for place in step.places.values()]


@dataclass
class _Replay:
    """One run of a recording on a device."""

    recording: Recording
    modules: ProgramModules
    device: Device
    kernels: list[KernelShape] = field(default_factory=list)
    differing: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._memory = self.device.emulator.memory
        self._moved: list[tuple[int, int, int]] = []  # first address in the recording, one past the last, first address now
        self._allocated: set[int] = set()  # addresses in the recording
        self._settled: set[int] = set()  # modules whose variables have places
        placed = _placed(self.recording)
        self._next = (max((address + size for address, size in placed), default=0) // _FAR + 2) * _FAR
        if placed:
            self._memory.begin_at(min(address for address, _ in placed))

    def run(self) -> np.ndarray:
        """Do everything again; for each result read back, how many of its bytes differ from the recording."""
        steps = self.recording.effective
        with activity(f"replaying {self.recording.path}") as progress:
            for number, step in enumerate(steps):
                progress.advance(number, len(steps), f"step {number:,} of {len(steps):,}")
                with _naming(self.recording, number):
                    self._do(number, step)
        return np.array(self.differing, np.int64)

    def _do(self, number: int, step: Step) -> None:
        match step:
            case FindKernel():
                self.kernels.append(self.modules.find(step.module, step.name))
                if step.module not in self._settled:  # the program never asked where its variables lie
                    self._variables(PlaceVariables(step.module, {}))
            case PlaceVariables():
                self._variables(step)
            case Allocate():
                self._memory.allocate_at(step.address, step.bytes, "an allocation of the recording")
                self._allocated.add(step.address)
            case Free():
                self._free(step)
            case Write():
                self._block(step.block).write(self._memory, self.recording.data(number))
            case FillMemory():
                self._block(step.block).fill(self._memory, step.byte)
            case Copy():
                self._block(step.to).write(self._memory, self._block(step.origin).read(self._memory))
            case Read():
                self._read(number, step)
            case LaunchKernel():
                self._launch(number, step)
            case MakeTexture():
                self._texture(step)

    def _variables(self, step: PlaceVariables) -> None:
        """Place a module's variables where the recording has them, or, where code lays them out otherwise, out of its way."""
        self._settled.add(step.module)
        module = self.modules.modules[step.module]
        variables = module.variables()
        at = {variable.name: self._place_of(module, variable, step.places) for variable in variables}
        self.device.emulator.place(variables, at)
        for name, (address, size) in step.places.items():
            found = module.symbol(name)
            if found is not None and found[0] in self.device.emulator.symbols:
                now = self.device.emulator.symbols[found[0]] + found[1]
                if now != address:
                    bisect.insort(self._moved, (address, address + size, now))

    def _place_of(self, module: LoadedModule, variable: Variable, places: dict[str, tuple[int, int]]) -> int:
        own = variable.name.removesuffix(module.suffix) if module.suffix else variable.name
        if own in places:
            return places[own][0]
        address = self._next
        self._next += -(-(variable.size + 1) // _FAR) * _FAR
        return address

    def _now(self, address: int) -> int:
        """Where something lies that the recording has at an address."""
        place = bisect.bisect_right(self._moved, (address, 1 << 64, 0)) - 1
        if place >= 0 and self._moved[place][0] <= address < self._moved[place][1]:
            return address - self._moved[place][0] + self._moved[place][2]
        return address

    def _block(self, block: PitchedRows) -> PitchedRows:
        return block.at(self._now(block.address))

    def _free(self, step: Free) -> None:
        if step.address not in self._allocated:
            raise WarploomError(f"it gives back {step.address:#x}, where the recording has allocated nothing.")
        self._allocated.remove(step.address)
        self._memory.free(step.address)

    def _read(self, number: int, step: Read) -> None:
        got = np.frombuffer(self._block(step.block).read(self._memory), np.uint8)
        if len(got):
            wanted = np.frombuffer(self.recording.data(number), np.uint8)
            self.differing.append(int(np.count_nonzero(got != wanted)))

    def _launch(self, number: int, step: LaunchKernel) -> None:
        shape = self.kernels[step.kernel]
        parameters = bytearray(self.recording.data(number) if self.recording.size(number) else b"")
        if len(parameters) != shape.bytes:
            raise WarploomError(f"it has {len(parameters)} bytes of parameters, but {shape.name} takes {shape.bytes}.")
        if self._moved:
            for place in range(0, len(parameters) - 7, 8):
                address = int.from_bytes(parameters[place : place + 8], "little")
                parameters[place : place + 8] = self._now(address).to_bytes(8, "little")
        arguments = [bytes(parameters[offset : offset + size]) for offset, size in shape.parameters]
        self.device.launch(shape.name, step.grid, step.block, *arguments, shared_bytes=step.dynamic, cluster=step.cluster)

    def _texture(self, step: MakeTexture) -> None:
        address, *rest = step.words
        handle = make_texture(self.device, self._now(address), *rest)
        if handle != step.handle:
            raise WarploomError(f"texture {step.handle} of the recording became {handle}.")
