"""The entry point of the timing core: a sequence of launches on a machine under a design."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numba
import numpy as np

from warploom.base.cores import threads
from warploom.base.errors import WarploomError
from warploom.base.progress import activity
from warploom.base.records import blank_records
from warploom.chip import explain
from warploom.chip.checker import Checker, NoChecker
from warploom.chip.context import launch_info
from warploom.chip.left_by_host import runs_left
from warploom.chip.liveness import last_uses
from warploom.chip.machines import Machine
from warploom.chip.machines.limits import CARVE_OUTS
from warploom.chip.memory import PORT_DTYPE, begin_launch, drain, leave_in_l2, memory_counters, new_memory
from warploom.chip.result import (
    TimedKernel,
    TimedLaunch,
    TimingResult,
    finish_counters,
    gather,
    merge,
    parts_of_entry,
    samples_of,
)
from warploom.chip.run_chip import CHIP_DTYPE, DONE, FAULTY, RUNNING, SAMPLED, STUCK, reset_chip, run_chip
from warploom.chip.sm import CHOICES, Policies, at_run_time, check_policies
from warploom.chip.sm.columns import NAMES, columns_record
from warploom.chip.sm.context import Context
from warploom.chip.sm.dtypes import sm_dtype
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.chip.sm.observing import linked, own_records
from warploom.chip.sm.occupancy import Occupancy, occupancy
from warploom.chip.stages import check_code, kept_by, stages_of
from warploom.chip.tables import Tables
from warploom.compiler.code.instruction import Code
from warploom.compiler.code.lanes import LANES
from warploom.compiler.code.table import Flag
from warploom.compiler.cuda.demangle import demangle
from warploom.emulator.device_memory import Copied
from warploom.emulator.trace.format import Trace
from warploom.jit import specialised
from warploom.jit.team import MAX_THREADS, Crew

Progress = Callable[[int, int], None]  # CTAs finished or under way, CTAs in all
Receive = Callable[[str, Code, list[Any]], None]  # an observer's name, the code that runs, what the observer has drained
CHUNK = 1 << 14  # cycles between two looks at progress and signals
PATIENCE = 2_000_000
SAMPLE_EVERY = 1024
WORTH_SHARING = 20_000  # warp instructions of a launch: less is timed by one thread before others have started
COMPILED = "the core for this combination of policies"


def _read_only(column: np.ndarray) -> np.ndarray:
    """A read-only view: columns from memory and from mapped files then have one type, for which the core is compiled once."""
    view = np.ascontiguousarray(column).view(np.recarray if column.dtype.names else np.ndarray)
    view.flags.writeable = False
    return view


class Simulation:
    """A chip that runs launches one after the other and keeps its L2 between them."""

    def __init__(
        self,
        design: Policies,
        machine: Machine,
        *,
        check: bool = False,
        naive: bool = False,
        architected: Machine | None = None,
        tables: Tables | None = None,
        observers: tuple[Any, ...] = (),
        receive: Receive | None = None,
    ) -> None:
        self.design = check_policies(design)
        self.machine = machine
        self.architected = architected or machine  # whose registers decide how many CTAs are resident
        self.naive = naive
        self.checker: Any = Checker() if check else NoChecker()
        self.record = machine.record()
        self.memory: Any = new_memory(machine)
        self.ports: Any = blank_records(machine.chip.sms, PORT_DTYPE)
        self.chip = np.zeros(1, CHIP_DTYPE).view(np.recarray)[0]
        self.crew = Crew()
        self.receive = receive  # takes what observers drain while they watch; without it the result keeps it
        self.observed: dict[str, list[dict[str, Any]]] = {type(observer).NAME: [] for observer in observers}
        self.sample_every = min((SAMPLE_EVERY, *(o.SAMPLE_EVERY for o in observers if hasattr(o, "SAMPLE_EVERY"))))
        self.chunk = min((CHUNK, *(observer.CHUNK for observer in observers if hasattr(observer, "CHUNK"))))
        self.stages = stages_of(machine, self.design)
        self.check = check
        self._let_watch(observers)
        self.kernels: dict[str, int] = {}  # each kernel's code has addresses of its own
        self.tables = tables or Tables(self.design, machine)
        self.launches: list[TimedLaunch] = []
        self.by_kernel: dict[str, TimedKernel] = {}
        self.samples: list[dict[str, int]] = []
        self.total: dict[str, Any] = {}
        self.cycles = 0
        self.widest: tuple[int, Occupancy, int] | None = None

    def _let_watch(self, observers: tuple[Any, ...]) -> None:
        """Attach observers: the records of the SMs, and the code that is compiled for them, follow from who they are."""
        self.observers = observers
        self.dtype = sm_dtype(self.design, self.check, observers, kept_by(self.stages))
        kinds = (*map(type, self.design), type(self.checker), type(self.stages), *map(type, observers))
        self.reset_chip, self.run_chip = specialised(reset_chip, kinds), specialised(run_chip, kinds)

    def launch(
        self, code: Code, trace: Trace, progress: Progress | None = None, copied: Sequence[Copied] | None = None
    ) -> dict[str, Any]:
        """Run one launch to its end and add its counters, which are given back too.

        ``copied`` is what the host has written to device memory since the launch before: L2 holds it when the launch begins,
        and the code too. None: nothing that the host does leaves anything in L2.
        """
        if trace.warps_per_cta > self.machine.sm.warps_per_sm:
            raise WarploomError(
                f"kernel {code.name}: a CTA of {trace.warps_per_cta} warps does not fit machine {self.machine.name}, "
                f"which holds {self.machine.sm.warps_per_sm} warps per SM"
            )
        check_code(self.machine, self.design, code)
        if self.machine.sm.lone_warps and self._are_independent(code, trace):
            trace = trace.with_lone_warps()
        fitting = tuple(each.for_code(code) if hasattr(each, "for_code") else each for each in self.observers)
        if any(now is not before for now, before in zip(fitting, self.observers, strict=True)):
            self._let_watch(fitting)
        if copied is not None:
            self._leave_in_l2(code, copied)
        fits = occupancy(code, self.architected, self.design.allocation, trace.warps_per_cta)
        self.record = replace(self.machine, l1=replace(self.machine.l1, ways=self._cache_ways(code, fits))).record()
        context = self._context(code, trace, fits)
        sms = blank_records(self.machine.chip.sms, self.dtype)
        chip = self.chip
        chip.start, chip.next_cta, chip.last_sm = chip.cycle, 0, len(sms) - 1
        chip.samples, chip.sample_every, chip.next_sample = 0, self.sample_every, chip.cycle + self.sample_every
        chip.patience = PATIENCE
        kernel = self.kernels.setdefault(code.name, len(self.kernels))
        begin_launch(self.record, self.memory, self.ports, kernel, len(code))
        with activity(f"timing kernel {demangle(code.name).path}", code=COMPILED):
            self.reset_chip(context, sms, self.ports, chip)
        later = int(chip.start) - self.cycles  # launches begin at the start of a quantum, results count only their cycles
        for number, observer in enumerate(self.observers):
            if hasattr(observer, "begin"):
                observer.begin(own_records(sms, number), later)
        drained: dict[str, list[Any]] = {}
        status = self._advance(code, trace, context, sms, drained, progress)
        if status == FAULTY:
            raise explain.fault(sms, code, self.design)
        if status == STUCK:
            raise explain.deadlock(sms, code, trace, self.design, int(chip.cycle))
        assert status == DONE
        return self._add(code, trace, fits, sms, drained)

    def _advance(
        self, code: Code, trace: Trace, context: Context, sms: Any, drained: dict[str, list[Any]], progress: Progress | None
    ) -> int:
        """Simulate a launch to its end, with the help of other threads where that is worth it; the status says how it ended."""
        chip = self.chip
        with activity(f"timing kernel {demangle(code.name).path}", code=COMPILED) as step, self.crew as crew:

            def run(until: int, leads: bool = True) -> int:
                skip = not self.naive
                return self.run_chip(context, self.memory, sms, self.ports, chip, crew.record, leads, until, skip)

            helpers = self._helpers(trace)
            if helpers > 0:
                run(int(chip.cycle))  # so that it is compiled before others call it
                crew.call(helpers, lambda: run(0, leads=False))
            status = RUNNING
            while status == RUNNING:
                status = run(int(chip.cycle) + self.chunk)
                self._drain(code, sms, drained)
                given, cycles = int(chip.next_cta), int(chip.cycle - chip.start)
                step.advance(given, trace.ctas, f"block {given:,} of {trace.ctas:,}, {cycles:,} cycles")
                if progress is not None:
                    progress(given, trace.ctas)
        return status

    def _helpers(self, trace: Trace) -> int:
        """How many threads are to help with a launch."""
        if trace.warp_instructions < WORTH_SHARING or getattr(numba.config, "DISABLE_JIT", False):
            return 0
        return min(threads(), MAX_THREADS, self.machine.chip.sms) - 1

    def _are_independent(self, code: Code, trace: Trace) -> bool:
        """Whether the warps of a CTA never meet, share no memory, and have all of their lanes."""
        table, _ = self.tables.of(code)
        threads = trace.block[0] * trace.block[1] * trace.block[2]
        shared = code.shared_bytes + code.dynamic_shared_bytes
        return shared == 0 and threads % LANES == 0 and not (table["traits"] & Flag.BARRIER).any()

    def _leave_in_l2(self, code: Code, copied: Sequence[Copied]) -> None:
        """Let L2 hold what the host has written before a launch. A launch begins later by a cycle for each line of it."""
        if self.machine.fixed_memory:
            return
        loaded = None if code.name in self.kernels else len(self.kernels)
        self.drain()
        runs = runs_left(copied, code, loaded, self.machine)
        after = leave_in_l2(self.record, self.memory, *runs, int(self.chip.cycle))
        quantum = int(self.record.chip.quantum)
        self.chip.cycle = -(-after // quantum) * quantum

    def _context(self, code: Code, trace: Trace, fits: Occupancy) -> Context:
        table, noted = self.tables.of(code)
        columns = {name: _read_only(getattr(trace, name)) for name in NAMES if name != "last"}
        columns["last"] = last_uses(table, columns["pc"], columns["mask"], columns["start"])
        self.columns = columns  # compiled code holds only addresses
        info = launch_info(code, table, trace, self.machine, fits.registers_per_warp, fits.ctas)
        return Context(
            self.record,
            at_run_time(self.design),
            self.checker,
            linked(self.observers),
            info,
            noted,
            columns_record(columns),
            self.stages,
        )

    def _cache_ways(self, code: Code, fits: Occupancy) -> int:
        """The ways of the data cache that shared memory leaves to a launch."""
        l1 = self.machine.l1
        if not l1.unified:
            return l1.ways
        used = fits.ctas * (code.shared_bytes + code.dynamic_shared_bytes)
        taken = next((1024 * size for size in CARVE_OUTS if 1024 * size >= used), self.machine.sm.shared_bytes)
        return max(1, l1.ways - -(-taken // (l1.sets * l1.line_bytes)))

    def _drain(self, code: Code, sms: np.ndarray, drained: dict[str, list[Any]]) -> None:
        """Empty the buffers of observers that have one."""
        for number, observer in enumerate(self.observers):
            if hasattr(observer, "drain"):
                name, events = type(observer).NAME, observer.drain(own_records(sms, number))
                if self.receive is not None:
                    self.receive(name, code, events)
                else:
                    drained.setdefault(name, []).extend(events)

    def _add(self, code: Code, trace: Trace, fits: Occupancy, sms: np.ndarray, drained: dict[str, list[Any]]) -> dict[str, Any]:
        cycles = int(self.chip.end - self.chip.start)
        counters = gather(sms, self.machine.warp_registers, cycles)
        run = LaunchFacts(code, trace, self.machine, fits, cycles, counters)
        for choice, policy in zip(CHOICES, self.design, strict=True):
            if hasattr(policy, "counters"):
                counters = merge(counters, policy.counters(sms[choice], run))
        for number, observer in enumerate(self.observers):
            name = type(observer).NAME
            seen = {"kernel": code.name, "cycles": cycles, "report": observer.report(own_records(sms, number), run)}
            self.observed[name].append(seen | ({"events": drained[name]} if name in drained else {}))
        offset = {name: self.total.get(name, 0) for name in SAMPLED} | {"cycle": self.cycles}
        self.samples += samples_of(self.chip, offset, parts_of_entry(sms, self.machine.warp_registers))
        self.total = merge(self.total, counters)
        self.cycles += cycles
        self.samples.append({name: self.total.get(name, 0) for name in SAMPLED} | {"cycle": self.cycles})
        self.launches.append(
            TimedLaunch(
                kernel=code.name,
                cycles=cycles,
                warp_instructions=counters["warp_instructions"],
                active_cycles=int(sms["busy_cycles"].max()),
                ctas=trace.ctas,
                busy_sms=int((sms["busy_cycles"] > 0).sum()),
                busy_cycles=int(sms["busy_cycles"].sum()),
                resident_cycles=int(sms["resident_cycles"].sum()),
            )
        )
        self.by_kernel.setdefault(code.name, TimedKernel(code.name, 0)).add(code.registers, 1, cycles, counters)
        if self.widest is None or trace.warp_instructions > self.widest[0]:
            self.widest = (trace.warp_instructions, fits, code.registers)
        return counters

    def drain(self) -> None:
        """Let stores that have outlived their launch come to L2, so that they are counted there."""
        self.chip.cycle = drain(self.record, self.memory, self.ports, int(self.chip.cycle))

    def result(self) -> TimingResult:
        """The sums over all launches so far."""
        if self.widest is None:
            raise WarploomError("there is no result: nothing has been launched")
        _, fits, registers = self.widest
        counters = finish_counters(self.total | memory_counters(self.memory[0], self.ports), self.design)
        return TimingResult(
            cycles=self.cycles,
            warp_instructions=counters["warp_instructions"],
            counters=counters,
            occupancy=fits.fraction(self.machine),
            ctas_per_sm=fits.ctas,
            limited_by=fits.limited_by,
            registers_per_thread=registers,
            launches=self.launches,
            kernels=list(self.by_kernel.values()),
            samples=self.samples,
            observed=self.observed,
        )


def time_launches(
    launches: Sequence[tuple[Code, Trace]],
    design: Policies,
    machine: Machine,
    *,
    check: bool = False,
    naive: bool = False,
    progress: Progress | None = None,
    observers: tuple[Any, ...] = (),
) -> TimingResult:
    """Time launches one after the other, caches kept between them.

    `check` compiles the shadow checker in; `naive` steps every cycle of every SM (the same result, slower).
    `observers` watch (`warploom.chip.observers.make_observers`).
    """
    simulation = Simulation(design, machine, check=check, naive=naive, observers=observers)
    for code, trace in launches:
        simulation.launch(code, trace, progress)
    return simulation.result()
