"""Designs and policies as plain rows, for lists and documentation."""

from __future__ import annotations

import inspect
from typing import Any

from warploom.chip.machines import Machine
from warploom.chip.sm import CHOICES, policies_of
from warploom.compiler.code.instruction import Code
from warploom.designs.design import Design
from warploom.designs.energy import Technology
from warploom.designs.reading import named_designs, parse_design


def storage_bits(design: Design, machine: Machine) -> int:
    """Bits that a design adds to one SM."""
    policies = design.policies
    return sum(_bits_of(policy, machine, policies) for policy in policies if hasattr(policy, "storage_bits"))


def added_area(design: Design, machine: Machine, technology: Technology) -> float:
    """Area that a design adds to one SM, in bits of the main register file: its storage, and what its policies have beside it."""
    parts = sum(policy.area(machine, technology) for policy in design.policies if hasattr(policy, "area"))
    return technology.area.small_bit * storage_bits(design, machine) + parts


def _bits_of(policy: Any, machine: Machine, policies: Any) -> int:
    """A policy's storage; one whose size depends on other choices asks for them too."""
    asks = len(inspect.signature(policy.storage_bits).parameters) > 1
    return int(policy.storage_bits(machine, policies) if asks else policy.storage_bits(machine))


def describe_code(design: Design, code: Code) -> dict[int, str]:
    """What a design's policies have to say beside the code that it compiled, by pc."""
    notes: dict[int, str] = {}
    for policy in design.policies:
        if hasattr(policy, "describe"):
            for pc, note in policy.describe(code).items():
                notes[pc] = f"{notes[pc]}; {note}" if pc in notes else note
    return notes


def describe_designs(machine: Machine) -> list[dict[str, Any]]:
    """Every named design with its six choices, parameters, source and storage."""
    rows = []
    for named in named_designs().values():
        design = parse_design(named.name)
        row = {"name": named.name, "title": named.title, "source": named.source, "text": str(design)}
        choices = {key: value for key, value in design.to_dict().items() if key != "name"}
        rows.append({**row, **choices, "storage_bits": storage_bits(design, machine)})
    return rows


def describe_policies() -> list[dict[str, Any]]:
    """Every registered policy with its parameters: default, what is allowed, meaning."""
    rows = []
    for choice in CHOICES:
        for name, kind in policies_of(choice).items():
            limits, meanings = getattr(kind, "LIMITS", {}), getattr(kind, "MEANING", {})
            parameters = {
                field: {
                    "default": default,
                    "allowed": list(limits[field]) if field in limits else [False, True],
                    "meaning": meanings.get(field, "") if isinstance(meanings, dict) else "",
                }
                for field, default in kind._field_defaults.items()
            }
            title = (inspect.getdoc(kind) or "").split("\n", 1)[0]
            source = getattr(kind, "SOURCE", "")
            rows.append({"choice": choice, "policy": name, "title": title, "source": source, "parameters": parameters})
    return rows
