"""One launch: sets the machine up, runs it, and streams its trace to the store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from warploom.base.checks import REGISTERS
from warploom.base.errors import WarploomError
from warploom.base.progress import Activity, activity
from warploom.base.records import dtype_of, typed
from warploom.compiler.code.instruction import Constant, Imm, Param, Symbol
from warploom.compiler.code.lanes import LANES
from warploom.compiler.code.supplied import supplied_at
from warploom.compiler.cuda.demangle import demangle
from warploom.emulator.calls import Caller, SuppliedFunctions
from warploom.emulator.device_memory import DeviceMemory
from warploom.emulator.encode import EncodedKernel
from warploom.emulator.records import (
    EmulatedMachine,
    EncodedInstruction,
    Fault,
    MicroOperation,
    ResidentCta,
    ResidentWarp,
    ReturnReason,
    Segment,
    TextureRecord,
)
from warploom.emulator.sass.constants import BankFacts, constant_value, first_constant_bank
from warploom.emulator.scheduler import SMS, SPECIALS, fill_constants, gather, run
from warploom.emulator.slots import CLOCKS, ResidentSlots
from warploom.emulator.trace.format import START_DTYPE, WarpStart
from warploom.emulator.trace.store import COLUMNS, TraceWriter
from warploom.emulator.turns import turn_length
from warploom.emulator.watch.findings import Finding
from warploom.emulator.watch.watcher import Watcher

GRID_ADDRESS = {"envreg1": 32, "envreg2": 0}  # special registers, and the lowest bit of the address that they hold
GRID_BYTES = 64
TURN = 2048  # instructions that a warp runs before another one may
FLUSH_AT = 1 << 20  # entries of the log after which it is written out
MOST_LOG_BYTES = 4 << 30  # of CTAs that run at the same time; what they record is in memory until they end
PAUSE_INSTRUCTIONS = 1 << 20  # warp instructions, or
PAUSE_CTAS = 1 << 13  # CTAs, after which compiled code lets Python show progress and see to signals
COMPILED = "the emulator"
_LEAST_ROOM = 1024  # entries of a column that must be free for one more instruction, with a margin
_LOG_COLUMNS = ("pc", "mask", "value", "memory", "sector", "lanes")


@dataclass(frozen=True, slots=True)
class LaunchStats:
    """What a launch executed. A thread instruction is one lane of a warp instruction."""

    warp_instructions: int
    thread_instructions: int
    issued_thread_instructions: int  # also of lanes whose guard did not hold: what Nsight Compute calls executed

    @classmethod
    def of(cls, state: np.void) -> LaunchStats:
        """As the record of the machine has counted them."""
        threads, idle = int(state["thread_executed"]), int(state["thread_idle"])
        return cls(int(state["executed"]), threads, threads + idle)


@dataclass
class Log:
    """The columns of the trace as they are recorded, in the order of execution."""

    instructions: int = FLUSH_AT + (1 << 17)
    segments: int = 1 << 15
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    table: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype_of(Segment)))

    def __post_init__(self) -> None:
        sizes = {"pc": 1, "mask": 1, "value": 2, "memory": 1, "sector": 4, "lanes": 4}
        for name, factor in sizes.items():
            self.columns[name] = np.empty(self.instructions * factor, COLUMNS[name])  # to clear it costs more than a small launch
        self.table = np.empty(self.segments, dtype_of(Segment))

    @property
    def bytes(self) -> int:
        """What the log takes of memory."""
        return sum(column.nbytes for column in self.columns.values()) + self.table.nbytes

    def grow(self, machine: np.ndarray) -> None:
        """Make room for more."""
        state = machine[0]
        counts = {"pc": "n_instruction", "mask": "n_instruction", "value": "n_value", "memory": "n_memory"}
        counts |= {"sector": "n_sector", "lanes": "n_sector"}
        for name, column in self.columns.items():
            used = int(state[counts[name]])
            if 2 * used > len(column) or len(column) - used < _LEAST_ROOM:
                grown = np.empty(len(column) * 2, column.dtype)
                grown[: len(column)] = column
                self.columns[name] = grown
        if state["n_segment"] * 2 > len(self.table):
            grown = np.empty(len(self.table) * 2, dtype_of(Segment))
            grown[: len(self.table)] = self.table
            self.table = grown

    def attach(self, machine: np.ndarray) -> None:
        """Tell the machine where the log is."""
        for name in _LOG_COLUMNS:
            machine[f"log_{name}"] = self.columns[name].ctypes.data
        machine["instruction_room"], machine["value_room"] = len(self.columns["pc"]), len(self.columns["value"])
        machine["memory_room"], machine["sector_room"] = len(self.columns["memory"]), len(self.columns["sector"])
        machine["segment_room"] = len(self.table)

    def write(self, machine: np.ndarray, writer: TraceWriter) -> None:
        """Put the streams of the warps that have ended into order, write them out, and begin anew."""
        state = machine[0]
        count = int(state["n_segment"])
        segments = self.table[:count]
        order = np.lexsort((segments["warp"], segments["cta"]))
        lengths = [int(state[f"n_{name}"]) for name in ("instruction", "value", "memory", "sector")]
        ends = np.zeros(1, dtype_of(Segment))
        ends["instruction"], ends["value"], ends["memory"], ends["sector"] = lengths
        sizes = dict(zip(_LOG_COLUMNS, (lengths[0], *lengths[:3], lengths[3], lengths[3]), strict=True))
        sorted_columns = {name: np.empty(size, COLUMNS[name]) for name, size in sizes.items()}
        starts = np.zeros(count, START_DTYPE)
        written = writer.lengths
        origin = np.array([(written["pc"], written["value"], written["memory"], written["sector"])], START_DTYPE)
        columns = tuple(self.columns.values()), tuple(sorted_columns.values())
        warps = gather(order, typed(Segment, segments), typed(Segment, ends), *columns, typed(WarpStart, starts), origin[0])
        writer.append(**sorted_columns, start=starts[:warps])
        for name in ("n_instruction", "n_value", "n_memory", "n_sector", "n_segment"):
            machine[name] = 0


@dataclass
class RunningLaunch:
    """Everything that one launch needs."""

    kernel: EncodedKernel
    slots: ResidentSlots  # where its CTAs are resident
    memory: DeviceMemory
    textures: np.ndarray
    parameters: bytes
    symbols: dict[str, int]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int  # static and dynamic
    dynamic_bytes: int
    number: int
    budget: int
    checks: tuple[str, ...] = ()  # see `warploom.base.checks`
    seed: int = 0  # of the order in which warps take turns; 0: the usual one
    cluster: tuple[int, int, int] = (1, 1, 1)  # CTAs that are resident together
    grid_address: int = 0  # of the few bytes through which a cooperative grid synchronises
    bank_address: int = 0  # of room for a copy of constant bank 0, for code that wants the address of a parameter
    supplied: SuppliedFunctions | None = None  # what code calls that it does not have
    counts: np.ndarray | None = None  # of SASS: gets `COUNTS` numbers for each instruction
    findings: tuple[Finding, ...] = ()
    machine: np.ndarray = field(init=False)

    def run(self, writer: TraceWriter | None) -> tuple[ReturnReason, LaunchStats]:
        """Run to the end, or to a fault, which `machine` then describes."""
        with activity(f"executing kernel {demangle(self.kernel.code.name).path}", code=COMPILED) as step:
            return self._run(writer, step)

    def _run(self, writer: TraceWriter | None, step: Activity) -> tuple[ReturnReason, LaunchStats]:
        log = Log() if writer is not None else _NO_LOG
        self._set_up(log, writer is not None)
        slots, state = self.slots, self.machine[0]
        while True:
            state["pause_at"] = state["executed"] + PAUSE_INSTRUCTIONS
            state["pause_cta"] = state["next_cta"] + PAUSE_CTAS
            outcome = ReturnReason(
                run(
                    typed(EmulatedMachine, self.machine),
                    typed(EncodedInstruction, self.kernel.instructions),
                    typed(MicroOperation, self.kernel.micro),
                    typed(TextureRecord, self.textures),
                    slots.clock_rows,
                    slots.special_rows,
                    typed(ResidentWarp, slots.warps),
                    typed(ResidentCta, slots.ctas),
                    typed(Segment, log.table),
                    slots.scratch,
                )
            )
            given, ctas = int(state["next_cta"]), int(state["ctas"])
            step.advance(given, ctas, f"block {given:,} of {ctas:,}, {state['executed']:,} warp instructions")
            if outcome is ReturnReason.PAUSED:
                continue
            if outcome is ReturnReason.EVENTS_FULL:
                assert self._watcher is not None
                self._watcher.judge()
                continue
            if outcome is ReturnReason.CALL:
                if self._call():
                    continue
                outcome = ReturnReason.FAULT
            if outcome is ReturnReason.SLOTS_FULL:
                slots.grow(2 * slots.count)
                self._occupy()
            elif outcome is ReturnReason.LOG_FULL and state["running"] == 0:
                assert writer is not None
                log.write(self.machine, writer)
            elif outcome is ReturnReason.LOG_FULL:
                if 2 * log.bytes > MOST_LOG_BYTES:  # it is about to double
                    self._stop_at_cursor(Fault.LOG_TOO_LONG)
                    return ReturnReason.FAULT, LaunchStats.of(state)
                log.grow(self.machine)
                log.attach(self.machine)
            else:
                if writer is not None and outcome is ReturnReason.FINISHED:
                    log.write(self.machine, writer)
                if self._watcher is not None:
                    self._watcher.judge()
                    self.findings = self._watcher.findings()
                return outcome, LaunchStats.of(state)

    def _call(self) -> bool:
        """Execute the function that the warp at the cursor calls, lane after lane; False if that stops the launch."""
        state = self.machine[0]
        slot, number = int(state["cursor_cta"]), int(state["cursor_warp"])
        cta, warp = self.slots.ctas[slot], self.slots.warps[slot * int(state["warps_per_cta"]) + number]
        record = self.kernel.instructions[int(state["call_pc"])]
        assert self.supplied is not None
        for lane in range(LANES):
            if int(state["call_mask"]) >> lane & 1:
                caller = Caller(self, cta, warp, record, lane)
                function = supplied_at(caller.argument(0))
                fault = Fault.JUMP if function is None else self.supplied.call(function, caller)
                if fault is not Fault.NONE:
                    self._stop_at_cursor(fault)
                    state["fault_lane"], state["fault_pc"], state["fault_address"] = lane, state["call_pc"], caller.argument(0)
                    return False
        state["called"] = True
        return True

    def _stop_at_cursor(self, fault: Fault) -> None:
        """Note a fault at the instruction that would have been next."""
        state = self.machine[0]
        cta, number = int(state["cursor_cta"]), int(state["cursor_warp"])
        state["fault"], state["fault_lane"] = int(fault), 0
        state["fault_cta"], state["fault_warp"] = self.slots.ctas[cta]["index"], number
        state["fault_pc"] = self.slots.warps[cta * int(state["warps_per_cta"]) + number]["pc"]

    def stopped(self) -> tuple[np.void, np.ndarray]:
        """The records of the CTA that a fault stopped and of its warps."""
        state = self.machine[0]
        slot = int(np.flatnonzero(self.slots.ctas["index"][: int(state["resident"])] == state["fault_cta"])[0])
        warps = int(state["warps_per_cta"])
        return self.slots.ctas[slot], self.slots.warps[slot * warps : (slot + 1) * warps]

    def _set_up(self, log: Log, tracing: bool) -> None:
        """The record of the machine as the launch begins."""
        kernel = self.kernel
        self.machine = machine = self.slots.new_machine()
        machine["grid_id"], machine["budget"] = self.number, self.budget
        machine["turn"], machine["chance"] = (turn_length(self.seed) if self.seed else TURN), self.seed
        self._bounds = self.memory.bounds()
        machine["arena"], machine["arena_start"] = self.memory.arena.ctypes.data, self.memory.first
        machine["allocations"], machine["allocation_count"] = self._bounds.ctypes.data, len(self._bounds)
        if kernel.code.binary is not None:
            shape = (self.grid, self.block, self.cluster)
            facts = BankFacts(*shape, self.dynamic_bytes, self.number, SMS, self.grid_address, self.bank_address)
            self.parameters = first_constant_bank(kernel.code, facts, self.parameters)
            if self.bank_address:
                bank = np.frombuffer(self.parameters, np.uint8)
                self.memory.view(self.bank_address, len(bank))[:] = bank
        self._parameter_bytes = np.frombuffer(self.parameters.ljust(8, b"\0"), np.uint8).copy()
        machine["parameters"], machine["parameter_bytes"] = self._parameter_bytes.ctypes.data, len(self.parameters)
        if self.counts is not None:
            machine["counts"] = self.counts.ctypes.data
        machine["texture_count"] = len(self.textures) - 1
        if tracing:
            machine["tracing"], machine["checking"], machine["flush_at"] = True, REGISTERS in self.checks, FLUSH_AT
            log.attach(machine)
        self._watcher = Watcher(self) if Watcher.CHECKS & set(self.checks) else None
        self._occupy()

    def _occupy(self) -> None:
        """Use the slots that there are; CTAs that are resident have moved to their new places."""
        slots, machine = self.slots, self.machine
        slots.attach(machine)
        at, words = self._constants()
        fill_constants(slots.rows_at, slots.row_bytes, at, words, slots.count * slots.warps_per_cta)
        if self._watcher is not None:
            self._watcher.attach()

    def _constants(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows that hold the same word in every lane throughout the launch, and their words."""
        places, words = [], []
        for row, operand, word in self.kernel.constants:
            places.append(row)
            words.append(self._value(operand) >> (32 * word) & 0xFFFFFFFF)
        for name, row in self.kernel.specials.items():
            if name not in SPECIALS and name not in CLOCKS:
                places.append(row)
                words.append(self._special(name))
        return np.array(places, np.int64), np.array(words, np.uint32)

    def _value(self, operand: Imm | Param | Symbol | Constant) -> int:
        if isinstance(operand, Imm):
            return operand.bits
        if isinstance(operand, Constant):
            return constant_value(operand, self.kernel.code, self.parameters, self.symbols, self.memory)
        if isinstance(operand, Param):
            return int.from_bytes(self.parameters[operand.offset : operand.offset + operand.size], "little")
        return self.symbols[operand.name] + operand.offset

    def _special(self, name: str) -> int:
        """A special register that is the same for all threads."""
        base, _, axis = name.partition(".")
        known: dict[str, Any] = {
            "ntid": self.block,
            "nctaid": self.grid,
            "nwarpid": 48,
            "nsmid": SMS,
            "gridid": self.number,
            "dynamic_smem_size": self.dynamic_bytes,
            "total_smem_size": self.shared_bytes,
            "aggr_smem_size": self.shared_bytes,
        }
        if base in GRID_ADDRESS:
            return self.grid_address >> GRID_ADDRESS[base] & 0xFFFFFFFF
        if base not in known:
            code = self.kernel.code
            raise WarploomError(f"{code.source or code.name}: special register %{name} of kernel {code.name} is not supported.")
        value = known[base]
        return int(value["xyz".index(axis)] if isinstance(value, tuple) else value)


_NO_LOG = Log(instructions=1, segments=1)  # of launches that nobody records
