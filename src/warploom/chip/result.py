"""What a timing run gives: plain numbers, gathered from the SMs' records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import reduce
from typing import Any

import numpy as np

from warploom.chip.run_chip import SAMPLED
from warploom.chip.sm.counter import CounterMeaning
from warploom.chip.sm.layout import COUNTERS, STALLS
from warploom.compiler.code.classes import OpClass

STATES = ("on_cycles", "drowsy_cycles", "off_cycles")
GATHERED = {
    "bank_accesses": CounterMeaning("accesses", "Reads and writes of single banks."),
    "stall_cycles": CounterMeaning(
        "cycles", "Cycles in which a scheduler issued nothing, by reason, added up over the schedulers."
    ),
    "active_lanes": CounterMeaning("instructions", "Warp instructions by the number of lanes that executed them, 0 to 32."),
    "distance_sum": CounterMeaning(
        "cycles", "Cycles between two accesses to an entry, added up; distances beyond 3,000 are left out."
    ),
    "distance_count": CounterMeaning("accesses", "Accesses that `distance_sum` is the sum of."),
    "entry_distance_sum": CounterMeaning(
        "cycles", "The mean distance of each entry that was accessed twice, added up over the entries."
    ),
    "entry_distance_count": CounterMeaning("entries", "Entries that `entry_distance_sum` is the sum of."),
    "inter_access_bins": CounterMeaning(
        "accesses", "Accesses by the time since the last one of the entry: bin n has 2^n to 2^(n+1) - 1 cycles."
    ),
    "instructions_by_class": CounterMeaning("instructions", "Warp instructions by class of operation."),
    "on_cycles": CounterMeaning("entry cycles", "Cycles that entries of the register file were on, added up over the entries."),
    "drowsy_cycles": CounterMeaning(
        "entry cycles", "Cycles that entries of the register file were drowsy, added up over the entries."
    ),
    "off_cycles": CounterMeaning("entry cycles", "Cycles that entries of the register file were off, added up over the entries."),
    "allocated_cycles": CounterMeaning(
        "entry cycles", "Cycles that entries were allocated to registers, added up over the entries."
    ),
    "live_cycles": CounterMeaning(
        "entry cycles", "Cycles that registers held values which would still be read, added up over the registers."
    ),
    "allocated_peak": CounterMeaning("entries", "The most entries of one SM that were allocated at the same time."),
    "entry_cycles": CounterMeaning("entry cycles", "Entries of the register files of all SMs, times the cycles of the run."),
}
RATIOS = {
    "allocated_fraction": CounterMeaning("ratio", "Share of the register file that was allocated, over the time of the run."),
    "live_fraction": CounterMeaning("ratio", "Share of what was allocated that held values which would still be read."),
    "live_fraction_of_file": CounterMeaning("ratio", "Share of the register file that held values which would still be read."),
    "inter_access_distance": CounterMeaning("cycles", "Mean time between two accesses to an entry, over all accesses."),
    "inter_access_distance_of_entries": CounterMeaning(
        "cycles", "Mean time between two accesses to an entry, over the entries' means."
    ),
}
CORE_COUNTERS: dict[str, CounterMeaning] = {**COUNTERS, **GATHERED, **RATIOS}


@dataclass(frozen=True, slots=True)
class TimedLaunch:
    """What one launch came to. What has a default is known only of launches that were asked for by name."""

    kernel: str
    cycles: int
    warp_instructions: int
    active_cycles: int  # of the SM that had CTAs for longest
    ctas: int
    busy_sms: int
    busy_cycles: int  # of SMs with CTAs
    resident_cycles: int  # of warps
    launch: int | None = None  # which of its kernel, from 0
    issued_thread_instructions: int | None = None
    memory: dict[str, int] | None = None  # counters of the memory system

    def to_dict(self) -> dict[str, Any]:
        """Plain values; what is not known is left out."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


