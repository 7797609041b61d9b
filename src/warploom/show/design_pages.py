"""What is told of a design: what it is, where it is from, what its policies and parameters mean, as a drawing and in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.library import papers
from warploom.chip.machines import Machine
from warploom.chip.sm import CHOICES
from warploom.designs import Design, describe_policies, from_dict, named_designs, parse_design, storage_bits
from warploom.designs.drawings import drawn
from warploom.show.drawing import draw_design
from warploom.show.page import ChoiceRow, DesignSection, Page, PaperLink


def about_design(design: Design) -> str:
    """A sentence on what a design is and where it is from; its text where it has no name of its own."""
    for named in named_designs().values():
        if parse_design(named.name) == design:
            return f"{named.title[0].upper()}{named.title[1:]} ({named.source})."
    return f"A combination: {design}."


def choice_rows(design: Design) -> list[ChoiceRow]:
    """The six choices of a design, in words."""
    known = {(row["choice"], row["policy"]): row for row in describe_policies()}
    rows = []
    for choice, policy in zip(CHOICES, design.policies, strict=True):
        about = known[choice, policy.NAME]
        parameters = [(name, value, about["parameters"][name]["meaning"]) for name, value in policy._asdict().items()]
        rows.append(ChoiceRow(choice, policy.NAME, drawn(policy).says, about["source"], parameters))
    return rows


def design_facts(design: Design, machine: Machine) -> dict[str, Any]:
    """All of it as plain data."""
    rows = [vars(row) for row in choice_rows(design)]
    about = {"name": design.name, "about": about_design(design), "text": str(design)}
    return {**about, "choices": rows, "storage_bits": storage_bits(design, machine), "drawing": draw_design(design)}


def design_sections(designs: Iterable[Mapping[str, Any]]) -> list[DesignSection]:
    """The sections of a page about designs, as results hold them; one whose policies are not loaded here has none."""
    return [
        DesignSection(design.name, about_design(design), draw_design(design), choice_rows(design)) for design in _known(designs)
    ]


def papers_of(designs: Iterable[Mapping[str, Any]]) -> list[PaperLink]:
    """The papers that the policies of some designs are from, in the order in which they appeared."""
    modules = [type(policy).__module__ for design in _known(designs) for policy in design.policies]
    return [
        PaperLink(paper.name, paper.citation, paper.address)
        for paper in papers()
        if any(module.startswith(f"{paper.package}.") for module in modules)
    ]


def design_page(design: Design, machine: Machine, command: str = "") -> Page:
    """A page about one design alone: what it is, as a drawing and in words, and what it adds to an SM."""
    data = [design.to_dict()]
    return Page(
        title=f"Warploom: design {design.name}",
        subtitle="What a register file design does, and with which parameters.",
        conditions=f"It adds {storage_bits(design, machine):,} bits to an SM of {machine.name}.",
        designs=design_sections(data),
        papers=papers_of(data),
        command=command,
    )


def _known(designs: Iterable[Mapping[str, Any]]) -> list[Design]:
    """Those whose policies are loaded here."""
    found = []
    for data in designs:
        try:
            found.append(from_dict(data))
        except WarploomError:
            continue
    return found
