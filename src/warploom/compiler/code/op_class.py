"""The classes of work by which machine files give latency and initiation interval."""

from __future__ import annotations

from enum import IntEnum


class OpClass(IntEnum):
    """The classes by which machine files give latency and initiation interval."""

    MOVE = 0  # mov, selp, prmt, vote and the like
    LOGIC = 1  # and, or, xor, not, lop3, shifts, bit fields
    COMPARE = 2  # setp, set, slct
    CONVERT = 3  # cvt
    INT_ADD = 4
    INT_MINMAX = 5
    INT_MUL = 6
    INT_MAD = 7
    INT_DIV = 8
    SHUFFLE = 9
    F32_ADD = 10
    F32_MINMAX = 11
    F32_MUL = 12
    F32_MAD = 13  # mad and fma
    F32_DIV = 14  # div, rcp and sqrt with IEEE rounding
    F64_ADD = 15
    F64_MINMAX = 16
    F64_MUL = 17
    F64_MAD = 18
    F64_DIV = 19
    SFU = 20  # approximate functions
    MEMORY = 21
    CONTROL = 22  # branch, barrier, exit, acquire, release
    METADATA = 23  # fetched and decoded, never issued
