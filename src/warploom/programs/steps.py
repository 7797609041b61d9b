"""The steps of a recording: a record for each kind, and what may stand in its fields.

A recording may come from a stranger, so nothing is taken that a device could not have been asked for: `read_step` checks the JSON
of one step alone, `Order` what steps say of each other. Where things lie in memory is checked by the memory itself.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Annotated, Any, ClassVar, NamedTuple, get_type_hints

from warploom.base.spelling import did_you_mean
from warploom.emulator.device_memory import FIRST_ADDRESS
from warploom.emulator.emulator import MOST_SHARED_BYTES
from warploom.emulator.extents import Shape, extent_problem
from warploom.programs.blocks import PitchedRows
from warploom.programs.codes import MemoryKind

LAST_ADDRESS = 1 << 38  # of any device
_MEMORY_BYTES = LAST_ADDRESS - FIRST_ADDRESS
_WORD = (1 << 64) - 1
_MOST_TEXT = 1 << 20  # characters of a name
MOST_CODE = 1 << 30  # bytes of all fat binaries of a program, unpacked
_MOST_PARAMETERS = 32764  # bytes, from CUDA 12.1 on
_SHOWN = 80  # characters of a value that is refused


class Refused(Exception):
    """What is wrong with a step, without its place."""


@dataclass(frozen=True)
class Whole:
    """Whole numbers of a range."""

    least: int
    most: int

    def __call__(self, value: Any) -> int:
        if type(value) is not int or not self.least <= value <= self.most:
            raise Refused(f"is {_shown(value)}, not a whole number from {self.least} to {self.most}")
        return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Refused(f"is {_shown(value)}, neither true nor false")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _MOST_TEXT:
        raise Refused(f"is {_shown(value)}, not a text of at most {_MOST_TEXT} characters")
    return value


def _list(value: Any, length: int, each: Callable[[Any], int]) -> list[int]:
    if not isinstance(value, list) or len(value) != length:
        raise Refused(f"is {_shown(value)}, not a list of {length} numbers")
    return [each(item) for item in value]


def _block(value: Any) -> PitchedRows:
    block = PitchedRows(*_list(value, len(PitchedRows._fields), Whole(0, _WORD)))
    if block.overlaps:
        raise Refused(f"is {_shown(value)}, whose rows or slices begin before those in front of them end")
    if block.address + block.span > LAST_ADDRESS or (block.size and block.address < FIRST_ADDRESS):
        raise Refused(f"is {_shown(value)}, which reaches out of device memory")
    return block


def _grid(value: Any) -> Shape:
    return _extents("grid", value)


def _threads(value: Any) -> Shape:
    return _extents("block", value)


def _cluster(value: Any) -> Shape:
    return _extents("cluster", value)


def _extents(what: str, value: Any) -> Shape:
    x, y, z = _list(value, 3, Whole(1, _WORD))
    problem = extent_problem(what, (x, y, z))
    if problem:
        raise Refused(f"is {_shown(value)}: {problem}")
    return x, y, z


def _places(value: Any) -> dict[str, tuple[int, int]]:
    if not isinstance(value, dict):
        raise Refused(f"is {_shown(value)}, not a place for each name")
    return {_text(name): _place(place) for name, place in value.items()}


def _place(value: Any) -> tuple[int, int]:
    address, size = _list(value, 2, Whole(0, LAST_ADDRESS))
    return _address(address), Whole(0, LAST_ADDRESS - address)(size)


def _texture(value: Any) -> tuple[int, ...]:
    address, *rest = _list(value, 8, Whole(0, _WORD))
    return (_address(address), *rest)


_address = Whole(FIRST_ADDRESS, LAST_ADDRESS - 1)
_number = Whole(0, (1 << 31) - 1)
Text = Annotated[str, _text]
Number = Annotated[int, _number]
Address = Annotated[int, _address]
Block = Annotated[PitchedRows, _block]


class DataSizes(NamedTuple):
    """How many bytes of data a step may have."""

    least: int
    most: int


_NO_DATA = DataSizes(0, 0)


@dataclass(frozen=True)
class Step:
    """Something that the program did."""

    DO: ClassVar[str]

    @property
    def data_sizes(self) -> DataSizes:
        """What data belongs to it."""
        return _NO_DATA


@dataclass(frozen=True)
class Begin(Step):
    """The program begins."""

    DO = "begin"
    program: Text
    lenient: Annotated[bool, _flag]


@dataclass(frozen=True)
class AddModule(Step):
    """A fat binary, which is the data."""

    DO = "module"
    number: Number

    @property
    def data_sizes(self) -> DataSizes:
        return DataSizes(1, MOST_CODE)


@dataclass(frozen=True)
class FindKernel(Step):
    """A kernel that is about to be launched for the first time."""

    DO = "kernel"
    number: Number
    module: Number
    name: Text


@dataclass(frozen=True)
class PlaceVariables(Step):
    """Where variables of a module lie: address and bytes of each."""

    DO = "variables"
    module: Number
    places: Annotated[dict[str, tuple[int, int]], _places]


@dataclass(frozen=True)
class Allocate(Step):
    """An allocation."""

    DO = "allocate"
    address: Address
    bytes: Annotated[int, Whole(1, _MEMORY_BYTES)]
    kind: Annotated[int, Whole(0, max(MemoryKind))]


@dataclass(frozen=True)
class Free(Step):
    """The end of an allocation."""

    DO = "free"
    address: Address


@dataclass(frozen=True)
class Write(Step):
    """Data went to the device."""

    DO = "write"
    block: Block

    @property
    def data_sizes(self) -> DataSizes:
        return DataSizes(self.block.size, self.block.size)


@dataclass(frozen=True)
class Read(Step):
    """Data came from the device: what is compared."""

    DO = "read"
    block: Block

    @property
    def data_sizes(self) -> DataSizes:
        return DataSizes(self.block.size, self.block.size)


@dataclass(frozen=True)
class FillMemory(Step):
    """cudaMemset in all its forms."""

    DO = "fill"
    block: Block
    byte: Annotated[int, Whole(0, 255)]


@dataclass(frozen=True)
class Copy(Step):
    """A copy from the device to itself."""

    DO = "copy"
    to: Block
    origin: Block

    def __post_init__(self) -> None:
        if self.to[3:] != self.origin[3:]:
            raise Refused(f"copies rows of {list(self.origin[3:])} to rows of {list(self.to[3:])}")


@dataclass(frozen=True)
class LaunchKernel(Step):
    """A launch; its parameters are the data."""

    DO = "launch"
    kernel: Number
    grid: Annotated[Shape, _grid]
    block: Annotated[Shape, _threads]
    dynamic: Annotated[int, Whole(0, MOST_SHARED_BYTES)]
    cooperative: Annotated[int, Whole(0, 1)]
    cluster: Annotated[Shape | None, _cluster] = None  # where the launch says it and not the kernel

    @property
    def data_sizes(self) -> DataSizes:
        return DataSizes(0, _MOST_PARAMETERS)


@dataclass(frozen=True)
class Failed(Step):
    """The launch before it was stopped."""

    DO = "failed"
    why: Text


@dataclass(frozen=True)
class MakeTexture(Step):
    """A texture object, as the library described it."""

    DO = "texture"
    handle: Number
    words: Annotated[tuple[int, ...], _texture]


@dataclass(frozen=True)
class End(Step):
    """The program has ended."""

    DO = "end"
    how: Text

    def __post_init__(self) -> None:
        if not self.how:
            raise Refused("does not say how the program ended")


KINDS: dict[str, type[Step]] = {
    kind.DO: kind
    for kind in (
        *(Begin, AddModule, FindKernel, PlaceVariables, Allocate, Free, Write, Read),
        *(FillMemory, Copy, LaunchKernel, Failed, MakeTexture, End),
    )
}


@dataclass(frozen=True)
class Stored:
    """How a step's data is kept: as it is, packed, or with an earlier step that had the same."""

    size: Annotated[int, Whole(1, _MEMORY_BYTES)] = 0
    packed: Annotated[bool, _flag] = False
    same: Annotated[int | None, _number] = None


