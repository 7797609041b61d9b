"""What is remembered of a watched launch: clocks of warps and lanes, who accessed each piece of memory last, what was found."""

from __future__ import annotations

from enum import IntFlag
from typing import Annotated, Any, NamedTuple

import numpy as np

from warploom.base.records import Array, Record, dtype_of, i4, i8, u1, u2, u4

LANES = 32


class Meaning(IntFlag):
    """What an instruction means to the order of accesses."""

    STRONG = 1  # atomic, or volatile in global memory: it may carry a release to who reads it
    VOLATILE = 2
    RELEASE = 4  # orders what was before it, as a fence in front of it would
    FENCE = 8  # of any scope
    WIDE = 16  # the fence holds for other CTAs too
    MEET = 32  # lanes wait for each other, and see what the others have written


class Touch(Record):
    """Who accessed a piece of memory, and when."""

    warp: u4  # in the grid, counted from 1; 0: nobody
    clock: u4  # of the warp
    lane_clock: u4
    pc: u2
    lane: u1
    meaning: u1  # `Meaning`, as far as it fits


class Cell(Record):
    """The accesses to a piece of memory that later ones may race with."""

    write: Touch
    read: Touch  # two readers that nothing orders are enough: a write that is ordered behind both is rare where a third is not
    other: Touch


class Race(Record):
    """Two instructions of which threads race: the first time in full, and how often."""

    first: Touch
    second: Touch
    first_kind: i4
    second_kind: i4
    space: i4
    size: i4
    address: i8
    times: i8


class Clocks(Record):
    """One warp that is resident."""

    clock: u4
    fence: u4  # its clock at its last fence
    wide_fence: u4
    cta: i8
    far: i8  # its row among what is known of other CTAs; 0: it knows nothing
    lane_clock: Annotated[Array[u4], LANES]
    known: Annotated[Array[u4], LANES * LANES]  # of each lane: up to which clock it knows every other


class WatchedLaunch(Record):
    """The launch as a whole."""

    warps_per_cta: i8
    cluster: i8  # CTAs of one
    near: i8  # warps of a cluster
    warps: i8  # of the grid
    shared_shift: i8  # pieces of shared memory have 2**shift bytes
    global_shift: i8
    shared_pieces: i8  # of a CTA
    arena_start: i8
    local_words: i8  # of a CTA
    races: i8  # whether they are looked for
    blind: i8  # whether device memory is not watched any more, for it has become too much
    memory: i8  # whether reads of what nobody has written are
    page_pieces: i8
    pages: i8  # that are in use, the first is nobody's
    most_pages: i8
    rows: i8  # of what is known of other CTAs, that are in use; the first is nobody's
    most_rows: i8
    found: i8
    missed: i8  # findings for which there was no room


class Knowledge(NamedTuple):
    """What `order.judge` reads and writes."""

    near: np.ndarray  # of each resident warp: up to which clock it knows each warp of its cluster
    fenced: np.ndarray  # what of this it knew at its last fence
    wide: np.ndarray  # and at its last fence that holds for other CTAs
    waiting: np.ndarray  # of each barrier of each slot: the warps that wait
    barrier_near: np.ndarray
    barrier_fenced: np.ndarray
    barrier_wide: np.ndarray
    barrier_far: np.ndarray
    published: np.ndarray  # of each warp of the grid: the row of `far` with what its writes carry
    far: np.ndarray  # rows of what is known of all warps of the grid
    shared: Any
    page_of: np.ndarray
    pages: Any
    written: np.ndarray  # of each byte of device memory: whether somebody has written it
    local: np.ndarray  # likewise, of each word of the lanes' local memory
    findings: Any
    now: Any


TOUCH_DTYPE, CELL_DTYPE, RACE_DTYPE, CLOCKS_DTYPE, WATCH_DTYPE = (
    dtype_of(kind) for kind in (Touch, Cell, Race, Clocks, WatchedLaunch)
)
