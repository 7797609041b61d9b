"""Making a result again from what it says of itself, and finding out whether the outcome is the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from warploom.designs import Design, from_dict
from warploom.energy import load_technology
from warploom.errors import WarploomError
from warploom.machines.loader import machine_from_dict
from warploom.programs.replay import recorded_program
from warploom.register_file import load_policy_file
from warploom.simulation.caches import check_caches
from warploom.simulation.provenance import Provenance, policy_codes, provenance_from_dict, technology_label
from warploom.simulation.result import Emulation, Result, flat, plain
from warploom.simulation.simulate import emulate, simulate
from warploom.workloads.custom import file_program
from warploom.workloads.program import PTX, Program, workload_program

OUTCOME = (
    "verified",
    "cycles",
    "warp_instructions",
    "thread_instructions",
    "ipc",
    "occupancy",
    "ctas_per_sm",
    "registers_per_thread",
    "register_file_bytes",
    "counters",
    "energy_pj",
    "storage_bits",
    "kernels",
)


def read_records(path: str | Path) -> list[dict[str, Any]]:
    """The results of a file that ``--json`` wrote: one object, or a list of them."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise WarploomError(f"{path}: cannot be read ({error.strerror or error})") from None
    except ValueError as error:
        raise WarploomError(f"{path}: not JSON: {error}") from None
    records = data if isinstance(data, list) else [data]
    if not records or not all(isinstance(record, dict) for record in records):
        raise WarploomError(f"{path}: there is no result in it; give what `warploom run --json` printed")
    return records


def make_again(record: dict[str, Any], place: str) -> Result | Emulation:
    """Run what a record says that it was made from."""
    known = provenance_from_dict(record.get("provenance"), place)
    try:
        for entry in known.policies.values():
            if "file" in entry:
                load_policy_file(entry["file"])
        program, design = _program(known, place), from_dict(known.design, place)
        machine = machine_from_dict(known.machine["numbers"], place)
        size, budget, technology = known.program.get("size", "small"), known.max_instructions, _technology(known, place)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise WarploomError(f"{place}: its provenance is damaged: {type(error).__name__}: {error}") from None
    _check_policies(known, design, place)
    if technology is None:
        return emulate(program, design, machine, size=size, max_instructions=budget)
    return simulate(
        program,
        design,
        machine,
        size=size,
        check=known.check,
        technology=technology,
        max_instructions=budget,
        caches=check_caches(known.caches),
    )


def _technology(known: Provenance, place: str) -> str | None:
    """The energy table that a result was accounted with, by name or file; None where it was not timed."""
    if not known.technology:
        return None
    name = known.technology.get("file") or known.technology["name"]
    if technology_label(load_technology(name)) != known.technology["name"]:
        raise WarploomError(f"{place}: the energy table {name} has changed since; restore it to make the result again")
    return name


def _check_policies(known: Provenance, design: Design, place: str) -> None:
    """Refuse to run other code of the user's than the result was made with."""
    now = policy_codes(design)
    for choice, entry in known.policies.items():
        if "file" in entry and now.get(choice, {}).get("digest") != entry.get("digest"):
            raise WarploomError(
                f"{place}: the policy file {entry['file']} has changed since; restore it to make the result again"
            )


def _program(known: Provenance, place: str) -> Program:
    about = known.program
    if "workload" in about:
        return workload_program(about["workload"], about.get("code", PTX), about.get("seed"))
    if "recording" in about:
        recorded = recorded_program(about["recording"], about["code"])
        if recorded.origin["digest"] != about["digest"]:
            raise WarploomError(f"{place}: {about['recording']} has changed since; restore it to make the result again")
        return recorded
    if "file" not in about:
        raise WarploomError(f"{place}: the program {about['name']} was made in Python and can only be run again from there")
    (gx, gy, gz), (bx, by, bz) = about["grid"], about["block"]
    program = file_program(
        about["file"],
        kernel=about["kernel"],
        grid=(gx, gy, gz),
        block=(bx, by, bz),
        arguments=about["arguments"],
        shared_bytes=about["shared_bytes"],
        code=about.get("code", PTX),
        options=about.get("options", ()),
        symbols=about.get("symbols", ()),
        expect=about.get("expect", ()),
        lenient=about.get("lenient", False),
    )
    if program.origin["digest"] != about["digest"]:
        raise WarploomError(f"{place}: {about['file']} has changed since; restore it to make the result again")
    return program


def differences(record: dict[str, Any], made: Result | Emulation) -> list[str]:
    """The names of those numbers that came out otherwise than a record has them."""

    def outcome(values: dict[str, Any]) -> dict[str, Any]:
        return dict(flat({name: values[name] for name in OUTCOME if name in values}))

    before, after = outcome(record), outcome(plain(made.to_dict()))
    return [name for name in {**before, **after} if before.get(name) != after.get(name)]


def other_maker(record: dict[str, Any], made: Result | Emulation) -> str:
    """Who made a record, where that was another Warploom than this one; empty where it was the same."""
    before, now = provenance_from_dict(record.get("provenance"), "the record"), made.provenance
    assert now is not None
    if (before.version, before.sources) == (now.version, now.sources) and before.environment == now.environment:
        return ""
    ran_on = ", ".join(f"{name} {number}" for name, number in before.environment.items())
    return f"{before.by}, sources {before.sources[:8]}, on {ran_on}"
