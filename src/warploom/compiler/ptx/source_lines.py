"""Lines of the CUDA source that PTX was compiled from, as its ``.file`` and ``.loc`` directives tell them."""

from __future__ import annotations

from typing import NamedTuple

Position = tuple[int, int, int]  # file number, line, column


class Location(NamedTuple):
    """What a ``.loc`` says of the instructions after it."""

    position: Position
    inlined_at: Position | None  # the call that the compiler put their function in place of


def numbers_of(file: str, tokens: list[str]) -> frozenset[int]:
    """The numbers under which a file's ``.file`` directives name the file itself; none where the file is the PTX."""
    return frozenset(
        int(tokens[place + 1])
        for place, token in enumerate(tokens)
        if token == ".file" and tokens[place + 1].isdecimal() and len(tokens[place + 1]) < 10 and tokens[place + 2] == f'"{file}"'
    )


class SourceLines:
    """Follows the locations of one function. Code of a header counts for the line of the file that called it."""

    def __init__(self, own: frozenset[int]) -> None:
        self._own = own
        self._lines: dict[Position, int] = {}  # of positions in other files, the line of the file that led there

    def at(self, location: Location) -> int:
        """The line of the file that a location belongs to; 0 where none does."""
        position, caller = location
        if position[0] in self._own:
            return position[1]
        line = 0
        if caller is not None:
            line = caller[1] if caller[0] in self._own else self._lines.get(caller, 0)
        self._lines[position] = line
        return line
