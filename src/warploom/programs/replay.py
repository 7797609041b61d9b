"""A recording as a program: what was done with the device is done again, under any design, and every result is compared."""

from __future__ import annotations

import bisect
import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from warploom.code.instruction import Variable
from warploom.errors import WarploomError
from warploom.programs.blocks import PitchedRows
from warploom.programs.device import Device
from warploom.programs.modules import KernelShape, LoadedModule, ProgramModules
from warploom.programs.recording import SUFFIX, Recording, read_recording
from warploom.programs.textures import make_texture
from warploom.sass.fatbin import read_fatbin
from warploom.workloads.program import PTX, Program, check_code
from warploom.workloads.workload import Arrays, Gpu

_RESULTS = "bytes that differ in each result read back"
_FAR = 1 << 20  # between what the recording places and what is placed now


def is_recording(name: str) -> bool:
    """Whether a word names a recording rather than a workload."""
    return name.endswith(SUFFIX)


@dataclass(frozen=True)
class RecordedProgram(Program):
    """A program that is a recording. Its modules are those of the file, in the code that is asked for."""

    modules: Callable[[], ProgramModules] = lambda: ProgramModules(PTX)

    def module(self) -> ProgramModules:
        """All kernels of the program."""
        return self.modules()


def recorded_modules(recording: Recording, code: str) -> ProgramModules:
    """The modules that a recorded program brought along, and the kernels that it launched."""
    modules, place = ProgramModules(code), str(recording.path)
    for number, step in recording.numbered():
        if step["do"] == "module":
            modules.add(read_fatbin(recording.data(number), place), place)
        elif step["do"] == "kernel":
            modules.find(step["module"], step["name"])
    return modules


def recorded_program(path: str, code: str = PTX) -> RecordedProgram:
    """The program of a recording."""
    recording = read_recording(path)
    counts = Counter(step["do"] for step in recording.steps)
    if not counts["launch"]:
        raise WarploomError(f"{path}: the recorded program launched no kernel.")
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:32]
    modules = cache(lambda: recorded_modules(recording, code))

    def host(gpu: Gpu, _inputs: Arrays) -> Arrays:
        assert isinstance(gpu, Device)
        return {_RESULTS: _Replay(recording, modules(), gpu).run()}

    def reference(_inputs: Arrays) -> Arrays:
        return {_RESULTS: np.zeros(counts["read"], np.int64)}

    return RecordedProgram(
        name=Path(path).stem,
        ptx=digest,
        place=path,
        inputs=lambda _size: {},
        host=host,
        reference=reference,
        origin={"recording": str(Path(path).resolve()), "digest": digest, "code": code},
        sized=False,
        lenient=any(step.get("lenient") for step in recording.steps[:1]),
        code=check_code(code),
        modules=modules,
    )


@dataclass
class _Replay:
    """One run of a recording on a device."""

    recording: Recording
    modules: ProgramModules
    device: Device
    kernels: list[KernelShape] = field(default_factory=list)
    differing: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._moved: list[tuple[int, int, int]] = []  # first address in the recording, one past the last, first address now
        placed = [(step["address"], step["bytes"]) for step in self.recording.steps if step["do"] == "allocate"]
        for step in self.recording.steps:
            if step["do"] == "variables":
                placed += step["places"].values()
        self._next = (max((address + size for address, size in placed), default=0) // _FAR + 2) * _FAR
        if placed:
            self.device.emulator.memory.begin_at(min(address for address, _ in placed))

    def run(self) -> np.ndarray:
        """Do everything again; for each result read back, how many of its bytes differ from the recording."""
        steps: dict[str, Callable[[int, dict[str, Any]], None]] = {
            "kernel": self._kernel,
            "variables": self._variables,
            "allocate": self._allocate,
            "free": lambda _, step: self.device.emulator.memory.free(self._now(step["address"])),
            "write": self._write,
            "fill": lambda _, step: self._block(step["block"]).fill(self.device.emulator.memory, step["byte"]),
            "copy": self._copy,
            "read": self._read,
            "launch": self._launch,
            "texture": self._texture,
        }
        following = [*self.recording.steps[1:], {"do": "end"}]
        for (number, step), after in zip(self.recording.numbered(), following, strict=True):
            if after["do"] == "failed":
                break  # this launch was stopped, and what came after it had no effect
            if step["do"] in steps:
                steps[step["do"]](number, step)
        reads = sum(step["do"] == "read" for step in self.recording.steps)
        return np.array(self.differing + [0] * (reads - len(self.differing)), np.int64)

    def _kernel(self, _number: int, step: dict[str, Any]) -> None:
        self.kernels.append(self.modules.find(step["module"], step["name"]))

    def _variables(self, _number: int, step: dict[str, Any]) -> None:
        """Place a module's variables where the recording has them, or, where code lays them out otherwise, out of its way."""
        module, places = self.modules.modules[step["module"]], step["places"]
        variables = module.variables()
        at = {variable.name: self._place_of(module, variable, places) for variable in variables}
        self.device.emulator.place(variables, at)
        for name, (address, size) in places.items():
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

    def _block(self, words: list[int]) -> PitchedRows:
        block = PitchedRows(*words)
        return block.at(self._now(block.address))

    def _allocate(self, _number: int, step: dict[str, Any]) -> None:
        self.device.emulator.memory.allocate_at(step["address"], step["bytes"], "an allocation of the recording")

    def _write(self, number: int, step: dict[str, Any]) -> None:
        self._block(step["block"]).write(self.device.emulator.memory, self.recording.data(number))

    def _copy(self, _number: int, step: dict[str, Any]) -> None:
        data = self._block(step["origin"]).read(self.device.emulator.memory)
        self._block(step["to"]).write(self.device.emulator.memory, data)

    def _read(self, number: int, step: dict[str, Any]) -> None:
        got = np.frombuffer(self._block(step["block"]).read(self.device.emulator.memory), np.uint8)
        wanted = np.frombuffer(self.recording.data(number), np.uint8)
        self.differing.append(int(np.count_nonzero(got != wanted)))

    def _launch(self, number: int, step: dict[str, Any]) -> None:
        shape, parameters = self.kernels[step["kernel"]], bytearray(self.recording.data(number) if "size" in step else b"")
        if self._moved:
            for place in range(0, len(parameters) - 7, 8):
                address = int.from_bytes(parameters[place : place + 8], "little")
                parameters[place : place + 8] = self._now(address).to_bytes(8, "little")
        arguments = [bytes(parameters[offset : offset + size]) for offset, size in shape.parameters]
        self.device.launch(shape.name, step["grid"], step["block"], *arguments, shared_bytes=step["dynamic"])

    def _texture(self, _number: int, step: dict[str, Any]) -> None:
        address, *rest = step["words"]
        handle = make_texture(self.device, self._now(address), *rest)
        if handle != step["handle"]:
            raise WarploomError(f"{self.recording.path}: texture {step['handle']} of the recording became {handle}.")
