"""The pages of report and profile: one HTML file each, which needs no server and no network."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from rich.console import Console

from warploom import __version__
from warploom.base.extras import imported
from warploom.base.files import replace_file
from warploom.chip.sm.observing import WAIT_MEANINGS
from warploom.compiler.code.instruction import Code
from warploom.designs.grammar import format_value
from warploom.runs.provenance import Provenance, described
from warploom.show.colours import FIXED
from warploom.show.embedding import in_script, packed
from warploom.show.listing import render_listing
from warploom.show.profile import KernelProfile

LISTING_COLUMNS = 150
# The values of a row of hot spots: `waits` are cycles of warps by reason, `idle` those of schedulers; the others are columns of
# the observer, but for the last two.
HOT_SPOTS = (
    *("pc", "line", "live", "depth", "instruction", "waits", "idle", "issues", "threads", "main_file_reads", "main_file_writes"),
    *("bank_conflicts", "upper_reads", "wakeup_wait_cycles", "encoded", "energy_pj"),
)


@dataclass(frozen=True)
class PageFigure:
    """A chart on the page, with a sentence that explains it."""

    id: str
    caption: str
    chart: Any  # of Altair


@dataclass(frozen=True)
class KernelListing:
    """A kernel's code: with its live registers drawn beside it, and what each instruction cost, where that is known."""

    name: str
    listing: str = ""
    hot_spots: Sequence[Sequence[Any]] = ()  # rows of `hot_spot_rows`


@dataclass(frozen=True)
class WorkloadSection:
    """What the page tells of one workload."""

    name: str
    title: str
    facts: Mapping[str, Any]
    kernels: Sequence[KernelListing] = ()
    figure: PageFigure | None = None


@dataclass(frozen=True)
class ChoiceRow:
    """One of a design's six choices: its policy, what it does, where it is from, and its parameters with what they mean."""

    choice: str
    policy: str
    says: str
    source: str
    parameters: Sequence[tuple[str, Any, str]]  # name, value, meaning


@dataclass(frozen=True)
class DesignSection:
    """What the page tells of one design: what it is and where it is from in a sentence, as a drawing, and choice by choice."""

    name: str
    about: str
    drawing: str  # SVG
    choices: Sequence[ChoiceRow] = ()


@dataclass(frozen=True)
class PaperLink:
    """A paper that designs of the page are from."""

    name: str
    citation: str
    address: str  # where it can be read; empty where nobody said


@dataclass(frozen=True)
class Page:
    """All that the page shows."""

    title: str
    subtitle: str
    headline: Sequence[Mapping[str, Any]] = ()  # rows of `warploom.show.comparison.summary`
    conditions: str = ""  # under which the headline was measured: machine, technology, workloads, size
    findings: Sequence[str] = ()
    best: str = ""  # the design whose row is marked
    designs: Sequence[DesignSection] = ()
    runs: Sequence[Mapping[str, Any]] = ()  # `warploom.show.runs.run_entries`
    lost: Sequence[Mapping[str, Any]] = ()  # where designs lose time, instruction by instruction
    figures: Sequence[PageFigure] = ()
    scores: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)  # by paper
    workloads: Sequence[WorkloadSection] = ()
    papers: Sequence[PaperLink] = ()
    made_from: Sequence[Provenance] = ()  # of every run that the page shows
    command: str = ""  # that wrote it


def listing_of(code: Code, measured: KernelProfile | None = None) -> KernelListing:
    """A kernel's listing as text, and the costs of its instructions where they were measured."""
    console = Console(file=io.StringIO(), width=LISTING_COLUMNS, record=True, color_system=None, legacy_windows=False)
    render_listing(code, console)
    return KernelListing(code.name, console.export_text(), hot_spot_rows(measured) if measured else ())


def hot_spot_rows(measured: KernelProfile) -> list[list[Any]]:
    """The rows of the table of hot spots, as the page's script takes them: values in the order of `HOT_SPOTS`."""
    return [
        [
            *(row[name] for name in ("pc", "line", "live")),
            len(row["loops"]),
            row["instruction"],
            {reason: cycles for reason, cycles in {**row["waits"], "issuing": row["issue_cycles"]}.items() if cycles},
            sum(row["stalls"].values()),
            *(row[name] for name in HOT_SPOTS[7:-2]),
            row["encoded_reads"] + row["encoded_writes"],
            round(row["energy_pj"]),
        ]
        for row in measured.rows
    ]


def write_page(page: Page, path: Path) -> None:
    """Write the page."""
    jinja2, vl_convert = (imported(name, "the report needs", "report") for name in ("jinja2", "vl_convert"))
    folder = files("warploom.show")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters["setting"] = format_value
    figures = [*page.figures, *(section.figure for section in page.workloads if section.figure is not None)]
    hot_spots = [kernel.hot_spots for section in page.workloads for kernel in section.kernels]
    drawings = {figure.id: figure.chart.to_dict() | {"description": figure.caption} for figure in figures}  # for screen readers
    html = environment.from_string((folder / "page.html").read_text("utf-8")).render(
        {name: getattr(page, name) for name in page.__dataclass_fields__},
        style=_verbatim((folder / "page.css").read_text("utf-8")),
        script=_verbatim((folder / "page.js").read_text("utf-8")),
        javascript=_verbatim(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")),
        charts=bool(figures or page.runs),
        specifications=_verbatim(in_script(json.dumps(drawings))),
        drawings=[_verbatim(section.drawing) for section in page.designs],
        run_data=_verbatim(in_script(_compact(page.runs))),
        hot_spot_data=_verbatim(in_script(_compact({"columns": HOT_SPOTS, "kernels": hot_spots}))),
        one_workload=len({run["workload"] for run in page.runs}) == 1,
        colours=FIXED,
        colour_data=_verbatim(json.dumps(FIXED)),
        wait_meanings=WAIT_MEANINGS,
        origin=described(page.made_from),
        records=_verbatim(in_script(_compact(packed(page.made_from)))),
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        version=__version__,
    )
    with replace_file(path) as draft:
        draft.write_text(html, encoding="utf-8")


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _verbatim(text: str) -> Any:
    import markupsafe

    return markupsafe.Markup(text)
