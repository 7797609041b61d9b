"""What the model gives for the patterns of `microbenchmarks/registers.py` and `lost.py`, straight from the timing core.

`warploom validate --microbenchmarks` executes whole kernels for the same numbers, which takes minutes. Here the instructions of
all patterns are encoded and read back once, and each pattern is timed as straight-line code of two lengths on one SM.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from support.timing_kernels import Kernel
from warploom.chip.machines import load_machine
from warploom.chip.simulate import time_launches
from warploom.compiler.code.instruction import Binary, Code, Control, Instruction, Operation
from warploom.compiler.sass.module import from_cubin
from warploom.designs import parse_design
from warploom_lab.microbenchmarks import lost, registers
from warploom_lab.microbenchmarks.encoding import WrittenInstruction
from warploom_lab.microbenchmarks.slopes import SUB_CORES, Slope
from warploom_lab.microbenchmarks.template import KERNEL, LEAST, from_instructions

LEAVE = Instruction(Operation("EXIT"), control=Control(5, False, None, None, 0, (False,) * 3))
REGISTERS = 80  # more than the patterns name
NOT_STRAIGHT = {"LDS", "STS", "SHFL", "LDC", "ULDC"}  # what these do depends on values, and nothing is executed here


def slopes() -> list[Slope]:
    """All patterns that can be timed without being executed."""
    of_lost = [slope for slope in lost.slopes() if not NOT_STRAIGHT & {one.operation for one in _pattern(slope)}]
    return [*registers.slopes(), *of_lost]


def _pattern(slope: Slope) -> Sequence[WrittenInstruction]:
    """The instructions of a pattern that is the same in each repetition."""
    assert not callable(slope.pattern) and not isinstance(slope.pattern, str)
    return slope.pattern


@dataclass
class _Straight(Kernel):
    """Straight-line machine code."""

    def code(self) -> Code:
        return replace(super().code(), binary=Binary(90, 0x210, ()))


@functools.cache
def _as_read() -> dict[WrittenInstruction, Instruction]:
    """Each instruction of all patterns as the reader of machine code understands it."""
    written = list(dict.fromkeys(one for slope in slopes() for one in _pattern(slope)))
    region = written + [WrittenInstruction("NOP")] * max(0, LEAST - len(written))
    code = from_cubin(from_instructions(region, "all patterns"), "all patterns").kernel(KERNEL)
    lines = list(code.instructions())
    first = next(number for number, line in enumerate(lines) if line.op.name == "CS2R") + 1
    return dict(zip(written, lines[first:], strict=False))


def modelled(slope: Slope, design: str = "modern") -> float:
    """Cycles for each counted instruction of a pattern: the longer code less the shorter, both with warm instruction caches."""
    pattern = [_as_read()[one] for one in _pattern(slope)]
    launches = []
    for length in slope.lengths:
        kernel = _Straight([[*pattern * length, LEAVE]], REGISTERS, warps_per_cta=slope.warps)
        launches += [kernel.launch()] * 2
    machine = load_machine("hopper").scaled(1)
    took = [launch.cycles for launch in time_launches(launches, parse_design(design).policies, machine).launches]
    instructions = (slope.lengths[1] - slope.lengths[0]) * slope.per * max(1, slope.warps // SUB_CORES)
    return (took[3] - took[1]) / instructions
