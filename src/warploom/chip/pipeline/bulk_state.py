"""What an SM keeps of copies of many bytes and of barriers in shared memory: see `bulk_copies` and `counted_barriers`."""

from __future__ import annotations

from typing import Annotated

from warploom.base.records import Array, Record, i2, i4, i8, u1
from warploom.chip.memory.state import MAX_COPIES

NO_COPY, TO_SHARED, FROM_SHARED, REDUCTION, GROUP_END = range(5)  # what an instruction is to the unit for copies


class BulkCopy(Record):
    """A copy, or the end of a group of them."""

    begins: i8  # not before
    record: i8  # its next block, in the trace's records
    first: i8  # of the row of which lines are asked for: the next unit of 16 bytes
    end: i8  # the unit behind its last one
    row: i8  # its first unit
    units: i8  # of a row
    distance: i8  # from row to row
    rows: i8  # left after this one
    cta: i8  # of its barrier, by number in the grid
    blocks: i4  # left
    size: i4  # bytes that its barrier counts
    slot: i2  # of an instruction that ends a group; of a copy the place of its CTA
    barrier: i2  # the barrier's number + 1; 0: none
    kind: u1  # as `bulk` of an instruction's row
    begun: u1


class BulkUnit(Record):
    """The unit of an SM."""

    event: i8  # nothing to do before
    next_at: i8  # ticks: the next line is not asked for before
    head: i4  # the ring of copies that wait for the unit, by number
    count: i4
    under_way: i4  # copies whose numbers are taken
    last: i4  # the number that was given out last
    queue: Annotated[Array[i2], MAX_COPIES]
    taken: Annotated[Array[u1], MAX_COPIES]
    copy: Annotated[Array[BulkCopy], MAX_COPIES]


class CountedBarrier(Record):
    """A barrier in shared memory."""

    seen_at: i8  # waits see the end of its last phase from here on
    count: i4  # arrivals of a phase
    pending: i4  # those still to come in this one
    awaited: i4  # bytes that are expected and have not come
    phases: i4  # that have ended
    waiting: i2  # the first instruction of a list that waits for the next end of a phase, as slot + 1
