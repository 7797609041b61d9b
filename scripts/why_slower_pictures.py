"""The pictures of docs/why-slower.md: warps over time from two timelines, and some instructions of two pipeline logs.

    python scripts/why_slower_pictures.py FOLDER docs/why-slower

FOLDER holds baseline.pftrace, rfc.pftrace, baseline.kanata and rfc.kanata, as the page's commands write them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from perfetto.protos.perfetto.trace import perfetto_trace_pb2

from warploom.report.charts import altair
from warploom.report.colours import colours_of

DESIGNS = ("baseline", "rfc")
WARPS = range(48)
CYCLES = (1500, 4500)  # of the timeline
PIPELINE = (2000, 2160)  # of the pipeline
STAGES = {"Wt": "waiting", "Is": "issue", "Oc": "collect operands", "Ds": "dispatch", "Ex": "execute", "Wb": "write back"}
STAGE_COLOURS = {"waiting": "#cfcfcf", "issue": "#009e73", "collect operands": "#0072b2", "dispatch": "#e69f00",
                 "execute": "#cc79a7", "write back": "#d55e00"}  # fmt: skip


def warp_spans(path: Path) -> list[dict[str, Any]]:
    """What the warps of a timeline do in the cycles that are drawn."""
    warps: dict[int, int] = {}
    begun: dict[int, tuple[str, int]] = {}
    rows = []
    for packet in perfetto_trace_pb2.Trace.FromString(path.read_bytes()).packet:
        about = packet.track_descriptor
        if about.name.startswith("warp "):
            warps[about.uuid] = int(about.name.removeprefix("warp "))
        event = packet.track_event
        if event.track_uuid not in warps:
            continue
        if event.type == event.TYPE_SLICE_BEGIN:
            begun[event.track_uuid] = event.name, packet.timestamp
        else:
            doing, begin = begun.pop(event.track_uuid)
            if begin < CYCLES[1] and packet.timestamp > CYCLES[0]:
                span = {"begin": max(begin, CYCLES[0]), "end": min(packet.timestamp, CYCLES[1])}
                rows.append({"design": path.stem, "warp": warps[event.track_uuid], "doing": doing, **span})
    return rows


def stage_spans(path: Path, most: int = 28) -> list[dict[str, Any]]:
    """The stages of the first instructions of a pipeline log that begin in the cycles that are drawn."""
    cycle, labels, open_at, rows = 0, {}, {}, []
    chosen: list[str] = []
    for line in path.read_text().splitlines()[1:]:
        kind, *fields = line.split("\t")
        if kind in ("C=", "C"):
            cycle = int(fields[0]) + (cycle if kind == "C" else 0)
        elif kind == "L":
            labels[fields[0]] = fields[2]
            if PIPELINE[0] <= cycle < PIPELINE[1] and len(chosen) < most:
                chosen.append(fields[0])
        elif kind == "S" and fields[1] == "0":
            open_at[fields[0]] = cycle
        elif kind == "E" and fields[1] == "0" and fields[0] in chosen:
            span = {"begin": open_at[fields[0]], "end": max(cycle, open_at[fields[0]] + 1)}
            place = f"{chosen.index(fields[0]):02} {labels[fields[0]].removeprefix('SM0 ')}"
            rows.append({"design": path.stem, "instruction": place, "stage": STAGES[fields[2]], **span})
    return rows


def draw(rows: list[dict[str, Any]], lane: str, series: str, title: str, height: int, colours: dict[str, str]) -> Any:
    """Spans as bars, a panel for each design."""
    alt = altair()
    names = [name for name in colours if any(row[series] == name for row in rows)]
    colour = alt.Color(
        f"{series}:N",
        scale=alt.Scale(domain=names, range=[colours[name] for name in names]),
        legend=alt.Legend(title=None, orient="top"),
    )
    panels = []
    for design in DESIGNS:
        mine = [row for row in rows if row["design"] == design]
        y = alt.Y(f"{lane}:O", title=lane, axis=alt.Axis(labelLimit=260, labelOverlap=True))
        x = alt.X("begin:Q", title="cycle", scale=alt.Scale(zero=False, nice=False))
        bars = alt.Chart(alt.Data(values=mine)).mark_bar().encode(y=y, x=x, x2="end:Q", color=colour)
        panels.append(bars.properties(width=420, height=height, title=f"{title} under {design}"))
    return alt.hconcat(*panels)


def main() -> None:
    """Draw both pictures."""
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(exist_ok=True)
    doing = [row for design in DESIGNS for row in warp_spans(folder / f"{design}.pftrace")]
    names = sorted({row["doing"] for row in doing})
    drawn = draw(doing, "warp", "doing", "Warps of SM 0", 430, dict(zip(names, colours_of(names), strict=True)))
    drawn.save(str(out / "timeline.png"), scale_factor=1.5)
    stages = [row for design in DESIGNS for row in stage_spans(folder / f"{design}.kanata")]
    draw(stages, "instruction", "stage", "Instructions", 480, STAGE_COLOURS).save(str(out / "pipeline.png"), scale_factor=1.5)


if __name__ == "__main__":
    main()
