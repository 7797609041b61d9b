"""What it costs to time a program, from the number of warp instructions that it executed.

The rule is of ten runs on one core of a server of 2026 (x86-64), in processor time: hotspot, bfs, spmv, lib, matrixmul, lbm and
heartwall at `small` or `paper`, on `gtx480` and on `hopper`. They are timed at 0.45 to 4.9 million warp instructions a second
(executed at 1.7 to 10.7 million), and their traces take 10 to 34 bytes for each. Between these ends a run is to be expected, on a
machine that is busy or slow above them. In memory a run takes 0.35 GB, its data, and up to 0.25 GB of traces; larger traces lie
in the cache.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

START_SECONDS = 1.0  # whatever the length of a run
TIMED_PER_SECOND = (4.9e6, 0.45e6)  # warp instructions, from the quickest run to the slowest
BYTES_OF_TRACE = (10, 34)  # of a warp instruction
LONG_SECONDS = 60.0  # what takes longer at most is said before it begins


@dataclass(frozen=True)
class Cost:
    """What to expect: each from the least to the most."""

    warp_instructions: int
    seconds: tuple[float, float]  # of one core
    trace_bytes: tuple[int, int]

    @property
    def long(self) -> bool:
        """Whether a person should know before it begins."""
        return self.seconds[1] >= LONG_SECONDS

    @property
    def sentence(self) -> str:
        """All of it in words."""
        seconds = f"{_duration(self.seconds[0])} to {_duration(self.seconds[1])} on one core"
        size = " to ".join(f"{size / 1e9:.3g} GB" for size in self.trace_bytes)
        return f"{self.warp_instructions:,} warp instructions: to time them takes about {seconds}, and {size} of traces"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them."""
        return asdict(self)


def cost_of(warp_instructions: int) -> Cost:
    """What it costs to time a number of warp instructions."""
    least, most = (START_SECONDS + warp_instructions / rate for rate in TIMED_PER_SECOND)
    smallest, largest = (warp_instructions * size for size in BYTES_OF_TRACE)
    return Cost(warp_instructions, (least, most), (smallest, largest))


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
