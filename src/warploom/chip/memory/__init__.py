"""The memory system: an SM's load/store unit with its caches, the crossbar, L2 slices and DRAM channels.

The pipeline calls the load/store unit in every cycle in which it has something to do, the main loop calls `memory_step`
once per quantum:

    if ldst_can_accept(machine, sm, cycle):
        ldst_accept(machine, memory, sm, cycle, slot, warp, space, flags, count, sectors, lanes, first, local_base)
    ldst_step(machine, memory, sm, cycle)
    while (entry := ldst_pop_done(sm, cycle)) >= 0: ...      # done_kind(entry), done_value(entry)
    cycle = min(others, ldst_next_event(machine, sm, cycle))

    memory_step(machine, memory, sms, from_cycle, to_cycle)  # after every SM has run to before to_cycle
"""

from warploom.chip.memory.access import constant_access, fetch_access
from warploom.chip.memory.bulk import ask_for_line
from warploom.chip.memory.counters import memory_counters
from warploom.chip.memory.filling import leave_in_l2, warm_l2
from warploom.chip.memory.ldst import (
    ABOUT_SHIFT,
    done_kind,
    done_value,
    ldst_accept,
    ldst_can_accept,
    ldst_idle,
    ldst_next_event,
    ldst_pop_done,
    ldst_step,
)
from warploom.chip.memory.state import (
    CODE_BASE,
    CONST_BASE,
    DONE_LOAD,
    DONE_STORES,
    FOREVER,
    KERNEL_SECTORS,
    KERNELS,
    LDST_DTYPE,
    MAX_SLOTS,
    MEMORY_DTYPE,
    OPERAND_CONSTANT_SECTORS,
    PARAM_BASE,
    PORT_DTYPE,
    Memory,
    Port,
    new_memory,
)
from warploom.chip.memory.system import begin_launch, drain, memory_idle, memory_next_event, memory_step

__all__ = [
    "ABOUT_SHIFT",
    "CODE_BASE",
    "CONST_BASE",
    "DONE_LOAD",
    "DONE_STORES",
    "FOREVER",
    "KERNELS",
    "KERNEL_SECTORS",
    "LDST_DTYPE",
    "MAX_SLOTS",
    "MEMORY_DTYPE",
    "OPERAND_CONSTANT_SECTORS",
    "PARAM_BASE",
    "PORT_DTYPE",
    "Memory",
    "Port",
    "ask_for_line",
    "begin_launch",
    "constant_access",
    "done_kind",
    "done_value",
    "drain",
    "fetch_access",
    "ldst_accept",
    "ldst_can_accept",
    "ldst_idle",
    "ldst_next_event",
    "ldst_pop_done",
    "ldst_step",
    "leave_in_l2",
    "memory_counters",
    "memory_idle",
    "memory_next_event",
    "memory_step",
    "new_memory",
    "warm_l2",
]
