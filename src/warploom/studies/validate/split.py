"""Which programs a model may be adjusted on, and which are held out: a rule that was fixed before anything was measured."""

from __future__ import annotations

import hashlib

ADJUST, HELD_OUT = "adjust", "held-out"
PARTS = (ADJUST, HELD_OUT)


def part_of(program: str) -> str:
    """Held out are the programs whose name has an odd SHA-256 digest; all sizes and kernels of a program are in one part."""
    return HELD_OUT if hashlib.sha256(program.encode()).digest()[-1] % 2 else ADJUST
