"""Compiling ahead of time: what runs under a design need is made and kept, so that none of them waits for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from warploom.base.cache import Cache, NoCache
from warploom.base.errors import WarploomError
from warploom.chip.machines import Machine
from warploom.chip.simulate import COMPILED as CORE
from warploom.designs import Design
from warploom.emulator.launch import COMPILED as EMULATOR
from warploom.jit.announcement import seconds_by_part
from warploom.programs.named import origin_named
from warploom.runs.run import run, run_untimed
from warploom.runs.spec import RunSpec

PROGRAM = "vectoradd"  # compiled code is the same for all programs: the shortest one asks for it


@dataclass(frozen=True)
class Compiled:
    """One part that is in the cache now."""

    part: str  # in words
    design: str  # whose core it is; empty for what all designs share
    seconds: float  # that it took; 0 where it was there already

    @property
    def was_there(self) -> bool:
        """Whether nothing had to be compiled."""
        return self.seconds == 0


def compile_ahead(designs: Sequence[Design], machine: Machine, code: str = "", check: tuple[str, ...] = ()) -> Iterator[Compiled]:
    """Compile the emulator and each design's core into the cache, unless they are there."""
    try:
        Cache("jit").make_folder()
    except (NoCache, OSError) as error:
        raise WarploomError(f"there is no cache to compile into: {error}") from None
    program = origin_named(PROGRAM)
    specs = [RunSpec(program, design, machine, size="tiny", code=code, check=check) for design in designs]
    before = seconds_by_part()
    run_untimed(specs[0])
    yield Compiled(EMULATOR, "", _since(before, EMULATOR))
    for spec in specs:
        before = seconds_by_part()
        run(spec)
        yield Compiled(CORE, spec.design.name, _since(before, CORE))


def _since(before: Mapping[str, float], part: str) -> float:
    return seconds_by_part()[part] - before[part]
