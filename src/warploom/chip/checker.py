"""The shadow checker: every register write gets a version, and every read proves that it sees the version the program meant.

It knows nothing of policies. It follows the values: an issued write makes the next version of (warp, register); the physical
entry or upper-level place that the result is written to holds that version; an eviction carries it down. A read that finds
another owner or version, an entry given away while its owner still lives, or an access to an entry that is not awake is a fault.
"""

from __future__ import annotations

from typing import NamedTuple

from warploom.chip.sm.columns import pc_at, value_at
from warploom.chip.sm.context import Context
from warploom.chip.sm.hooks import awake, recoverable
from warploom.chip.sm.layout import BYTES, CheckedSm
from warploom.chip.sm.services import INSTRUCTION, MOVE, PIECE, REFILL, SPILL, UNKNOWN, covers, inlined
from warploom.compiler.code.wide import MAX_RUNS

NO_FAULT, WRONG_OWNER, STALE, UNMAPPED, GIVEN_TWICE, ASLEEP, STALE_PLACE, LOST_BELOW, LOST_LANES, GARBLED, UNDER_WAY = range(11)


class NoChecker(NamedTuple):
    """Nothing is checked; all points compile to nothing."""


@inlined
def _fault(sm: CheckedSm, kind: int, cycle: int, warp: int, register: int, pc: int, entry: int, version: int) -> None:
    if sm.fault.kind == 0:
        fault = sm.fault
        fault.kind = kind
        fault.sm = sm.number
        fault.warp = warp
        fault.register = register
        fault.pc = pc
        fault.entry = entry
        fault.version = version
        fault.cycle = cycle


@inlined
def _version_in(sm: CheckedSm, warp: int, register: int, entry: int) -> int:
    """The version of a register that its bytes of an entry hold."""
    first = 0
    while sm.bytes_of[warp, register] >> first & 1 == 0 and first < BYTES - 1:
        first += 1
    return sm.check.entry_version[entry, first]


@inlined
def _beside_products(sm: CheckedSm, cycle: int, slot: int) -> None:
    """Whether an instruction reads or overwrites what a product that is under way has yet to make or to read."""
    work, shadow = sm.slot[slot], sm.check
    for operand in range(work.n_reads):
        register = work.sources[operand]
        if shadow.to_write[work.warp, register] > 0:
            _fault(sm, UNDER_WAY, cycle, work.warp, register, work.pc, -1, shadow.version[work.warp, register])
    for number in range(work.n_writes):
        register = work.registers[number]
        if shadow.to_read[work.warp, register] + shadow.to_write[work.warp, register] > 0:
            _fault(sm, UNDER_WAY, cycle, work.warp, register, work.pc, -1, shadow.version[work.warp, register])


