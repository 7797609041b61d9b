"""The order in which warps run: one after another to the next barrier, or in short turns that follow from a seed.

In turns, many CTAs are resident, a warp executes a few instructions at a time, and each time it is chance whether it goes on or
is passed over, as no program may rely on. The same seed gives the same order.
"""

from __future__ import annotations

from warploom.base.errors import WarploomError

USUAL, TURNS = "usual", "turns"
LONGEST = 61  # instructions of one turn
MOST_SEED = 2**32 - 1


def seed_of(order: str) -> int:
    """The seed of an order: 0 for the usual one, else what stands behind ``turns:``, or 1."""
    name, colon, number = order.partition(":")
    if order == USUAL:
        return 0
    if name != TURNS or (colon and not (number.isdecimal() and 1 <= int(number) <= MOST_SEED)):
        raise WarploomError(f"order {order!r} is not known; choose {USUAL}, {TURNS}, or {TURNS}:SEED with a seed from 1")
    return int(number or 1)


def turn_length(seed: int) -> int:
    """How many instructions a warp executes before it is the turn of another."""
    return 1 + seed * 2654435761 % LONGEST