@dataclass
class TimedKernel:
    """All launches of one kernel, added up."""

    kernel: str
    registers: int  # of a thread, in the launch with most
    launches: int = 0
    cycles: int = 0
    counters: dict[str, Any] = field(default_factory=dict)  # of the core and the policies, not finished

    def add(self, registers: int, launches: int, cycles: int, counters: dict[str, Any]) -> None:
        """Add launches."""
        self.registers = max(self.registers, registers)
        self.launches += launches
        self.cycles += cycles
        self.counters = merge(self.counters, counters)


@dataclass(frozen=True)
class TimingResult:
    """Cycles and counters of a sequence of launches."""

    cycles: int
    warp_instructions: int
    counters: dict[str, Any]  # of the core, and of the six policies
    occupancy: float  # resident warps allowed by resources, as a share; of the launch with most instructions
    ctas_per_sm: int
    limited_by: str
    registers_per_thread: int
    launches: list[TimedLaunch] = field(default_factory=list)
    kernels: list[TimedKernel] = field(default_factory=list)  # in the order of their first launches
    samples: list[dict[str, int]] = field(default_factory=list)  # running totals, `cycle` among them
    observed: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # by observer, for each launch what it saw

    @property
    def ipc(self) -> float:
        """Warp instructions per cycle of the whole chip."""
        return self.warp_instructions / self.cycles if self.cycles else 0.0


def gather(sms: np.ndarray, entries: int, cycles: int) -> dict[str, Any]:
    """The SMs' counters of one launch, added up."""
    count = _added(sms.view(np.ndarray)["count"])
    total: dict[str, Any] = {name: int(count[name]) for name in COUNTERS}
    total["bank_accesses"] = total["bank_reads"] + total["bank_writes"]
    total["stall_cycles"] = dict(zip(STALLS, count["stall"].tolist(), strict=True))
    total["active_lanes"] = count["active_lanes"].tolist()
    total |= _distances(sms.view(np.ndarray)["entry"][:, : int(sms["entries_used"].max())])
    total["inter_access_bins"] = count["distance"].tolist()
    classes = count["by_class"]
    total["instructions_by_class"] = {kind.name.lower(): int(classes[kind]) for kind in OpClass if classes[kind]}
    parts = parts_of_entry(sms, entries)
    for state, name in enumerate(STATES):
        total[name] = in_entries(int(sms["state_cycles"][:, state].sum()), parts)
    total["allocated_cycles"] = int(sms["allocated_cycles"].sum())
    total["live_cycles"] = int(sms["live_cycles"].sum())
    total["allocated_peak"] = int(sms["allocated_peak"].max())
    total["entry_cycles"] = entries * cycles * len(sms)
    return total


def _added(counts: np.ndarray) -> Any:
    """One record of counters from those of all SMs: every field of them is made of numbers of 64 bits."""
    return counts.copy().view(np.int64).reshape(len(counts), -1).sum(axis=0).view(counts.dtype)[0]


def _distances(entry: np.ndarray) -> dict[str, int | float]:
    """Cycles between two accesses to an entry: over all accesses, and the means of the entries that were accessed twice."""
    spent, count = entry["distance_sum"], entry["distance_count"]
    accessed = count > 0
    return {
        "distance_sum": int(spent.sum()),
        "distance_count": int(count.sum()),
        "entry_distance_sum": float((spent[accessed] / count[accessed]).sum()),
        "entry_distance_count": int(accessed.sum()),
    }


def parts_of_entry(sms: np.ndarray, entries: int) -> int:
    """In how many parts of an entry the power policy counts states: bank entries, where a register spans several banks."""
    return int(sms["state_entries"][0].sum()) // entries


def in_entries(cycles: int, parts: int) -> int | float:
    """Cycles of parts as cycles of entries: exact, because parts are a power of two."""
    whole = cycles // parts
    return whole if whole * parts == cycles else cycles / parts


