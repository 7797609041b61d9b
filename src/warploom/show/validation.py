"""Pictures of a model beside measurements: each launch a point, ours over measured, both logarithmic."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from warploom.report.charts import altair, save
from warploom.report.colours import BLUE, PUBLISHED
from warploom.validation.compare import Compared
from warploom.validation.recorded import MeasuredNumber
from warploom.validation.split import PARTS

_COLOURS = [BLUE, "#d95f02"]
_SIDE = 420  # pixels


def draw_validation(rows: Sequence[Compared], title: str, path: Path) -> None:
    """Cycles of all launches; on the line they agree, between the dashed ones they are 15% apart or less."""
    points = [
        {
            "kernel": f"{row.measured.name} {row.measured.size} {row.measured.launch}",
            "part": row.measured.part,
            "measured": row.measured.cycles,
            "ours": row.cycles,
            "error": row.error,
        }
        for row in rows
    ]
    _draw(points, "cycles measured", "cycles of the model", title, path)


def draw_numbers(pairs: Sequence[tuple[MeasuredNumber, float]], title: str, path: Path) -> None:
    """Numbers of microbenchmarks."""
    points = [
        {
            "kernel": one.name,
            "part": one.name.partition(".")[0],
            "measured": one.value,
            "ours": ours,
            "error": ours / one.value - 1,
        }
        for one, ours in pairs
        if one.value > 0 and ours > 0
    ]
    _draw(points, "measured", "the model's", title, path)


def _draw(points: list[dict[str, Any]], x_title: str, y_title: str, title: str, path: Path) -> None:
    alt = altair()
    values = [value for point in points for value in (point["measured"], point["ours"])]
    low, high = min(values) * 0.8, max(values) * 1.25
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    parts = [part for part in PARTS if any(point["part"] == part for point in points)]
    colour = alt.Color("part:N", legend=alt.Legend(title=None, orient="top"))
    if parts:
        colour = alt.Color(
            "part:N", scale=alt.Scale(domain=parts, range=_COLOURS[: len(parts)]), legend=alt.Legend(title=None, orient="top")
        )
    lines = [
        alt.Chart(alt.Data(values=[{"x": low, "y": low * factor}, {"x": high, "y": high * factor}]))
        .mark_line(color=PUBLISHED, strokeDash=[1, 0] if factor == 1 else [4, 4], strokeWidth=1, clip=True)
        .encode(x=alt.X("x:Q", scale=scale), y=alt.Y("y:Q", scale=scale))
        for factor in (1.0, 1.15, 0.85)
    ]
    marks = (
        alt.Chart(alt.Data(values=points))
        .mark_point(filled=True, size=45, opacity=0.75)
        .encode(
            x=alt.X("measured:Q", scale=scale, title=x_title),
            y=alt.Y("ours:Q", scale=scale, title=y_title),
            color=colour,
            tooltip=[
                "kernel:N",
                "part:N",
                alt.Tooltip("measured:Q", format=",.5~g"),
                alt.Tooltip("ours:Q", format=",.5~g"),
                alt.Tooltip("error:Q", format="+.1%"),
            ],
        )
    )
    drawn = alt.layer(*lines, marks).properties(width=_SIDE, height=_SIDE, title=alt.TitleParams(title, anchor="start"))
    save(drawn.configure_view(stroke=None), path, [])
