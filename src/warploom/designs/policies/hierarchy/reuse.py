"""NVIDIA's reuse cache: the compiler says which operand is read again at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np

from warploom.base.records import Array, Record, dtype_of, i1, i2, i8, u1
from warploom.chip.machines import Machine
from warploom.chip.machines.limits import MAX_RF_BANKS
from warploom.chip.sm import policy
from warploom.chip.sm.context import CodeRow, Context
from warploom.chip.sm.counter import CounterMeaning
from warploom.chip.sm.launch_facts import LaunchFacts
from warploom.chip.sm.layout import MAX_SUB_CORES, Sm
from warploom.chip.sm.services import fill, inlined
from warploom.compiler.code.instruction import Address, Bank, Code, Instruction, Modified, Reg
from warploom.compiler.code.table import MAX_READS

OPERANDS = 3  # A, B and C
SLICES = 8  # of 128 bits, for which energy tables have their numbers, in a warp's register
NOT_CACHED = -1  # an operand that never goes through the cache
RECENT = 16  # registers written by the last instructions of a sub-core


class Kept(Record):
    """What the cache holds, one value for each bank and operand."""

    fills: i8  # counted
    entries: Annotated[Array[i8], MAX_SUB_CORES]  # that hold something, of each sub-core
    warp: Annotated[Array[i2], MAX_RF_BANKS * OPERANDS]  # + 1; 0: nothing
    register: Annotated[Array[i2], MAX_RF_BANKS * OPERANDS]
    writes: Annotated[Array[i8], MAX_SUB_CORES]  # of registers, counted
    written_by: Annotated[Array[i2], MAX_SUB_CORES, RECENT]  # the warps of the last of them, + 1
    written: Annotated[Array[i2], MAX_SUB_CORES, RECENT]  # the registers
    written_at: Annotated[Array[i8], MAX_SUB_CORES, RECENT]  # when their banks have them


class Operands(Record):
    """Of each register that an instruction reads: which operand it belongs to, and whether the compiler keeps it."""

    operand: Annotated[Array[i1], MAX_READS]
    keep: Annotated[Array[u1], MAX_READS]
    keeps: u1  # whether it keeps any of them


@inlined
def _first_place(ctx: Context, core: int, register: int) -> int:
    """Where a register of a sub-core is as operand A; its places as B and C come next."""
    banks = ctx.info.core_groups
    return (core * banks + register % banks) * OPERANDS


@inlined
def _under_way(kept: Kept, core: int, cycle: int, warp: int, register: int) -> bool:
    """Whether a register is still to be written by an instruction of before: its value comes by bypass, not from the bank."""
    for number in range(RECENT):
        same = kept.written_by[core, number] == warp + 1 and kept.written[core, number] == register
        if same and kept.written_at[core, number] > cycle:
            return True
    return False


@inlined
def _take_and_drop(ctx: Context, sm: Sm, kept: Kept, core: int, cycle: int, warp: int, row: CodeRow) -> None:
    """Let the operands that an instruction reads drive out what is in their places, and stay if they are flagged."""
    notes: Operands = row.hierarchy
    for operand in range(row.n_reads):
        slot = notes.operand[operand]
        if slot < 0:
            continue
        register = int(row.reads[operand])
        place = _first_place(ctx, core, register) + slot
        if kept.warp[place] != 0:
            kept.warp[place] = 0
            kept.entries[core] -= 1
        if notes.keep[operand] != 0 and not _under_way(kept, core, cycle, warp, register):
            kept.warp[place] = warp + 1
            kept.register[place] = register
            kept.entries[core] += 1
            kept.fills += 1
            fill(ctx, sm, cycle, warp, register, place)


@policy
class Reuse(NamedTuple):
    """A value for each bank and operand of a sub-core; any read of that bank and operand drives it out unless it is kept too.

    What comes by bypass, not from its bank, is not kept. An instruction that overwrites a kept register leaves the entry as
    it is: no compiler uses it from there on.
    """

    CHOICE = "hierarchy"
    NAME = "reuse"
    SOURCE = "Huerta et al.: Analyzing Modern NVIDIA GPU cores, MICRO 2025, section 5.3.1"
    STATE = Kept
    NOTES = Operands

    COUNTERS = {
        "reuse_fills": CounterMeaning("registers", "Operands that were put into the cache of operands that are read again."),
    }

    def annotate(policy, code: Code, table: np.ndarray, machine: Machine) -> np.ndarray:
        notes = np.zeros(len(table), dtype_of(Operands))
        notes["operand"] = NOT_CACHED
        for pc, instruction in enumerate(code.instructions()):
            found = list(_operands(instruction))
            if len(found) == table["n_reads"][pc]:
                for number, (operand, keep) in enumerate(found):
                    notes["operand"][pc, number], notes["keep"][pc, number] = operand, keep
                notes["keeps"][pc] = any(keep for _, keep in found)
        return notes

    def lookup(policy, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, pc: int, operand: int) -> int:
        kept: Kept = sm.hierarchy
        notes: Operands = ctx.code[pc].hierarchy
        slot = notes.operand[operand]
        core = warp % ctx.machine.sm.sub_cores
        if slot < 0 or kept.entries[core] == 0:
            return -1
        place = _first_place(ctx, core, register) + slot
        found = kept.warp[place] == warp + 1 and kept.register[place] == register
        return place if found else -1

    def on_ports(policy, ctx: Context, sm: Sm, cycle: int, warp: int, pc: int, at: int) -> None:
        kept: Kept = sm.hierarchy
        row = ctx.code[pc]
        notes: Operands = row.hierarchy
        core = warp % ctx.machine.sm.sub_cores
        if kept.entries[core] > 0 or notes.keeps != 0:
            _take_and_drop(ctx, sm, kept, core, cycle, warp, row)
        if row.variable == 0:
            for number in range(row.n_writes):
                last = kept.writes[core] % RECENT
                kept.writes[core] += 1
                kept.written_by[core, last] = warp + 1
                kept.written[core, last] = row.writes[number]
                kept.written_at[core, last] = at + row.latency

    def on_warp_launch(policy, ctx: Context, sm: Sm, cycle: int, warp: int) -> None:
        kept: Kept = sm.hierarchy
        for place in range(len(kept.warp)):
            if kept.warp[place] == warp + 1:
                kept.warp[place] = 0
                kept.entries[warp % ctx.machine.sm.sub_cores] -= 1

    def counters(policy, states: np.ndarray, run: LaunchFacts) -> dict[str, Any]:
        return {"reuse_fills": int(states["fills"].sum())}

    def energy(policy, counters: dict[str, Any], technology: Any, run: Any) -> Iterator[tuple[str, str, float]]:
        cache = technology.reuse_cache
        yield "reuse cache reads", "dynamic", counters["upper_reads"] * SLICES * cache.read
        yield "reuse cache writes", "dynamic", counters["reuse_fills"] * SLICES * cache.write

    def storage_bits(policy, machine: Machine) -> int:
        banks = machine.register_file.banks * machine.register_file.entry_bytes // 128
        return banks * OPERANDS * 1024


def _operands(instruction: Instruction) -> Iterator[tuple[int, bool]]:
    """Of each register that an instruction reads, in order: its operand and whether that is kept."""
    reuse = instruction.control.reuse if instruction.control is not None else (False, False, False)
    position = 0
    for source in instruction.srcs:
        if isinstance(source, Address):
            if isinstance(source.base, Reg):
                yield from ((NOT_CACHED, False) for _ in source.base.words)
            continue
        value = source.operand if isinstance(source, Modified) else source
        if isinstance(value, Reg) and value.bank in (Bank.P, Bank.PT, Bank.UP, Bank.UPT):
            continue
        if isinstance(value, Reg):
            slot = position if position < OPERANDS else NOT_CACHED
            yield from ((slot, slot >= 0 and reuse[slot]) for _ in value.words)
        position += 1
