"""The points of a sweep without their seeds: means over replicates, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from warploom.studies.search.statistics import estimate

MEASURES = ("cycles", "ipc", "occupancy", "energy_pj.total")


def varying_axes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The coordinates in which the rows of a summary differ; workload and design where they differ in none."""
    axes = dict.fromkeys(name for row in rows for name in row if name != "runs" and name.removesuffix(" ±") not in MEASURES)
    return [name for name in axes if len({str(row.get(name)) for row in rows}) > 1] or ["workload", "design"]


def summarise(rows: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """One row for each point but for its seed: coordinates, number of runs, mean and half width of each measure's interval.

    ``rows`` are coordinates and numbers of every run.
    """
    groups: dict[tuple[Any, ...], tuple[dict[str, Any], list[Mapping[str, Any]]]] = {}
    for coordinates, numbers in rows:
        kept = {name: value for name, value in coordinates.items() if name != "seed"}
        groups.setdefault(tuple(kept.items()), (kept, []))[1].append(numbers)
    out = []
    for kept, runs in groups.values():
        row: dict[str, Any] = {**kept, "runs": len(runs)}
        for measure in MEASURES:
            known = estimate([float(run[measure]) for run in runs])
            row |= {measure: known.mean, f"{measure} ±": known.half_width}
        out.append(row)
    return out
