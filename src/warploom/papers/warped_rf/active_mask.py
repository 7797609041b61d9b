"""Only the lanes that are active switch (COMA)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from warploom.base.records import Lanes
from warploom.chip.machines import Machine
from warploom.chip.sm import policy
from warploom.chip.sm.bits import NOTHING, below, count
from warploom.chip.sm.context import Context
from warploom.chip.sm.counter import CounterMeaning
from warploom.chip.sm.layout import Sm
from warploom.compiler.code.lanes import LANES
from warploom.designs.energy import RunFacts, Technology
from warploom.papers.warped_rf.ratios import savings_by_ratio


@policy
class ActiveMask(NamedTuple):
    """The active mask gates word lines, bit lines and sense amplifiers; narrow banks without an active lane are not accessed.

    A read uses the mask of its instruction, kept in a table with one entry per collector; a write the mask at write-back. A
    compressed register has no lanes of its own in the banks: all banks that hold it are accessed.
    """

    CHOICE = "gating"
    NAME = "active-mask"
    SOURCE = "Abdel-Majeed and Annavaram, Warped Register File, HPCA 2013, section 5"

    COUNTERS = {
        "lanes_accessed": CounterMeaning("lanes", "Lanes that were read or written in the main register file."),
    }

    def lanes_accessed(policy, ctx: Context, sm: Sm, mask: Lanes, write: bool) -> int:
        banks = ctx.machine.banks_per_register
        if banks == 1:
            return count(np.uint64(mask))
        width = LANES // banks
        lanes = 0
        for bank in range(banks):
            if (np.uint64(mask) >> np.uint64(bank * width)) & below(width) != NOTHING:
                lanes += width
        return lanes

    def summary(policy, counters: dict[str, Any]) -> dict[str, Any]:
        return {"lanes_accessed": counters["rf_read_lanes"] + counters["rf_write_lanes"]}

    def energy(policy, counters: dict[str, Any], technology: Technology, run: RunFacts) -> Iterator[tuple[str, str, float]]:
        # The paper gives the table's size, not its energy: it is scaled from the register file's. It is written when a collector
        # is assigned and looked up by each read; a write brings its mask along.
        access, leakage = technology.small_array(policy.storage_bits(run.machine), LANES, run.cycle_time)
        yield "active-mask table", "overhead", (counters["issued"] + counters["mrf_reads"]) * access
        yield "active-mask table leakage", "overhead", leakage * run.sms * run.seconds

    def versus(policy, result: Any, reference: Any) -> dict[str, float]:
        return savings_by_ratio(vars(result), vars(reference))

    def storage_bits(policy, machine: Machine) -> int:
        return machine.collectors.total * LANES

    def area(policy, machine: Machine, technology: Technology) -> float:
        return machine.warp_registers * LANES * technology.area.gate  # each lane's segment of each word line ends in one
