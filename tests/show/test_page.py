"""The report's page in a real browser: figures are drawn, sections open, nothing is fetched from outside."""

import re
from pathlib import Path

import pytest

from support.browser import Browser
from warploom.chip.machines import load_machine
from warploom.compiler.backend import Options, compile_kernel
from warploom.compiler.ptx import parse
from warploom.designs import design
from warploom.programs.named import origin_named
from warploom.programs.program import workload_program
from warploom.runs.provenance import provenance_from_dict, provenance_of
from warploom.runs.spec import RunSpec
from warploom.show.charts import draw
from warploom.show.embedding import embedded
from warploom.show.page import Page, PageFigure, WorkloadSection, listing_of, write_page
from warploom.studies.reproduce.experiment import Chart

ROWS = [{"workload": name, "design": design, "energy": value} for name, design, value in (("a", "x", 0.5), ("a", "y", 0.25))]


def row(design: str, energy: float) -> dict[str, object]:
    parts = {"dynamic": energy / 2, "leakage": energy / 2, "overhead": 0.0}
    sizes = {"register_file_bytes": 131072, "storage_bits": 384, "occupancy": 0.5}
    return {"design": design, "time": 1.0, "energy": energy, **parts, **sizes}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    chart = draw(Chart("bars", "workload", "energy", "design", published={"paper": 0.4}), ROWS, "Energy")
    program = workload_program("vectoradd")
    assert program.source.ptx is not None
    module = parse(program.source.ptx, program.place)
    code = compile_kernel(module, next(iter(module.kernels)), Options())
    section = WorkloadSection(
        "vectoradd", "a sum", {"registers": code.registers}, [listing_of(code)], PageFigure("b", "hidden", chart)
    )
    score = {"what": "x <b>", "place": "figure 1", "paper": 3.0, "ours": 2.9, "unit": "%", "verdict": "differs"}
    score |= {"reason": "", "experiment": {"without": "a cause", "run": "a design", "value": 3.1}}
    path = tmp_path_factory.mktemp("page") / "report.html"
    content = Page(
        title="A report",
        subtitle="of a test",
        headline=[row("baseline", 1.0), row("mine", 0.75)],
        conditions="made up",
        findings=["mine is better"],
        best="mine",
        figures=[PageFigure("a", "shown at once", chart)],
        scores={"rfc": [score]},
        workloads=[section],
    )
    write_page(content, path)
    return path


def test_the_page_needs_nothing_from_outside(page: Path) -> None:
    markup = page.read_text("utf-8").partition("<script")[0]
    assert not re.search(r"(?:src|href)\s*=\s*[\"']?(?:https?:)?//", markup)
    assert "x &lt;b&gt;" in markup  # what a scorecard says is text, not markup


def test_a_browser_draws_it(page: Path, browser: Browser) -> None:
    dom = browser.dom(page)
    drawn = dom[dom.index('id="a"') : dom.index('id="scorecard"')]
    assert "<svg" in drawn and "Energy" in drawn and "paper" in drawn
    folded = dom[dom.index('id="b"') :].partition("</details>")[0]
    assert "<svg" not in folded  # a figure in a closed section is drawn when it is opened
    assert "add.f32" in folded  # the code with its registers is there
    assert 'class="best"' in dom


def test_the_page_says_where_its_numbers_are_from(tmp_path: Path) -> None:
    machine = load_machine("gtx480", **{"l1.mshrs": 8})
    made = provenance_of(RunSpec(origin_named("vectoradd"), design("rfv"), machine, "tiny", check=("registers",)).settled)
    path = tmp_path / "report.html"
    write_page(Page("A report", "of a test", [row("baseline", 1.0)], "made up", made_from=[made]), path)
    text = path.read_text()
    assert '<section id="provenance">' in text and "machine gtx480[l1.mshrs=8]" in text and f"<code>{made.key[:8]}</code>" in text
    assert provenance_from_dict(embedded(path)[0], "the page") == made