class Checker(NamedTuple):
    """The answers of a checked run."""

    def check_launch(check, ctx: Context, sm: CheckedSm, warp: int) -> None:
        for register in range(ctx.info.registers):
            sm.check.version[warp, register] = 0
            sm.check.to_read[warp, register] = 0
            sm.check.to_write[warp, register] = 0

    def check_issue(check, ctx: Context, sm: CheckedSm, cycle: int, slot: int) -> None:
        work = sm.slot[slot]
        shadow = sm.check
        for operand in range(work.n_reads):
            shadow.expected[slot, operand] = shadow.version[work.warp, work.sources[operand]]
            shadow.read_bytes[slot, operand] = sm.bytes_of[work.warp, work.sources[operand]]
        for number in range(work.n_writes):
            register = work.registers[number]
            if work.kind in (INSTRUCTION, PIECE):
                shadow.version[work.warp, register] += 1
            shadow.made[slot, number] = shadow.version[work.warp, register]
            shadow.written_bytes[slot, number] = sm.bytes_of[work.warp, register]
        # An encoding reads a destination to keep the lanes that are not written. The main file may hold an old version of it: an
        # upper level need not write down lanes that nobody reads. Such a read expects no version (0).
        if work.kind == MOVE:
            shadow.expected[slot, 0] = 0
            shadow.made[slot, 0] = _version_in(sm, work.warp, work.registers[0], work.writes[0])
        elif work.kind == INSTRUCTION and not ctx.code[work.pc].wide:
            _beside_products(sm, cycle, slot)
            for operand in range(ctx.code[work.pc].n_reads, work.n_reads):
                shadow.expected[slot, operand] = 0
        # A spill may store an old version for the same reason; the refill brings back the version that was stored.
        elif work.kind == SPILL:
            shadow.expected[slot, 0] = 0
            shadow.spilled[work.warp, work.sources[0]] = _version_in(sm, work.warp, work.sources[0], work.reads[0])
        elif work.kind == REFILL:
            shadow.made[slot, 0] = shadow.spilled[work.warp, work.registers[0]]

    def check_wide(check, ctx: Context, sm: CheckedSm, cycle: int, slot: int) -> None:
        row, warp, shadow = ctx.code[sm.slot[slot].pc], sm.slot[slot].warp, sm.check
        for run in range(MAX_RUNS):
            for number in range(row.run_count[run]):
                shadow.to_read[warp, row.run_first[run] + number] += 1
        for number in range(row.results):
            shadow.to_write[warp, row.result + number] += 1
            if row.addend >= 0:
                shadow.to_read[warp, row.addend + number] += 1

    def check_cached(check, ctx: Context, sm: CheckedSm, cycle: int, slot: int, operand: int, place: int) -> None:
        work, shadow = sm.slot[slot], sm.check
        register = ctx.code[work.pc].reads[operand]
        version = shadow.version[work.warp, register]
        if version == 0:
            return  # what was never written has no value to lose
        if shadow.place_warp[place] != sm.warp[work.warp].age + 1 or shadow.place_register[place] != register:
            _fault(sm, WRONG_OWNER, cycle, work.warp, register, work.pc, place, version)
        elif shadow.place_version[place] != version:
            _fault(sm, STALE_PLACE, cycle, work.warp, register, work.pc, place, version)
            sm.fault.found_version = shadow.place_version[place]

    def check_read(check, ctx: Context, sm: CheckedSm, cycle: int, slot: int, operand: int, entry: int) -> None:
        work, shadow = sm.slot[slot], sm.check
        register, version = work.sources[operand], shadow.expected[slot, operand]
        if work.pc >= 0 and ctx.code[work.pc].wide:
            shadow.to_read[work.warp, register] -= 1
        if not awake(ctx.design.power, ctx, sm, cycle, entry):
            _fault(sm, ASLEEP, cycle, work.warp, register, work.pc, entry, version)
        if ctx.info.literal != 0 or version == 0:
            return  # literal names share entries; what was never written has no value to lose
        for byte in range(BYTES):
            if shadow.read_bytes[slot, operand] >> byte & 1 == 0:
                continue
            if shadow.entry_warp[entry, byte] != sm.warp[work.warp].age + 1 or shadow.entry_register[entry, byte] != register:
                _fault(sm, WRONG_OWNER, cycle, work.warp, register, work.pc, entry, version)
                sm.fault.found_warp = shadow.entry_warp[entry, byte]
                sm.fault.found_register = shadow.entry_register[entry, byte]
            elif shadow.entry_version[entry, byte] != version:
                _fault(sm, STALE, cycle, work.warp, register, work.pc, entry, version)
                sm.fault.found_version = shadow.entry_version[entry, byte]

    def check_forwarded(check, ctx: Context, sm: CheckedSm, cycle: int, slot: int, operand: int, entry: int) -> None:
        work, shadow = sm.slot[slot], sm.check
        register = ctx.code[work.pc].reads[operand]
        version = shadow.version[work.warp, register]
        if shadow.evicted_version[entry] != version:
            _fault(sm, STALE, cycle, work.warp, register, work.pc, entry, version)
            sm.fault.found_version = shadow.evicted_version[entry]

    def check_placed(check, ctx: Context, sm: CheckedSm, cycle: int, slot: int, write: int, place: int) -> None:
        work, shadow = sm.slot[slot], sm.check
        shadow.place_warp[place] = sm.warp[work.warp].age + 1
        shadow.place_register[place] = work.registers[write]
        shadow.place_version[place] = shadow.made[slot, write]

    def check_filled(check, ctx: Context, sm: CheckedSm, cycle: int, warp: int, register: int, place: int) -> None:
        # The operand's own read proves that the entry below holds this version.
        shadow = sm.check
        shadow.place_warp[place] = sm.warp[warp].age + 1
        shadow.place_register[place] = register
        shadow.place_version[place] = shadow.version[warp, register]

    def check_brought(check, ctx: Context, sm: CheckedSm, cycle: int, place: int, entry: int, passing: bool) -> None:
        # Whatever the entry holds: that it is what the program means is proved when the place is read.
        shadow, fill = sm.check, sm.fill[place]
        if not passing and not awake(ctx.design.power, ctx, sm, cycle, entry):
            _fault(sm, ASLEEP, cycle, fill.warp, fill.register, -1, entry, shadow.version[fill.warp, fill.register])
        shadow.place_warp[place] = sm.warp[fill.warp].age + 1 if passing else shadow.entry_warp[entry, 0]
        shadow.place_register[place] = fill.register if passing else shadow.entry_register[entry, 0]
        shadow.place_version[place] = shadow.evicted_version[entry] if passing else shadow.entry_version[entry, 0]

    def check_write(check, ctx: Context, sm: CheckedSm, cycle: int, slot: int, write: int, entry: int) -> None:
        work, shadow = sm.slot[slot], sm.check
        if work.pc >= 0 and ctx.code[work.pc].wide:
            shadow.to_write[work.warp, work.registers[write]] -= 1
        if not awake(ctx.design.power, ctx, sm, cycle, entry):
            _fault(sm, ASLEEP, cycle, work.warp, work.registers[write], work.pc, entry, shadow.made[slot, write])
        form = int(work.form[write])
        value = UNKNOWN
        if work.value >= 0:
            value = value_at(ctx, work.value + write)
        if not recoverable(ctx.design.encoding, form, value):
            _fault(sm, GARBLED, cycle, work.warp, work.registers[write], work.pc, entry, shadow.made[slot, write])
        partial = work.whole >> write & 1 == 0 and not covers(sm, work.warp, work.mask)
        if partial and (form != 0 or sm.entry[entry].form != 0):
            _fault(sm, LOST_LANES, cycle, work.warp, work.registers[write], work.pc, entry, shadow.made[slot, write])
        for byte in range(BYTES):
            if shadow.written_bytes[slot, write] >> byte & 1 != 0:
                shadow.entry_warp[entry, byte] = sm.warp[work.warp].age + 1
                shadow.entry_register[entry, byte] = work.registers[write]
                shadow.entry_version[entry, byte] = shadow.made[slot, write]

    def check_evict(check, ctx: Context, sm: CheckedSm, cycle: int, slot: int, place: int) -> None:
        work, shadow = sm.slot[slot], sm.check
        entry, register = work.writes[0], work.registers[0]
        if shadow.place_warp[place] != sm.warp[work.warp].age + 1 or shadow.place_register[place] != register:
            _fault(sm, LOST_BELOW, cycle, work.warp, register, -1, entry, shadow.version[work.warp, register])
        shadow.made[slot, 0] = shadow.place_version[place]
        shadow.written_bytes[slot, 0] = sm.bytes_of[work.warp, register]
        shadow.evicted_version[entry] = shadow.place_version[place]

    def check_allocate(check, ctx: Context, sm: CheckedSm, cycle: int, warp: int, register: int, entry: int, mask: int) -> None:
        owned, shadow = sm.entry[entry], sm.check
        shared = owned.warp == warp and owned.held & mask == 0 and owned.held != 0
        if owned.allocated and not shared and (owned.warp != warp or owned.register != register):
            _fault(sm, GIVEN_TWICE, cycle, warp, register, -1, entry, shadow.version[warp, register])
            sm.fault.found_warp = sm.warp[owned.warp].age + 1
            sm.fault.found_register = owned.register

    def check_unmapped(check, ctx: Context, sm: CheckedSm, cycle: int, warp: int, register: int, write: bool) -> None:
        version = sm.check.version[warp, register]
        if write or version > 0:
            _fault(sm, UNMAPPED, cycle, warp, register, pc_at(ctx, sm.warp[warp].next), -1, version)
