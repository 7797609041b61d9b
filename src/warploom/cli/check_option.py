"""``--check``: alone it means the registers; a word or several behind it mean what they say.

What follows ``--check`` may as well be the command's own next word (``run --check hotspot``). So before anything else reads a
command line, each ``--check`` is joined with the word that belongs to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from warploom.base.checks import ALL, CHECKS, REGISTERS, check_words

_NAME = "--check"


def joined(arguments: Sequence[str]) -> list[str]:
    """A command line whose every ``--check`` has its words, behind a ``=``; what stands behind ``--`` is not ours."""
    out: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return [*out, word, *rest]
        if word == _NAME:
            taken = bool(rest) and all(each in (*CHECKS, ALL) for each in rest[0].split(","))
            word = f"{_NAME}={rest.pop(0) if taken else REGISTERS}"
        out.append(word)
    return out


Check = Annotated[
    str,
    typer.Option(
        _NAME,
        metavar="[WORDS]",
        callback=lambda words: ",".join(check_words(words)),
        help="Watch the run. registers, also without a word: the shadow checker watches every register access. races: accesses "
        "to shared and device memory that nothing orders are named. memory: so are reads of memory that was never written or "
        "was given back. Several with commas between them, or all.",
    ),
]
"""The checks by name, with commas between them; `warploom.base.checks.check_words` makes a tuple of it."""
