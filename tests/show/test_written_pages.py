"""Every page that a command writes, as a visitor sees it: something is drawn, and no code is to be read."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from support.browser import Browser
from warploom.chip.machines import load_machine
from warploom.designs import parse_design
from warploom.runs.result import Result
from warploom.runs.simulate import simulate
from warploom.show.assemble import assemble
from warploom.show.comparison import draw_comparison
from warploom.show.design_pages import design_page
from warploom.show.embedding import embedded
from warploom.show.page import write_page
from warploom.show.profile import profile
from warploom.show.profile_page import profile_page
from warploom.show.sweep import draw_summary
from warploom.show.validation import draw_numbers, draw_validation
from warploom.studies.validate.compare import Compared
from warploom.studies.validate.recorded import MeasuredLaunch, MeasuredNumber

LOOK = """
  const boxes = [...document.querySelectorAll("svg path, svg rect, svg circle")].map(mark => mark.getBoundingClientRect());
  answer({
    text: document.body.innerText,
    marks: boxes.filter(box => box.width > 2 && box.height > 2).length,
    wide: document.documentElement.scrollWidth > innerWidth,
  });
"""


@functools.cache
def watched() -> Result:
    return simulate("vectoradd", "baseline", load_machine("gtx480").scaled(1), size="tiny", observers=["hot-spots"])


def measured(cycles: float) -> MeasuredLaunch:
    known = dict.fromkeys(MeasuredLaunch.__dataclass_fields__) | {"part": "held-out", "program": "mine", "kernel": "mine"}
    return MeasuredLaunch(**known | {"size": "small", "launch": 0, "launches": 1, "cycles": cycles})  # type: ignore[arg-type]


def comparison(path: Path) -> None:
    draw_comparison([watched()], path)


def validation(path: Path) -> None:
    draw_validation([Compared(measured(1000 * n), 1100 * n, 0, 0, {}) for n in (1, 3, 20)], "ours beside theirs", path)


def microbenchmarks(path: Path) -> None:
    draw_numbers([(MeasuredNumber("add.latency", 4.0, "cycles", ""), 4.5)], "microbenchmarks", path)


def profiled(path: Path) -> None:
    write_page(profile_page([watched()], [profile(watched())]), path)


def one_design(path: Path) -> None:
    write_page(design_page(parse_design("rfv"), load_machine("gtx480")), path)


def swept(path: Path) -> None:
    known = {"cycles": 1000.0, "energy_pj.total": 2e6}
    measured_once = known | {f"{name} ±": math.nan for name in known} | {"runs": 1}
    draw_summary([{"design.shrink": share, **measured_once} for share in (math.nan, 0.5, 1.0)], path)


def report(path: Path) -> None:
    write_page(assemble([watched()], {}, {}, {"vectoradd": profile(watched())}), path)


PAGES = {"compare": comparison, "validate": validation, "validate --microbenchmarks": microbenchmarks, "profile": profiled}
PAGES |= {"designs": one_design, "report": report, "sweep": swept}


@pytest.mark.parametrize("command", PAGES)
def test_a_page_shows_marks_and_no_code(command: str, browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    write: Callable[[Path], None] = PAGES[command]
    write(page)
    seen = browser.look(page, LOOK, width=800)
    assert seen["marks"] >= 3, seen
    assert not [word for word in ("function", "=>", "vega", "{", "warploom-provenance") if word in seen["text"]]
    assert not seen["wide"]


def test_the_page_of_a_picture_carries_what_it_was_made_from(tmp_path: Path) -> None:
    comparison(tmp_path / "page.html")
    made = watched().provenance
    assert made is not None and embedded(tmp_path / "page.html") == [json.loads(json.dumps(made.to_dict()))]
