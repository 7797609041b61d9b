"""What a result says to cite: Warploom, and the papers, the program and the machine that it rests on."""

from __future__ import annotations

import re
from typing import Any

import pytest

from warploom.base.errors import WarploomError
from warploom.base.library import Paper, papers
from warploom.chip.machines import load_machine
from warploom.designs import parse_design
from warploom.programs.named import origin_named
from warploom.runs.provenance import provenance_of
from warploom.runs.spec import RunSpec
from warploom.show.citations import bibliography, paper_entry


def record(design: str, machine: str = "gtx480") -> dict[str, Any]:
    """A result's record as far as citations read it."""
    spec = RunSpec(origin_named("hotspot"), parse_design(design), load_machine(machine), "tiny").settled
    return {"provenance": provenance_of(spec).to_dict()}


def keys(text: str) -> list[str]:
    return re.findall(r"^@\w+\{(.+),$", text, re.MULTILINE)


def test_a_baseline_rests_on_no_paper() -> None:
    assert keys(bibliography([record("baseline")], "r.json")) == ["warploom", "program-hotspot", "machine-gtx480"]


def test_a_combination_rests_on_the_papers_of_its_policies_and_a_papers_machine_on_that_paper() -> None:
    found = keys(bibliography([record("rfv + power=trimodal"), record("baseline", "regmutex")], "r.json"))
    first = ["warploom", "warped-rf-2013", "rfv-2015", "program-hotspot", "machine-gtx480"]
    assert found == [*first, "regmutex-2018", "machine-regmutex"]


@pytest.mark.parametrize("paper", papers(), ids=lambda paper: paper.name)
def test_every_papers_entry_has_its_parts(paper: Paper) -> None:
    entry = paper_entry(paper)
    for part in ("@inproceedings{", "author = ", " and ", "title = {{", "booktitle = ", f"year = {{{paper.year}}}"):
        assert part in entry
    assert entry.count("{") == entry.count("}")


def test_a_citation_written_otherwise_is_a_note() -> None:
    entry = paper_entry(Paper("mine", "Mine & ours", "a talk of 2020", 2020, "mine"))
    assert "note = {a talk of 2020}" in entry and r"Mine \& ours" in entry and "author" not in entry


def test_a_file_without_provenance_is_refused() -> None:
    with pytest.raises(WarploomError, match=r"r\.json: it does not say how it was made"):
        bibliography([{}], "r.json")
