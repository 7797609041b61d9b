"""The energy account of one run: counters x energy, states x leakage x time, overheads, wires."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from warploom.base.errors import WarploomError
from warploom.compiler.code.lanes import LANES
from warploom.designs.energy.technology import REGISTER_BITS, Technology

PARTS = ("dynamic", "leakage", "overhead")
READS, WRITES, WIRES = "register file reads", "register file writes", "register file wires"  # terms that follow from accesses
_LANE_BITS = REGISTER_BITS // LANES

Counters = Mapping[str, Any]


class Term(NamedTuple):
    """One line of the account."""

    what: str
    part: str
    joules: float


@dataclass(frozen=True)
class RunFacts:
    """What the account must know of a run besides its counters."""

    cycles: float
    cycle_time: float  # s
    sms: int
    register_file_bytes: int  # physical bytes of one SM
    design: Any = None  # the six policies, for terms that depend on more than one of them
    machine: Any = None  # its description, for terms that depend on more than the register file's size

    @property
    def seconds(self) -> float:
        return self.cycles * self.cycle_time


@dataclass(frozen=True)
class Account:
    """Every term, and their sums by part. The parts add up to the total because the total is defined as their sum."""

    register_file: tuple[Term, ...]
    added: tuple[Term, ...] = ()  # by policies

    @property
    def terms(self) -> tuple[Term, ...]:
        return self.register_file + self.added

    def part(self, name: str) -> float:
        """Joules of one part."""
        return math.fsum(term.joules for term in self.terms if term.part == name)

    @property
    def dynamic(self) -> float:
        return self.part("dynamic")

    @property
    def leakage(self) -> float:
        return self.part("leakage")

    @property
    def overhead(self) -> float:
        return self.part("overhead")

    @property
    def total(self) -> float:
        return math.fsum(self.part(name) for name in PARTS)

    def picojoules(self) -> dict[str, float]:
        """The parts and their sum in picojoules, as results print them."""
        parts = {name: self.part(name) * 1e12 for name in PARTS}
        return {**parts, "total": math.fsum(parts.values())}


def account(counters: Counters, policies: Iterable[Any], technology: Technology, run: RunFacts) -> Account:
    """The account of one run: the register file itself, then what each policy adds to it."""
    sized = technology.scaled(bytes=run.register_file_bytes)
    added = [term for policy in policies for term in _policy_terms(policy, counters, sized, run)]
    return Account(tuple(_register_file(counters, sized, run)), tuple(added))


def _register_file(counters: Counters, technology: Technology, run: RunFacts) -> Iterable[Term]:
    lanes = {kind: counters.get(f"rf_{kind}_lanes", counters.get(f"rf_{kind}s", 0) * LANES) for kind in ("read", "write")}
    for what, (kind, active) in zip((READS, WRITES), lanes.items(), strict=True):
        yield Term(what, "dynamic", float(active) / LANES * technology.access(kind, run.cycle_time))
    distance = technology.register_file.distance
    if distance:
        bits = sum(lanes.values()) * _LANE_BITS
        yield Term(WIRES, "dynamic", bits * distance * technology.wire_energy)
    full = technology.register_file.leakage_total * run.sms * run.seconds
    states = {state: float(counters.get(f"{state}_cycles", 0)) for state in ("on", "drowsy", "off")}
    entries = sum(states.values())
    if not entries:
        yield Term("register file on", "leakage", full)
        return
    ratio = {"on": 1.0, "drowsy": technology.drowsy_ratio, "off": 0.0}
    for state, cycles in states.items():
        if cycles and ratio[state]:
            yield Term(f"register file {state}", "leakage", full * ratio[state] * cycles / entries)


def _policy_terms(policy: Any, counters: Counters, technology: Technology, run: RunFacts) -> Iterable[Term]:
    declare = getattr(policy, "energy", None)
    if declare is None:
        return
    for what, part, joules in declare(counters, technology, run) or ():
        where = f"policy {type(policy).__name__}: energy term {what!r}"
        if part not in PARTS:
            raise WarploomError(f"{where} has part {part!r}, which must be one of {', '.join(PARTS)}")
        if not math.isfinite(joules):
            raise WarploomError(f"{where} is {joules}, which is not a finite number of joules")
        yield Term(what, part, float(joules))


def power_over_time(samples: Sequence[Counters], whole: Account, technology: Technology, run: RunFacts) -> list[dict[str, float]]:
    """Watts by part in each interval between periodic samples; integrated over time they give the whole account's energy.

    A sample holds the running totals of the core's counters at one moment, its ``cycle`` among them. They say exactly when the
    register file was accessed and which states its entries were in. What policies add is spread evenly over the run, because
    samples do not hold policies' own counters.
    """
    sized = technology.scaled(bytes=run.register_file_bytes)
    even = {part: math.fsum(term.joules for term in whole.added if term.part == part) / run.seconds for part in PARTS}
    rows = []
    for before, after in itertools.pairwise([dict.fromkeys(samples[0], 0), *samples] if samples else []):
        cycles = after["cycle"] - before["cycle"]
        if cycles <= 0:
            continue
        change = {name: after[name] - before[name] for name in after}
        interval = replace(run, cycles=cycles)
        spent = Account(tuple(_register_file(change, sized, interval)))
        watts = {part: spent.part(part) / interval.seconds + even[part] for part in PARTS}
        rows.append({"seconds": after["cycle"] * run.cycle_time, **watts, "total": math.fsum(watts.values())})
    return rows
