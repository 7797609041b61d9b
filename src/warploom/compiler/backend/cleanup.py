"""The clean-ups that lowering and narrowing leave their code to, in order."""

from __future__ import annotations

from warploom.compiler.backend.addresses import fold_displacements
from warploom.compiler.backend.constants import legalise, split_products
from warploom.compiler.backend.dead import remove_dead
from warploom.compiler.backend.jumps import simplify_jumps
from warploom.compiler.backend.propagate import propagate
from warploom.compiler.code.instruction import Code

_ROUNDS = 8  # chains of folding are short; a bound keeps the worst case linear


def clean(code: Code) -> None:
    """Fold copies and constants, drop dead code, straighten jumps; the code is changed in place."""
    simplify_jumps(code)
    for _ in range(_ROUNDS):
        if not propagate(code):
            break
    remove_dead(code)


def finish(code: Code) -> None:
    """Clean code whose addresses have their final width, and leave every instruction with no more constants than it may hold."""
    split_products(code)
    clean(code)
    while fold_displacements(code):
        clean(code)
    legalise(code)
