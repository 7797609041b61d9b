"""What was found in a watched launch, as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from warploom.compiler.code.instruction import Code
from warploom.compiler.code.table import Space
from warploom.emulator.device_memory import DeviceMemory
from warploom.emulator.records import Kind
from warploom.emulator.watch.state import Meaning

_VERBS = {Kind.LOAD: "reads", Kind.STORE: "writes", Kind.ATOMIC: "updates"}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a check has found, how often, and the launch that it was in."""

    check: str  # "races" or "memory"
    kernel: str
    sentence: str
    times: int = 1
    key: tuple[Any, ...] = ()  # findings of one kernel with equal keys are the same: the instructions that it is about

    def __str__(self) -> str:
        return self.sentence if self.times == 1 else f"{self.sentence} ({self.times:,} times)"


class Findings:
    """What was found, each once, in the order in which it was found first."""

    def __init__(self) -> None:
        self._by_key: dict[tuple[Any, ...], Finding] = {}

    def add(self, more: Iterable[Finding]) -> None:
        """Add findings; what is known is counted."""
        for one in more:
            key = (one.check, one.kernel, one.key or one.sentence)
            known = self._by_key.get(key)
            self._by_key[key] = one if known is None else replace(known, times=known.times + one.times)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._by_key.values())


@dataclass(frozen=True, slots=True)
class Place:
    """A launch whose findings are told: its code and shape, and the memory that it saw."""

    code: Code
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    warps_per_cta: int
    memory: DeviceMemory


def finding(place: Place, found: np.void) -> Finding:
    """The sentence about two accesses that race, or about a read of what nobody has written."""
    return _unwritten(place, found) if int(found["first_kind"]) == Kind.COMPUTE else _race(place, found)


def _unwritten(place: Place, found: np.void) -> Finding:
    space, address, access = Space(int(found["space"])), int(found["address"]), found["second"]
    where = f"{address:#x}, {place.memory.nearest(address)}"
    if space is not Space.GLOBAL:
        where = f"byte {address:#x} of {space.name.lower()} memory"
    sentence = (
        f"{_line(place, access)}kernel {place.code.name}, {_who(place, access)} {_VERBS[Kind(int(found['second_kind']))]} "
        f"{int(found['size'])} bytes at {where}, which nobody has written ({_instruction(place, access)})."
    )
    return Finding("memory", place.code.name, sentence, int(found["times"]), (int(access["pc"]),))


def _race(place: Place, found: np.void) -> Finding:
    first, second = found["first"], found["second"]
    space, address = Space(int(found["space"])), int(found["address"])
    what = f"shared memory at byte {address:#x}" if space is Space.SHARED else f"{address:#x}, {place.memory.nearest(address)}"
    atomic = int(found["first"]["meaning"]) & Meaning.STRONG and not int(found["first"]["meaning"]) & Meaning.VOLATILE
    kinds = (Kind.ATOMIC if atomic else Kind(int(found["first_kind"])), Kind(int(found["second_kind"])))
    same_warp = int(first["warp"]) == int(second["warp"])
    missing = _missing(place, first, second, same_warp)
    sentence = (
        f"{_line(place, second)}kernel {place.code.name}: race on {what}: {_who(place, second)} {_VERBS[kinds[1]]} "
        f"{int(found['size'])} bytes ({_instruction(place, second)}), which {_who(place, first)} {_VERBS[kinds[0]]} "
        f"({_instruction(place, first)}), and {missing} between them."
    )
    key = (int(first["pc"]), int(second["pc"]), int(found["first_kind"]))
    return Finding("races", place.code.name, sentence, int(found["times"]), key)


def _missing(place: Place, first: np.void, second: np.void, same_warp: bool) -> str:
    if same_warp:
        return "no __syncwarp or barrier is"
    same_cta = (int(first["warp"]) - 1) // place.warps_per_cta == (int(second["warp"]) - 1) // place.warps_per_cta
    return "no barrier is" if same_cta else "no fence with an atomic or volatile access is"


def _who(place: Place, access: np.void) -> str:
    number = int(access["warp"]) - 1
    cta, warp = divmod(number, place.warps_per_cta)
    thread = warp * 32 + int(access["lane"])
    return f"block {position(cta, place.grid)}, thread {position(thread, place.block)}"


def _instruction(place: Place, access: np.void) -> str:
    pc = int(access["pc"])
    instruction = list(place.code.instructions())[pc]
    line = f"line {instruction.line}, " if instruction.line else ""
    return f"{line}instruction {pc}: '{instruction}'"


def _line(place: Place, access: np.void) -> str:
    instruction = list(place.code.instructions())[int(access["pc"])]
    return f"{place.code.source}:{instruction.line}: " if place.code.source and instruction.line else ""


def position(index: int, shape: tuple[int, int, int]) -> str:
    """A block of a grid, or a thread of a block, by its three coordinates."""
    x, rest = index % shape[0], index // shape[0]
    return f"({x}, {rest % shape[1]}, {rest // shape[1]})"
