"""What a search found: a table for the terminal, a file of it, and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warploom.base.files import replace_file
from warploom.show.charts import draw, save
from warploom.studies.reproduce.experiment import Chart
from warploom.studies.search.measures import MEASURES
from warploom.studies.search.search import SearchOutcome

UNSEEN = "unseen "


def found_rows(outcome: SearchOutcome) -> list[dict[str, Any]]:
    """A row for each design of the front: its measures, and those on workloads that the search never saw."""
    return [
        {
            "name": found.design.name,
            **found.measures,
            **{UNSEEN + name: value for name, value in found.unseen.items()},
            "design": str(found.design),
        }
        for found in outcome.front
    ]


def found_lines(outcome: SearchOutcome) -> tuple[list[str], list[tuple[list[str], str]]]:
    """The front for a terminal: headings, and for each design its cells and what stands below them."""
    shown = [name for name in MEASURES if name in (*outcome.goal.objectives, *(c.measure for c in outcome.goal.constraints))]
    lines = []
    for row in found_rows(outcome):
        unseen = ", ".join(f"{name} {row[UNSEEN + name]:.3f}" for name in shown if UNSEEN + name in row)
        below = row["design"] + (f"; on workloads that the search never saw: {unseen}" if unseen else "")
        lines.append(([row["name"], *(f"{row[name]:.3f}" if name in row else "-" for name in shown)], below))
    return ["design that no other beats", *shown], lines


def write_found(outcome: SearchOutcome, folder: Path) -> None:
    """``front.csv`` with all measures and ``front.png``, the first two objectives against each other."""
    import pandas

    rows = found_rows(outcome)
    with replace_file(folder / "front.csv") as draft:
        pandas.DataFrame(rows).to_csv(draft, index=False)
    if not rows:
        return
    y, x = (*outcome.goal.objectives, "time")[:2]
    usual = f"relative to {outcome.goal.chip.design}"
    chart = Chart("points", x, y, "name", x_title=f"{x}, {usual}", y_title=f"{y}, {usual}")
    points = [{"name": row["name"], x: row[x], y: row[y]} for row in rows]
    subtitle = f"{outcome.trials} designs tried on {', '.join(outcome.goal.workloads)}; machine {outcome.goal.machine}"
    save(draw(chart, points, "Designs that no other beats", subtitle=subtitle), folder / "front.png", [])
