"""What authors of policies, papers, observers, workloads and machines import; they need no other module.

    from warploom.kit import Context, Lanes, Sm, policy

Its names are stable: within one first number of `KIT` none leaves and none changes what it means; names that come raise the
second number. All else in the package may change with any version. What a name is, its own docstring says;
docs/tutorial/first-policy.md has policies and observers, CONTRIBUTING.md papers, workloads and machines.

A name is imported when it is first asked for, so that a file pays only for what it uses; results and compiled code of a file
depend on the modules of the names that it imports from here, and on no others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from warploom.base.handed_on import homes

KIT = (1, 0)

if TYPE_CHECKING:
    from warploom.base.errors import WarploomError as WarploomError
    from warploom.base.library import Paper as Paper
    from warploom.base.records import Array as Array
    from warploom.base.records import Lanes as Lanes
    from warploom.base.records import Mask as Mask
    from warploom.base.records import Record as Record
    from warploom.base.records import dtype_of as dtype_of
    from warploom.base.records import f8 as f8
    from warploom.base.records import field_names as field_names
    from warploom.base.records import flag as flag
    from warploom.base.records import i1 as i1
    from warploom.base.records import i2 as i2
    from warploom.base.records import i4 as i4
    from warploom.base.records import i8 as i8
    from warploom.base.records import u1 as u1
    from warploom.base.records import u2 as u2
    from warploom.base.records import u4 as u4
    from warploom.base.records import u8 as u8
    from warploom.chip.machines import Machine as Machine
    from warploom.chip.machines import load_machine as load_machine
    from warploom.chip.machines import machine_names as machine_names
    from warploom.chip.machines.limits import CARVE_OUTS as CARVE_OUTS
    from warploom.chip.machines.limits import MAX_CTAS as MAX_CTAS
    from warploom.chip.machines.limits import MAX_RF_BANKS as MAX_RF_BANKS
    from warploom.chip.machines.limits import MAX_SCHEDULERS as MAX_SCHEDULERS
    from warploom.chip.machines.limits import MAX_WARP_REGISTERS as MAX_WARP_REGISTERS
    from warploom.chip.machines.limits import MAX_WARPS as MAX_WARPS
    from warploom.chip.sm import Policies as Policies
    from warploom.chip.sm import policy as policy
    from warploom.chip.sm.bits import EVERYTHING as EVERYTHING
    from warploom.chip.sm.bits import NOTHING as NOTHING
    from warploom.chip.sm.bits import below as below
    from warploom.chip.sm.bits import bit as bit
    from warploom.chip.sm.bits import count as count
    from warploom.chip.sm.bits import has as has
    from warploom.chip.sm.bits import highest as highest
    from warploom.chip.sm.bits import lowest as lowest
    from warploom.chip.sm.bits import next_after as next_after
    from warploom.chip.sm.bits import without_lowest as without_lowest
    from warploom.chip.sm.columns import last_at as last_at
    from warploom.chip.sm.columns import mask_at as mask_at
    from warploom.chip.sm.columns import pc_at as pc_at
    from warploom.chip.sm.columns import value_at as value_at
    from warploom.chip.sm.context import CodeRow as CodeRow
    from warploom.chip.sm.context import Context as Context
    from warploom.chip.sm.counter import CounterMeaning as CounterMeaning
    from warploom.chip.sm.counter import counted as counted
    from warploom.chip.sm.counter import counters_of as counters_of
    from warploom.chip.sm.launch_facts import LaunchFacts as LaunchFacts
    from warploom.chip.sm.layout import MAX_PLACES as MAX_PLACES
    from warploom.chip.sm.layout import MAX_REGISTERS as MAX_REGISTERS
    from warploom.chip.sm.layout import MAX_SLOTS as MAX_SLOTS
    from warploom.chip.sm.layout import REGISTER_WORDS as REGISTER_WORDS
    from warploom.chip.sm.layout import STALLS as STALLS
    from warploom.chip.sm.layout import WAITS as WAITS
    from warploom.chip.sm.layout import Entry as Entry
    from warploom.chip.sm.layout import Slot as Slot
    from warploom.chip.sm.layout import Sm as Sm
    from warploom.chip.sm.layout import Warp as Warp
    from warploom.chip.sm.observing import FORWARDED as FORWARDED
    from warploom.chip.sm.observing import HIT as HIT
    from warploom.chip.sm.observing import STAGES as STAGES
    from warploom.chip.sm.observing import WRITTEN as WRITTEN
    from warploom.chip.sm.occupancy import Occupancy as Occupancy
    from warploom.chip.sm.occupancy import occupancy as occupancy
    from warploom.chip.sm.occupancy import rounded as rounded
    from warploom.chip.sm.services import DROWSY as DROWSY
    from warploom.chip.sm.services import EVICTION as EVICTION
    from warploom.chip.sm.services import INSTRUCTION as INSTRUCTION
    from warploom.chip.sm.services import MOVE as MOVE
    from warploom.chip.sm.services import OFF as OFF
    from warploom.chip.sm.services import OLDEST as OLDEST
    from warploom.chip.sm.services import ON as ON
    from warploom.chip.sm.services import REFILL as REFILL
    from warploom.chip.sm.services import SPILL as SPILL
    from warploom.chip.sm.services import UNKNOWN as UNKNOWN
    from warploom.chip.sm.services import YOUNGEST as YOUNGEST
    from warploom.chip.sm.services import allocate as allocate
    from warploom.chip.sm.services import allocate_bytes as allocate_bytes
    from warploom.chip.sm.services import bring_up as bring_up
    from warploom.chip.sm.services import covers as covers
    from warploom.chip.sm.services import fill as fill
    from warploom.chip.sm.services import find_free as find_free
    from warploom.chip.sm.services import find_free_anywhere as find_free_anywhere
    from warploom.chip.sm.services import first_by_age as first_by_age
    from warploom.chip.sm.services import group_of as group_of
    from warploom.chip.sm.services import inject as inject
    from warploom.chip.sm.services import inlined as inlined
    from warploom.chip.sm.services import move_entries as move_entries
    from warploom.chip.sm.services import release as release
    from warploom.chip.sm.services import result_number as result_number
    from warploom.chip.sm.services import scheduler_of as scheduler_of
    from warploom.chip.sm.services import separate as separate
    from warploom.chip.sm.services import settle_states as settle_states
    from warploom.chip.sm.services import share_read as share_read
    from warploom.chip.sm.services import wake as wake
    from warploom.chip.sm.services import write_back as write_back
    from warploom.compiler.code.classes import OpClass as OpClass
    from warploom.compiler.code.classes import Unit as Unit
    from warploom.compiler.code.classes import add_operation as add_operation
    from warploom.compiler.code.graph import FlowGraph as FlowGraph
    from warploom.compiler.code.graph import flow_graph as flow_graph
    from warploom.compiler.code.instruction import Block as Block
    from warploom.compiler.code.instruction import Code as Code
    from warploom.compiler.code.instruction import Imm as Imm
    from warploom.compiler.code.instruction import Instruction as Instruction
    from warploom.compiler.code.instruction import Operation as Operation
    from warploom.compiler.code.instruction import Reg as Reg
    from warploom.compiler.code.lanes import FULL as FULL
    from warploom.compiler.code.lanes import LANES as LANES
    from warploom.compiler.code.lanes import REGISTER_BITS as REGISTER_BITS
    from warploom.compiler.code.liveness import Liveness as Liveness
    from warploom.compiler.code.liveness import thread_liveness as thread_liveness
    from warploom.compiler.code.slots import REGISTER_MASK as REGISTER_MASK
    from warploom.compiler.code.table import Flag as Flag
    from warploom.compiler.code.table import Space as Space
    from warploom.compiler.code.warp import warp_liveness as warp_liveness
    from warploom.designs.energy import RunFacts as RunFacts
    from warploom.designs.energy import Technology as Technology
    from warploom.designs.energy import load_technology as load_technology
    from warploom.programs.own import program as program
    from warploom.programs.workloads.workload import Arrays as Arrays
    from warploom.programs.workloads.workload import Buffer as Buffer
    from warploom.programs.workloads.workload import Gpu as Gpu
    from warploom.programs.workloads.workload import Size as Size
    from warploom.programs.workloads.workload import Sizes as Sizes
    from warploom.programs.workloads.workload import Workload as Workload
    from warploom.runs.result import Result as Result
    from warploom.runs.spec import RunSpec as RunSpec
    from warploom.studies.reproduce.experiment import Chart as Chart
    from warploom.studies.reproduce.experiment import Experiment as Experiment
    from warploom.studies.reproduce.experiment import Figure as Figure
    from warploom.studies.reproduce.experiment import Outcome as Outcome
    from warploom.studies.reproduce.experiment import Results as Results
    from warploom.studies.reproduce.experiment import Row as Row
    from warploom.studies.reproduce.experiment import run_named as run_named
    from warploom.studies.reproduce.grid import Grid as Grid

_HOMES = homes(__file__)
__all__ = ["KIT", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'warploom.kit' has no attribute {name!r}{_nearest(name)}")
    value = globals()[name] = getattr(import_module(_HOMES[name].module), name)
    return value


def _nearest(name: str) -> str:
    from warploom.base.spelling import did_you_mean

    return "" if name.startswith("_") else did_you_mean(name, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
