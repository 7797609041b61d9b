"""A CUDA program under a design on a machine: the settings of its runtime, and what its launches came to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from warploom.chip.result import finish_counters, merge
from warploom.chip.simulate import Simulation
from warploom.designs.energy import load_technology
from warploom.emulator.emulator import ExecutedLaunch
from warploom.emulator.watch.findings import Findings
from warploom.programs.process import ProcessOrigin
from warploom.programs.runtime import Settings
from warploom.runs.accounting import accounted, run_facts
from warploom.runs.caches import COLD
from warploom.runs.compilation import compile_for, physical, shrunk
from warploom.runs.provenance import provenance_of
from warploom.runs.spec import RunSpec


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


class ProgramRun:
    """A process that is being run: gives its runtime the settings, and adds up what comes of its launches."""

    def __init__(self, spec: RunSpec) -> None:
        self.spec = spec.settled
        self.kernels: dict[str, KernelTotal] = {}
        self.findings = Findings()

    def settings(self) -> Settings:
        """Settings for one process of the program; each has a chip of its own."""
        spec, core = self.spec, None
        if spec.timed:
            built, architected = physical(spec.machine, spec.design), shrunk(spec.machine, spec.design)
            core = Simulation(spec.design.policies, built, check=spec.registers_watched, architected=architected)
        return Settings(
            machine=spec.machine,
            code=spec.code,
            compile=lambda modules, kernel, shape: compile_for(modules, kernel, spec.design, spec.machine, shape),
            cycles=self._timing(core),
            launched=self._add,
            check=spec.check,
            order=spec.order,
            found=self.findings.add,
            budget=spec.budget,
            lenient=isinstance(spec.program, ProcessOrigin) and spec.program.lenient,
        )

    def account(self) -> None:
        """Give every kernel its time and the energy of its launches."""
        design, machine = self.spec.design, self.spec.machine
        table = load_technology(self.spec.technology)
        for total in self.kernels.values():
            if total.cycles is None:
                continue
            total.counters = finish_counters(total.counters, design.policies)
            total.seconds = total.cycles * 1e-6 / machine.chip.clock_core_mhz
            energy = accounted(total.counters, design, table, run_facts(total.cycles, design, machine))
            total.energy_pj = energy.picojoules()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--summary`` writes them: the kernels, and what they were made from."""
        kernels = [total.to_dict() for total in self.kernels.values()]
        return {"kernels": kernels, "provenance": provenance_of(self.spec).to_dict()}

    def _timing(self, core: Simulation | None) -> Callable[[ExecutedLaunch], int] | None:
        if core is None:
            return None

        def cycles(record: ExecutedLaunch) -> int:
            assert record.trace is not None
            before = core.cycles
            copied = None if self.spec.caches == COLD else record.copied
            counters = core.launch(record.code, record.trace, copied=copied)
            total = self._total(record)
            total.counters = merge(total.counters, counters)
            return core.cycles - before

        return cycles

    def _total(self, record: ExecutedLaunch) -> KernelTotal:
        name = record.code.name
        return self.kernels.setdefault(name, KernelTotal(name, record.code.registers, cycles=0 if self.spec.timed else None))

    def _add(self, record: ExecutedLaunch, cycles: int | None) -> None:
        total = self._total(record)
        total.launches += 1
        total.warp_instructions += record.stats.warp_instructions
        if cycles is not None and total.cycles is not None:
            total.cycles += cycles
