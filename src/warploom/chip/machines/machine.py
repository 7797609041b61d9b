"""A machine: the loaded description of one GPU, and its form as a record for compiled code.

machine = load_machine("gtx480")
machine = load_machine("gtx480", **{"sm.registers_per_sm": 16384, "register_file.entries_per_bank": 32})
machine.sm.warps_per_sm, machine.latency[OpClass.F32_MAD]
machine.record().sm.warps_per_sm   # the same numbers for the core
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, field, replace
from enum import IntEnum
from fractions import Fraction
from functools import lru_cache
from typing import Any, cast

import numpy as np

from warploom.base.errors import WarploomError
from warploom.base.notebook import html_facts
from warploom.chip.machines.limits import MAX_L2_WAYS, MAX_QUANTUM
from warploom.chip.machines.memory_tables import MemoryModel
from warploom.chip.machines.schema import MACHINE_DTYPE, OF_PORTS, TABLES, MachineRecord, MachineTables
from warploom.chip.machines.sm_tables import OperandPath
from warploom.compiler.code.classes import OpClass

USUAL_CODE = "ptx"
USUAL_DESIGN = "baseline"
# What GPGPU-Sim's table of latencies has no row for; of the last two it lists `mad`, but not `fma`.
UNLISTED = (OpClass.MOVE, OpClass.LOGIC, OpClass.COMPARE, OpClass.CONVERT, OpClass.F32_MAD, OpClass.F64_MAD)


@dataclass(frozen=True, kw_only=True)
class Machine(MachineTables):
    """One GPU. Each attribute is a table of its file; `sources` says for every key where the value is from."""

    name: str
    title: str
    latency: tuple[int, ...]  # by OpClass, as the file says
    initiation: tuple[int, ...]
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)
    design: str = USUAL_DESIGN  # what its register file is where no design is asked for
    code: str = USUAL_CODE  # what programs for it are usually compiled to: "ptx", or machine code such as "sm_90"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        sm, rf = self.sm, self.register_file
        facts = {
            "what it is": self.title,
            "SMs": self.chip.sms,
            "warps per SM": sm.warps_per_sm,
            "schedulers per SM": sm.schedulers,
            "registers per SM": f"{sm.registers_per_sm:,} ({sm.registers_per_sm // 256} KB)",
            "banks": f"{rf.banks} of {rf.entry_bytes} bytes a row",
            "core clock": f"{self.chip.clock_core_mhz:g} MHz",
        }
        return html_facts(f"machine {self.name}", facts)

    @property
    def warp_registers(self) -> int:
        """Registers of 128 bytes in an SM."""
        return self.sm.registers_per_sm // 32

    @property
    def fixed_memory(self) -> bool:
        """Whether memory is the simple model without caches."""
        return self.memory.model == MemoryModel.FIXED

    @property
    def memory_round_trip(self) -> int:
        """The shortest time between a request's leaving an SM and its reply: how far an SM may run ahead."""
        if self.fixed_memory:
            return MAX_QUANTUM
        return 2 * self.interconnect.latency + self.l2.latency + self.l2.reply_latency

    def latency_of(self, kind: OpClass, name: str = "") -> int:
        """Cycles from operands to result, compatibility applied; `name` is the operation's, where it is known."""
        return 1 if self._unlisted(kind, name) else self.latency[kind]

    def initiation_of(self, kind: OpClass, name: str = "") -> int:
        """Cycles between two instructions of this class in one unit, compatibility applied."""
        return 1 if self._unlisted(kind, name) else self.initiation[kind]

    def _unlisted(self, kind: OpClass, name: str) -> bool:
        return self.compatibility.unlisted_operations_take_one_cycle and kind in UNLISTED and name != "mad"

    def scaled(self, sms: int) -> Machine:
        """Fewer SMs with their share of L2 and of its and the DRAM's bandwidth.

        There are at least as many channels as the share asks for, and each is slower by what that is too many: bursts take
        longer, and so do the times between two column commands of a bank group and between two activations, so that data and
        rows per SM come as fast as the chip's. L2 has the number of slices, one or two to a channel, that is nearest to the
        share; its ways make up for what is left of its capacity.
        """
        from warploom.chip.machines.loader import check

        if not 1 <= sms <= self.chip.sms:
            raise WarploomError(f"machine {self.name}: it can be scaled to 1 to {self.chip.sms} SMs, not {sms}")
        share = Fraction(sms, self.chip.sms)
        dram, wanted = self.dram, self.l2.slices * share
        channels = math.ceil(dram.channels * share)
        slower = channels / (dram.channels * share)
        most = self.l2.slices // dram.channels
        slices = min((channels * each for each in range(1, most + 1)), key=lambda count: max(count / wanted, wanted / count))
        bus = max(dram.burst_cycles, dram.ccd) if slower > 1 else dram.burst_cycles
        machine = replace(
            self,
            chip=replace(self.chip, sms=sms),
            l2=replace(
                self.l2,
                slices=slices,
                ways=max(1, round(self.l2.ways * wanted / slices)),
                dirty_ways=min(MAX_L2_WAYS, max(1, round(self.l2.dirty_ways * wanted / slices))),
            ),
            dram=replace(
                dram,
                channels=channels,
                burst_cycles=float(bus * slower) if slower > 1 else bus,
                ccdl=round(dram.ccdl * slower),
                rrd=round(dram.rrd * slower),
            ),
        )
        check(machine)
        return machine

    def tables(self) -> dict[str, Any]:
        """The numeric tables that the machine has, by name, in the order of the file."""
        ports = self.stages.operands == OperandPath.PORTS
        return {name: getattr(self, name) for name in TABLES if ports or name not in OF_PORTS}

    def record(self) -> MachineRecord:
        """All numbers in one aligned record, the caller's own."""
        return cast(MachineRecord, _numbers(self).copy().view(np.recarray)[0])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as `--json` prints them."""
        out: dict[str, Any] = {"name": self.name, "title": self.title, "code": self.code, "design": self.design}
        out |= {name: asdict(table, dict_factory=_in_words) for name, table in self.tables().items()}
        for name in ("latency", "initiation"):
            out[name] = {kind.name.lower(): getattr(self, name)[kind] for kind in OpClass}
        return out


def _in_words(items: list[tuple[str, Any]]) -> dict[str, Any]:
    """A table as a dict, its words as a file writes them."""
    return {name: value.name.lower() if isinstance(value, IntEnum) else value for name, value in items}


@lru_cache(maxsize=64)
def _numbers(machine: Machine) -> np.ndarray:
    array = np.zeros(1, MACHINE_DTYPE)
    row = array[0]
    for name in TABLES:
        row[name] = astuple(getattr(machine, name))
    row["latency"] = [machine.latency_of(kind) for kind in OpClass]
    row["initiation"] = [machine.initiation_of(kind) for kind in OpClass]
    row["flits"] = [machine.interconnect.flits(32 * sectors) for sectors in range(5)]
    row["banks_per_register"] = 128 // machine.register_file.entry_bytes
    return array
