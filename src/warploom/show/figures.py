"""The charts of the report: energy by part, energy against time with the Pareto front, idle schedulers, every workload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warploom.designs.energy import PARTS
from warploom.runs.result import Result
from warploom.show.charts import altair, draw
from warploom.show.colours import BLUE, GREY
from warploom.show.combinations import LIMITS
from warploom.show.comparison import by_design
from warploom.show.page import PageFigure
from warploom.show.setting import finished
from warploom.studies.reproduce.experiment import Chart

WIDTH = "container"  # that of the page
NAMES_WIDTH = 250  # pixels, of the column of names


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
    alt = altair()
    bars = Chart("stacked", "design", "share", "part", y_title="RF energy, relative to the baseline")
    found = [
        PageFigure(
            "pareto",
            "Energy of the register file against time, both relative to the baseline: lower left is better. The dashed line "
            "joins the designs that no other beats in both; their names are bold. The oracles are limits, of allocation alone "
            "and with sleeping registers, which nothing reaches: the line leaves them out.",
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
            "Energy of the register file in every workload, relative to the baseline's run of it: the darker, the less.",
            matrix(each, "energy", "Energy by workload", ".0%", alt.Scale(scheme="cividis", domainMin=0)),
        ),
        PageFigure(
            "time-each",
            "Time of every workload, relative to the baseline's run of it: orange is slower, purple faster.",
            matrix(each, "time", "Time by workload", ".2f", alt.Scale(scheme="purpleorange", domain=[0.75, 1.25], clamp=True)),
        ),
    ]


def pareto_front(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The designs that no other beats in both time and energy, in order of time; limits are none that could be chosen."""
    rows = [row for row in rows if row["design"] not in LIMITS]
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
    """A point for each design, its name in a column on the right with a line to it, and the front."""
    alt = altair()
    front = [row["design"] for row in pareto_front(rows)]
    energies = [row["energy"] for row in rows]
    margin = 0.05 * (max(energies) - min(energies) or 1.0)
    low, high = max(0.0, min(energies) - margin), max(energies) + margin
    ordered = sorted(rows, key=lambda row: (-row["energy"], row["time"]))
    points = [
        {
            "design": row["design"],
            "time": row["time"],
            "energy": row["energy"],
            "front": row["design"] in front,
            "place": high - (number + 0.5) / len(ordered) * (high - low),  # of its name, as a value of the axis
        }
        for number, row in enumerate(ordered)
    ]
    range_of_x = [0, {"expr": f"width - {NAMES_WIDTH}"}]
    x = alt.X("time:Q", title="time, relative to the baseline", scale=alt.Scale(zero=False, padding=12, range=range_of_x))
    y = alt.Y(
        "energy:Q",
        title="RF energy, relative to the baseline",
        scale=alt.Scale(domain=[low, high], nice=False),
        axis=alt.Axis(format=".0%"),
    )
    beside, names = (
        alt.value({"expr": f"width - {NAMES_WIDTH - 14}"}),
        alt.Y("place:Q", scale=alt.Scale(domain=[low, high], nice=False)),
    )
    tooltip = ["design:N", alt.Tooltip("time:Q", format=".3f"), alt.Tooltip("energy:Q", format=".1%")]
    on_front = alt.datum.front
    every = alt.Chart(alt.Data(values=points))
    chart = alt.layer(
        every.mark_rule(color=GREY, opacity=0.35).encode(x=x, y=y, x2=beside, y2="place:Q"),
        every.transform_filter(on_front).mark_line(color=BLUE, strokeDash=[4, 3]).encode(x=x, y=y, order="time:Q"),
        every.mark_point(filled=True, size=80, opacity=1).encode(
            x=x, y=y, color=alt.condition(on_front, alt.value(BLUE), alt.value(GREY)), tooltip=tooltip
        ),
        *(
            every.transform_filter(chosen)
            .mark_text(align="left", dx=4, fontSize=11, fontWeight=weight, limit=NAMES_WIDTH - 20)
            .encode(x=beside, y=names, text="design:N", tooltip=tooltip)
            for chosen, weight in ((on_front, "bold"), (~on_front, "normal"))
        ),
    ).properties(width=WIDTH, height=max(320, 16 * len(points)))
    return finished(chart.properties(title=alt.TitleParams("Energy against time", anchor="start")))


def matrix(rows: Sequence[Mapping[str, Any]], value: str, title: str, form: str, colours: Any) -> Any:
    """Designs by workloads: a cell for each run with its number, coloured by it."""
    alt = altair()
    designs, workloads = (list(dict.fromkeys(row[name] for row in rows)) for name in ("design", "workload"))
    base = alt.Chart(alt.Data(values=[dict(row) for row in rows])).encode(
        x=alt.X("workload:N", sort=workloads, title="workload", axis=alt.Axis(orient="top", labelAngle=-35)),
        y=alt.Y("design:N", sort=designs, title="design", axis=alt.Axis(labelLimit=210)),
        tooltip=["workload:N", "design:N", alt.Tooltip(f"{value}:Q", format=form)],
    )
    legend = alt.Legend(
        title=f"{value}, relative to the baseline", format=form, orient="bottom", gradientLength=300, titleLimit=300
    )
    cells = base.mark_rect().encode(color=alt.Color(f"{value}:Q", scale=colours, legend=legend))
    # The ink that is read on the colour below it: cells know their colour, text does not.
    shade = f"luminance(scale('color', datum['{value}'])) > 0.18 ? '#000000' : '#ffffff'"
    text = base.mark_text(fontSize=10, color=alt.expr(shade)).encode(text=alt.Text(f"{value}:Q", format=form))
    room = {"left": 5, "top": 5, "right": 30, "bottom": 5}  # for the last workload's name, which leans out
    drawn = alt.layer(cells, text).properties(width=WIDTH, height=20 * len(designs), padding=room)
    return finished(drawn.properties(title=alt.TitleParams(title, anchor="start")))


def idle_shares(results: Sequence[Result]) -> list[dict[str, Any]]:
    """For each design and reason the mean share of the schedulers' cycles in which nothing was issued."""
    rows = []
    for name, group in by_design(results).items():
        shares: dict[str, float] = {}
        for result in group:
            stalls = result.counters.get("stall_cycles", {})
            if not stalls:
                continue
            machine = result.spec.machine
            everything = result.cycles * machine.chip.sms * machine.sm.schedulers
            for reason, cycles in stalls.items():
                shares[reason] = shares.get(reason, 0.0) + cycles / everything / len(group)
        rows += [{"design": name, "reason": reason, "share": share} for reason, share in shares.items() if share]
    return rows
