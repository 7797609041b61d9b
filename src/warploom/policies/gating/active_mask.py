"""Only the lanes that are active switch (COMA)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from warploom.policies import policy
from warploom.policies.bits import count

LANES = 32
MASK_BITS = 32
RATIOS = (2, 5, 8)  # dynamic to leakage power, as the paper shows them


@policy
class ActiveMask(NamedTuple):
    """The active mask gates word lines, bit lines and sense amplifiers; narrow banks without an active lane are not accessed.

    A read uses the mask of its instruction, kept in a table with one entry per collector; a write the mask at write-back. A
    compressed register has no lanes of its own in the banks: all banks that hold it are accessed.
    """

    CHOICE = "gating"
    NAME = "active-mask"
    SOURCE = "Abdel-Majeed and Annavaram, Warped Register File, HPCA 2013, section 5"

    def lanes_accessed(policy, ctx: Any, sm: Any, mask: Any, write: bool) -> int:
        span = ctx.machine.rf_banks_per_register
        if span == 1:
            return count(np.uint64(mask))
        width = LANES // span
        lanes = 0
        for bank in range(span):
            if (np.uint64(mask) >> np.uint64(bank * width)) & ((np.uint64(1) << np.uint64(width)) - np.uint64(1)) != np.uint64(0):
                lanes += width
        return lanes

    def summary(policy, counters: dict[str, Any]) -> dict[str, Any]:
        return {"lanes_accessed": counters["rf_read_lanes"] + counters["rf_write_lanes"]}

    def energy(policy, counters: dict[str, Any], technology: Any, run: Any) -> Any:
        # The paper gives the table's size, not its energy: it is scaled from the register file's.
        access, leakage = technology.small_array(policy.storage_bits(run.machine), MASK_BITS, run.cycle_time)
        yield "active-mask table", "overhead", (counters["mrf_reads"] + counters["mrf_writes"]) * access
        yield "active-mask table leakage", "overhead", leakage * run.sms * run.seconds

    def versus(policy, result: Any, reference: Any) -> dict[str, Any]:
        """Total savings at the ratios of dynamic to leakage power that the paper assumes for the reference."""
        dynamic = 1 - (result.energy_pj["dynamic"] + result.energy_pj["overhead"]) / reference.energy_pj["dynamic"]
        leakage = 1 - result.energy_pj["leakage"] / reference.energy_pj["leakage"]
        return {f"total_saving_{ratio}_to_1": (ratio * dynamic + leakage) / (ratio + 1) for ratio in RATIOS}

    def storage_bits(policy, machine: Any) -> int:
        return machine.collectors.total * MASK_BITS
