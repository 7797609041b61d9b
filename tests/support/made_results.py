"""Results made up for a test, of runs that nobody made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from warploom.chip.machines import load_machine
from warploom.designs import parse_design
from warploom.programs.own import PythonOrigin
from warploom.runs.provenance import Provenance
from warploom.runs.result import Result
from warploom.runs.spec import RunSpec

NUMBERS: dict[str, Any] = {
    "verified": True,
    "warp_instructions": 1000,
    "wall_seconds": 0.1,
    "cycles": 500,
    "ipc": 2.0,
    "occupancy": 0.5,
    "ctas_per_sm": 4,
    "registers_per_thread": 16,
    "register_file_bytes": 131072,
    "counters": {},
    "energy_pj": {},
    "storage_bits": 0,
}


def made_provenance(workload: str = "a", design: str = "baseline") -> Provenance:
    """The provenance of a run of a program with this name under a design with this name."""
    point = replace(parse_design("baseline"), name=design)
    spec = RunSpec(PythonOrigin(workload, "0" * 32), point, load_machine("gtx480"), "tiny", technology="common")
    digests: dict[str, Any] = {"program": {}, "policies": {}, "technology": {"name": "common", "digest": "0" * 32}, "tools": ""}
    return Provenance(spec, "0" * 32, "0.1", "", False, "0" * 32, {}, digests)


def made_result(workload: str = "a", design: str = "baseline", **numbers: Any) -> Result:
    """A result with some numbers of the test's own."""
    return Result(provenance=made_provenance(workload, design), **NUMBERS | numbers)
