"""Launches that were chosen of a long program: a recording that holds them, what they can read, and what they left."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from warploom.base.errors import WarploomError
from warploom.emulator.device_memory import DeviceMemory
from warploom.emulator.extents import Shape
from warploom.programs.blocks import PitchedRows
from warploom.programs.codes import MemoryKind
from warploom.programs.recorder import Recorder


@dataclass(frozen=True)
class ChosenLaunches:
    """Launches of kernels by name, and of those from one number to before another, counted from 0."""

    only: Collection[str] = ()  # every kernel if there is none
    first: int = 0
    last: int | None = None

    def takes(self, kernel: str, number: int) -> bool:
        """Whether a launch is chosen; ``number`` counts those of the kernels that are."""
        return self.is_named(kernel) and self.first <= number and (self.last is None or number < self.last)

    def is_named(self, kernel: str) -> bool:
        """Whether launches of a kernel may be."""
        return not self.only or kernel in self.only


def chosen_launches(only: Collection[str], launches: str) -> ChosenLaunches | None:
    """What ``--only`` and ``--launches`` ask for; None where they ask for nothing."""
    if not only and not launches:
        return None
    first, colon, last = launches.partition(":")
    if not all(part == "" or part.isdecimal() for part in (first, last)) or (launches and not colon and not first):
        raise WarploomError(f"--launches {launches!r}: write the first number and the one behind the last, such as 10:20")
    start = int(first or 0)
    end = (start + 1 if launches and not colon else None) if not last else int(last)
    if end is not None and end <= start:
        raise WarploomError(f"--launches {launches!r}: there is no launch from {start} to before {end}")
    return ChosenLaunches(tuple(only), start, end)


class Selection(Recorder):
    """Passes on to a recorder what chosen launches need: code and memory when a launch first wants them, and what it holds."""

    def __init__(self, recorder: Recorder, chosen: ChosenLaunches) -> None:
        self._recorder, self._chosen = recorder, chosen
        self._launched = 0  # of the kernels that are named
        self._taken = False  # whether a chosen launch is being noted
        self._reached: set[int] = set()  # by it
        self._found: set[int] = set()  # what contents point to that were shown
        self._modules: dict[int, bytes] = {}
        self._kernels: dict[int, tuple[int, str]] = {}
        self._numbers: dict[tuple[str, int], int] = {}  # of modules and kernels, in the recording
        self._allocations: dict[int, tuple[int, int]] = {}  # bytes and kind
        self._variables: dict[int, tuple[int, str, int]] = {}  # module, name, bytes
        self._noted: dict[int, bytes] = {}  # allocations and variables of the recording: digests of what they last held there

    def begin(self, program: str, lenient: bool) -> None:
        self._recorder.begin(program, lenient)

    def module(self, number: int, data: bytes) -> None:
        self._modules[number] = data

    def kernel(self, number: int, module: int, name: str) -> None:
        self._kernels[number] = (module, name)

    def variables(self, module: int, places: Mapping[str, tuple[int, int]]) -> None:
        self._variables |= {address: (module, name, size) for name, (address, size) in places.items()}

    def allocate(self, address: int, size: int, kind: int) -> None:
        self._allocations[address] = (size, kind)

    def free(self, address: int) -> None:
        del self._allocations[address]
        if self._noted.pop(address, None) is not None:
            self._recorder.free(address)

    def begins(self, kernel: str) -> bool:
        """A launch is about to be made; whether it is chosen."""
        self._taken = self._chosen.takes(kernel, self._launched)
        self._launched += self._chosen.is_named(kernel)
        self._reached, self._found = set(), set()
        return self._taken

    def reached(self, allocations: set[int], kernel: int) -> set[int]:
        """Memory that a launch points into, or what was shown does, and the variables of its module, as far as not asked for."""
        module = self._kernels[kernel][0]
        variables = {address for address, (home, _, _) in self._variables.items() if home == module}
        fresh = (allocations | self._found | variables) - self._reached
        self._reached |= fresh
        self._found = set()
        return fresh

    def points_to(self, allocations: set[int]) -> None:
        """What contents that were shown point into."""
        if self._taken:
            self._found |= allocations

    def over(self) -> None:
        """The launch has been made and all its results were shown."""
        self._taken = False

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
        if self._taken:
            number = self._number_of_kernel(kernel)
            self._recorder.launch(memory, kinds, number, grid, block, dynamic, cooperative, cluster, parameters)

    def wrote(self, block: PitchedRows, data: bytes) -> None:
        if self._taken and self._note_place(block.address) and self._noted[block.address] != _digest(data):
            self._noted[block.address] = _digest(data)
            self._recorder.wrote(block, data)

    def read_back(self, block: PitchedRows, data: bytes) -> None:
        if self._taken and block.address in self._noted:
            self._noted[block.address] = _digest(data)
            self._recorder.read_back(block, data)

    def moved(self, target: PitchedRows, origin: PitchedRows) -> None:
        """What the program does between launches is seen in what the next one finds."""

    def fill(self, block: PitchedRows, byte: int) -> None:
        """The same."""

    def _note_place(self, address: int) -> bool:
        if address in self._noted:
            return True
        if address in self._allocations:
            size, kind = self._allocations[address]
            self._recorder.allocate(address, size, kind)
        elif address in self._variables:
            module, name, size = self._variables[address]
            self._recorder.variables(self._number_of_module(module), {name: (address, size)})
            size = 0  # what it holds at first is not known
        else:
            return False
        self._noted[address] = _digest(bytes(size))
        return True

    def _number_of_module(self, module: int) -> int:
        number = self._numbers.get(("module", module))
        if number is None:
            number = self._numbers["module", module] = sum(kind == "module" for kind, _ in self._numbers)
            self._recorder.module(number, self._modules[module])
        return number

    def _number_of_kernel(self, kernel: int) -> int:
        number = self._numbers.get(("kernel", kernel))
        if number is None:
            module, name = self._kernels[kernel]
            home = self._number_of_module(module)
            number = self._numbers["kernel", kernel] = sum(kind == "kernel" for kind, _ in self._numbers)
            self._recorder.kernel(number, home, name)
        return number


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
