"""A CUDA program under a design on a machine: the settings of its runtime, and the result of its launches."""

from __future__ import annotations

from collections.abc import Callable

from warploom.chip.result import joined
from warploom.chip.simulate import Simulation
from warploom.emulator.emulator import ExecutedLaunch
from warploom.emulator.watch.findings import Findings
from warploom.programs.process import ProcessOrigin
from warploom.programs.runtime import Settings
from warploom.runs.accounting import Executed
from warploom.runs.caches import COLD
from warploom.runs.compilation import compile_for
from warploom.runs.result import Emulation, Result
from warploom.runs.run import Clock, Judgement, core_of, emulation_of, result_of
from warploom.runs.spec import RunSpec


class ProgramRun:
    """A process that is being run: gives its runtime the settings, and makes a result of its launches."""

    def __init__(self, spec: RunSpec) -> None:
        self.spec = spec.settled
        self.findings = Findings()
        self._clock = Clock()
        self._executed = Executed()
        self._cores: list[Simulation] = []

    def settings(self) -> Settings:
        """Settings for one process of the program; each has a chip of its own."""
        spec = self.spec
        if spec.timed:
            self._cores.append(core_of(spec))
        return Settings(
            machine=spec.machine,
            code=spec.code,
            compile=lambda modules, kernel, shape: compile_for(modules, kernel, spec.design, spec.machine, shape),
            cycles=self._timing(self._cores[-1]) if spec.timed else None,
            launched=lambda record, _cycles: self._executed.add(record),
            check=spec.check,
            order=spec.order,
            found=self.findings.add,
            budget=spec.budget,
            lenient=isinstance(spec.program, ProcessOrigin) and spec.program.lenient,
        )

    def result(self) -> Result | Emulation:
        """The result of all launches so far; where none was timed, of their execution."""
        judged = Judgement(findings=tuple(map(str, self.findings)))
        timed = [core.result() for core in self._cores if core.launches]
        if not timed:
            return emulation_of(self._executed, self.spec, judged, self._clock)
        return result_of(joined(timed, self.spec.design.policies), self.spec, judged, self._clock)

    def _timing(self, core: Simulation) -> Callable[[ExecutedLaunch], int]:
        def cycles(record: ExecutedLaunch) -> int:
            assert record.trace is not None
            before = core.cycles
            core.launch(record.code, record.trace, copied=None if self.spec.caches == COLD else record.copied)
            return core.cycles - before

        return cycles
