"""The columns of a trace.

A trace holds one stream per warp, warps in launch order (CTA-major), every stream contiguous in each column:

* ``pc`` and ``mask``: one entry per dynamic warp instruction; the mask holds the lanes that executed (active and guard
  true; for a branch, the active lanes), so a mask of 0 is an instruction that was issued with no lane left;
* ``value``: one entry per *written 32-bit register* of each instruction, in the order of the static ``writes``;
* ``memory``: one entry per dynamic instruction of class MEMORY that accesses memory (those with the flag LOAD, STORE or ATOMIC;
  fences and prefetches have none), per barrier (with the flag BARRIER) and per copy of many bytes (with the flag BULK).
  Memory: ``count | space << 8``. For every cached space ``count`` is the number of ``sector``/``lanes`` records that
  belong to it; for shared memory it is the number of passes that bank conflicts need, and no records belong to it. An
  atomic in shared memory counts passes with the serialisation of equal addresses, and has one less than those without it
  above its space, in the bits from ``PARALLEL_SHIFT`` on. There other accesses have what machines need that serve them as an
  H200 does:

  - to shared memory: by how many passes they need fewer, and ``MOST_EMPTY``. Lanes of a load that share what they want in
    pairs, all over the warp, let two groups of lanes be served as one; a group without lanes takes a pass;
  - loads from global and local memory: one less than the passes that banks like those of shared memory need for them;
  - constants: one less than the different addresses of their lanes;
  - stores to global and local memory: 1 if they leave bytes of a sector as they are;
  - textures whose texels lie in blocks: the words that are wanted, or half of those of a texel that is filtered, less one, and
    ``FILTERED`` where several texels make a result.

  An access that no lane executes has count 0. None has more than ``MOST_RECORDS``: of the 256 sectors that a warp's filtered
  fetch from three dimensions can touch, the last is left out.
  Barriers in shared memory (mbarrier), what is done to them: ``count`` records of space ``COUNTED``, and above that one less than
  the lanes that execute it. A record is of one barrier: in ``sector`` a `BarrierDeed`, the barrier's number in its CTA from
  ``NUMBER_SHIFT`` on and arrivals from ``ARRIVALS_SHIFT`` on; in ``lanes`` bytes, or the number of a phase. A barrier has no
  record that is not followed: in clusters, and of more than ``MOST_COUNTED`` of a CTA.
  Copies of many bytes: ``count`` records of global memory. The first has 1 + the number of the barrier that counts its bytes (0:
  none) and the bytes. Then come blocks of rows of the same length, two records each, all in units of ``UNIT_BYTES``: the
  first unit and the units of a row; the distance from row to row and how many rows there are.
  Barrier: ``id | warps expected << 8``, where 0 expects every warp of the CTA;
* ``sector`` and ``lanes``: one entry per 32-byte sector touched, in ascending order; ``sector`` is address >> 5 in its
  space, ``lanes`` the lanes that touch it. Atomics of several lanes at one address are done one after the other: their
  sector has an entry for each of these turns, in each the lanes whose turn it is. Local memory counts within the warp's own
  window of 32 x local_bytes, the lanes' words interleaved as hardware does it.

``start`` has, for each warp and the end, the first index in ``pc``/``mask``, ``value``, ``memory`` and ``sector``/``lanes``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np

from warploom.base.records import Record, dtype_of, i8
from warploom.compiler.code.lanes import LANES

PC_DTYPE = np.dtype("u2")
MASK_DTYPE = np.dtype("u4")
VALUE_DTYPE = np.dtype("u4")
MEMORY_DTYPE = np.dtype("u2")
SECTOR_DTYPE = np.dtype("u4")
LANES_DTYPE = np.dtype("u4")


class WarpStart(Record):
    """The first index of a warp in the columns."""

    instruction: i8
    value: i8
    memory: i8
    sector: i8


START_DTYPE = dtype_of(WarpStart)

SPACE_SHIFT, PARALLEL_SHIFT = 8, 11  # of a memory entry
MOST_RECORDS = (1 << SPACE_SHIFT) - 1  # of one access
SPACE_MASK = (1 << PARALLEL_SHIFT - SPACE_SHIFT) - 1
MOST_ABOUT = (1 << 16 - PARALLEL_SHIFT) - 1  # what is said above the space
MOST_EMPTY = 3  # groups of a warp, of those that an access to shared memory is served in
FILTERED = 4  # among what is said of texels

COUNTED = 7  # the space of entries of barriers in shared memory
NUMBER_SHIFT, ARRIVALS_SHIFT = 2, 10  # of a record of a barrier
MOST_ARRIVALS = (1 << 32 - ARRIVALS_SHIFT) - 1
MOST_COUNTED = 64  # barriers of a CTA
UNIT_BYTES = 16  # of copies of many bytes
MOST_BLOCKS = 126  # of rows that a copy's records tell apart; further rows are taken to follow those of the last

SECTOR_BYTES = 32

# One value entry: two halves of 16 bits. The low half classifies the whole register after the merge with the lanes that did not
# execute, the high half the executing lanes alone, and 0 if there are none. A lane that does not count (in the low half one that
# the warp was not launched with) is taken to hold what the counting lane before it holds (or else the first). Within a half:
#   bits 0-1   narrowest delta with 4-byte base: 0 = <4,0>, 1 = <4,1>, 2 = <4,2>, 3 = none fits
#   bits 2-4   narrowest delta with 8-byte base: 0 = <8,0>, 1 = <8,1>, 2 = <8,2>, 3 = <8,4>, 4 = none fits
#   bit  5     <1,0> fits (all bytes equal)
#   bit  6     <2,1> fits
#   bits 8-9   distance bin of neighbouring lanes: 0 = all equal, 1 = up to 128, 2 = up to 2**15, 3 = random
BASE4_SHIFT, BASE8_SHIFT, ONE_ZERO_SHIFT, TWO_ONE_SHIFT, BIN_SHIFT = 0, 2, 5, 6, 8
ACTIVE_HALF_SHIFT = 16


class BarrierDeed(IntEnum):
    """What is done to a barrier in shared memory."""

    BEGIN = 0  # it expects so many arrivals in each phase; ``lanes`` 1: it is new, and its phases are counted from here
    ARRIVE = 1  # so many arrive, and so many more bytes are expected (or, negative, have come)
    WAIT = 2  # until so many phases have ended
    LEAVE = 3  # so many arrive, and come no more in later phases


@dataclass(frozen=True, slots=True)
class Trace:
    """What one launch did. Columns may be memory-mapped."""

    key: str  # digest of code, launch and input
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    warps_per_cta: int
    pc: np.ndarray
    mask: np.ndarray
    value: np.ndarray
    memory: np.ndarray
    sector: np.ndarray
    lanes: np.ndarray
    start: np.ndarray  # one record per warp, one more at the end

    @property
    def ctas(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def warp_instructions(self) -> int:
        return len(self.pc)

    def with_lone_warps(self) -> Trace:
        """The same warps, each a CTA of its own; they must have nothing to do with each other, and all lanes."""
        return replace(self, grid=(self.ctas * self.warps_per_cta, 1, 1), block=(LANES, 1, 1), warps_per_cta=1)
