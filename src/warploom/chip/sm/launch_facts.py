"""What the core tells policies and observers of a launch that has ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warploom.chip.machines import Machine
from warploom.chip.sm.occupancy import Occupancy
from warploom.compiler.code.instruction import Code
from warploom.emulator.trace.format import Trace


@dataclass(frozen=True)
class LaunchFacts:
    """What a policy's `counters` and an observer's `report` may look at besides its own state."""

    code: Code
    trace: Trace
    machine: Machine
    occupancy: Occupancy
    cycles: int
    counters: dict[str, Any]  # the core's
