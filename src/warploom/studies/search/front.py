"""Which designs are not beaten: no other is at least as good in everything and better in something."""

from __future__ import annotations

from collections.abc import Sequence

Values = Sequence[float]  # the less the better


def dominates(one: Values, other: Values) -> bool:
    """Whether one is at least as good in everything and better in something."""
    return all(a <= b for a, b in zip(one, other, strict=True)) and any(a < b for a, b in zip(one, other, strict=True))


def front(points: Sequence[Values]) -> list[int]:
    """The places of the points that no other dominates; of equal points the first."""
    kept: list[int] = []
    for place, point in enumerate(points):
        beaten = any(dominates(other, point) for other in points)
        if not beaten and not any(tuple(points[earlier]) == tuple(point) for earlier in kept):
            kept.append(place)
    return kept


def ranks(points: Sequence[Values]) -> list[int]:
    """For each point how many fronts must be taken away until it is on one."""
    rank = [-1] * len(points)
    left = set(range(len(points)))
    level = 0
    while left:
        now = {place for place in left if not any(dominates(points[other], points[place]) for other in left)}
        for place in now:
            rank[place] = level
        left -= now
        level += 1
    return rank
