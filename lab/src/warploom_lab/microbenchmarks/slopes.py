"""Microbenchmarks that are the slope of the region's time over its length: cycles for each repetition of a pattern."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from warploom.studies.validate.benchmark import REPS, Launch, Microbenchmark, ModelRun, Outputs, Reading, took
from warploom_lab.microbenchmarks.encoding import WrittenInstruction
from warploom_lab.microbenchmarks.template import SUB_CORES, from_instructions, from_ptx_body

SHORT, LONG = 96, 288  # instructions of a region
MORE = 8  # repetitions by which two launches differ, where the time of all repetitions is measured
RANDOM_VALUES = np.random.default_rng(90).uniform(0.5, 1.5, (48, 32)).astype(np.float32).view(np.uint32)


@dataclass(frozen=True)
class Slope:
    """A pattern of instructions; its repetitions are counted, its cycles measured."""

    name: str
    what: str
    # SASS, by the number of repetition, or PTX
    pattern: Callable[[int], Sequence[WrittenInstruction]] | Sequence[WrittenInstruction] | str
    warps: int = 1
    per: int = 1  # instructions of the pattern that are counted
    before: str = ""
    after: str = ""
    shared_bytes: int = 4
    together: bool = True  # whether the time of many warps is shared out among the instructions of a sub-core
    memory: tuple[str, object] = ("u64", 0)
    inputs: np.ndarray | None = None
    ctas: int = 1
    cores: int = SUB_CORES  # sub-cores whose warps run the region; the others' leave before it

    @property
    def _whole(self) -> bool:
        return self.warps > 1 and self.together

    @property
    def lengths(self) -> tuple[int, int]:
        """How often the pattern is repeated in the short and in the long region."""
        pattern = self.pattern(0) if callable(self.pattern) else self.pattern
        size = pattern.count("\n") + 1 if isinstance(pattern, str) else len(pattern)
        return -(-SHORT // size), -(-LONG // size)

    @property
    def _reps(self) -> tuple[int, ...]:
        return (REPS, REPS + MORE) if self._whole else (REPS,)

    @property
    def _terms(self) -> list[tuple[int, int, int]]:
        """Sign, length and repetitions of the launches whose times are added up."""
        ends = ((1, self.lengths[1]), (-1, self.lengths[0]))
        if not self._whole:
            return [(sign, length, REPS) for sign, length in ends]
        return [(sign * by, length, reps) for sign, length in ends for by, reps in ((1, REPS + MORE), (-1, REPS))]

    @property
    def _work(self) -> int:
        instructions = (self.lengths[1] - self.lengths[0]) * self.per
        return instructions * MORE * max(1, self.warps // SUB_CORES) if self._whole else instructions

    def _cubin(self, length: int) -> bytes:
        if isinstance(self.pattern, str):
            body = [self.pattern.replace("{i}", str(i % 16)) for i in range(length)]
            return from_ptx_body(
                body, self.name, before=self.before, after=self.after, shared_bytes=self.shared_bytes, whole=self._whole,
                cores=self.cores,
            )  # fmt: skip
        code: list[WrittenInstruction] = []
        for number in range(length):
            code.extend(self.pattern(number) if callable(self.pattern) else self.pattern)
        return from_instructions(code, self.name, self._whole, self.cores)

    def launches(self) -> list[Launch]:
        """The short and the long region."""
        inputs = RANDOM_VALUES if self.inputs is None else self.inputs
        made = []
        for length in self.lengths:
            cubin = self._cubin(length)
            for reps in self._reps:
                arguments = (
                    ("out", 64 * self.warps * self.ctas),
                    ("words", inputs.reshape(-1).tolist()),
                    ("u32", reps),
                    self.memory,
                )
                made.append(Launch(f"{self.name}.{length}x{reps}", cubin, self.ctas, 32 * self.warps, arguments))
        return made

    def read(self, outputs: Outputs) -> list[Reading]:
        """Cycles for each counted instruction of a warp."""
        cycles = sum(sign * took(outputs[f"{self.name}.{length}x{reps}"]) for sign, length, reps in self._terms)
        return [Reading(self.name, cycles / self._work, "cycles", self.what)]

    def microbenchmark(self) -> Microbenchmark:
        """As one among the others."""
        first = {length: f"{self.name}.{length}x{REPS}" for length in self.lengths}
        terms = [
            (sign, length, reps) for sign, length in ((1, self.lengths[1]), (-1, self.lengths[0])) for reps in (REPS + MORE, REPS)
        ]
        run = ModelRun(
            self.name,
            tuple((sign if reps > REPS else -sign, first[length], reps) for sign, length, reps in terms),
            self._work if self._whole else self._work * MORE,
        )
        return Microbenchmark(self.name, self.launches, self.read, run)
