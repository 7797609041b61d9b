"""What can be watched while a program runs, by name."""

from __future__ import annotations

from collections.abc import Iterable

from warploom.base.errors import WarploomError
from warploom.base.spelling import did_you_mean

MEMORY, RACES, REGISTERS = "memory", "races", "registers"
CHECKS = (MEMORY, RACES, REGISTERS)
"""Memory that was never written or was given back; accesses that nothing orders; every access to registers."""
ALL = "all"
FAULTS = "faults"
"""What stops a kernel is found without being asked for."""


def check_words(asked: bool | str | Iterable[str]) -> tuple[str, ...]:
    """The checks that are asked for, in alphabetical order: True means registers, a string has words between commas."""
    if isinstance(asked, bool):
        return (REGISTERS,) if asked else ()
    words = {word.strip() for word in asked.split(",")} - {""} if isinstance(asked, str) else set(asked)
    for word in words:
        if word not in (*CHECKS, ALL):
            raise WarploomError(f"check {word!r} is not known{did_you_mean(str(word), [*CHECKS, ALL])}")
    return CHECKS if ALL in words else tuple(sorted(words))
