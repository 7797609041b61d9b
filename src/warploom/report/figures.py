"""The charts of the report: energy by part, energy against time with the Pareto front, idle schedulers, every workload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warploom.energy import PARTS
from warploom.papers.experiment import Chart
from warploom.report.charts import altair, draw
from warploom.report.colours import GREY, colours_of
from warploom.report.comparison import by_design
from warploom.report.page import PageFigure
from warploom.simulation.result import Result

WIDTH = "container"  # that of the page


def report_figures(rows: Sequence[Mapping[str, Any]], results: Sequence[Result]) -> list[PageFigure]:
    """All charts over all runs; ``rows`` are one per design."""
    energy = [{"design": row["design"], "part": part, "share": row[part]} for row in rows for part in PARTS]
    base = {result.workload: result for result in next(iter(by_design(results).values()))}
    each = [
        {
            "workload": result.workload,
            "design": result.design["name"],
            "energy": result.energy_pj["total"] / base[result.workload].energy_pj["total"],
            "time": result.cycles / base[result.workload].cycles,
        }
        for result in results
    ]
    bars = Chart("stacked", "design", "share", "part", y_title="RF energy, relative to the baseline")
    by_workload = Chart("bars", "workload", "energy", "design", y_title="RF energy, relative to the baseline")
    times = Chart("bars", "workload", "time", "design", y_title="time, relative to the baseline")
    found = [
        PageFigure(
            "pareto",
            "Energy of the register file against time, both relative to the baseline: lower left is better. The line joins the "
            "designs that no other beats in both. The oracles are limits, of allocation alone and with sleeping registers.",
            energy_against_time(rows),
        ),
        PageFigure(
            "energy",
            "Energy of the register file by part, mean over the workloads, relative to the baseline's.",
            draw(bars, energy, "Register file energy", width=WIDTH),
        ),
    ]
    stalls = idle_shares(results)
    if stalls:
        idle = Chart("stacked", "design", "share", "reason", y_title="share of the schedulers' cycles")
        found.append(
            PageFigure(
                "stalls",
                "Why schedulers issued nothing: shares of all their cycles, mean over the workloads. The rest is issue.",
                draw(idle, stalls, "Idle schedulers", width=WIDTH),
            )
        )
    return [
        *found,
        PageFigure(
            "energy-each",
            "Energy of the register file in every workload, relative to the baseline's run of it.",
            draw(by_workload, each, "Energy by workload", width=WIDTH),
        ),
        PageFigure(
            "time-each",
            "Time of every workload, relative to the baseline's run of it.",
            draw(times, each, "Time by workload", width=WIDTH),
        ),
    ]


def pareto_front(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The designs that no other beats in both time and energy, in order of time."""
    return sorted(
        (
            row
            for row in rows
            if not any(
                other["time"] <= row["time"]
                and other["energy"] <= row["energy"]
                and (other["time"] < row["time"] or other["energy"] < row["energy"])
                for other in rows
            )
        ),
        key=lambda row: row["time"],
    )


def energy_against_time(rows: Sequence[Mapping[str, Any]]) -> Any:
    """A point with its name for each design, and the front."""
    alt = altair()
    points = alt.Data(values=[{name: row[name] for name in ("design", "time", "energy")} for row in rows])
    front = alt.Data(values=[{name: row[name] for name in ("design", "time", "energy")} for row in pareto_front(rows)])
    names = [row["design"] for row in rows]
    x = alt.X("time:Q", title="time, relative to the baseline", scale=alt.Scale(zero=False, padding=30))
    y = alt.Y(
        "energy:Q",
        title="RF energy, relative to the baseline",
        scale=alt.Scale(zero=False, padding=20),
        axis=alt.Axis(format="%"),
    )
    colour = alt.Color("design:N", sort=names, legend=None, scale=alt.Scale(domain=names, range=colours_of(names)))
    tooltip = ["design:N", alt.Tooltip("time:Q", format=".3f"), alt.Tooltip("energy:Q", format=".1%")]
    line = alt.Chart(front).mark_line(color=GREY, strokeDash=[4, 3]).encode(x=x, y=y, order="time:Q")
    marks = alt.Chart(points).mark_point(filled=True, size=90, opacity=1).encode(x=x, y=y, color=colour, tooltip=tooltip)
    text = alt.Chart(points).mark_text(align="left", dx=8, dy=-7, fontSize=12).encode(x=x, y=y, text="design:N")
    chart = alt.layer(line, marks, text).properties(width=WIDTH, height=320)
    return chart.properties(title=alt.TitleParams("Energy against time", anchor="start")).configure_view(stroke=None)


def idle_shares(results: Sequence[Result]) -> list[dict[str, Any]]:
    """For each design and reason the mean share of the schedulers' cycles in which nothing was issued."""
    rows = []
    for name, group in by_design(results).items():
        shares: dict[str, float] = {}
        for result in group:
            stalls = result.counters.get("stall_cycles", {})
            if not stalls or result.provenance is None:
                continue
            numbers = result.provenance.machine["numbers"]
            everything = result.cycles * numbers["chip"]["sms"] * numbers["sm"]["schedulers"]
            for reason, cycles in stalls.items():
                shares[reason] = shares.get(reason, 0.0) + cycles / everything / len(group)
        rows += [{"design": name, "reason": reason, "share": share} for reason, share in shares.items() if share]
    return rows
