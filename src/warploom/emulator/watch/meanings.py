"""What each instruction of a code means to the order of accesses, and how small the pieces are in which it accesses memory."""

from __future__ import annotations

import numpy as np

from warploom.compiler.code.instruction import Code, Instruction
from warploom.compiler.code.table import Space
from warploom.emulator.records import Kind
from warploom.emulator.watch.state import Meaning

_ATOMICS = frozenset(("atom", "red", "ATOM", "ATOMG", "ATOMS", "RED", "REDG", "UBLKRED"))
_VOLATILE = frozenset(("volatile", "STRONG", "MMIO"))
_FENCES = frozenset(("membar", "fence", "MEMBAR"))
_OF_CTA = frozenset(("cta", "CTA"))
_RELEASING = frozenset(("release", "acq_rel", "sc"))
_MEETS = frozenset(("WARPSYNC", "NOP"))  # ptxas leaves a NOP where lanes that are together anyway are told to meet


def meanings_of(code: Code) -> np.ndarray:
    """The `Meaning` of every instruction."""
    return np.array([_meaning(instruction) for instruction in code.instructions()], np.uint8)


def _meaning(instruction: Instruction) -> Meaning:
    op = instruction.op
    words = frozenset(op.modifiers)
    meaning = Meaning(0)
    if op.name in _FENCES:
        meaning |= Meaning.FENCE
    elif op.name in _ATOMICS:
        meaning |= Meaning.STRONG
    elif words & _VOLATILE:
        meaning |= Meaning.STRONG | Meaning.VOLATILE
    if meaning & Meaning.STRONG and words & _RELEASING:
        meaning |= Meaning.RELEASE
    if meaning & (Meaning.FENCE | Meaning.RELEASE) and not words & _OF_CTA:
        meaning |= Meaning.WIDE
    if op.name in _MEETS or (op.name == "bar" and "warp" in words):
        meaning |= Meaning.MEET
    return meaning


def piece_shift(instructions: np.ndarray, spaces: tuple[Space, ...]) -> int:
    """The size of the smallest access to some spaces, as a power of two; accesses are aligned to their size."""
    memory = np.isin(instructions["kind"], (Kind.LOAD, Kind.STORE, Kind.ATOMIC))
    chosen = instructions[memory & np.isin(instructions["space"], (*spaces, Space.GENERIC))]
    smallest = int(chosen["size"].min()) if len(chosen) else 4
    return min(smallest.bit_length() - 1, 2)
