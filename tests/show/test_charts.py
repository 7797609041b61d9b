"""Charts as people see them: labels apart from each other, numbers on bars, panels of zeros, the width of a column."""

from __future__ import annotations

import io
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from warploom.base.errors import WarploomError
from warploom.chip.machines import load_machine
from warploom.designs import design
from warploom.programs.named import origin_named
from warploom.runs.provenance import Provenance, provenance_of
from warploom.runs.spec import RunSpec
from warploom.show.charts import draw, save
from warploom.show.embedding import embedded
from warploom.show.figures import energy_against_time, pareto_front
from warploom.show.setting import Setting, parse_width
from warploom.show.sweep import draw_summary
from warploom.studies.reproduce.experiment import Chart, Row

BARS = Chart("bars", "workload", "time", "design", "panel", y_title="cycles added, %")
ROWS: list[Row] = [
    {"panel": panel, "workload": name, "design": point, "time": value * (panel == "smaller file")}
    for panel in ("smaller file", "waking")
    for name in ("backprop", "blackscholes", "heartwall", "mean")
    for point, value in (("GPU-shrink, 40% smaller", 12.5), ("compiler spill", 3.25))
]


def svg_of(drawn: Any) -> str:
    text = io.StringIO()
    drawn.save(text, format="svg")
    return text.getvalue()


def x_labels(svg: str) -> list[tuple[float, str]]:
    """Where the labels of the horizontal axis stand that can be read, and what they say."""
    axis = re.findall(r'<g[^>]*aria-label="X-axis.*?role-axis-title', svg, re.DOTALL)[0]
    found = re.findall(r'<text text-anchor="(\w+)" transform="translate\(([0-9.]+),[^>]*opacity="1"[^>]*>([^<]+)</text>', axis)
    return [(float(x), text) for _, x, text in found]


@pytest.mark.parametrize("values", [[0.99, 0.995, 1.001], [1e5, 1.02e5, 3e5]])
def test_labels_of_numbers_leave_each_other_room(values: list[float]) -> None:
    rows = [{"x": value, "y": 1.0} for value in values]
    labels = x_labels(svg_of(draw(Chart("points", "x", "y", x_title="x"), rows, "narrow", width=180)))
    assert len(labels) >= 2
    for (left, text), (right, after) in pairwise(labels):
        assert right - left > 11 * 0.5 * (len(text) + len(after)) / 2, labels


def test_a_panel_of_zeros_says_so_and_bars_say_how_high_they_are() -> None:
    svg = svg_of(draw(BARS, ROWS, "added"))
    assert svg.count(">0 throughout<") == 1
    assert svg.count(">12.5<") == 4 and svg.count(">3.25<") == 4


def test_panels_without_a_common_unit_have_axes_of_their_own() -> None:
    rows = [{"panel": panel, "workload": "a", "value": value} for panel, value in (("bytes", 9000.0), ("share", 0.5))]
    specification = draw(Chart("bars", "workload", "value", facet="panel"), rows, "two units").to_dict()
    assert specification["resolve"]["scale"]["y"] == "independent"


@pytest.mark.parametrize("points", [240.0, 480.0])
def test_a_figure_for_a_paper_is_as_wide_as_its_column(points: float) -> None:
    svg = svg_of(draw(BARS, ROWS, "added", subtitle="where from", setting=Setting(points, 7, provenance=False)))
    width = re.search(r'<svg[^>]* width="([0-9.]+)"', svg)
    assert width is not None and abs(float(width[1]) - points) <= 1
    assert "where from" not in svg and 'font-size="7px"' in svg


def test_widths_have_units() -> None:
    assert [round(parse_width(text)) for text in ("84mm", "3.5in", "8.4cm", "252pt", "252")] == [238, 252, 238, 252, 252]
    for wrong in ("wide", "84 miles", "2mm"):
        with pytest.raises(WarploomError, match="--width"):
            parse_width(wrong)


def made() -> Provenance:
    return provenance_of(RunSpec(origin_named("vectoradd"), design("baseline"), load_machine("gtx480"), size="tiny").settled)


