"""The account of a run: energy and time of its counters, under its design, on its machine. Whoever accounts asks here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from warploom.chip.machines import Machine
from warploom.chip.result import TimedKernel, finish_counters
from warploom.designs import Design
from warploom.designs.energy import Account, RunFacts, Technology, account
from warploom.emulator.emulator import ExecutedLaunch
from warploom.runs.compilation import physical
from warploom.runs.result import KernelTotal


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


def timed_kernels(
    kernels: Iterable[TimedKernel], design: Design, machine: Machine, technology: Technology
) -> tuple[KernelTotal, ...]:
    """What each kernel of a run took, and the energy of its launches."""
    totals = []
    for kernel in kernels:
        counters = finish_counters(kernel.counters, design.policies)
        energy = accounted(counters, design, technology, run_facts(kernel.cycles, design, machine))
        totals.append(
            KernelTotal(
                kernel=kernel.kernel,
                registers=kernel.registers,
                launches=kernel.launches,
                warp_instructions=counters["warp_instructions"],
                cycles=kernel.cycles,
                seconds=kernel.cycles * 1e-6 / machine.chip.clock_core_mhz,
                counters=counters,
                energy_pj=energy.picojoules(),
            )
        )
    return tuple(totals)


class Executed:
    """Adds up launches that are executed and not timed."""

    def __init__(self) -> None:
        self.thread_instructions = 0
        self._kernels: dict[str, KernelTotal] = {}

    def add(self, launch: ExecutedLaunch) -> None:
        """Add a launch."""
        name, stats = launch.code.name, launch.stats
        known = self._kernels.get(name) or KernelTotal(name, 0, 0, 0)
        self._kernels[name] = replace(
            known,
            registers=max(known.registers, launch.code.registers),
            launches=known.launches + 1,
            warp_instructions=known.warp_instructions + stats.warp_instructions,
        )
        self.thread_instructions += stats.thread_instructions

    @property
    def kernels(self) -> tuple[KernelTotal, ...]:
        """What each kernel executed."""
        return tuple(self._kernels.values())

    @property
    def warp_instructions(self) -> int:
        """Of all launches."""
        return sum(kernel.warp_instructions for kernel in self._kernels.values())
