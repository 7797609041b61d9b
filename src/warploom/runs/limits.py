"""What limits a run: where it comes to the peak of something, or else what it waits for; and what to try.

The rules, in their order; the first that holds gives the verdict. Shares are of all launches together.

1. *Empty chip*: less than half of the cycles of all SMs had a CTA, and a launch has fewer CTAs than there are SMs.
2. *Tail*: less than three quarters of them had one: SMs wait for the last CTAs.
3. *At a peak*: issue slots, a pipe, L1, L2 or DRAM are used for at least 60% of what they can do; the one that is used most.
4. *Empty chip* once more: a launch has CTAs for less than half of the places that its SMs have for them. (This rule was set
   after its first result had been seen, the others before.)
5. *Waiting*: the reason for which schedulers that have warps issue nothing most often: instructions, barriers, results (of
   memory, where more than 5% of the accesses miss L1), ways to units that are full, registers that the design withholds,
   warps that its scheduler leaves out.

Peaks follow from the machine's numbers: a slot is one instruction of a scheduler in a cycle; a pipe is busy for the initiation
interval of each of its instructions; L1 takes an access per cycle; a slice of L2 gives `l2.sectors_per_cycle` sectors; a channel
of DRAM moves a burst in `dram.burst_cycles` of its own cycles. Of SMs and what is in them only cycles with CTAs count. Numbers of
CTAs are means over the launches.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from warploom.compiler.code.classes import OpClass, Unit, unit
from warploom.emulator.trace.format import SECTOR_BYTES
from warploom.runs.result import Result

MOSTLY_EMPTY, TAIL, AT_PEAK, FEW_WARPS = 0.5, 0.75, 0.6, 0.6
FEW_MISSES = 0.05  # of the accesses: fewer are not what results are waited for
_SECTORS, _LINES = ("l1_sector_hits", "l1_sectors"), ("l1_hits", "l1_accesses")
_FMA = (OpClass.F32_ADD, OpClass.F32_MUL, OpClass.F32_MAD)
_HEAVY = (OpClass.INT_MUL, OpClass.INT_MAD)
_TRY = {
    "an empty chip": "take a larger grid or size, or fewer SMs (--sms)",
    "a tail": "take more and smaller CTAs, so that the last ones end together",
    "issue slots": "execute fewer instructions: wider loads, fewer address computations, unrolled loops",
    "a pipe": "move work to other pipes, or execute less of this kind",
    "L1 bandwidth": "let neighbouring lanes access neighbouring addresses, so that an instruction needs fewer accesses",
    "L2 bandwidth": "keep more of what is read again in L1 or in shared memory",
    "DRAM bandwidth": "read less: narrower types, tiles that stay in caches or in shared memory",
    "instruction fetch": "make loops smaller than the instruction cache, or run more warps",
    "barriers": "use smaller CTAs, or put less work between barriers in only some of the warps",
    "memory latency": "have more loads under way: more resident warps, or several independent loads in each",
    "latency of results": "have more independent instructions in each warp, or more resident warps",
    "full pipelines": "spread instructions over units, and accesses over banks",
    "registers withheld": "give the design more physical registers, or compile for fewer (--max-registers)",
    "the scheduler's choice": "let the scheduler look at more warps",
}
_WAITS = {
    "fetch": "instruction fetch",
    "barrier": "barriers",
    "pipeline": "full pipelines",
    "allocation": "registers withheld",
    "scheduler": "the scheduler's choice",
}


@dataclass(frozen=True)
class Limits:
    """How far a run used its chip, and what limited it. Shares are from 0 to 1; None where there was nothing to count."""

    verdict: str  # one of the keys of `_TRY`
    why: str  # the numbers behind it
    advice: str
    sms: int
    sms_with_work: float  # on average over the launches, by their cycles
    sm_cycles: float  # of all SMs' cycles, those with CTAs
    occupancy: float  # that resources allow
    achieved_occupancy: float
    issue_slots: float
    pipe: str  # the busiest one
    pipe_used: float
    l1_hits: float | None
    l1_used: float
    l2_hits: float | None
    l2_used: float
    dram_bytes: int
    dram_used: float
    waits: dict[str, float]  # of the cycles in which a scheduler with warps issued nothing

    @property
    def sentence(self) -> str:
        """The verdict with its numbers, and what to try."""
        return f"limited by {self.verdict}: {self.why}. Try: {self.advice}."

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them."""
        return asdict(self)


