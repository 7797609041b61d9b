"""Pictures of a model beside measurements: each launch a point, ours over measured, both logarithmic."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from warploom.show.charts import altair, save
from warploom.show.colours import BLUE, PUBLISHED
from warploom.show.setting import USUAL, Setting, finished, fitted
from warploom.studies.validate.compare import Compared
from warploom.studies.validate.recorded import MeasuredNumber
from warploom.studies.validate.split import PARTS

_COLOURS = [BLUE, "#d95f02"]
_SIDE = 420  # pixels


def draw_validation(rows: Sequence[Compared], title: str, path: Path, setting: Setting = USUAL) -> None:
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
    _draw(points, "cycles measured", "cycles of the model", title, path, setting)


def draw_numbers(pairs: Sequence[tuple[MeasuredNumber, float]], title: str, path: Path, setting: Setting = USUAL) -> None:
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
    _draw(points, "measured", "the model's", title, path, setting)


def _draw(points: list[dict[str, Any]], x_title: str, y_title: str, title: str, path: Path, setting: Setting) -> None:
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

    def drawn(side: float) -> Any:
        square = alt.layer(*lines, marks).properties(width=side, height=side)
        return finished(square.properties(title=alt.TitleParams(title, anchor="start")), setting)

    save(drawn(_SIDE) if setting.width is None else fitted(drawn, setting.width), path, [], setting)
