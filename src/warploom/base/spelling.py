"""Suggesting the name that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

ALIKE = 0.65  # two thirds of the letters in order: one wrong of three, but not `phong` for `nothing`


def did_you_mean(wrong: str, known: Iterable[str], *, otherwise: str = "") -> str:
    """The end of a sentence about an unknown name: the nearest known one; where none is near, all, or ``otherwise``."""
    names = sorted(known)
    begun = [name for name in names if len(wrong) > 2 and name.startswith(wrong)]
    near = begun or difflib.get_close_matches(wrong, names, n=1, cutoff=ALIKE)
    if near:
        return f"; did you mean {near[0]!r}?"
    if otherwise:
        return otherwise
    return f"; known are {', '.join(names)}" if names else "; none are known"
