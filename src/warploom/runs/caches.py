"""In what condition launches find the caches, by the one word that commands, tasks and Python have for it.

``cold``: a program begins with empty caches, and the host's copies leave nothing in them; launches that are timed alone find
them empty, too. ``warm``: L2 holds what the host has copied to the device and what earlier launches have left there. At every
launch first-level caches of data are empty; L2 lives on between the launches of a program, and so does code where the machine
says so.
"""

from __future__ import annotations

from warploom.base.errors import WarploomError

COLD, WARM = "cold", "warm"
CACHES = (COLD, WARM)


def check_caches(word: str) -> str:
    """The condition by its word, or an error that lists them."""
    if word not in CACHES:
        raise WarploomError(f"caches cannot be {word!r}; choose {COLD} or {WARM}")
    return word
