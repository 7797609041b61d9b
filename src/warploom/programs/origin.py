"""What names a program: plain data that can be compared, written down, sent elsewhere and opened again.

Each kind stands where its programs are made: a workload in `program.py`, a recording in `replay.py`, a kernel of the user's own
in `own_kernel.py`, a host function in `own.py`, a process in `process.py`. `origins.py` reads any of them back.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from warploom.base.errors import WarploomError

if TYPE_CHECKING:
    from warploom.programs.program import Program

Digests = dict[str, Any]  # of contents that an origin only names, by what they are


@dataclass(frozen=True)
class Origin:
    """What names a program."""

    KIND: ClassVar[str] = ""  # the word that tells the kinds apart where they are written down
    PLACES: ClassVar[tuple[str, ...]] = ()  # fields that say where contents are found, and nothing about what they are
    SIZED: ClassVar[bool] = False  # whether the sizes tiny, small, paper and chip mean something

    @property
    def name(self) -> str:
        """What to call it."""
        raise NotImplementedError

    def short(self, digests: Digests) -> str:
        """The program as it can be told from others in one line; empty where that is its name, size and seed."""
        return ""

    @property
    def sized(self) -> bool:
        """Whether the sizes tiny, small, paper and chip mean something."""
        return self.SIZED

    @property
    def own_seed(self) -> int | None:
        """The seed of its inputs where nobody asks for another; None where nothing in them is random."""
        return None

    def code_for(self, asked: str, usual: str) -> str:
        """What is executed where ``asked``, which may be empty, is asked for and ``usual`` is the machine's."""
        return asked or usual

    def digests(self, code: str) -> Digests:
        """Digests of all that it names and that decides what it does, executed as a code."""
        raise NotImplementedError

    def open(self, code: str, seed: int | None) -> Program:
        """The program itself."""
        raise NotImplementedError

    def check_unchanged(self, digests: Digests, place: str) -> None:
        """Refuse to open what a record was not made with, before anything reads more of it."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the kind, and every field that is not at its default."""
        out: dict[str, Any] = {"kind": self.KIND}
        for item in fields(self):
            value = getattr(self, item.name)
            if item.compare and (item.default is MISSING or value != item.default):
                out[item.name] = list(value) if isinstance(value, tuple) else value
        return out

    @property
    def identity(self) -> dict[str, Any]:
        """What tells it from others besides the digests of what it names."""
        return {name: value for name, value in self.to_dict().items() if name not in self.PLACES}

    def _without_seed(self, seed: int | None, why: str) -> None:
        if seed is not None:
            raise WarploomError(f"{self.name}: {why}, and no seed")
