"""What is told of a design: what it is, where it is from, what its policies and parameters mean, as a drawing and in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from warploom.designs import Design, describe_policies, from_dict, named_designs, parse_design, storage_bits
from warploom.designs.drawings import drawn
from warploom.errors import WarploomError
from warploom.machines import Machine
from warploom.register_file import CHOICES
from warploom.report.drawing import draw_design
from warploom.report.page import DesignSection


@dataclass(frozen=True)
class ChoiceRow:
    """One of a design's six choices: its policy with parameters, what it does, and what the parameters mean."""

    choice: str
    policy: str
    says: str
    source: str
    meanings: Mapping[str, str]  # of the parameters that somebody explained


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
        parameters = ", ".join(f"{name}={value}" for name, value in policy._asdict().items())
        meanings = {name: entry["meaning"] for name, entry in about["parameters"].items() if entry["meaning"]}
        text = f"{policy.NAME}({parameters})" if parameters else policy.NAME
        rows.append(ChoiceRow(choice, text, drawn(policy).says, about["source"], meanings))
    return rows


def design_facts(design: Design, machine: Machine) -> dict[str, Any]:
    """All of it as plain data."""
    rows = [vars(row) for row in choice_rows(design)]
    about = {"name": design.name, "about": about_design(design), "text": str(design)}
    return {**about, "choices": rows, "storage_bits": storage_bits(design, machine), "drawing": draw_design(design)}


def design_sections(designs: Iterable[Mapping[str, Any]]) -> list[DesignSection]:
    """The sections of a page about designs, as results hold them; one whose policies are not loaded here has none."""
    sections = []
    for data in designs:
        try:
            design = from_dict(data)
        except WarploomError:
            continue
        sections.append(DesignSection(design.name, about_design(design), draw_design(design)))
    return sections
