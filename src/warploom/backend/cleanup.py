"""The clean-ups that lowering and narrowing leave their code to, in order."""

from __future__ import annotations

from warploom.backend.dead import remove_dead
from warploom.backend.jumps import simplify_jumps
from warploom.backend.propagate import propagate
from warploom.code.instruction import Code

_ROUNDS = 8  # chains of folding are short; a bound keeps the worst case linear


def clean(code: Code) -> None:
    """Fold copies and constants, drop dead code, straighten jumps; the code is changed in place."""
    simplify_jumps(code)
    for _ in range(_ROUNDS):
        if not propagate(code):
            break
    remove_dead(code)
