"""A CUDA program under a design on a machine: the settings of its runtime, and what its launches came to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from warploom.core.result import finish_counters, merge
from warploom.core.simulate import Simulation
from warploom.designs import Design
from warploom.emulator.budget import DEFAULT_BUDGET
from warploom.emulator.emulator import ExecutedLaunch
from warploom.energy import RunFacts, Technology, account, load_technology
from warploom.machines import Machine
from warploom.programs.runtime import Settings
from warploom.simulation.caches import COLD
from warploom.simulation.compilation import compile_for, physical, shrunk
from warploom.simulation.simulate import default_technology


@dataclass
class KernelTotal:
    """All launches of one kernel."""

    kernel: str
    registers: int
    launches: int = 0
    warp_instructions: int = 0
    cycles: int | None = 0  # None: not timed, and then there is no time and no energy either
    seconds: float | None = None
    energy_pj: dict[str, float] | None = None  # of the register file, by part, as results have it
    counters: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--summary`` writes them."""
        return vars(self)


@dataclass
class ProgramRun:
    """A program that is being run under a design: gives its runtime the settings, and adds up what comes of them."""

    design: Design
    machine: Machine
    code: str
    timed: bool
    check: bool = False
    max_instructions: int = DEFAULT_BUDGET
    lenient: bool = False
    technology: Technology | None = None  # the energy table; None: the machine's own
    caches: str = COLD
    kernels: dict[str, KernelTotal] = field(default_factory=dict)

    def settings(self) -> Settings:
        """Settings for one process of the program; each has a chip of its own."""
        core: Simulation | None = None
        if self.timed:
            chip = physical(self.machine, self.design)
            core = Simulation(self.design.policies, chip, check=self.check, architected=shrunk(self.machine, self.design))
        return Settings(
            machine=self.machine,
            code=self.code,
            compile=lambda modules, kernel, shape: compile_for(modules, kernel, self.design, self.machine, shape),
            cycles=self._timing(core),
            launched=self._add,
            check=self.check,
            budget=self.max_instructions,
            lenient=self.lenient,
        )

    def account(self) -> None:
        """Give every kernel its time and the energy of its launches."""
        table = self.technology or load_technology(default_technology(self.machine))
        built = physical(self.machine, self.design)
        for total in self.kernels.values():
            if total.cycles is None:
                continue
            counters = finish_counters(total.counters)
            for policy in self.design.policies:
                if hasattr(policy, "summary"):
                    counters |= policy.summary(counters)
            cycle_time = 1e-6 / built.chip.clock_energy_mhz
            file_bytes = 4 * built.sm.registers_per_sm
            facts = RunFacts(total.cycles, cycle_time, built.chip.sms, file_bytes, self.design.policies, built)
            total.seconds = total.cycles * 1e-6 / self.machine.chip.clock_core_mhz
            total.energy_pj = account(counters, self.design.policies, table, facts).picojoules()
            total.counters = counters

    def _timing(self, core: Simulation | None) -> Callable[[ExecutedLaunch], int] | None:
        if core is None:
            return None

        def cycles(record: ExecutedLaunch) -> int:
            assert record.trace is not None
            before = core.cycles
            total = self._total(record)
            copied = None if self.caches == COLD else record.copied
            total.counters = merge(total.counters, core.launch(record.code, record.trace, copied=copied))
            return core.cycles - before

        return cycles

    def _total(self, record: ExecutedLaunch) -> KernelTotal:
        name = record.code.name
        return self.kernels.setdefault(name, KernelTotal(name, record.code.registers, cycles=0 if self.timed else None))

    def _add(self, record: ExecutedLaunch, cycles: int | None) -> None:
        total = self._total(record)
        total.launches += 1
        total.warp_instructions += record.stats.warp_instructions
        if cycles is not None and total.cycles is not None:
            total.cycles += cycles
