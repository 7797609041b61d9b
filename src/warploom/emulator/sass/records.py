"""The records of a SASS program: those of every program, and what its convergence barriers need."""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated

from warploom.base.records import Array, Lanes, i4
from warploom.emulator.records import MOST_ELEMENTS, EncodedInstruction, ResidentWarp

GROUPS = 33  # every group of lanes has at least one, and one is being moved
BARRIER_REGISTERS = 16
RETURN_ROW = MOST_ELEMENTS - 1  # among the rows of a call


class SassKind(IntEnum):
    """How instructions are executed that programs from PTX do not have; numbers beyond those of `Kind`."""

    JUMP = 32  # to the byte address in a pair of rows, which may differ between lanes
    BSSY = 33
    BSYNC = 34
    BREAK = 35
    WARPSYNC = 36
    COLLECTIVE = 37
    END_COLLECTIVE = 38
    YIELD = 39
    DIVERGED = 40  # a branch that is taken if lanes of a mask are elsewhere, or if none is
    UNIFORM = 41  # lanes look at each other; the answer goes to the whole warp
    BARRIER_TO_REGISTER = 42  # BMOV
    REGISTER_TO_BARRIER = 43
    BRANCH_ANY = 44  # a branch of the whole group, taken if any lane's condition holds
    MATRIX_PRODUCT = 45
    MATRIX_TRANSPOSE = 46
    EXCLUSIVE = 48  # WARPSYNC: lanes go on in groups, each with those that its mask names
    # below those that decide where lanes go on
    TENSOR_COPY = 25
    WARPGROUP_PRODUCT = 26
    CLUSTER_ARRIVE = 27
    CLUSTER_WAIT = 28
    BULK_COPY = 29
    TRANSACTION = 30  # on a barrier in shared memory
    SURFACE = 31
    CALL_SUPPLIED = 47  # a function that CUDA supplies; then back to the address in a pair of rows


class SassFamily(IntEnum):
    """Families of micro-operations of SASS alone; numbers beyond those of `Family`."""

    WORDS = 16
    FLOATS = 17
    FUNCTIONS = 18
    TABLE = 19  # any function of three predicates


class UniformOperation(IntEnum):
    """What `SassKind.UNIFORM` computes."""

    FIRST = 0  # the value of the first lane
    BALLOT = 1
    ANY = 2
    ALL = 3
    EQUAL = 4
    ELECT = 5  # the first lane's predicate becomes true, that of the others false
    REDUCTIONS = 8  # from here on, plus the number of a reducing `WarpOperation`


class State(IntEnum):
    """What a group of lanes does that is not being executed; from `AT_BARRIER` on, which barrier register it waits for."""

    READY = 0
    SYNCHRONISING = 1
    COLLECTING = 2
    AT_CTA_BARRIER = 3
    PARTING = 4
    READY_APART = 5  # ready, but not to be joined with others at its address
    KEPT = 6  # ready, and the next to go on, as it is
    AT_BARRIER = 8


class SassInstruction(EncodedInstruction):
    """An instruction of SASS as compiled code reads it."""

    uniform: i4  # executed for the whole warp, whatever lanes are there
    condition: i4  # a further predicate of a branch, or -1
    condition_flip: Lanes
    barrier: i4  # a convergence barrier
    landing: i4  # where a jump to the address that the compiler gave to its n-th instruction goes, in the n-th record
    after: i4  # micro-operations after those of `count`, executed when memory has answered
    matrices: i4  # 8 x 8 matrices that a load spreads over the lanes, or 0
    copies: i4  # whether a load goes on to shared memory, at the addresses in its last row
    matrix_rows: i4  # of a product of matrices
    second_operation: i4  # of a product of matrices: the elements of the second, where `operation` has those of the first
    sum_length: i4  # products that tensor cores add at a time
    sum_bits: i4  # that they keep behind the point


class SassWarp(ResidentWarp):
    """A resident warp of a SASS program: `depth` groups of lanes are listed, besides the one that is executed."""

    group_pc: Annotated[Array[i4], GROUPS]
    group_mask: Annotated[Array[Lanes], GROUPS]
    group_state: Annotated[Array[i4], GROUPS]
    group_needed: Annotated[Array[Lanes], GROUPS]  # the lanes that it waits for
    barrier_lanes: Lanes  # those that wait at a barrier of the CTA
    meeting_mask: Annotated[Array[Lanes], BARRIER_REGISTERS * 32]  # of each barrier, for each lane: the lanes that it meets there
    barrier_held: Annotated[Array[Lanes], BARRIER_REGISTERS]  # the lanes that have still to come to each, and who left it set
    waited: Lanes  # lanes that wait at BSYNC or WARPSYNC, or have waited and execute it again
    tries: i4  # turns in which it has waited at a barrier in shared memory for the end of a phase
    polls: i4  # whether the group that is executed has polled memory in this turn
    turns_alone: i4  # that it began with groups put aside, since one gave way to another
    found_pc: i4  # where the active group was found by its address, if it has not come to a decision since
    lane_pc: Annotated[Array[i4], 32]  # where lanes go on after a collective
