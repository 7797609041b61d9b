"""What kind of run a result is: machines are off by different amounts on different kinds.

The rule, written down on 2026-11-19, before any error was sorted by it; the first part that holds names the kind. A launch that
is compared with a chip has the kind of the run that it was timed in.

1. *atomics*: at least one in a hundred warp instructions is an atomic operation on global memory.
2. Else by what limits the run (`warploom.runs.limits`): *few CTAs* where that is an empty chip or a tail; *compute bound* where
   issue slots or a pipe come to their peak; *memory bound* where L1, L2 or DRAM do; *waiting* where nothing does.
"""

from __future__ import annotations

from warploom.runs.limits import limits_of
from warploom.runs.result import Result

ATOMICS, FEW_CTAS, COMPUTE, MEMORY, WAITING = KINDS = ("atomics", "few CTAs", "compute bound", "memory bound", "waiting")
MANY_ATOMICS = 0.01  # of the warp instructions
_BY_VERDICT = {
    "an empty chip": FEW_CTAS,
    "a tail": FEW_CTAS,
    "issue slots": COMPUTE,
    "a pipe": COMPUTE,
    "L1 bandwidth": MEMORY,
    "L2 bandwidth": MEMORY,
    "DRAM bandwidth": MEMORY,
}


def kind_of(result: Result) -> str:
    """The kind of a run, one of `KINDS`; empty where it cannot be told."""
    limits = limits_of(result)
    if limits is None:
        return ""
    if result.counters.get("atomics", 0) >= MANY_ATOMICS * result.warp_instructions:
        return ATOMICS
    return _BY_VERDICT.get(limits.verdict, WAITING)
