"""Charts of tidy rows, drawn with Altair: the same chart as a picture (PNG, SVG) and as an interactive figure of a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

from warploom.errors import WarploomError
from warploom.papers.experiment import Chart, Row
from warploom.report.colours import BLUE, PUBLISHED, colours_of
from warploom.report.embedding import embed
from warploom.simulation.provenance import Provenance
from warploom.storage.files import replace_file

PICTURES = (".png", ".svg", ".html")
SUBTITLE_COLUMNS = 120
WIDTH = 640  # pixels


def altair() -> Any:
    """The module, or a sentence that says how to get it."""
    try:
        import altair as module
    except ImportError:
        raise WarploomError("pictures need the extra: pip install 'warploom[report]'") from None
    module.data_transformers.disable_max_rows()
    return module


def draw(
    chart: Chart,
    rows: Sequence[Row],
    title: str,
    *,
    subtitle: str = "",
    published: Sequence[tuple[str, str, float, float]] = (),
    width: int | str = WIDTH,
    height: int = 240,
) -> Any:
    """The Altair chart of some rows. The subtitle is small: it says where they are from.

    ``published`` are numbers as (what, unit, the paper's, ours): bars side by side below the chart. A width of "container" is
    that of the place on a page; charts in several panels have a width of their own.
    """
    alt = altair()
    data = alt.Data(values=[dict(row) for row in rows])
    order = list(chart.order) or list(dict.fromkeys(row[chart.x] for row in rows))
    order.sort(key=lambda value: value == "mean")  # the mean stands last
    named = any(isinstance(value, str) for value in order)
    x_title = chart.x_title or None
    x = alt.X(f"{chart.x}:N", sort=order, title=x_title, axis=alt.Axis(labelAngle=-40)) if named else None
    x = x or alt.X(f"{chart.x}:Q", title=x_title, scale=alt.Scale(zero=False))
    y = alt.Y(f"{chart.y}:Q", title=chart.y_title or chart.y, stack="zero" if chart.kind == "stacked" else None)
    encodings: dict[str, Any] = {"x": x, "y": y, "tooltip": _tooltip(alt, rows)}
    if chart.series:
        series = list(dict.fromkeys(row[chart.series] for row in rows))
        legend = alt.Legend(title=None, orient="top", columns=5, labelLimit=240)
        encodings["color"] = alt.Color(
            f"{chart.series}:N", sort=series, legend=legend, scale=alt.Scale(domain=series, range=colours_of(series))
        )
        if chart.kind == "bars":
            encodings["xOffset"] = alt.XOffset(f"{chart.series}:N", sort=series)
    # Panels share out the data of the whole; a chart with data of its own would show all of it in each.
    base = (alt.Chart() if chart.facet else alt.Chart(data)).properties(
        width=width if not chart.facet else 213 if isinstance(width, str) else max(120, width // 3), height=height
    )
    marks = {
        "bars": lambda: base.mark_bar(),
        "stacked": lambda: base.mark_bar(**_slim(order, width)),
        "lines": lambda: base.mark_line(point=True),
        "points": lambda: base.mark_point(filled=True, size=70),
    }
    drawn = marks[chart.kind]().encode(**encodings)
    if chart.published:
        drawn = alt.layer(drawn, *_levels(alt, chart))
    if chart.facet:
        panels = list(dict.fromkeys(row[chart.facet] for row in rows))
        drawn = drawn.facet(alt.Facet(f"{chart.facet}:N", sort=panels, title=None), columns=3, data=data)
        if named:  # each panel has names of its own
            drawn = drawn.resolve_scale(x="independent", xOffset="independent")
    small = {"subtitle": wrap(subtitle, SUBTITLE_COLUMNS), "subtitleFontSize": 9, "subtitleColor": "#777"} if subtitle else {}
    drawn = drawn.properties(title=alt.TitleParams(title, anchor="start", **small))
    if published:
        drawn = alt.vconcat(drawn, _pairs(alt, published)).resolve_scale(color="independent")
    return drawn.configure_view(stroke=None)


def _pairs(alt: Any, published: Sequence[tuple[str, str, float, float]]) -> Any:
    """Published numbers with ours beside them, a panel for each unit."""
    panels = []
    for unit in dict.fromkeys(unit for _, unit, _, _ in published):
        bars = [
            {"what": "\n".join(wrap(what, 28)), "whose": whose, "value": value}
            for what, its_unit, theirs, ours in published
            if its_unit == unit
            for whose, value in (("paper", theirs), ("ours", ours))
        ]
        order = list(dict.fromkeys(bar["what"] for bar in bars))
        x = alt.X(
            "what:N", sort=order, title=None, axis=alt.Axis(labelAngle=-40, labelLimit=260, labelExpr="split(datum.value, '\\n')")
        )
        colours = alt.Scale(domain=["paper", "ours"], range=[PUBLISHED, BLUE])
        panel = (
            alt.Chart(alt.Data(values=bars))
            .mark_bar()
            .encode(
                x=x,
                xOffset=alt.XOffset("whose:N", sort=["paper", "ours"]),
                y=alt.Y("value:Q", title=unit),
                color=alt.Color("whose:N", scale=colours, legend=alt.Legend(title=None, orient="top")),
                tooltip=["what:N", "whose:N", alt.Tooltip("value:Q", format=".4~g")],
            )
        )
        panels.append(panel.properties(width=min(WIDTH, 60 * len(order)), height=160))
    return alt.hconcat(*panels)


def _slim(order: Sequence[Any], width: int | str) -> dict[str, Any]:
    """On a wide page a few bars would be walls."""
    return {"size": 64} if width == "container" and len(order) < 8 else {}


def _tooltip(alt: Any, rows: Sequence[Row]) -> list[Any]:
    """What is shown when one points at a mark: every column of its row."""
    first = rows[0] if rows else {}
    kinds = {name: "Q" if isinstance(value, int | float) else "N" for name, value in first.items()}
    return [
        alt.Tooltip(f"{name}:{kind}", format=".4~g") if kind == "Q" else alt.Tooltip(f"{name}:N") for name, kind in kinds.items()
    ]


def _levels(alt: Any, chart: Chart) -> list[Any]:
    """The published values: a dashed line across at each level, with its label."""
    levels = alt.Data(values=[{"label": label, "level": level} for label, level in chart.published.items()])
    rule = alt.Chart(levels).mark_rule(color=PUBLISHED, strokeDash=[5, 4]).encode(y="level:Q")
    text = alt.Chart(levels).mark_text(align="left", dx=2, dy=-5, color=PUBLISHED, fontSize=10)
    return [rule, text.encode(y="level:Q", x=alt.value(0), text="label:N")]


def check_picture_name(path: Path) -> None:
    """Refuse a name whose ending says no format we can draw, before anything is run."""
    if path.suffix.lower() not in PICTURES:
        raise WarploomError(f"--out {path}: the name must end in {', '.join(PICTURES[:-1])} or {PICTURES[-1]}")
    if not path.resolve().parent.is_dir():
        raise WarploomError(f"--out {path}: there is no folder {path.resolve().parent}")


def save(drawn: Any, path: Path, made_from: Sequence[Provenance]) -> None:
    """Write a chart to a file, whole or not at all; the file carries the provenance of what it shows."""
    suffix = path.suffix.lower()
    with replace_file(path) as draft:
        if suffix == ".html":
            draft.write_text(drawn.to_html(inline=True), encoding="utf-8")
        else:
            drawn.save(str(draft), format=suffix[1:], scale_factor=2 if suffix == ".png" else 1)
        embed(draft, made_from)
