"""The report: one HTML page that needs no server and no network."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from rich.console import Console

from warploom import __version__
from warploom.code.instruction import Code
from warploom.errors import WarploomError
from warploom.report.embedding import in_script
from warploom.report.listing import render_listing
from warploom.simulation.provenance import Provenance, described
from warploom.storage.files import replace_file

LISTING_COLUMNS = 150


@dataclass(frozen=True)
class PageFigure:
    """A chart on the page."""

    id: str
    caption: str
    chart: Any  # of Altair


@dataclass(frozen=True)
class KernelListing:
    """A kernel's code with its live registers drawn beside it."""

    name: str
    listing: str


@dataclass(frozen=True)
class WorkloadSection:
    """What the page tells of one workload."""

    name: str
    title: str
    facts: Mapping[str, Any]
    kernels: Sequence[KernelListing] = ()
    figure: PageFigure | None = None


@dataclass(frozen=True)
class Page:
    """All that the page shows."""

    title: str
    subtitle: str
    headline: Sequence[Mapping[str, Any]]  # rows of `warploom.report.comparison.summary`
    conditions: str  # under which the headline was measured: machine, technology, workloads, size
    findings: Sequence[str] = ()
    best: str = ""  # the design whose row is marked
    figures: Sequence[PageFigure] = ()
    scores: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)  # by paper
    workloads: Sequence[WorkloadSection] = ()
    made_from: Sequence[Provenance] = ()  # of every run that the page shows


def listing_of(code: Code) -> KernelListing:
    """A kernel's listing as text."""
    console = Console(file=io.StringIO(), width=LISTING_COLUMNS, record=True, color_system=None, legacy_windows=False)
    render_listing(code, console)
    return KernelListing(code.name, console.export_text())


def write_page(page: Page, path: Path) -> None:
    """Write the report."""
    try:
        import jinja2
        import vl_convert
    except ImportError:
        raise WarploomError("the report needs the extra: pip install 'warploom[report]'") from None
    template = (files("warploom.report") / "page.html").read_text("utf-8")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    figures = [*page.figures, *(section.figure for section in page.workloads if section.figure is not None)]
    specifications = in_script(json.dumps({figure.id: figure.chart.to_dict() for figure in figures}))
    html = environment.from_string(template).render(
        {name: getattr(page, name) for name in page.__dataclass_fields__},
        javascript=_verbatim(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")),
        specifications=_verbatim(specifications),
        origin=described(page.made_from),
        records=_verbatim(in_script(json.dumps([each.to_dict() for each in page.made_from]))),
        provenance=f"Made by Warploom {__version__}. Every number on this page was computed by the run that wrote it.",
    )
    with replace_file(path) as draft:
        draft.write_text(html, encoding="utf-8")


def _verbatim(text: str) -> Any:
    import markupsafe

    return markupsafe.Markup(text)
