"""The account of a run: energy and time of its counters, under its design, on its machine. Whoever accounts asks here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warploom.chip.machines import Machine
from warploom.designs import Design
from warploom.designs.energy import Account, RunFacts, Technology, account
from warploom.runs.compilation import physical


def run_facts(cycles: int, design: Design, machine: Machine) -> RunFacts:
    """What the account must know of a run besides its counters."""
    built = physical(machine, design)
    return RunFacts(
        cycles=cycles,
        cycle_time=1e-6 / built.chip.clock_energy_mhz,
        sms=built.chip.sms,
        register_file_bytes=4 * built.sm.registers_per_sm,
        design=design.policies,
        machine=built,
    )


def accounted(counters: Mapping[str, Any], design: Design, technology: Technology, facts: RunFacts) -> Account:
    """The account of finished counters, by an energy table."""
    return account(counters, design.policies, technology, facts)
