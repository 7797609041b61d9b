"""What register file virtualization keeps in every SM, mechanism by mechanism: one record, ``sm.allocation``."""

from __future__ import annotations

from typing import Annotated

from warploom.base.records import Array, Mask, Record, flag, i4, i8
from warploom.chip.machines.limits import MAX_CTAS, MAX_RF_BANKS, MAX_WARPS
from warploom.chip.sm.counter import counted
from warploom.chip.sm.layout import REGISTER_WORDS
from warploom.papers.rfv.renaming import Touched

MAX_FLAG_CACHE = 64


class Mapping(Record):
    """`mapping`: which registers are mapped directly."""

    exempt: i8  # registers below are not renamed
    most_ctas: i8
    free_in: Annotated[Array[i8], MAX_RF_BANKS]  # scratch


class Throttling(Record):
    """`throttling`: the balance of registers, and who waits for them."""

    room: i8  # entries for renaming
    need: i8  # renamed registers that one CTA has at once, at most, as its compiler knows
    scarce: flag  # the resident CTAs may need more than there is
    ctas: Mask  # resident
    mapped: i8  # names mapped at the moment, of all CTAs and of each
    mapped_of: Annotated[Array[i8], MAX_CTAS]
    leader: i8
    throttled: Mask  # warps held back for the sake of the leading CTA
    starved: Mask  # warps that found no free entry
    wanting: Annotated[Array[Mask], MAX_RF_BANKS]  # of these, who waits for which bank
    to_wake: Mask
    held_since: i8


class ReservedMemory(Record):
    """`reserved_memory`: registers that are there, or on their way."""

    spilled: Mask  # warps with registers in memory or on the way
    returning: Mask
    in_memory: Annotated[Array[Mask], MAX_WARPS, REGISTER_WORDS]
    moving: Annotated[Array[i4], MAX_WARPS]  # stores or loads of a warp under way


class FlagCache(Record):
    """`flag_cache`: what is in it."""

    tag: Annotated[Array[i4], MAX_FLAG_CACHE]  # pc + 1 of the pir in an entry of the flag cache


class Counts(Record):
    """`reporting`: what is counted."""

    renames: i8 = counted("registers", "Registers that were given an entry.")
    releases_pir: i8 = counted("registers", "Registers that flags in instructions (pir) released.")
    releases_pbr: i8 = counted("registers", "Registers that lists at branches (pbr) released.")
    releases_exit: i8 = counted("registers", "Registers that the exit of their warp released, for no flag had.")
    throttled_cycles: i8 = counted("cycles", "Cycles in which CTAs were held back because registers ran short.")
    borrowed: i8 = counted("entries", "Entries that were taken in another bank than the compiler's.")
    table_accesses: i8 = counted("accesses", "Accesses to the renaming table.")
    spilled_registers: i8 = counted("registers", "Registers that were spilled to memory because none was free.")


class State(Mapping, Throttling, ReservedMemory, FlagCache, Touched, Counts):
    """All of it."""
