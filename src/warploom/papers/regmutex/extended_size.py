"""How many registers to put into the extended set."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

SHARES = tuple(Fraction(share, 100) for share in (10, 15, 20, 25, 30, 35))  # regmutex, section III-A.2


def candidate_sizes(registers: int) -> list[int]:
    """The sizes that are looked at for a kernel that uses so many registers, before rounding, the smallest first."""
    sizes = {math.floor(registers * share) for share in SHARES}
    return sorted(size for size in sizes if size > 0 and size % 2 == 0)


def further_sizes(registers: int) -> list[int]:
    """The sizes that are looked at where no candidate is of use: shares of the rounded number, odd ones taken up to the next.

    With them the extended sets of all sixteen kernels of table I are looked at. They are no candidates of the first choice, for
    then a set other than the published one would be chosen in eight of fifteen kernels.
    """
    shares = (math.floor(registers * share) for share in SHARES)
    return sorted({share + share % 2 for share in shares if share > 0})


def pool_sections(entries: int, base: int, extended: int, warps: int, most: int) -> int:
    """How many warps can hold their extended set at once in what the base sets of the resident warps leave."""
    return max(0, min(most, (entries - base * warps) // extended))


def ranked_sizes(
    used: int,
    registers: int,
    least_base: int,
    unshared: int,
    resident: Callable[[int], int],
    sections: Callable[[int, int], int],
) -> Iterator[int]:
    """The sizes that let more warps be resident than the `unshared` ones of whole allocation, the choice first.

    Candidates are shares of the registers `used` by the kernel; the base set is what they leave of the `registers` that it is
    given. The highest occupancy goes first. Among sizes of the same occupancy it is that with the largest base set of those
    which have sections for more than half of the warps; then come the others, those with most sections first. Left out are
    sizes that leave less than `least_base` (what is live at barriers) or not one section. `resident` gives the warps resident
    with a size, `sections` the sections with a size and so many warps. The further sizes come after all candidates.
    """
    candidates = candidate_sizes(used)
    for sizes in (candidates, [size for size in further_sizes(registers) if size not in candidates]):
        ranked = []
        for size in sizes:
            warps = resident(size)
            places = sections(size, warps)
            if registers - size < max(1, least_base) or warps <= unshared or places < 1:
                continue
            enough = 2 * places > warps
            ranked.append((-warps, not enough, 0 if enough else -places, size))
        yield from (size for *_, size in sorted(ranked))
