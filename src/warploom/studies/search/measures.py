"""What a search measures of a design, so that less is better.

Energy and time are relative to the machine's usual design; file, storage and area to the machine's whole register file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from warploom.chip.machines import Machine
from warploom.designs import Design, added_area
from warploom.designs.energy import Technology
from warploom.runs.compilation import physical
from warploom.runs.result import Result

MEASURES = {
    "energy": "energy of the register file, the mean over workloads",
    "time": "cycles, the geometric mean over workloads",
    "slowest": "cycles of the workload that suffers most",
    "file": "physical registers",
    "storage": "bits of the register file and of all that the design adds to it",
    "area": "chip area of the register file and of all that the design adds to it",
}


def measure(
    results: Sequence[Result], references: Sequence[Result], design: Design, machine: Machine, technology: Technology
) -> dict[str, float]:
    """The measures of a design from its results and those of the usual one, in the same order of workloads."""
    times = [ours.cycles / base.cycles for ours, base in zip(results, references, strict=True)]
    energies = [ours.energy_pj["total"] / base.energy_pj["total"] for ours, base in zip(results, references, strict=True)]
    whole_bits = 32 * machine.sm.registers_per_sm
    bits = 8 * results[0].register_file_bytes
    return {
        "energy": math.fsum(energies) / len(energies),
        "time": math.exp(math.fsum(map(math.log, times)) / len(times)),
        "slowest": max(times),
        "file": bits / whole_bits,
        "storage": (bits + max(result.storage_bits for result in results)) / whole_bits,
        "area": (bits + added_area(design, physical(machine, design), technology)) / whole_bits,
    }