def merge(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Add the counters of two launches; peaks keep the higher."""
    out = dict(first)
    for key, value in second.items():
        previous = out.get(key)
        if previous is None:
            out[key] = value
        elif isinstance(value, dict):
            out[key] = merge(previous, value)
        elif isinstance(value, list):
            out[key] = [a + b for a, b in zip(previous, value, strict=True)]
        elif isinstance(value, str | bool) or key.endswith("_peak"):
            out[key] = max(previous, value)
        else:
            out[key] = previous + value
    return out


def finish_counters(total: dict[str, Any], policies: Iterable[Any] = ()) -> dict[str, Any]:
    """Add the ratios, which must be taken over all launches together, and what policies make of their own counters."""
    out = dict(total)
    available = max(1, out["entry_cycles"])
    out["allocated_fraction"] = out["allocated_cycles"] / available
    out["live_fraction"] = out["live_cycles"] / max(1, out["allocated_cycles"])
    out["live_fraction_of_file"] = out["live_cycles"] / available
    out["inter_access_distance"] = out["distance_sum"] / max(1, out["distance_count"])
    out["inter_access_distance_of_entries"] = out["entry_distance_sum"] / max(1, out["entry_distance_count"])
    for policy in policies:
        if hasattr(policy, "summary"):
            out |= policy.summary(out)
    return out


def joined(results: Sequence[TimingResult], policies: Iterable[Any]) -> TimingResult:
    """The results of several chips as one, as if their launches had followed each other; nobody has watched them."""
    if len(results) == 1:
        return results[0]
    widest = max(results, key=lambda result: result.warp_instructions)
    counters = finish_counters(reduce(merge, (result.counters for result in results)), policies)
    return TimingResult(
        cycles=sum(result.cycles for result in results),
        warp_instructions=counters["warp_instructions"],
        counters=counters,
        occupancy=widest.occupancy,
        ctas_per_sm=widest.ctas_per_sm,
        limited_by=widest.limited_by,
        registers_per_thread=widest.registers_per_thread,
        launches=[launch for result in results for launch in result.launches],
        kernels=_joined_kernels(results),
        samples=_joined_samples(results),
    )


def _joined_kernels(results: Sequence[TimingResult]) -> list[TimedKernel]:
    found: dict[str, TimedKernel] = {}
    for kernel in (kernel for result in results for kernel in result.kernels):
        total = found.setdefault(kernel.kernel, TimedKernel(kernel.kernel, 0))
        total.add(kernel.registers, kernel.launches, kernel.cycles, kernel.counters)
    return list(found.values())


def _joined_samples(results: Sequence[TimingResult]) -> list[dict[str, int]]:
    """Running totals: those of each chip begin where those of the one before it end."""
    samples: list[dict[str, int]] = []
    for result in results:
        before = samples[-1] if samples else {}
        samples += [{name: value + before.get(name, 0) for name, value in sample.items()} for sample in result.samples]
    return samples


def samples_of(chip: Any, offset: dict[str, Any], parts: int) -> list[dict[str, Any]]:
    """The periodic samples of one launch as running totals over all launches; ``parts`` as `parts_of_entry` gives them."""
    rows = chip["sample"][: int(chip["samples"])]
    share = {name: parts if name in STATES else 1 for name in SAMPLED}
    return [{n: in_entries(int(value), share[n]) + offset[n] for n, value in zip(SAMPLED, row, strict=True)} for row in rows]


def states_over_time(samples: list[dict[str, int]], cycle_time: float) -> list[dict[str, float]]:
    """Between samples: shares of the register file's entries in each power state, allocated and live, and the chip's IPC."""
    rows = []
    previous = dict.fromkeys(samples[0], 0) if samples else {}
    for sample in samples:
        spent = {name: sample[name] - previous[name] for name in (*STATES, "allocated_cycles", "live_cycles")}
        entries = sum(spent[name] for name in STATES)
        if entries > 0:
            shares = {name.removesuffix("_cycles"): value / entries for name, value in spent.items()}
            issued = sample["warp_instructions"] - previous["warp_instructions"]
            ipc = issued / (sample["cycle"] - previous["cycle"])
            rows.append({"seconds": sample["cycle"] * cycle_time, **shares, "ipc": ipc})
        previous = sample
    return rows
