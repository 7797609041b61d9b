"""Functions that code calls without having them: CUDA supplies them to every program on the device.

Code in SASS calls them by an address in a constant bank, with 64-bit arguments in pairs of registers from R4 on, and expects to
be continued at the address in R20 and R21.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from warploom.compiler.code.instruction import Bank, Reg

FIRST_ADDRESS = 0xA000_0000_0000
"""Where the functions seem to lie: above all memory."""
_BYTES_APART = 16
RETURN_ADDRESS = Reg(20, Bank.D)


class Supplied(IntEnum):
    """The functions, in the order of their addresses."""

    VPRINTF = 0
    MALLOC = 1
    FREE = 2
    ASSERT_FAIL = 3

    @property
    def address(self) -> int:
        """Where it seems to lie."""
        return FIRST_ADDRESS + _BYTES_APART * self


class Convention(NamedTuple):
    """Which registers a function reads and writes."""

    arguments: tuple[Reg, ...]
    results: tuple[Reg, ...]


_FIRST, _SECOND, _FOURTH = (Reg(number, Bank.D) for number in (4, 6, 10))
CONVENTIONS = {
    Supplied.VPRINTF: Convention((_FIRST, _SECOND), (Reg(4),)),  # format, arguments in memory -> how many
    Supplied.MALLOC: Convention((_FIRST,), (_FIRST,)),  # bytes -> address
    Supplied.FREE: Convention((_FIRST,), ()),  # address
    Supplied.ASSERT_FAIL: Convention((_FIRST, _SECOND, Reg(8), _FOURTH), ()),  # condition, file, line, function
}
NAMES = {
    "vprintf": Supplied.VPRINTF,
    "malloc": Supplied.MALLOC,
    "free": Supplied.FREE,
    "__assertfail": Supplied.ASSERT_FAIL,
}


def supplied_at(address: int) -> Supplied | None:
    """The function that seems to lie at an address."""
    number, rest = divmod(address - FIRST_ADDRESS, _BYTES_APART)
    return Supplied(number) if rest == 0 and 0 <= number < len(Supplied) else None
