"""Microbenchmarks that are the slope of the region's time over its length: cycles for each repetition of a pattern."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from warploom.validation.microbenchmarks.benchmark import Launch, Microbenchmark, ModelRun, Outputs, Reading, took
from warploom.validation.microbenchmarks.encoding import Instruction
from warploom.validation.microbenchmarks.template import from_instructions, from_ptx_body

SHORT, LONG = 96, 288  # instructions of a region
REPS = 4  # the first fills the instruction caches
RANDOM_VALUES = np.random.default_rng(90).uniform(0.5, 1.5, (48, 32)).astype(np.float32).view(np.uint32)


@dataclass(frozen=True)
class Slope:
    """A pattern of instructions; its repetitions are counted, its cycles measured."""

    name: str
    what: str
    pattern: Callable[[int], Sequence[Instruction]] | Sequence[Instruction] | str  # SASS, by the number of repetition, or PTX
    warps: int = 1
    per: int = 1  # instructions of the pattern that are counted
    before: str = ""
    after: str = ""
    shared_bytes: int = 4
    memory: tuple[str, object] = ("u64", 0)
    inputs: np.ndarray | None = None
    ctas: int = 1

    @property
    def lengths(self) -> tuple[int, int]:
        """How often the pattern is repeated in the short and in the long region."""
        pattern = self.pattern(0) if callable(self.pattern) else self.pattern
        size = pattern.count("\n") + 1 if isinstance(pattern, str) else len(pattern)
        return -(-SHORT // size), -(-LONG // size)

    def _cubin(self, length: int) -> bytes:
        if isinstance(self.pattern, str):
            body = [self.pattern.replace("{i}", str(i % 16)) for i in range(length)]
            return from_ptx_body(body, self.name, before=self.before, after=self.after, shared_bytes=self.shared_bytes)
        code: list[Instruction] = []
        for number in range(length):
            code.extend(self.pattern(number) if callable(self.pattern) else self.pattern)
        return from_instructions(code, self.name)

    def launches(self) -> list[Launch]:
        """The short and the long region."""
        inputs = RANDOM_VALUES if self.inputs is None else self.inputs
        arguments = (
            ("out", 64 * self.warps * self.ctas),
            ("words", inputs.reshape(-1).tolist()),
            ("u32", REPS),
            self.memory,
        )
        return [
            Launch(f"{self.name}.{length}", self._cubin(length), self.ctas, 32 * self.warps, arguments) for length in self.lengths
        ]

    def read(self, outputs: Outputs) -> list[Reading]:
        """Cycles for each counted instruction of a warp."""
        short, long = (took(outputs[f"{self.name}.{length}"]) for length in self.lengths)
        cycles = (long - short) / ((self.lengths[1] - self.lengths[0]) * self.per)
        return [Reading(self.name, cycles, "cycles", self.what)]

    def microbenchmark(self) -> Microbenchmark:
        """As one among the others."""
        run = ModelRun(
            self.name,
            f"{self.name}.{self.lengths[1]}",
            f"{self.name}.{self.lengths[0]}",
            (self.lengths[1] - self.lengths[0]) * self.per,
        )
        return Microbenchmark(self.name, self.launches, self.read, (run,))
