"""What a recording holds, for people to read."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from math import prod
from typing import Any

from warploom.base.errors import WarploomError
from warploom.programs.recording import read_recording, say_if_cut_off
from warploom.programs.replay import recorded_modules
from warploom.programs.steps import Allocate, FindKernel, LaunchKernel, Read, Write


@dataclass(frozen=True)
class KernelRow:
    """All launches of one kernel."""

    kernel: str
    launches: int
    registers: int | None  # per thread; None where the kernel cannot be compiled
    blocks: int  # of all launches
    threads: str  # of a block, as the launches have them


@dataclass(frozen=True)
class RecordingContents:
    """A recording in numbers."""

    name: str
    kernels: list[KernelRow]
    allocations: int
    allocated_bytes: int
    written_bytes: int
    read_bytes: int
    ending: str  # how the program ended; empty if the recording was cut off
    refused: list[str] = field(default_factory=list)

    @property
    def sentence(self) -> str:
        """All but the kernels."""
        ending = f"the program {self.ending}" if self.ending else "the recording was cut off, and is good up to there"
        return (
            f"{self.allocations:,} allocations with {self.allocated_bytes:,} bytes; {self.written_bytes:,} bytes written to the "
            f"device, {self.read_bytes:,} read back; {ending}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them."""
        return asdict(self)


def recording_contents(path: str, code: str) -> RecordingContents:
    """Read a recording and compile its kernels without any limit of registers."""
    recording = read_recording(path)
    say_if_cut_off(recording)
    modules = recorded_modules(recording, code)
    names = [modules.find(step.module, step.name).name for step in recording.of_kind(FindKernel)]
    rows, refused = [], []
    for number, name in enumerate(names):
        launches = [step for step in recording.of_kind(LaunchKernel) if step.kernel == number]
        shapes = Counter(prod(step.block) for step in launches)
        registers = None
        try:
            registers = modules.kernel(name).registers
        except WarploomError as problem:
            refused.append(str(problem))
        threads = ", ".join(str(shape) for shape in sorted(shapes))
        rows.append(KernelRow(name, len(launches), registers, sum(prod(step.grid) for step in launches), threads))
    allocations = [step.bytes for step in recording.of_kind(Allocate)]
    return RecordingContents(
        name=str(recording.path),
        kernels=rows,
        allocations=len(allocations),
        allocated_bytes=sum(allocations),
        written_bytes=sum(step.block.size for step in recording.of_kind(Write)),
        read_bytes=sum(step.block.size for step in recording.of_kind(Read)),
        ending=recording.ending,
        refused=refused,
    )
