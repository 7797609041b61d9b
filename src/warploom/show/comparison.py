"""Designs side by side: tables for the terminal, a picture for a file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from warploom.designs.energy import PARTS
from warploom.runs.provenance import described
from warploom.runs.result import Result
from warploom.show.charts import draw, save
from warploom.show.setting import USUAL, Setting
from warploom.studies.reproduce.experiment import Chart, Row

_ENERGY = "register file energy"
SHORT = ("dyn.", "leak.", "over.")  # headings of the energy's parts


def geometric_mean(values: Sequence[float]) -> float:
    """The mean that ratios want; not a number for none."""
    return math.exp(math.fsum(map(math.log, values)) / len(values)) if values else math.nan


def by_design(results: Sequence[Result]) -> dict[str, list[Result]]:
    """Results grouped by design, in the order in which designs appear."""
    grouped: dict[str, list[Result]] = {}
    for result in results:
        grouped.setdefault(result.design["name"], []).append(result)
    return grouped


def summary(results: Sequence[Result]) -> list[dict[str, Any]]:
    """One row per design over all workloads: time and energy relative to the first design (geometric mean), and its size."""
    grouped = by_design(results)
    reference = next(iter(grouped.values()))
    rows = []
    for name, group in grouped.items():
        pairs = list(zip(group, reference, strict=True))
        energy = {
            part: math.fsum(r.energy_pj[part] / base.energy_pj["total"] for r, base in pairs) / len(pairs) for part in PARTS
        }
        rows.append(
            {
                "design": name,
                "time": geometric_mean([r.cycles / base.cycles for r, base in pairs]),
                "occupancy": math.fsum(r.occupancy for r in group) / len(group),
                **energy,
                "energy": math.fsum(energy.values()),
                "register_file_bytes": group[0].register_file_bytes,
                "storage_bits": max(r.storage_bits for r in group),
            }
        )
    return rows


def comparison_table(results: Sequence[Result], *, in_sections: bool = True) -> list[Table]:
    """The tables of a comparison: every workload under every design, then each design over all workloads.

    Times and energies are relative to the first design. Workloads are headings of sections, or else a column.
    """
    names = ("design",) if in_sections else ("workload", "design")
    each = _table("Each run", names, "cycles", "time", "occ.", *SHORT, "energy", "verified")
    reference: dict[str, Result] = {}
    for r in results:
        if in_sections and r.workload not in reference:
            each.add_section()
            each.add_row(f"[bold]{r.workload}[/]")
        base = reference.setdefault(r.workload, r)
        each.add_row(
            *(() if in_sections else (r.workload,)),
            r.design["name"],
            f"{r.cycles:,}",
            f"{r.cycles / base.cycles:.3f}",
            f"{r.occupancy:.0%}",
            *(f"{r.energy_pj[part] / base.energy_pj['total']:.1%}" for part in (*PARTS, "total")),
            "-" if r.verified is None and not r.doubt else r.verdict,
        )
    overall = _table("All workloads", ("design",), "time", "occ.", *SHORT, "energy", "file", "bits")
    overall.caption = "occ.: occupancy; dyn., leak., over.: parts of the energy; bits: storage that the design adds to an SM"
    for row in summary(results):
        overall.add_row(
            row["design"],
            f"{row['time']:.3f}",
            f"{row['occupancy']:.0%}",
            *(f"{row[part]:.1%}" for part in (*PARTS, "energy")),
            f"{row['register_file_bytes'] // 1024} KB",
            f"{row['storage_bits']:,}",
        )
    return [each, overall]


def _table(title: str, names: Sequence[str], *numbers: str) -> Table:
    """A table of designs that gives way in their names where the terminal is narrow, never in the numbers."""
    table = Table(
        box=box.SIMPLE_HEAD, title=title, title_justify="left", caption_justify="left", pad_edge=False, padding=(0, 1, 0, 0)
    )
    for heading in names:
        table.add_column(heading, overflow="fold")
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def draw_comparison(results: Sequence[Result], path: Path, setting: Setting = USUAL) -> None:
    """Bars of time and of energy by part for every design, with a point for each workload, as a picture or a page."""
    rows: list[Row] = [
        {"design": row["design"], "measure": measure, "part": part, "value": row[key]}
        for row in summary(results)
        for measure, part, key in (("time", "time", "time"), *((_ENERGY, part, part) for part in PARTS))
    ]
    first = {result.workload: result for result in next(iter(by_design(results).values()))}
    spread: list[Row] = [
        {"design": result.design["name"], "measure": measure, "workload": result.workload, "value": value}
        for result in results
        for measure, value in (
            ("time", result.cycles / first[result.workload].cycles),
            (_ENERGY, result.energy_pj["total"] / first[result.workload].energy_pj["total"]),
        )
    ]
    of_first = "of the first design's" + ("; mean, and each workload" if len(first) > 1 else "")
    chart = Chart("stacked", x="design", y="value", series="part", facet="measure", y_title=of_first)
    made_from = [result.provenance for result in results]
    several = spread if len(first) > 1 else []  # one workload is its own mean
    drawn = draw(chart, rows, "Designs over all workloads", subtitle=described(made_from), spread=several, setting=setting)
    save(drawn, path, made_from, setting)
