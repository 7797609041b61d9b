"""The pictures and some numbers of docs/tutorial/why-slower.md, from two timelines and two pipeline logs.

    warploom-lab why-slower-pictures FOLDER docs/tutorial/why-slower

FOLDER holds baseline.pftrace, gpu-shrink.pftrace, baseline.kanata and gpu-shrink.kanata, as the page's commands write them.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from perfetto.protos.perfetto.trace import perfetto_trace_pb2

from warploom.show.charts import altair
from warploom.show.colours import FIXED, colours_of

DESIGNS = ("baseline", "gpu-shrink")
SHORT = (2000, 13000)  # cycles in which registers run short
PIPELINE = (9150, 9550)  # cycles of the pipeline's picture
WARPS = (0, 8, 16, 24, 32)  # of which instructions are drawn: the first of each CTA
UNDER_WAY = "issued, under way"


class Slice(NamedTuple):
    """Something on a track of a timeline: on which SM and track, what, its first cycle, the cycle after its last."""

    sm: int
    track: str
    what: str
    begin: int
    end: int


def slices_of(path: Path) -> list[Slice]:
    """All that a timeline shows of its SMs."""
    names: dict[int, str] = {}
    parents: dict[int, int] = {}
    begun: dict[int, tuple[str, int]] = {}
    found = []
    for packet in perfetto_trace_pb2.Trace.FromString(path.read_bytes()).packet:
        event, track = packet.track_event, packet.track_descriptor
        if packet.HasField("track_descriptor"):
            names[track.uuid], parents[track.uuid] = track.name, track.parent_uuid
        elif event.type == event.TYPE_SLICE_BEGIN:
            begun[event.track_uuid] = event.name, packet.timestamp
        elif event.type == event.TYPE_SLICE_END:
            what, begin = begun.pop(event.track_uuid)
            above = names.get(parents[event.track_uuid], "")
            if above.startswith("SM "):
                found.append(Slice(int(above[3:]), names[event.track_uuid], what, begin, packet.timestamp))
    return found


def last_cycles(slices: list[Slice]) -> str:
    """By the number of CTAs that SMs were given: how many SMs that were, and when they had no work any more."""
    ends: dict[int, list[int]] = {}
    for one in slices:
        if one.track.startswith("CTA"):
            ends.setdefault(one.sm, []).append(one.end)
    by_number: dict[int, list[int]] = {}
    for given in ends.values():
        by_number.setdefault(len(given), []).append(max(given))
    return "; ".join(
        f"{len(last)} SMs with {number} CTAs end at {min(last):,} to {max(last):,}" for number, last in sorted(by_number.items())
    )


def doing(slices: list[Slice]) -> dict[str, float]:
    """How many warps of SM 0 do what, on average over the cycles in which registers run short."""
    first, last = SHORT
    spent = Counter[str]()
    for one in slices:
        if one.sm == 0 and one.track.startswith("warp"):
            spent[one.what] += max(0, min(one.end, last) - max(one.begin, first))
    return {what: round(cycles / (last - first), 1) for what, cycles in spent.most_common()}


def cta_spans(design: str, slices: list[Slice]) -> list[dict[str, Any]]:
    """A bar for each CTA, those of an SM one under the other."""
    found = [one for one in slices if one.track.startswith("CTA")]
    rows = []
    for one in found:
        slot = int(one.track.rsplit(" ", 1)[1])
        given = f"{sum(other.sm == one.sm for other in found)} CTAs"
        place = {"SM": one.sm, "lane": one.sm + 0.16 * slot, "below": one.sm + 0.16 * slot + 0.13}
        rows.append({"design": design, "given to the SM": given, **place, "begin": one.begin, "end": one.end})
    return rows


def warp_spans(design: str, slices: list[Slice]) -> list[dict[str, Any]]:
    """What the warps of SM 0 do."""
    return [
        {"design": design, "warp": int(one.track.split()[1]), "doing": one.what, "begin": one.begin, "end": one.end}
        for one in slices
        if one.sm == 0 and one.track.startswith("warp")
    ]


def stage_spans(path: Path) -> list[dict[str, Any]]:
    """What the instructions of the chosen warps do in the cycles that are drawn, warp by warp, one under the other."""
    first, last = PIPELINE
    cycle, labels, begun, spans = 0, {}, {}, []
    for line in path.read_text().splitlines()[1:]:
        kind, *fields = line.split("\t")
        if kind in ("C=", "C"):
            cycle = int(fields[0]) + (cycle if kind == "C" else 0)
        elif kind == "L":
            labels[fields[0]] = fields[2].removeprefix("SM0 ")
        elif kind == "S":
            begun[fields[0], fields[1]] = cycle
        elif kind == "E" and (fields[1] == "1" or fields[2] != "Wt"):  # why it waits stands in lane 1
            what = fields[2] if fields[1] == "1" else "issuing" if fields[2] == "Is" else UNDER_WAY
            spans.append((int(fields[0]), what, begun[fields[0], fields[1]], max(cycle, begun[fields[0], fields[1]] + 1)))
    rows = []
    for number, what, begin, end in spans:
        warp, text = labels[str(number)].split(" ", 1)
        if int(warp[1:]) in WARPS and begin < last and end > first:
            place = f"{int(warp[1:]):02} {number:06} W{warp[1:]} {text}"
            span = {"begin": max(begin, first), "end": min(end, last)}
            rows.append({"design": path.stem, "instruction": place, "what": what, **span})
    return rows


def draw(
    rows: list[dict[str, Any]], lane: Any, series: str, title: str, height: int, colours: dict[str, str], **more: Any
) -> Any:
    """Spans as bars, a panel for each design."""
    alt = altair()
    names = [name for name in colours if any(row[series] == name for row in rows)]
    colour = alt.Color(
        f"{series}:N",
        scale=alt.Scale(domain=names, range=[colours[name] for name in names]),
        legend=alt.Legend(title=None, orient="top"),
    )
    ends = (min(row["begin"] for row in rows), max(row["end"] for row in rows))
    x = alt.X("begin:Q", title="cycle", scale=alt.Scale(domain=ends, nice=False))
    panels = []
    for design in DESIGNS:
        mine = alt.Chart(alt.Data(values=[row for row in rows if row["design"] == design]))
        bars = (mine.mark_rect() if more else mine.mark_bar()).encode(y=lane, x=x, x2="end:Q", color=colour, **more)
        panels.append(bars.properties(width=430, height=height, title=f"{title} under {design}"))
    return alt.hconcat(*panels)


def main() -> None:
    """Draw the pictures and print what they show in numbers."""
    alt = altair()
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(exist_ok=True)
    slices = {design: slices_of(folder / f"{design}.pftrace") for design in DESIGNS}
    stages = {design: stage_spans(folder / f"{design}.kanata") for design in DESIGNS}
    for design in DESIGNS:
        issued = Counter(row["instruction"].split()[2] for row in stages[design] if row["what"] == "issuing")
        print(f"{design}: {last_cycles(slices[design])}")
        print(f"  warps of SM 0 in cycles {SHORT[0]:,} to {SHORT[1]:,}, on average: {doing(slices[design])}")
        shown = ", ".join(f"W{warp} {issued[f'W{warp}']}" for warp in WARPS)
        print(f"  instructions issued in cycles {PIPELINE[0]:,} to {PIPELINE[1]:,}: {shown}")
    spans = [row for design in DESIGNS for row in cta_spans(design, slices[design])]
    places = alt.Y("lane:Q", title="SM", scale=alt.Scale(domain=(15, 0)), axis=alt.Axis(values=list(range(15)), grid=False))
    numbers = {"4 CTAs": "#8c8c8c", "5 CTAs": "#d55e00"}
    draw(spans, places, "given to the SM", "CTAs of all SMs", 380, numbers, y2="below:Q").save(
        str(out / "ctas.png"), scale_factor=1
    )
    rows = [row for design in DESIGNS for row in warp_spans(design, slices[design])]
    names = sorted({row["doing"] for row in rows})
    lane = alt.Y("warp:O", title="warp", axis=alt.Axis(labelOverlap=True))
    colours = dict(zip(names, colours_of(names), strict=True))
    draw(rows, lane, "doing", "Warps of SM 0", 400, colours).save(str(out / "timeline.png"), scale_factor=1)
    rows = [row for design in DESIGNS for row in stages[design]]
    colours = {name: colour for name, colour in FIXED.items() if any(row["what"] == name for row in rows)} | {
        UNDER_WAY: "#555555"
    }
    axis = alt.Axis(labelLimit=260, labelOverlap=True, labelExpr="slice(datum.value, 10)", labelFontSize=9)
    lane = alt.Y("instruction:O", title="instruction", axis=axis)
    drawn = draw(rows, lane, "what", "Instructions of five warps", 600, colours).resolve_scale(y="independent")
    drawn.save(str(out / "pipeline.png"), scale_factor=1)


if __name__ == "__main__":
    main()