def limits_of(result: Result) -> Limits | None:
    """What limited a run, by the rules above; None where nothing was launched."""
    if not result.launches:
        return None
    numbers, counters = result.spec.machine.to_dict(), result.counters
    sms, cycles = numbers["chip"]["sms"], max(1, result.cycles)
    busy = max(1, sum(launch.busy_cycles for launch in result.launches))
    resident = sum(launch.resident_cycles for launch in result.launches)
    pipes = _pipes(numbers, counters["instructions_by_class"], busy)
    pipe = max(pipes, key=lambda name: pipes[name])
    dram_bytes = SECTOR_BYTES * (counters.get("dram_reads", 0) + counters.get("dram_writes", 0))
    used = {
        "issue slots": counters["issued"] / (busy * numbers["sm"]["schedulers"] * numbers["sm"]["issue_width"]),
        "a pipe": pipes[pipe],
        "L1 bandwidth": counters.get("l1_accesses", 0) / busy,
        "L2 bandwidth": counters.get("l2_accesses", 0) / (cycles * numbers["l2"]["slices"] * numbers["l2"]["sectors_per_cycle"]),
        "DRAM bandwidth": dram_bytes / (cycles * _dram_bytes_per_cycle(numbers)),
    }
    stalls = {reason: spent for reason, spent in counters["stall_cycles"].items() if reason != "empty"}
    waiting = max(1, sum(stalls.values()))
    measured = {
        "sms": sms,
        "sms_with_work": sum(launch.busy_sms * launch.cycles for launch in result.launches) / cycles,
        "sm_cycles": busy / (sms * cycles),
        "occupancy": result.occupancy,
        "achieved_occupancy": resident / (busy * numbers["sm"]["warps_per_sm"]),
        "issue_slots": used["issue slots"],
        "pipe": pipe,
        "pipe_used": pipes[pipe],
        "l1_hits": _share(counters, *(_SECTORS if counters.get("l1_sectors") else _LINES)),
        "l1_used": used["L1 bandwidth"],
        "l2_hits": _complement(_share(counters, "l2_misses", "l2_accesses")),
        "l2_used": used["L2 bandwidth"],
        "dram_bytes": dram_bytes,
        "dram_used": used["DRAM bandwidth"],
        "waits": {reason: spent / waiting for reason, spent in stalls.items()},
    }
    verdict, why = _verdict(result, measured, used)
    return Limits(verdict=verdict, why=why, advice=_TRY[verdict], **measured)


def _verdict(result: Result, measured: Mapping[str, Any], used: Mapping[str, float]) -> tuple[str, str]:
    """The first rule that holds, and its numbers in words."""
    sms, ctas = measured["sms"], sum(launch.ctas for launch in result.launches) / max(1, len(result.launches))
    with_ctas = f"{measured['sms_with_work']:.3g} of {sms} SMs have work, {measured['sm_cycles']:.0%} of all SMs' cycles"
    if measured["sm_cycles"] < MOSTLY_EMPTY and ctas < sms:
        return "an empty chip", f"{ctas:,.4g} CTAs in a launch, {with_ctas}"
    if measured["sm_cycles"] < TAIL:
        return "a tail", f"{ctas:,.4g} CTAs in a launch, {with_ctas}"
    most = max(used, key=lambda name: used[name])
    if used[most] >= AT_PEAK:
        what = measured["pipe"] if most == "a pipe" else most
        return most, f"{what} at {used[most]:.0%} of what it can"
    places = sms * result.ctas_per_sm
    if ctas < MOSTLY_EMPTY * places:
        return "an empty chip", f"{ctas:,.4g} CTAs in a launch where {places:,} fit"
    waits = measured["waits"]
    reason = max(waits, key=lambda name: waits[name])
    few = measured["achieved_occupancy"] < FEW_WARPS
    occupancy = f"{measured['achieved_occupancy']:.0%} of the warps that fit are resident" if few else "nothing is at its peak"
    if reason == "scoreboard":
        missed = measured["l1_hits"] is not None and measured["l1_hits"] < 1 - FEW_MISSES
        named = "memory latency" if missed else "latency of results"
    else:
        named = _WAITS[reason]
    return named, f"{waits[reason]:.0%} of the cycles in which schedulers with warps issue nothing; {occupancy}"


def _pipes(numbers: Mapping[str, Any], executed: Mapping[str, int], busy: int) -> dict[str, float]:
    """How busy each pipe is, from the classes of the instructions; tensor cores are none of them."""
    time: dict[str, float] = {}
    in_sub_cores = numbers["stages"]["operands"] == "ports"
    for name, count in executed.items():
        kind = OpClass[name.upper()]
        pipe = _pipe_of(kind, in_sub_cores)
        if pipe:
            time[pipe] = time.get(pipe, 0.0) + count * numbers["initiation"][name]
    units = numbers["units"]
    places = {"SP units": units["sp"], "SFU": units["sfu"]} if not in_sub_cores else {}
    return {pipe: spent / (busy * places.get(pipe, numbers["sm"]["sub_cores"])) for pipe, spent in time.items()} or {"none": 0.0}


def _pipe_of(kind: OpClass, in_sub_cores: bool) -> str:
    if unit(kind) in (Unit.NONE, Unit.MEM):
        return ""
    if not in_sub_cores:
        return "SFU" if unit(kind) == Unit.SFU else "SP units"
    if kind.name.startswith("F64"):
        return "FP64 pipe"
    if kind in (OpClass.SFU, OpClass.SHUFFLE):
        return "pipe for functions" if kind == OpClass.SFU else "pipe between lanes"
    return "FMA pipe" if kind in _FMA else "integer multiplier" if kind in _HEAVY else "ALU"


def _dram_bytes_per_cycle(numbers: Mapping[str, Any]) -> float:
    dram, chip = numbers["dram"], numbers["chip"]
    return dram["channels"] * dram["burst_bytes"] / dram["burst_cycles"] * chip["clock_dram_mhz"] / chip["clock_core_mhz"]


def _share(counters: Mapping[str, Any], part: str, whole: str) -> float | None:
    return counters[part] / counters[whole] if counters.get(whole) else None


def _complement(share: float | None) -> float | None:
    return None if share is None or math.isnan(share) else 1 - share
