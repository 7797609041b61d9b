"""A sweep as a picture: what was measured over what was varied, with the intervals of points that several seeds were run for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from warploom.show.charts import draw, save
from warploom.show.setting import USUAL, Setting
from warploom.studies.reproduce.experiment import Chart, Row
from warploom.studies.sweep.summary import varying_axes

_SHOWN = {"cycles": ("cycles", 1.0), "register file energy, nJ": ("energy_pj.total", 1000.0)}


def draw_summary(rows: Sequence[Mapping[str, Any]], path: Path, setting: Setting = USUAL) -> None:
    """Lines over the axis with most numbers, or bars where none is of numbers; what else varies tells the series apart."""
    axes = varying_axes(rows)
    values = {name: len({str(row.get(name)) for row in rows}) for name in axes}
    numeric = [name for name in axes if all(_is_number(row.get(name)) for row in rows)]
    x = max(numeric or axes, key=lambda name: values[name])
    along = x.replace(".", " ")  # a dot in a name means something to Vega
    y = "mean, and the ends of its 95% interval" if any(_is_number(row["cycles ±"]) for row in rows) else "mean"
    means: list[Row] = []
    ends: list[Row] = []
    for row in rows:
        series = ", ".join(str(row[name]) for name in axes if name != x and row.get(name) is not None)
        for title, (measure, unit) in _SHOWN.items():
            at, half = {along: row[x], "series": series, "measure": title}, row[f"{measure} ±"]
            means.append({**at, y: row[measure] / unit, "runs": row["runs"]})
            if _is_number(half):
                ends += [{**at, y: (row[measure] + sign * half) / unit} for sign in (-1, 1)]
    many = len({row["series"] for row in means}) > 1
    chart = Chart("lines" if numeric else "bars", along, y, "series" if many else "", "measure", along)
    save(draw(chart, means, path.stem, spread=ends, setting=setting), path, [], setting)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value
