"""The control bits of an instruction: what the compiler tells the scheduler of the warp."""

from __future__ import annotations

from warploom.compiler.code.instruction import Control

_FIRST_BIT = 41  # of the upper 64 bits of an encoding
_NO_BARRIER = 7


def control_bits(high: int) -> Control:
    """The control bits in the upper half of an instruction's 128 bits."""
    bits = high >> _FIRST_BIT
    write, read = bits >> 5 & 7, bits >> 8 & 7
    return Control(
        stall=bits & 15,
        yields=not bits >> 4 & 1,
        write_barrier=None if write == _NO_BARRIER else write,
        read_barrier=None if read == _NO_BARRIER else read,
        wait=bits >> 11 & 63,
        reuse=(bool(bits >> 17 & 1), bool(bits >> 18 & 1), bool(bits >> 19 & 1)),
    )
