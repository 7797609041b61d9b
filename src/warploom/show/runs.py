"""The runs of a page as data: one entry for each design and workload, with what is shown when it is opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warploom.designs.energy import PARTS
from warploom.runs.result import Result

POINTS = 64  # over time, at most
STATES = ("on", "drowsy", "off", "allocated", "live")


def run_entries(results: Sequence[Result]) -> list[dict[str, Any]]:
    """For each run its numbers, relative to the first design's run of the same workload, and its course over time."""
    base: dict[str, Result] = {}
    return [_entry(result, base.setdefault(result.workload, result)) for result in results]


def _entry(result: Result, base: Result) -> dict[str, Any]:
    whole = base.energy_pj["total"]
    return {
        "workload": result.workload,
        "design": result.design["name"],
        "cycles": result.cycles,
        "time": round(result.cycles / base.cycles, 4),
        "energy": round(result.energy_pj["total"] / whole, 4),
        **{part: round(result.energy_pj[part] / whole, 4) for part in PARTS},
        "ipc": round(result.ipc, 3),
        "occupancy": round(result.occupancy, 3),
        "registers": result.registers_per_thread,
        "conflicts": result.counters.get("bank_conflicts", 0),
        "verified": result.verdict,
        "stalls": {reason: cycles for reason, cycles in result.counters.get("stall_cycles", {}).items() if cycles},
        "states": thinned(result.states, (*STATES, "ipc")),
        "power": thinned(result.power, (*PARTS, "total")),
    }


def thinned(rows: Sequence[Mapping[str, float]], names: Sequence[str]) -> list[list[float]]:
    """Rows over time, few enough for a chart: neighbours are merged, weighted by how long each lasts.

    A row is microseconds at its end, then the values of the names. Values keep four digits.
    """
    step = max(1, -(-len(rows) // POINTS))
    out = []
    before = 0.0
    for first in range(0, len(rows), step):
        merged = rows[first : first + step]
        spans = [row["seconds"] - last for row, last in zip(merged, [before, *(row["seconds"] for row in merged)], strict=False)]
        length = sum(spans) or 1.0
        values = [sum(row.get(name, 0.0) * span for row, span in zip(merged, spans, strict=True)) / length for name in names]
        before = merged[-1]["seconds"]
        out.append([float(f"{value:.4g}") for value in (before * 1e6, *values)])
    return out