def step_json(step: Step) -> dict[str, Any]:
    """A step as it is written."""
    said = {each.name: getattr(step, each.name) for each in fields(step) if getattr(step, each.name) != each.default}
    return said | {"do": step.DO}


def read_step(values: Any) -> tuple[Step, Stored]:
    """A step from what its JSON says."""
    if not isinstance(values, dict):
        raise Refused(f"is {_shown(values)}, not a step")
    what = values.get("do")
    if not isinstance(what, str) or what not in KINDS:
        raise Refused(f"does {_shown(what)}, which is not known")
    kept = {name: value for name, value in values.items() if name in _checks(Stored)}
    rest = {name: value for name, value in values.items() if name not in kept and name != "do"}
    step, stored = _made(KINDS[what], rest), _made(Stored, kept)
    least, most = step.data_sizes
    if not least <= stored.size <= most:
        wanted = f"{least}" if least == most else f"{least} to {most}"
        raise Refused(f"has {stored.size} bytes of data where {wanted} belong to it")
    return step, stored


def _made(kind: type, values: dict[str, Any]) -> Any:
    checks = _checks(kind)
    for name in values:
        if name not in checks:
            raise Refused(f"has a field {_shown(name)}{did_you_mean(name[:_SHOWN], checks)}")
    for each in fields(kind):
        if each.name not in values and each.default is MISSING:
            raise Refused(f"has no field {each.name!r}")
    return kind(**{name: _checked(name, checks[name], value) for name, value in values.items()})


