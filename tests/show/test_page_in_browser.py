"""The page in a real browser: it sorts, filters, opens, changes its colours, prints, and fits a narrow window."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.browser import DARK, Browser
from warploom.chip.machines import load_machine
from warploom.designs import parse_design
from warploom.programs.named import origin_named
from warploom.runs.provenance import provenance_of
from warploom.runs.spec import RunSpec
from warploom.show.charts import altair, draw
from warploom.show.design_pages import design_sections
from warploom.show.embedding import embedded
from warploom.show.figures import energy_against_time, matrix
from warploom.show.page import HOT_SPOTS, KernelListing, Page, PageFigure, WorkloadSection, write_page
from warploom.studies.reproduce.experiment import Chart


def run(workload: str, design: str, cycles: int) -> dict[str, Any]:
    energy = {"energy": 0.8, "dynamic": 0.5, "leakage": 0.2, "overhead": 0.1}
    stalls = {"scoreboard": 30, "pipeline": 10}
    states = [[float(at), 0.5, 0.3, 0.2, 0.6, 0.4, 1.2] for at in range(1, 9)]
    power = [[float(at), 0.2, 0.1, 0.05, 0.35] for at in range(1, 9)]
    about = {"ipc": 1.5, "occupancy": 0.75, "registers": 16, "conflicts": 1234, "verified": "yes"}
    return {"workload": workload, "design": design, "cycles": cycles, "time": 1.0, **energy, **about, "stalls": stalls,
            "states": states, "power": power}  # fmt: skip


def hot(pc: int, cycles: int) -> list[Any]:
    """A row of hot spots at which warps spent so many cycles."""
    told = {"line": 7, "live": 3, "depth": 1, "instruction": f"add.s32 R{pc}, R1, R2", "waits": {"memory": cycles, "issuing": 10}}
    return [(told | {"pc": pc}).get(name, 1000 * pc) for name in HOT_SPOTS]


FULL = "rfc + encoding=bdi + warped-rf + power=trimodal"
RUNS = [run("alpha", "one", 300), run("beta", "one", 100), run("alpha", "two", 200), run("beta", "two", 400)]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [{"workload": name, "design": design, "energy": value} for name, design, value in (("a", "x", 0.5), ("a", "y", 0.2))]
    chart = draw(Chart("bars", "workload", "energy", "design"), rows, "Energy", width="container")
    parts = {"dynamic": 0.5, "leakage": 0.3, "overhead": 0.0}
    sizes = {"register_file_bytes": 131072, "storage_bits": 384, "occupancy": 0.5}
    path = tmp_path_factory.mktemp("browser") / "page.html"
    listing = KernelListing("kernel", hot_spots=[hot(0, 10), hot(1, 70), hot(2, 20)])
    content = Page(
        title="A page",
        subtitle="of a test",
        headline=[{"design": name, "time": 1.0, "energy": 0.8, **parts, **sizes} for name in ("one", "two")],
        conditions="made up",
        designs=design_sections([parse_design(name).to_dict() for name in ("baseline", "gpu-shrink", FULL)]),
        runs=RUNS,
        figures=[PageFigure("energy", "a chart", chart)],
        workloads=[WorkloadSection("alpha", "a workload", {"registers": 3}, [listing])],
        command="warploom report",
    )
    write_page(content, path)
    return path


def test_it_sorts_filters_and_opens(page: Path, browser: Browser) -> None:
    seen = browser.look(page, """
      const table = document.getElementById("runs-table"), said = {};
      const column = number => [...table.tBodies[0].rows].filter(row => !row.hidden).map(row => row.cells[number].textContent);
      const heading = table.tHead.rows[0].cells[2];
      said.before = column(2);
      heading.querySelector("button").click();
      said.falling = [heading.getAttribute("aria-sort"), ...column(2)];
      heading.querySelector("button").click();
      said.rising = [heading.getAttribute("aria-sort"), ...column(2)];
      const design = document.getElementById("filter-design");
      design.value = "two"; design.dispatchEvent(new Event("input"));
      said.filtered = [document.getElementById("filter-count").textContent, ...column(0)];
      const search = document.getElementById("filter-text");
      search.value = "beta"; search.dispatchEvent(new Event("input"));
      said.searched = column(0);
      const open = [...table.querySelectorAll(".open")].find(button => !button.closest("tr").hidden);
      open.click();
      await new Promise(done => setTimeout(done, 1500));
      const detail = table.querySelector("tr.detail");
      const spoken = detail.querySelector(".bar").getAttribute("aria-label");
      said.opened = [open.getAttribute("aria-expanded"), detail.querySelectorAll("svg").length, spoken];
      open.click();
      said.closed = [open.getAttribute("aria-expanded"), table.querySelectorAll("tr.detail").length];
      const spots = document.querySelector(".hot-spots");
      said.folded = spots.tBodies[0].rows.length;
      spots.closest("details").open = true;
      await new Promise(done => setTimeout(done, 500));
      said.unfolded = [...spots.tBodies[0].rows[1].cells].map(cell => cell.textContent);
      spots.tHead.rows[0].cells[4].querySelector("button").click();
      said.hottest = spots.tBodies[0].rows[0].cells[3].textContent;
      answer(said);
    """)  # fmt: skip
    assert seen["before"] == ["300", "100", "200", "400"]
    assert seen["falling"] == ["descending", "400", "300", "200", "100"]
    assert seen["rising"] == ["ascending", "100", "200", "300", "400"]
    assert seen["filtered"] == ["2 of 4 runs", "alpha", "beta"]
    assert seen["searched"] == ["beta"]
    assert seen["opened"] == ["true", 2, "idle cycles of schedulers by reason: scoreboard 75.0%, pipeline 25.0%"]
    assert seen["closed"] == ["false", 0]
    assert seen["folded"] == 0
    numbers = ["1,000"] * 10
    assert seen["unfolded"] == ["1", "7", "3", "add.s32 R1, R1, R2", "61.5%", "memory 88%, issuing 13%", *numbers]
    assert seen["hottest"] == "add.s32 R1, R1, R2"


def test_it_is_light_or_dark_as_the_system_says_or_the_visitor(page: Path, browser: Browser) -> None:
    script = """
      const text = () => getComputedStyle(document.querySelector("#energy svg text")).fill;
      const colours = () => [getComputedStyle(document.body).backgroundColor, text()];
      const said = [colours()];
      document.getElementById("theme").click();
      await new Promise(done => setTimeout(done, 1500));
      said.push(colours());
      answer(said);
    """
    light, then_dark = browser.look(page, script)
    assert light == ["rgb(255, 255, 255)", "rgb(29, 39, 51)"]
    assert then_dark == ["rgb(20, 25, 31)", "rgb(227, 232, 237)"]
    dark, _ = browser.look(page, script, DARK)
    assert dark == then_dark


@pytest.mark.parametrize("width", [800, 1600])
def test_it_uses_the_width_and_never_more(page: Path, browser: Browser, width: int) -> None:
    seen = browser.look(page, """
      const open = document.querySelector("#runs-table .open"); open.click();
      document.querySelector("#workloads details").open = true;
      await new Promise(done => setTimeout(done, 1500));
      const wide = [...document.querySelectorAll(".scroll")].filter(e => e.scrollWidth > e.clientWidth);
      answer({page: document.documentElement.scrollWidth, window: innerWidth, main: document.querySelector("main").clientWidth,
              wide: wide.map(e => e.querySelector("table").className),
              chart: document.querySelector("#energy svg").getBoundingClientRect().width});
    """, width=width)  # fmt: skip
    assert seen["page"] <= seen["window"] and seen["wide"] == []  # nothing to scroll sideways to
    assert seen["main"] > 0.95 * seen["window"]
    assert 0.8 * seen["main"] < seen["chart"] <= seen["main"]


def test_it_prints(page: Path, browser: Browser, tmp_path: Path) -> None:
    browser.print(page, tmp_path / "page.pdf")
    data = (tmp_path / "page.pdf").read_bytes()
    assert data.startswith(b"%PDF") and len(data) > 10_000


def test_on_paper_everything_is_there_and_dark_on_white(page: Path, browser: Browser) -> None:
    """What the style sheet says of paper, on a window as wide as A4 within its margins, by a visitor who likes it dark."""
    seen = browser.look(page, """
      document.getElementById("theme").click();
      document.querySelector("#runs-table .open").click();
      document.querySelector("#workloads details").open = true;
      await new Promise(done => setTimeout(done, 1500));
      const rules = [...document.styleSheets].flatMap(s => [...s.cssRules]).filter(r => r.media?.mediaText === "print");
      for (const rule of rules) rule.media.mediaText = "all";
      const style = selector => getComputedStyle(document.querySelector(selector));
      const cut = [...document.querySelectorAll(".tall, .chart")].filter(e => e.scrollHeight > e.clientHeight + 1);
      answer({dark: document.documentElement.dataset.theme, rules: rules.length, text: style("#energy svg text").fill,
              ink: style("body").color, paper: style("body").backgroundColor, controls: style(".filters").display,
              cut: cut.length, page: document.documentElement.scrollWidth, window: innerWidth});
    """, width=703)  # fmt: skip
    assert seen.pop("page") <= seen.pop("window") and seen.pop("cut") == 0
    black, white = "rgb(0, 0, 0)", "rgb(255, 255, 255)"
    assert seen == {"dark": "dark", "rules": 1, "text": black, "ink": black, "paper": white, "controls": "none"}


def test_what_goes_on_over_time_can_be_zoomed_into(page: Path, browser: Browser) -> None:
    """The wheel makes the axis of time narrower around the pointer, a double click shows the whole again; so do keys."""
    seen = browser.look(page, """
      document.querySelector("#runs-table .open").click();
      await new Promise(done => setTimeout(done, 1500));
      const chart = document.querySelector("tr.detail .states svg");
      const times = () => {
        const axis = [...chart.querySelectorAll(".role-axis")].find(a => a.textContent.includes("time, microseconds"));
        return [...axis.querySelectorAll(".role-axis-label text")].map(text => Number(text.textContent)).sort((a, b) => a - b);
      };
      const plot = chart.querySelector(".background"), middle = plot.getBoundingClientRect();
      const pointer = {clientX: middle.left + middle.width / 2, clientY: middle.top + middle.height / 2};
      const at = {bubbles: true, cancelable: true, ...pointer};
      const said = {before: times()};
      for (let turn = 0; turn < 4; turn++) {
        plot.dispatchEvent(new WheelEvent("wheel", {...at, deltaY: -200}));
        await new Promise(done => setTimeout(done, 200));
      }
      said.zoomed = times();
      plot.dispatchEvent(new MouseEvent("dblclick", at));
      await new Promise(done => setTimeout(done, 500));
      said.whole = times();
      const place = document.querySelector("tr.detail .states");
      const press = async key => {
        place.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
        await new Promise(done => setTimeout(done, 300));
      };
      for (const key of ["+", "+"]) await press(key);
      said.nearer = times();
      await press("ArrowRight");
      said.later = times();
      await press("0");
      said.again = times();
      said.spoken = [place.tabIndex, place.getAttribute("aria-label")];
      answer(said);
    """)  # fmt: skip
    assert seen["before"][0] == 0 and seen["before"][-1] == 8
    assert 0 < seen["zoomed"][0] < seen["zoomed"][-1] < 8
    assert seen["whole"] == seen["again"] == seen["before"]
    assert 0 < seen["nearer"][0] < seen["nearer"][-1] < 8
    assert seen["nearer"][0] < seen["later"][0] and seen["nearer"][-1] < seen["later"][-1] <= 8
    assert seen["spoken"][0] == 0
    assert seen["spoken"][1].startswith("Register file over time, on average on 50.0%, drowsy 30.0%, off 20.0%, allocated 60.0%")


def test_every_design_can_be_read_in_the_figures(tmp_path: Path, browser: Browser) -> None:
    """Designs that are alike stand close together; their names do not cover each other, and every run has its number."""
    designs = [f"design-{number}" for number in range(24)]
    rows = [{"design": name, "time": 1 + number % 3 / 100, "energy": 1 - number % 5 / 100} for number, name in enumerate(designs)]
    every = [row | {"workload": f"workload-{number}"} for row in rows for number in range(12)]
    colours = altair().Scale(scheme="cividis")
    figures = [
        PageFigure("front", "the front", energy_against_time(rows)),
        PageFigure("all", "all runs", matrix(every, "energy", "Energy", ".0%", colours)),
    ]
    write_page(Page("A page", "of figures", figures=figures), tmp_path / "figures.html")
    seen = browser.look(tmp_path / "figures.html", """
      const texts = id => [...document.querySelectorAll(`#${id} .mark-text.role-mark text`)];
      const places = texts("front").map(text => text.getBoundingClientRect());
      const meet = (a, b) => a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
      answer({names: texts("front").map(text => text.textContent).sort(), numbers: texts("all").length,
              covered: places.filter((a, at) => places.slice(at + 1).some(b => meet(a, b))).length,
              outside: places.filter(place => place.right > innerWidth).length});
    """, width=800)  # fmt: skip
    assert seen == {"names": sorted(designs), "numbers": 24 * 12, "covered": 0, "outside": 0}


def test_each_design_has_its_drawing(page: Path, browser: Browser) -> None:
    seen = browser.look(page, """
      for (const section of document.querySelectorAll("#drawings details")) section.open = true;
      answer([...document.querySelectorAll("#drawings svg")].map(svg => {
        const frame = svg.getBoundingClientRect(), label = svg.getAttribute("aria-label").slice(0, 9);
        const places = kind => [...svg.querySelectorAll(kind)].map(e => [e.textContent, e.getBoundingClientRect()]);
        const boxes = places("rect").map(pair => pair[1]).filter(b => b.height > frame.height / 4);
        const holds = (b, t) => t.left >= b.left && t.right <= b.right;
        const outside = places("text").filter(([, t]) => !holds(frame, t)
          || boxes.some(b => t.top > b.top && t.bottom < b.bottom && t.left > b.left && t.left < b.right && !holds(b, t)));
        return [label, frame.width <= innerWidth, outside.map(pair => pair[0])];
      }));
    """, width=800)  # fmt: skip
    assert seen == [["baseline:", True, []], ["gpu-shrin", True, []], ["rfc + enc", True, []]]


def test_charts_and_drawings_keep_their_own_letters(page: Path, browser: Browser) -> None:
    """A drawing brings a style sheet, which says nothing of the texts of charts."""
    seen = browser.look(page, """
      const texts = [...document.querySelectorAll("#energy svg text")], style = text => getComputedStyle(text);
      answer(texts.filter(text => style(text).fontSize !== text.getAttribute("font-size")
        || style(text).fontWeight !== ({bold: "700"}[text.getAttribute("font-weight")] ?? "400")).map(text => text.textContent));
    """)  # fmt: skip
    assert seen == []


def test_names_and_keys_are_there_for_keyboard_and_screen_reader(page: Path, browser: Browser) -> None:
    seen = browser.look(page, """
      const controls = [...document.querySelectorAll("button, input, select")];
      const nameless = controls.filter(e => !e.textContent.trim() && !e.labels?.length);
      const dumb = [...document.querySelectorAll('[role="img"], .bar')].filter(e => !e.getAttribute("aria-label") && !e.title);
      const button = document.querySelector("#runs-table th button"); button.focus();
      const focus = document.activeElement === button;
      answer({nameless: nameless.length, dumb: dumb.length, focus, lang: document.documentElement.lang,
              chart: document.getElementById("energy").ariaLabel,
              scopes: [...document.querySelectorAll("thead th")].every(th => th.scope === "col")});
    """)  # fmt: skip
    assert seen == {"nameless": 0, "dumb": 0, "focus": True, "chart": "a chart", "lang": "en", "scopes": True}


def test_a_page_of_many_runs_stays_small(tmp_path: Path) -> None:
    from warploom.show.runs import thinned

    rows = [{"seconds": at * 1e-6, "on": 0.123456789, "live": at / 300} for at in range(1, 257)]
    few = thinned(rows, ("on", "live"))
    assert len(few) == 64 and few[-1][0] == 256 and few[0][1:] == [0.1235, pytest.approx(2.5 / 300, rel=1e-3)]
    long = [[float(at), *([0.1234] * 6)] for at in range(64)]
    designs, workloads = range(26), range(12)
    many = [run(f"workload{w}", f"design{d}", 1000) | {"states": long, "power": long} for w in workloads for d in designs]
    made = provenance_of(RunSpec(origin_named("vectoradd"), parse_design("rfv"), load_machine("gtx480"), "tiny").settled)
    points = [replace(made.spec.design, name=f"design{d}") for d in designs]
    every = [replace(made, spec=replace(made.spec, seed=w, design=point)) for w in workloads for point in points]
    listing = KernelListing("kernel", "." * 250 * 150, [hot(pc, 10**6) for pc in range(250)])
    sections = [WorkloadSection(f"workload{w}", "", {}, [listing]) for w in workloads]
    parts = {"time": 1.0, "energy": 1.0, "dynamic": 0.5, "leakage": 0.5, "overhead": 0.0, "register_file_bytes": 1024}
    headline = [{"design": "one", **parts, "storage_bits": 0, "occupancy": 1.0}]
    drawn = design_sections([parse_design(FULL).to_dict() for _ in designs])
    content = Page("A page", "of many runs", headline, "made up", designs=drawn, runs=many, workloads=sections, made_from=every)
    write_page(content, tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size < 5_000_000
    assert embedded(tmp_path / "page.html") == [each.to_dict() for each in every]
