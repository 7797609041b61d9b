"""What places hold while an allocation is walked: kept both ways round, so that a step costs what it changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Place = tuple[str, int]  # ("R", register), ("P", predicate) or ("S", byte offset of a spilled word)
Move = tuple[int, int]  # (part written, part read) of a copy


class Contents:
    """Which parts of values each place certainly holds.

    A part that no path has defined yet counts as held everywhere; those are the bits of `undefined`, and only the others are
    listed, place by place and part by part.
    """

    def __init__(self, undefined: int) -> None:
        self.undefined = undefined
        self._at: dict[Place, set[int]] = {}
        self._of: dict[int, set[Place]] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Contents) and self.undefined == other.undefined and self._of == other._of

    __hash__ = None  # type: ignore[assignment]

    def copy(self) -> Contents:
        """Contents of their own, equal to these."""
        made = Contents(self.undefined)
        made._at = {place: set(parts) for place, parts in self._at.items()}
        made._of = {part: set(places) for part, places in self._of.items()}
        return made

    def at(self, place: Place) -> frozenset[int]:
        """The defined parts that a place holds."""
        return frozenset(self._at.get(place, ()))

    def holds(self, place: Place, part: int) -> bool:
        """Whether the place certainly holds the part."""
        return part in self._at.get(place, ()) or bool(self.undefined >> part & 1)

    def put(self, place: Place, parts: Iterable[int]) -> None:
        """The place now holds these parts instead of what it held."""
        for part in self._at.pop(place, ()):
            self._forget_place(part, place)
        for part in parts:
            if not self.undefined >> part & 1:
                self._add(place, part)

    def define(self, parts: Iterable[int]) -> None:
        """The parts have new values, which nothing holds yet."""
        for part in parts:
            self.undefined &= ~(1 << part)
            for place in self._of.pop(part, ()):
                held = self._at[place]
                held.discard(part)
                if not held:
                    del self._at[place]

    def move(self, moves: Sequence[Move], guarded: bool) -> None:
        """The parts written have the values of the parts read, and are where those are; under a guard, where both were."""
        found: list[tuple[int, frozenset[Place] | None]] = []
        for written, read in moves:
            places = self._places(read)
            if guarded:
                old = self._places(written)
                places = old if places is None else places if old is None else places & old
            found.append((written, places))
        self.define(written for written, _ in moves)
        for written, places in found:
            if places is None:
                self.undefined |= 1 << written
            else:
                for place in places:
                    self._add(place, written)

    def _places(self, part: int) -> frozenset[Place] | None:
        """Where a part is; None where that is everywhere."""
        return None if self.undefined >> part & 1 else frozenset(self._of.get(part, ()))

    def _add(self, place: Place, part: int) -> None:
        self._at.setdefault(place, set()).add(part)
        self._of.setdefault(part, set()).add(place)

    def _forget_place(self, part: int, place: Place) -> None:
        places = self._of[part]
        places.discard(place)
        if not places:
            del self._of[part]


def meet(arriving: Sequence[Contents]) -> Contents:
    """What is certain on every path that arrives."""
    if len(arriving) == 1:
        return arriving[0].copy()
    undefined = arriving[0].undefined
    for contents in arriving[1:]:
        undefined &= contents.undefined
    result = Contents(undefined)
    for part in {part for contents in arriving for part in contents._of}:
        known = [places for places in (contents._places(part) for contents in arriving) if places is not None]
        for place in frozenset.intersection(*known):
            result._add(place, part)
    return result