def _checked(name: str, check: Callable[[Any], Any], value: Any) -> Any:
    try:
        return check(value)
    except Refused as problem:
        raise Refused(f"has a field {name!r} that {problem}") from None


@cache
def _checks(kind: type) -> dict[str, Callable[[Any], Any]]:
    hints = get_type_hints(kind, include_extras=True)
    return {each.name: hints[each.name].__metadata__[0] for each in fields(kind)}


def _shown(value: Any) -> str:
    """A value as messages have it: short, and not deep."""
    text = reprlib.repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


@dataclass
class Order:
    """What steps may say that depends on those before them."""

    steps: int = 0
    modules: int = 0
    kernels: int = 0
    code_bytes: int = 0
    last: Step | None = None
    sizes: list[int] = field(default_factory=list)  # of the data that each step holds itself

    def take(self, step: Step, stored: Stored) -> None:
        """The next step."""
        if isinstance(self.last, End):
            raise Refused("comes after the end")
        if isinstance(step, Begin) != (self.steps == 0):
            raise Refused("must be a beginning, and nothing else" if self.steps == 0 else "begins for the second time")
        if isinstance(step, AddModule):
            self.modules = self._next("module", step.number, self.modules)
            self.code_bytes += stored.size
            if self.code_bytes > MOST_CODE:
                raise Refused(f"is code after which there are {self.code_bytes} bytes of it; {MOST_CODE} are the most")
        elif isinstance(step, FindKernel):
            self._known("module", step.module, self.modules)
            self.kernels = self._next("kernel", step.number, self.kernels)
        elif isinstance(step, PlaceVariables):
            self._known("module", step.module, self.modules)
        elif isinstance(step, LaunchKernel):
            self._known("kernel", step.kernel, self.kernels)
        elif isinstance(step, Failed) and not isinstance(self.last, LaunchKernel):
            raise Refused("tells of a launch that failed, but comes behind none")
        self._refers(stored)
        self.steps, self.last = self.steps + 1, step

    def _refers(self, stored: Stored) -> None:
        same = stored.same
        if same is not None and (not stored.size or same >= self.steps or self.sizes[same] != stored.size):
            raise Refused(f"has the data of step {same}, which holds no {stored.size} bytes of its own")
        self.sizes.append(stored.size if same is None else 0)

    @staticmethod
    def _next(what: str, number: int, known: int) -> int:
        if number != known:
            raise Refused(f"is {what} {number}, where {known} is the next")
        return known + 1

    @staticmethod
    def _known(what: str, number: int, known: int) -> None:
        if number >= known:
            raise Refused(f"names {what} {number}, of which there are {known} so far")
