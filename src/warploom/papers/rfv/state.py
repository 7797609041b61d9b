"""What register file virtualization keeps in every SM, mechanism by mechanism: one record, ``sm.allocation``."""

from __future__ import annotations

from typing import Annotated

from warploom.machines.schema import MAX_CTAS, MAX_RF_BANKS, MAX_WARPS
from warploom.papers.rfv.renaming import Touched
from warploom.records import Array, Mask, Record, flag, i4, i8
from warploom.register_file.layout import REGISTER_WORDS

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

    renames: i8
    releases_pir: i8
    releases_pbr: i8
    releases_exit: i8  # what no flag has released
    throttled_cycles: i8
    borrowed: i8  # entries taken in another bank than the compiler's
    table_accesses: i8
    spilled_registers: i8


class State(Mapping, Throttling, ReservedMemory, FlagCache, Touched, Counts):
    """All of it."""
