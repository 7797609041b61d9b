"""Every design has a drawing: a box for each choice, the file in its size, cells in the states that its policies give them."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from warploom.base.errors import WarploomError
from warploom.base.library import papers
from warploom.chip.sm import CHOICES, make_policy, policies_of
from warploom.cli.app import run_command
from warploom.designs import design, named_designs, parse_design
from warploom.designs.drawings import _described, drawn
from warploom.show.design_pages import about_design, design_sections
from warploom.show.drawing import HEIGHT, WIDTH, draw_design, entry_states, file_share, said_in_box

pytestmark = pytest.mark.unit

OURS = [(choice, name) for choice in CHOICES for name, kind in policies_of(choice).items() if "warploom." in kind.__module__]


def shapes(text: str, kind: str) -> list[ElementTree.Element]:
    return [each for each in ElementTree.fromstring(text).iter() if each.tag.endswith("}" + kind)]


@pytest.mark.parametrize(("choice", "name"), OURS)
def test_every_policy_is_described_and_its_words_fit_their_box(choice: str, name: str) -> None:
    policy = make_policy(choice, name)
    assert f"{choice}.{name}" in _described(papers())
    assert "{" not in drawn(policy).says + drawn(policy).box and len(drawn(policy).box) <= 22
    assert " ".join(said_in_box(drawn(policy))) == drawn(policy).says


@pytest.mark.parametrize("name", list(named_designs()))
def test_every_named_design_is_drawn_within_its_frame(name: str) -> None:
    text = draw_design(parse_design(name))
    for rectangle in shapes(text, "rect"):
        x, y, width, height = (float(rectangle.attrib[key]) for key in ("x", "y", "width", "height"))
        assert x >= 0 and y >= 0 and x + width <= WIDTH and y + height <= HEIGHT
    said = ElementTree.fromstring(text).attrib["aria-label"]
    assert said.startswith(f"{name}: ") and all(f"{choice}: " in said for choice in CHOICES)


def test_what_differs_from_the_baseline_stands_out() -> None:
    def changed(name: str) -> int:
        return sum(each.attrib.get("class") == "changed" for each in shapes(draw_design(parse_design(name)), "rect"))

    assert [changed(name) for name in ("baseline", "compression", "rfv + warped-rf + power=trimodal")] == [0, 2, 3]


def test_half_a_file_is_drawn_as_half() -> None:
    def absent(text: str) -> int:
        return sum(each.attrib.get("class") == "absent" for each in shapes(draw_design(parse_design(text)), "rect"))

    assert absent("baseline") == 0 and absent("gpu-shrink") == absent("register_file=0.5") == 64
    assert file_share(parse_design("register_file=0.5 + rfv(shrink=0.5)")) == 0.25


def test_cells_have_the_states_that_policies_give_them() -> None:
    def counted(text: str) -> dict[str, int]:
        point = design(text)
        states = entry_states(drawn(point.policies.allocation), drawn(point.policies.power), 16)
        return {state: sum(row.count(state) for row in states) for state in ("on", "drowsy", "off")}

    assert counted("baseline") == {"on": 128, "drowsy": 0, "off": 0}
    asleep = counted("warped-rf")
    assert 0 < asleep["on"] < 5 and asleep["drowsy"] > 80 and asleep["off"] == 128 - asleep["on"] - asleep["drowsy"]
    assert counted("oracle-free-wakeup")["on"] == 0
    rows = entry_states(drawn(design("rfv").policies.allocation), drawn(design("rfv").policies.power), 16)
    assert all(len(set(row)) == 1 for row in rows) and {row[0] for row in rows} == {"on", "off"}  # whole subarrays


def test_the_command_tells_and_draws_one_design(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["designs", "gpu-shrink + rfc + spill=false", "--json"]) == 2  # refused as anywhere else
    capsys.readouterr()
    assert run_command(["designs", "gpu-shrink", "--out", str(tmp_path / "d.svg")]) == 0
    printed = capsys.readouterr().out
    assert "Rfv on half the physical registers" in printed and "\nallocation: rfv, an entry at each write" in printed
    assert "\n    shrink=0.5: physical registers as a share" in printed and "bits added to an SM of gtx480: 9,900" in printed
    assert all(len(line) <= 80 for line in printed.splitlines())
    assert (tmp_path / "d.svg").read_text().rstrip() == draw_design(parse_design("gpu-shrink"))
    assert run_command(["designs", "rfc", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["storage_bits"] == 102336 and [row["choice"] for row in facts["choices"]] == list(CHOICES)
    assert run_command(["designs", "--out", str(tmp_path / "d.svg")]) == 2
    assert run_command(["designs", "rfc", "--out", str(tmp_path / "d.png")]) == 2


def test_a_section_says_where_a_design_is_from() -> None:
    (section,) = design_sections([parse_design("rfc").to_dict()])
    assert section.about.startswith("Register file caches of 6 entries") and "<svg" in section.drawing
    assert about_design(parse_design("rfc + gating=active-mask")).startswith("A combination: scheduler=two-level")
    assert design_sections([{"name": "gone", "allocation": {"policy": "of a file that is not loaded"}}]) == []


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("[powers.x]\nbox = 'a'\nsays = 'b'", "'powers' is not one of the choices; did you mean 'power'"),
        ("[power.x]\nbox = 'a'", "it is a table with box, says"),
        ("[power.x]\nbox = 'a'\nsays = 'b'\nfree = 'asleep'", "the state of an entry is on, drowsy or off"),
        ("[power.x]\nbox = 'a'\nsays = 'b'\nheld = 2", "held a share from 0 to 1"),
    ],
)
def test_a_wrong_description_is_one_sentence(table: str, sentence: str) -> None:
    import tomllib

    from warploom.designs.drawings import _by_policy

    with pytest.raises(WarploomError) as error:
        _by_policy(tomllib.loads(table), "mine")
    assert sentence in str(error.value)