def test_a_pdf_has_its_fonts_and_carries_what_it_was_made_from(tmp_path: Path) -> None:
    path = tmp_path / "figure.pdf"
    save(draw(BARS, ROWS, "added"), path, [made()])
    content = path.read_bytes()
    assert content.startswith(b"%PDF") and content.count(b"/FontFile") >= content.count(b"/Type /FontDescriptor") > 0
    assert [each["key"] for each in embedded(path)] == [made().key]
    last = int(re.findall(rb"startxref\s+(\d+)", content)[-1])  # the table that a reader begins with points at whole objects
    entries = re.findall(rb"(\d+) 1\n(\d{10}) 00000 n", content[last:])
    assert len(entries) == 2 and all(content[int(at) :].startswith(number + b" 0 obj") for number, at in entries)


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf", ".html"])
def test_nobody_learns_where_a_figure_is_from_that_is_to_say_nothing(suffix: str, tmp_path: Path) -> None:
    setting, path = Setting(provenance=False), tmp_path / f"figure{suffix}"
    save(draw(BARS, ROWS, "added", subtitle=made().by, setting=setting), path, [made()], setting)
    assert made().key.encode() not in path.read_bytes() and made().by.encode() not in path.read_bytes()
    assert embedded(path) == [] if suffix != ".svg" else b"metadata" not in path.read_bytes()


def test_limits_are_not_joined_into_the_front() -> None:
    rows = [
        {"design": name, "time": time, "energy": energy}
        for name, time, energy in (
            ("baseline", 1.0, 1.0),
            ("rfv", 1.01, 0.6),
            ("oracle", 1.0, 0.3),
            ("oracle-free-wakeup", 1.0, 0.2),
        )
    ]
    assert [row["design"] for row in pareto_front(rows)] == ["baseline", "rfv"]
    svg = svg_of(energy_against_time(rows).properties(width=500))
    assert re.findall(r'font-weight="bold"[^>]*>(oracle[^<]*|rfv)<', svg) == ["rfv"]


def test_a_sweep_is_drawn_over_what_was_varied(tmp_path: Path) -> None:
    rows = [
        {"workload": name, "design.shrink": share, "runs": 3, "cycles": 1000 / share, "cycles ±": 50.0}
        | {
            "ipc": 1.0,
            "ipc ±": 0.1,
            "occupancy": 1.0,
            "occupancy ±": 0.0,
            "energy_pj.total": 2e6 * share,
            "energy_pj.total ±": 3e4,
        }
        for name in ("hotspot", "bfs")
        for share in (0.5, 0.7, 1.0)
    ]
    draw_summary(rows, tmp_path / "sweep.svg")
    svg = (tmp_path / "sweep.svg").read_text()
    assert all(f">{word}<" in svg for word in ("design shrink", "hotspot", "bfs", "cycles", "register file energy, nJ"))
    assert svg.count('aria-roledescription="point"') == 2 * 2 * 3 * 3  # in both panels each mean and the ends of its interval


def summary_row(design: str, shrink: float | None, cycles: float) -> dict[str, Any]:
    known = {"cycles": cycles, "ipc": 1.0, "occupancy": 1.0, "energy_pj.total": 2e6}
    apart = {f"{name} ±": float("nan") for name in known}  # one seed
    return {"design": design, "allocation.shrink": shrink, "runs": 1, **known, **apart}


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_design_without_the_parameter_is_a_level_across_the_sweep(missing: float | None, tmp_path: Path) -> None:
    rows = [summary_row("baseline", missing, 900.0), *(summary_row("rfv", share, 1000 / share) for share in (0.5, 0.75, 1.0))]
    draw_summary(rows, tmp_path / "sweep.svg")
    svg = (tmp_path / "sweep.svg").read_text()
    assert svg.count('aria-roledescription="point"') == 2 * 2 * 3  # in both panels a mark of each design at each share
    levels = re.findall(r'aria-label="allocation shrink: ([\d.]+); mean: ([\d.]+); series: baseline', svg)
    assert {share for share, cycles in levels if cycles == "900"} == {"0.5", "0.75", "1"}, levels
    assert "NaN" not in svg


def test_a_switch_is_named_below_its_bars(tmp_path: Path) -> None:
    draw_summary([summary_row("rfv", None, 900.0) | {"spill": switch} for switch in (True, False)], tmp_path / "sweep.svg")
    svg = (tmp_path / "sweep.svg").read_text()
    assert svg.count(">True<") == svg.count(">False<") == 2  # a panel each for cycles and energy


def test_a_single_point_stands_between_labels_and_not_at_a_rounded_one() -> None:
    front = Chart("points", "time", "energy", x_title="time", y_title="energy")
    svg = svg_of(draw(front, [{"time": 0.998, "energy": 3.0}], ""))
    labels = [float(text) for text in re.findall(r">([01]\.\d+)</text>", svg)]
    assert min(labels) < 0.998 < max(labels) and len({label for label in labels if 0.9 < label < 1.1}) > 2, labels
