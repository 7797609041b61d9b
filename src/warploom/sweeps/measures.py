"""What a search measures of a design: each number relative to the machine's usual design, so that less is better."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from warploom.machines import Machine

MEASURES = {
    "energy": "energy of the register file, the mean over workloads",
    "time": "cycles, the geometric mean over workloads",
    "slowest": "cycles of the workload that suffers most",
    "file": "physical registers",
    "storage": "bits of the register file and of all that the design adds to it",
}
Numbers = Mapping[str, Any]  # what is stored of a result


def measure(results: Sequence[Numbers], references: Sequence[Numbers], machine: Machine) -> dict[str, float]:
    """The measures of a design from its results and those of the usual one, in the same order of workloads."""
    times = [ours["cycles"] / base["cycles"] for ours, base in zip(results, references, strict=True)]
    energies = [ours["energy_pj"]["total"] / base["energy_pj"]["total"] for ours, base in zip(results, references, strict=True)]
    whole_bits = 32 * machine.sm.registers_per_sm
    bits = 8 * results[0]["register_file_bytes"]
    return {
        "energy": math.fsum(energies) / len(energies),
        "time": math.exp(math.fsum(map(math.log, times)) / len(times)),
        "slowest": max(times),
        "file": bits / whole_bits,
        "storage": (bits + max(result["storage_bits"] for result in results)) / whole_bits,
    }
