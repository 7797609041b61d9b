"""What a timing run gives: plain numbers, gathered from the SMs' records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from warploom.code.classes import OpClass
from warploom.core.chip import SAMPLED
from warploom.register_file.layout import COUNTERS, STALLS

STATES = ("on_cycles", "drowsy_cycles", "off_cycles")


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
    launches: list[dict[str, Any]] = field(default_factory=list)
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


def finish_counters(total: dict[str, Any]) -> dict[str, Any]:
    """Add the ratios, which must be taken over all launches together."""
    out = dict(total)
    available = max(1, out["entry_cycles"])
    out["allocated_fraction"] = out["allocated_cycles"] / available
    out["live_fraction"] = out["live_cycles"] / max(1, out["allocated_cycles"])
    out["live_fraction_of_file"] = out["live_cycles"] / available
    out["inter_access_distance"] = out["distance_sum"] / max(1, out["distance_count"])
    out["inter_access_distance_of_entries"] = out["entry_distance_sum"] / max(1, out["entry_distance_count"])
    return out


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
