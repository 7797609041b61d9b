"""What limited a run, in words: the sentence that its table begins with, and the numbers behind it."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from warploom.chip.machines.compared import error_sentence
from warploom.runs.kinds import kind_of
from warploom.runs.limits import Limits, limits_of
from warploom.runs.result import Result


def limit_lines(result: Result, width: int) -> list[str]:
    """The sentence on one run, wrapped; nothing where it cannot be known."""
    limits = limits_of(result)
    return wrap(f"{result.design['name']} is {limits.sentence}", width, subsequent_indent="  ") if limits else []


def use_lines(result: Result, width: int) -> list[str]:
    """How far a run used its chip, wrapped."""
    limits = limits_of(result)
    return wrap(use_of(limits), width, subsequent_indent="  ") if limits else []


def use_of(limits: Limits) -> str:
    """How far a run used its chip, in one line."""
    parts = {
        "SMs with work": f"{limits.sms_with_work:.3g} of {limits.sms}, in {limits.sm_cycles:.0%} of their cycles",
        "occupancy": f"{limits.achieved_occupancy:.0%} achieved, {limits.occupancy:.0%} possible",
        "issue slots": f"{limits.issue_slots:.0%}",
        limits.pipe: f"{limits.pipe_used:.0%}",
        "L1": f"{percent(limits.l1_hits)} hits, {limits.l1_used:.0%} busy",
        "L2": f"{percent(limits.l2_hits)} hits, {limits.l2_used:.0%} of its bandwidth",
        "DRAM": f"{limits.dram_used:.0%} of its bandwidth",
    }
    return "; ".join(f"{name} {value}" for name, value in parts.items())


def error_lines(results: Sequence[Result], width: int) -> list[str]:
    """How far cycles of these results may be off, wrapped: a sentence for each machine; of one program, for each kind of run."""
    several = len({result.workload for result in results}) > 1
    told = dict.fromkeys((result.machine, result.spec.caches, "" if several else kind_of(result)) for result in results)
    return [line for about in told for line in wrap(error_sentence(*about), width, subsequent_indent="  ")]


def percent(share: float | None) -> str:
    """A share, or a dash where there was nothing to count."""
    return "-" if share is None else f"{share:.0%}"
