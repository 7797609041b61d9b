"""A CUDA program of the user's as `exec` runs it: an executable with its arguments."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from warploom.base.errors import WarploomError
from warploom.programs.origin import Digests, Origin

if TYPE_CHECKING:
    from warploom.programs.program import Program


@dataclass(frozen=True)
class ProcessOrigin(Origin):
    """A command line. What it does with the device is known only while it runs; a recording of it can be run again."""

    KIND: ClassVar[str] = "process"

    command: tuple[str, ...]
    lenient: bool = False  # accesses that miss their arrays by a little are let through, as hardware does

    @property
    def name(self) -> str:
        return Path(self.command[0]).name

    def short(self, digests: Digests) -> str:
        return f"process {self.name}#{digests['file'][:8]}"

    def digests(self, code: str) -> Digests:
        """Of the executable; of what else it loads nothing is known."""
        file = shutil.which(self.command[0])
        return {"file": hashlib.sha256(Path(file).read_bytes()).hexdigest()[:32] if file else ""}

    def open(self, code: str, seed: int | None) -> Program:
        raise WarploomError(f"{self.name}: only `warploom exec` runs a process; with --record it leaves what `run` can run again")
