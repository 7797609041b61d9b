"""Designs side by side: tables for the terminal, a picture for a file."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from warploom.energy import PARTS
from warploom.errors import WarploomError
from warploom.result import Result

PICTURES = (".png", ".svg", ".pdf", ".html")
_COLOURS = {"dynamic": "#4c72b0", "leakage": "#dd8452", "overhead": "#55a868"}
_INSTALL = "pictures need the extra: pip install 'warploom[report]'"


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


def comparison_table(results: Sequence[Result]) -> list[Table]:
    """The tables of a comparison: every workload under every design, then each design over all workloads."""
    each = Table("workload", "design", title="Each run", title_justify="left")
    for heading in ("cycles", "time", "IPC", "occupancy", "registers", "dynamic", "leakage", "overhead", "energy nJ", "verified"):
        each.add_column(heading, justify="right")
    reference: dict[str, Result] = {}
    for r in results:
        base = reference.setdefault(r.workload, r)
        first = base is r
        parts = [f"{r.energy_pj[part] / base.energy_pj['total']:.1%}" for part in PARTS]
        verified = {True: "yes", False: "NO", None: "-"}[r.verified]
        each.add_row(
            r.workload if first else "",
            r.design["name"],
            f"{r.cycles:,}",
            f"{r.cycles / base.cycles:.3f}",
            f"{r.ipc:.2f}",
            f"{r.occupancy:.0%}",
            str(r.registers_per_thread),
            *parts,
            f"{r.energy_pj['total'] / 1000:,.1f}",
            verified,
        )
    overall = Table("design", title="Over all workloads, relative to the first design", title_justify="left")
    for heading in ("time", "occupancy", "dynamic", "leakage", "overhead", "energy", "register file", "bits added"):
        overall.add_column(heading, justify="right")
    for row in summary(results):
        overall.add_row(
            row["design"],
            f"{row['time']:.3f}",
            f"{row['occupancy']:.0%}",
            *(f"{row[part]:.1%}" for part in PARTS),
            f"{row['energy']:.1%}",
            f"{row['register_file_bytes'] // 1024} KB",
            f"{row['storage_bits']:,}",
        )
    return [each, overall]


def check_picture_name(path: Path) -> None:
    """Refuse a name whose ending says no format we can draw, before anything is run."""
    if path.suffix.lower() not in PICTURES:
        raise WarploomError(f"--out {path}: the name must end in {', '.join(PICTURES[:-1])} or {PICTURES[-1]}")
    if not path.resolve().parent.is_dir():
        raise WarploomError(f"--out {path}: there is no folder {path.resolve().parent}")


def draw_comparison(results: Sequence[Result], path: Path) -> None:
    """Bars of time and of energy by part for every design, written to a file whole or not at all."""
    rows = summary(results)
    draw = _draw_html if path.suffix.lower() == ".html" else _draw_matplotlib
    descriptor, name = tempfile.mkstemp(suffix=path.suffix, dir=path.resolve().parent)
    os.close(descriptor)
    try:
        draw(rows, Path(name))
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _draw_matplotlib(rows: list[dict[str, Any]], path: Path) -> None:
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        raise WarploomError(_INSTALL) from None
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(4 + 1.1 * len(rows), 4.2), layout="constrained")
    names = [row["design"] for row in rows]
    left.bar(names, [row["time"] for row in rows], color="#8172b3")
    left.set_ylabel("time, relative to the first design")
    bottom = [0.0] * len(rows)
    for part in PARTS:
        heights = [row[part] for row in rows]
        right.bar(names, heights, bottom=bottom, label=part, color=_COLOURS[part])
        bottom = [low + high for low, high in zip(bottom, heights, strict=True)]
    right.set_ylabel("register file energy, relative to the first design")
    right.legend()
    for axes in (left, right):
        axes.tick_params(axis="x", rotation=30)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def _draw_html(rows: list[dict[str, Any]], path: Path) -> None:
    try:
        from plotly import graph_objects
        from plotly.subplots import make_subplots
    except ImportError:
        raise WarploomError(_INSTALL) from None
    names = [row["design"] for row in rows]
    figure = make_subplots(1, 2, subplot_titles=("time", "register file energy"))
    figure.add_trace(graph_objects.Bar(x=names, y=[row["time"] for row in rows], marker_color="#8172b3", showlegend=False), 1, 1)
    for part in PARTS:
        bars = graph_objects.Bar(x=names, y=[row[part] for row in rows], name=part, marker_color=_COLOURS[part])
        figure.add_trace(bars, 1, 2)
    figure.update_layout(barmode="stack", template="plotly_white", title="Relative to the first design")
    figure.write_html(path, include_plotlyjs=True)
