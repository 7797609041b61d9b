"""How many CTAs fit on an SM, and what sets the limit."""

from __future__ import annotations

from typing import Any, NamedTuple

from warploom.base.errors import WarploomError
from warploom.chip.machines import Machine
from warploom.compiler.code.instruction import Code


class Occupancy(NamedTuple):
    """The resident CTAs of an SM, when there are enough of them."""

    ctas: int
    warps_per_cta: int
    registers_per_warp: int  # physical registers that one warp takes at launch
    limited_by: str  # "registers", "shared memory", "threads", "warps" or "CTAs"

    def fraction(self, machine: Machine) -> float:
        """Resident warps as a share of what the SM can hold."""
        return self.ctas * self.warps_per_cta / machine.sm.warps_per_sm


def rounded(registers: int, machine: Machine) -> int:
    """Registers per thread as the machine hands them out."""
    step = machine.sm.register_rounding
    return max(step, -(-registers // step) * step)


def occupancy(code: Code, machine: Machine, allocation: Any, warps_per_cta: int) -> Occupancy:
    """The limit from registers, shared memory, threads, warps and CTAs under an allocation policy."""
    shared = code.shared_bytes + code.dynamic_shared_bytes
    registers = rounded(code.registers, machine)
    if hasattr(allocation, "registers_per_warp"):
        registers = int(allocation.registers_per_warp(code, machine))
    limits = {
        "registers": machine.warp_registers // max(1, registers * warps_per_cta),
        "threads": machine.sm.threads_per_sm // (32 * warps_per_cta),
        "warps": machine.sm.warps_per_sm // warps_per_cta,
        "CTAs": machine.sm.ctas_per_sm,
    }
    if shared > 0:
        limits["shared memory"] = machine.sm.shared_bytes // shared
    if hasattr(allocation, "resident_limit"):
        limits["registers"] = int(allocation.resident_limit(code, machine, warps_per_cta))
    limited_by = min(limits, key=lambda name: limits[name])
    if limits[limited_by] < 1:
        raise WarploomError(
            f"kernel {code.name}: not one CTA of {warps_per_cta} warps fits an SM of machine {machine.name}; "
            f"{limited_by} would have to be larger"
        )
    return Occupancy(limits[limited_by], warps_per_cta, registers, limited_by)
