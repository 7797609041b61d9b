"""The pictures of docs/why-slower.md: warps over time from two timelines, and some instructions of two pipeline logs.

    python scripts/why_slower_pictures.py FOLDER docs/why-slower

FOLDER holds baseline.pftrace, rfc.pftrace, baseline.kanata and rfc.kanata, as the page's commands write them.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from perfetto.protos.perfetto.trace import perfetto_trace_pb2

from warploom.report.charts import altair
from warploom.report.colours import colours_of

DESIGNS = ("baseline", "rfc")
CYCLES = (1500, 4500)  # of the timeline
PIPELINE = {"baseline": (3700, 3800), "rfc": (2960, 3060)}  # of the pipeline, behind the first barrier
SCHEDULERS = 2  # of an SM: the even warps are one's, of which instructions are drawn
STAGES = {"Wt": "waiting", "Is": "issue", "Oc": "collect operands", "Ds": "dispatch", "Ex": "execute", "Wb": "write back"}
STAGE_COLOURS = {"waiting": "#cfcfcf", "issue": "#009e73", "collect operands": "#0072b2", "dispatch": "#e69f00",
                 "execute": "#cc79a7", "write back": "#d55e00"}  # fmt: skip


def tracks_of(path: Path) -> dict[str, list[tuple[str, int, int]]]:
    """The slices of a timeline by track: what, first cycle, the cycle after the last."""
    names: dict[int, str] = {}
    begun: dict[int, tuple[str, int]] = {}
    tracks: dict[str, list[tuple[str, int, int]]] = {}
    for packet in perfetto_trace_pb2.Trace.FromString(path.read_bytes()).packet:
        event = packet.track_event
        if packet.HasField("track_descriptor"):
            names[packet.track_descriptor.uuid] = packet.track_descriptor.name
        elif event.type == event.TYPE_SLICE_BEGIN:
            begun[event.track_uuid] = event.name, packet.timestamp
        elif event.type == event.TYPE_SLICE_END:
            tracks.setdefault(names[event.track_uuid], []).append((*begun.pop(event.track_uuid), packet.timestamp))
    return tracks


def warp_spans(path: Path) -> list[dict[str, Any]]:
    """What the warps of a timeline do in the cycles that are drawn."""
    return [
        {
            "design": path.stem,
            "warp": int(name.split()[1]),
            "doing": doing,
            "begin": max(begin, CYCLES[0]),
            "end": min(end, CYCLES[1]),
        }
        for name, slices in tracks_of(path).items()
        if name.startswith("warp ")
        for doing, begin, end in slices
        if begin < CYCLES[1] and end > CYCLES[0]
    ]


def meanwhile(path: Path) -> dict[str, float]:
    """How many warps of a scheduler do what, on average, while it issues nothing although some are ready."""
    tracks, idle, warps = tracks_of(path), 0, Counter[str]()
    for scheduler in range(SCHEDULERS):
        lost = np.zeros(max(end for slices in tracks.values() for _, _, end in slices), bool)
        for reason, begin, end in tracks[f"scheduler {scheduler}"]:
            if reason == "scheduler":
                lost[begin:end] = True
        idle += int(lost.sum())
        for name, slices in tracks.items():
            if name.startswith("warp ") and int(name.split()[1]) % SCHEDULERS == scheduler:
                for doing, begin, end in slices:
                    warps[doing] += int(lost[begin:end].sum())
    return {doing: round(cycles / max(1, idle), 1) for doing, cycles in warps.most_common()}


def stage_spans(path: Path) -> list[dict[str, Any]]:
    """The stages of those instructions of one scheduler that are issued in the cycles that are drawn, one under the other."""
    first, last = PIPELINE[path.stem]
    cycle, labels, open_at, issued, spans = 0, {}, {}, [], []
    for line in path.read_text().splitlines()[1:]:
        kind, *fields = line.split("\t")
        if kind in ("C=", "C"):
            cycle = int(fields[0]) + (cycle if kind == "C" else 0)
        elif kind == "L":
            labels[fields[0]] = fields[2].removeprefix("SM0 ")
        elif kind == "S" and fields[1] == "0":
            open_at[fields[0]] = cycle
            warp = int(labels[fields[0]].split()[0].removeprefix("W"))
            if fields[2] == "Is" and first <= cycle < last and warp % SCHEDULERS == 0:
                issued.append(fields[0])
        elif kind == "E" and fields[1] == "0":
            spans.append((fields[0], STAGES[fields[2]], open_at[fields[0]], max(cycle, open_at[fields[0]] + 1)))
    rows = []
    for number, stage, begin, end in spans:
        if number in issued and begin < last and end > first:
            place = f"{issued.index(number):02} {labels[number]}"
            span = {"begin": max(begin, first), "end": min(end, last)}
            rows.append({"design": path.stem, "instruction": place, "stage": stage, **span})
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
    print("while a scheduler issues nothing although warps are ready, its warps do:", meanwhile(folder / "rfc.pftrace"))
    doing = [row for design in DESIGNS for row in warp_spans(folder / f"{design}.pftrace")]
    names = sorted({row["doing"] for row in doing})
    drawn = draw(doing, "warp", "doing", "Warps of SM 0", 430, dict(zip(names, colours_of(names), strict=True)))
    drawn.save(str(out / "timeline.png"), scale_factor=1)
    stages = [row for design in DESIGNS for row in stage_spans(folder / f"{design}.kanata")]
    draw(stages, "instruction", "stage", "Instructions of a scheduler", 560, STAGE_COLOURS).save(
        str(out / "pipeline.png"), scale_factor=1
    )


if __name__ == "__main__":
    main()
