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
    given = {name: {str(row[name]): row[name] for row in rows if _is_given(row.get(name))} for name in axes}
    numeric = [name for name in axes if len(given[name]) > 1 and all(map(_is_number, given[name].values()))]
    x = max(numeric or axes, key=lambda name: len(given[name]))
    along = x.replace(".", " ")  # a dot in a name means something to Vega
    y = "mean, and the ends of its 95% interval" if any(_is_number(row["cycles ±"]) for row in rows) else "mean"
    means: list[Row] = []
    ends: list[Row] = []
    for row in rows:
        series = ", ".join(str(row[name]) for name in axes if name != x and _is_given(row.get(name)))
        for title, (measure, unit) in _SHOWN.items():
            half = row[f"{measure} ±"]
            for place in _places(row.get(x), list(given[x].values()), bool(numeric)):
                at = {along: place, "series": series, "measure": title}
                means.append({**at, y: row[measure] / unit, "runs": row["runs"]})
                if _is_number(half):
                    ends += [{**at, y: (row[measure] + sign * half) / unit} for sign in (-1, 1)]
    many = len({row["series"] for row in means}) > 1
    chart = Chart("lines" if numeric else "bars", along, y, "series" if many else "", "measure", along)
    save(draw(chart, means, path.stem, spread=ends, setting=setting), path, [], setting)


def _places(value: Any, values: Sequence[Any], numeric: bool) -> list[Any]:
    """Where a point stands at the x axis. What is not varied along it, as a design without the parameter, is a level across."""
    if numeric:
        return [value] if _is_given(value) else sorted(values)
    return [str(value) if _is_given(value) else "-"]


def _is_given(value: Any) -> bool:
    """Whether there is a value: a table marks what is missing as something that differs from itself."""
    return value is not None and value == value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value
