"""Charts of tidy rows, drawn with Altair: the same chart as a picture, a figure of a paper, and an interactive part of a page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from textwrap import wrap
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.extras import imported
from warploom.base.files import replace_file
from warploom.runs.provenance import Provenance
from warploom.show.colours import BLUE, PUBLISHED, colours_of
from warploom.show.embedding import embed
from warploom.show.page import Page, PageFigure, write_page
from warploom.show.setting import USUAL, Setting, finished, fitted
from warploom.studies.reproduce.experiment import Chart, Row

PICTURES = (".png", ".svg", ".pdf", ".html")
SUBTITLE_COLUMNS = 120
WIDTH = 640  # pixels
_PAGE_WIDTH = 1000  # roughly that of "container"
_LOWEST, _SHAPE = 80, 0.62  # pixels, and the height of a figure for a paper as a share of its width
_PANEL, _NAME = 120, 14  # pixels: the narrowest panel, and the least that a name at the x axis takes


def altair() -> Any:
    """The module, or a sentence that says how to get it."""
    module = imported("altair", "pictures need", "report")
    module.data_transformers.disable_max_rows()
    return module


def draw(
    chart: Chart,
    rows: Sequence[Row],
    title: str,
    *,
    subtitle: str = "",
    published: Sequence[tuple[str, str, float, float]] = (),
    spread: Sequence[Row] = (),
    width: int | str = WIDTH,
    height: int = 240,
    setting: Setting = USUAL,
) -> Any:
    """The Altair chart of some rows. The subtitle is small: it says where they are from.

    ``published`` are numbers as (what, unit, the paper's, ours): bars side by side below the chart. ``spread`` are rows like the
    others, a point each over the bar that is their mean. A width of "container" is that of the place on a page.
    """
    shown = subtitle if setting.provenance else ""

    def drawn(plot: float | str) -> Any:
        return finished(_drawn(chart, rows, title, shown, published, spread, plot, height, setting), setting)

    return drawn(width) if setting.width is None else fitted(drawn, setting.width)


def _drawn(
    chart: Chart,
    rows: Sequence[Row],
    title: str,
    subtitle: str,
    published: Sequence[tuple[str, str, float, float]],
    spread: Sequence[Row],
    width: float | str,
    height: int,
    setting: Setting,
) -> Any:
    alt = altair()
    order = list(chart.order) or list(dict.fromkeys(row[chart.x] for row in rows))
    order.sort(key=lambda value: value == "mean")  # the mean stands last
    series = list(dict.fromkeys(row[chart.series] for row in rows)) if chart.series else []
    panels = list(dict.fromkeys(row[chart.facet] for row in rows)) if chart.facet else [""]
    named = any(isinstance(value, str) for value in order)
    columns, panel = _columns(panels, max(_names_in(chart, rows, order)) if named else 1, width)
    side_by_side = len(series) if chart.kind == "bars" and series else 1
    room = (_PAGE_WIDTH if isinstance(panel, str) else panel) / (max(_names_in(chart, rows, order)) * side_by_side)
    if setting.width is not None and not isinstance(panel, str):
        height = round(min(height, max(_LOWEST, _SHAPE * panel)))
    data = alt.Data(values=[*_layer("mark", rows), *_layer("point", spread), *_notes(chart, rows, room, setting)])
    x = _x_axis(alt, chart, order, named)
    y = alt.Y(f"{chart.y}:Q", title=chart.y_title or chart.y, stack="zero" if chart.kind == "stacked" else None)
    placed: dict[str, Any] = {"x": x}
    encodings: dict[str, Any] = {"y": y, "tooltip": _tooltip(alt, rows)}
    if series:
        legend = alt.Legend(title=None, orient="top", columns=_legend_columns(series, width, setting), labelLimit=240)
        colours = alt.Scale(domain=series, range=colours_of(series))
        encodings["color"] = alt.Color(f"{chart.series}:N", sort=series, legend=legend, scale=colours)
        if chart.kind == "bars":
            placed["xOffset"] = alt.XOffset(f"{chart.series}:N", sort=series)
    # Panels share out the data of the whole; a chart with data of its own would show all of it in each.
    base = (alt.Chart() if chart.facet else alt.Chart(data)).properties(width=panel, height=height)
    only = {name: base.transform_filter(alt.datum.layer == name) for name in ("mark", "point", "number", "note")}
    marks = {
        "bars": lambda: only["mark"].mark_bar(),
        "stacked": lambda: only["mark"].mark_bar(**_slim(order, width)),
        "lines": lambda: only["mark"].mark_line(point=True),
        "points": lambda: only["mark"].mark_point(filled=True, size=70),
    }
    layers = [marks[chart.kind]().encode(**placed, **encodings)]
    if spread:
        points = only["point"].mark_point(filled=True, size=14, color="#333333", opacity=0.7)
        layers.append(points.encode(**placed, y=f"{chart.y}:Q", tooltip=_tooltip(alt, spread)))
    said = {row["layer"] for row in data.values}
    if "number" in said:
        upright = {"dy": -3, "baseline": "bottom"} if room >= _letters(setting, 5) else {"angle": 270, "align": "left", "dx": 3}
        height_of = alt.value(0) if spread else f"{chart.y}:Q"  # beside points it would be taken for theirs
        layers.append(only["number"].mark_text(**upright, fontSize=setting.small).encode(**placed, y=height_of, text="said:N"))
    if "note" in said:
        note = only["note"].mark_text(fontSize=setting.font_size, color="#777777")
        layers.append(note.encode(x=alt.value(float(panel) / 2), y=alt.value(height / 2), text="said:N"))
    if chart.published:
        layers += _levels(alt, chart)
    drawn = alt.layer(*layers) if len(layers) > 1 or chart.facet else layers[0]
    if chart.facet:
        drawn = drawn.facet(alt.Facet(f"{chart.facet}:N", sort=panels, title=None), columns=columns, data=data)
        if named:  # each panel has names of its own
            drawn = drawn.resolve_scale(x="independent", xOffset="independent")
        if not chart.y_title:  # and where no unit is common to all, an axis of its own
            drawn = drawn.resolve_scale(y="independent")
    small = {"subtitle": wrap(subtitle, SUBTITLE_COLUMNS), "subtitleFontSize": setting.small, "subtitleColor": "#777"}
    drawn = drawn.properties(title=alt.TitleParams(title, anchor="start", **(small if subtitle else {})))
    if published:
        drawn = alt.vconcat(drawn, _pairs(alt, published)).resolve_scale(color="independent")
    return drawn


def _names_in(chart: Chart, rows: Sequence[Row], order: Sequence[Any]) -> list[int]:
    """How many values each panel has at its x axis."""
    if not chart.facet:
        return [max(1, len(order))]
    places: dict[Any, set[Any]] = {}
    for row in rows:
        places.setdefault(row[chart.facet], set()).add(row[chart.x])
    return [len(each) for each in places.values()] or [1]


def _columns(panels: Sequence[Any], names: int, width: float | str) -> tuple[int, float | str]:
    """How many panels stand beside each other, and how wide each is: as many as have room for their names, three at most."""
    if len(panels) == 1 and panels[0] == "":
        return 1, width
    whole = WIDTH if isinstance(width, str) else width
    columns = max(1, min(3, len(panels), int(whole // max(_PANEL, _NAME * names))))
    return columns, max(40, whole / columns - 10)


def _x_axis(alt: Any, chart: Chart, order: Sequence[Any], named: bool) -> Any:
    title = chart.x_title or None
    if named:
        return alt.X(f"{chart.x}:N", sort=order, title=title, axis=alt.Axis(labelAngle=-40))
    # The labels around a single value would be rounded to nothing but itself.
    around = {"domain": [order[0] - 0.05 * abs(order[0] or 1), order[0] + 0.05 * abs(order[0] or 1)]} if len(order) == 1 else {}
    return alt.X(f"{chart.x}:Q", title=title, scale=alt.Scale(zero=False, **around), axis=alt.Axis(labelFlush=False))


def _legend_columns(series: Sequence[Any], width: float | str, setting: Setting) -> int:
    """As many entries of a legend beside each other as the figure is wide."""
    whole = _PAGE_WIDTH if isinstance(width, str) else width
    return max(1, min(len(series), int(whole // (_letters(setting, max(len(str(name)) for name in series)) + 26))))


def _letters(setting: Setting, number: int) -> float:
    """The width of so many letters, roughly."""
    return 0.56 * setting.font_size * number


def _layer(name: str, rows: Sequence[Row]) -> list[Row]:
    return [{**row, "layer": name} for row in rows]


def _notes(chart: Chart, rows: Sequence[Row], room: float, setting: Setting) -> list[Row]:
    """The numbers above bars, where there is room for them, and a word in panels whose bars all have no height."""
    if chart.kind not in ("bars", "stacked"):
        return []

    def place(row: Row) -> tuple[str, ...]:
        keys = (chart.facet, chart.x, chart.series if chart.kind == "bars" else "")
        return tuple(str(row[key]) if key else "" for key in keys)

    found: list[Row] = []
    if room >= setting.small + 2:
        for _, group in groupby(sorted((row for row in rows if row[chart.y] is not None), key=place), key=place):
            bars = list(group)
            value = sum(row[chart.y] for row in bars)
            at = {key: bars[0][key] for key in (chart.facet, chart.x, chart.series) if key}
            found.append({**at, chart.y: max(value, 0.0), "said": brief(value), "layer": "number"})
    for panel in dict.fromkeys(row[chart.facet] for row in rows) if chart.facet else ():
        if not any(row[chart.y] for row in rows if row[chart.facet] == panel):
            found.append({chart.facet: panel, "said": "0 throughout", "layer": "note"})
    return found


def brief(value: float) -> str:
    """A number in as few letters as tell it."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}" if abs(value) < 0.0995 else f"{value:#.3g}".rstrip(".")


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


def _slim(order: Sequence[Any], width: float | str) -> dict[str, Any]:
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


def check_picture_name(path: Path, option: str = "--out") -> None:
    """Refuse a name whose ending says no format we can draw, before anything is run."""
    if path.suffix.lower() not in PICTURES:
        raise WarploomError(f"{option} {path}: the name must end in {', '.join(PICTURES[:-1])} or {PICTURES[-1]}")
    if not path.resolve().parent.is_dir():
        raise WarploomError(f"{option} {path}: there is no folder {path.resolve().parent}")


def save(drawn: Any, path: Path, made_from: Sequence[Provenance], setting: Setting = USUAL) -> None:
    """Write a chart to a file, whole or not at all; unless nobody wants it, the file carries the provenance of what it shows."""
    suffix, told = path.suffix.lower(), made_from if setting.provenance else ()
    if suffix == ".html":
        write_page(picture_page(drawn, told), path)
        return
    with replace_file(path) as draft:
        drawn.save(str(draft), format=suffix[1:], scale_factor=2 if suffix == ".png" else 1)
        if setting.provenance:
            embed(draft, told)


def picture_page(drawn: Any, made_from: Sequence[Provenance]) -> Page:
    """The page of one chart, under the chart's own title."""
    untitled = drawn.copy(deep=False)
    untitled.title = altair().Undefined
    figure = PageFigure("picture", "Point at a mark to see its numbers.", untitled)
    return Page(title=drawn.title.text, subtitle="", figures=[figure], made_from=made_from)
