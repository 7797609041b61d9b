"""What a recording holds, for people to read."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from math import prod
from typing import Any

from warploom.errors import WarploomError
from warploom.programs.recording import read_recording
from warploom.programs.replay import recorded_modules


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
    modules = recorded_modules(recording, code)
    steps: dict[str, list[dict[str, Any]]] = {}
    for step in recording.steps:
        steps.setdefault(step["do"], []).append(step)
    names = [modules.find(step["module"], step["name"]).name for step in steps.get("kernel", ())]
    rows, refused = [], []
    for number, name in enumerate(names):
        launches = [step for step in steps.get("launch", ()) if step["kernel"] == number]
        shapes = Counter(prod(step["block"]) for step in launches)
        registers = None
        try:
            registers = modules.kernel(name).registers
        except WarploomError as problem:
            refused.append(str(problem))
        threads = ", ".join(str(shape) for shape in sorted(shapes))
        rows.append(KernelRow(name, len(launches), registers, sum(prod(step["grid"]) for step in launches), threads))
    allocations = steps.get("allocate", ())
    return RecordingContents(
        name=str(recording.path),
        kernels=rows,
        allocations=len(allocations),
        allocated_bytes=sum(step["bytes"] for step in allocations),
        written_bytes=sum(step.get("size", 0) for step in steps.get("write", ())),
        read_bytes=sum(step.get("size", 0) for step in steps.get("read", ())),
        ending=recording.ending,
        refused=refused,
    )
