"""Results, designs and machines show themselves in notebooks; what stands in them is text, not markup."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

import warploom as wl
from support.made_results import made_result
from warploom.base.errors import WarploomError

pytestmark = pytest.mark.unit


class Cells(HTMLParser):
    """The texts of a table, checking that its elements are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        assert not self.stack

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_design_shows_its_choices_with_their_parameters() -> None:
    shown = Cells(wl.design("rfv", shrink=0.5)._repr_html_()).texts
    assert "allocation" in shown and any(text.startswith("rfv (") and "shrink=0.5" in text for text in shown)
    assert Cells(wl.design("baseline")._repr_html_()).texts[0] == "design baseline"


def test_a_machine_shows_what_it_has() -> None:
    shown = Cells(wl.machine("gtx480")._repr_html_()).texts
    assert "machine gtx480" in shown and "32,768 (128 KB)" in shown


def test_a_result_shows_time_and_energy() -> None:
    energy = {"dynamic": 1000.0, "leakage": 2000.0, "overhead": 0.0, "total": 3000.0}
    result = made_result("<mine>", "a & b", cycles=1234, warp_instructions=2468, energy_pj=energy)
    html = result._repr_html_()
    assert "<mine>" not in html
    shown = Cells(html).texts
    assert "<mine> under a & b" in shown and "1,234" in shown and "3.0 (dynamic 1.0, leakage 2.0, overhead 0.0)" in shown


def test_a_figure_that_is_not_there_or_cannot_be_written_is_refused_before_anything_runs() -> None:
    with pytest.raises(WarploomError, match="paper 'rfc' has no figure 99 to reproduce"):
        wl.figure("rfc", "figure 99")
    with pytest.raises(WarploomError, match="must end in"):
        wl.figure("rfc", "figure 99", out="picture.doc")
