"""A pipeline log in the format of Konata, a viewer of pipelines: every stage of every instruction, stalls in a lane of their own.

The format is ``Kanata 0004``: a line for each event, fields separated by tabs, cycles counted on by ``C`` lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TextIO

from warploom.compiler.code.instruction import Code

STAGE_NAMES = {"issue": "Is", "collect": "Oc", "dispatch": "Ds", "execute": "Ex", "write": "Wb"}
WAITING = "Wt"  # the stage before issue, from when an instruction is its warp's next
WORK, STALL = 0, 1  # lanes


class KanataWriter:
    """Writes the events of the pipeline-log observer as they come."""

    def __init__(self, file: TextIO) -> None:
        self.file = file
        self.cycle: int | None = None  # of the last line
        self.begun = 0  # instructions
        self.retired = 0
        self.next: dict[tuple[int, int], tuple[int, str]] = {}  # by SM and warp: number and reason of what waits for issue
        self.under_way: dict[tuple[int, int], tuple[int, str]] = {}  # by SM and slot: number and stage
        file.write("Kanata\t0004\n")

    def receive(self, code: Code, events: Sequence[tuple[int, int, str, int, int, Any]]) -> None:
        """Write events, which are in order of their cycles."""
        texts = [str(instruction) for instruction in code.instructions()]
        for sm, cycle, what, warp, pc, about in events:
            self._advance(cycle)
            if what == "wait":
                self._wait(sm, warp, pc, about, texts)
            elif what == "exit":
                self._drop(sm, warp)
            elif what == "issue":
                self._issue(sm, warp, pc, about, texts)
            elif (sm, about) in self.under_way:  # else it was issued before the first cycle that is watched
                self._stage(sm, about, what)

    def _advance(self, cycle: int) -> None:
        if self.cycle is None:
            self.file.write(f"C=\t{cycle}\n")
        elif cycle > self.cycle:
            self.file.write(f"C\t{cycle - self.cycle}\n")
        self.cycle = cycle

    def _begin(self, sm: int, warp: int, pc: int, texts: Sequence[str]) -> int:
        number = self.begun
        self.begun += 1
        self.file.write(f"I\t{number}\t{number}\t{warp}\nL\t{number}\t0\tSM{sm} W{warp} {pc}: {texts[pc]}\n")
        return number

    def _wait(self, sm: int, warp: int, pc: int, reason: str, texts: Sequence[str]) -> None:
        if pc < 0:
            return
        if (sm, warp) in self.next:
            number, before = self.next[sm, warp]
            self.file.write(f"E\t{number}\t{STALL}\t{before}\n")
        else:
            number = self._begin(sm, warp, pc, texts)
            self.file.write(f"S\t{number}\t{WORK}\t{WAITING}\n")
        self.file.write(f"S\t{number}\t{STALL}\t{reason}\n")
        self.next[sm, warp] = number, reason

    def _issue(self, sm: int, warp: int, pc: int, slot: int, texts: Sequence[str]) -> None:
        if (sm, warp) in self.next:
            number, reason = self.next.pop((sm, warp))
            self.file.write(f"E\t{number}\t{STALL}\t{reason}\nE\t{number}\t{WORK}\t{WAITING}\n")
        else:
            number = self._begin(sm, warp, pc, texts)
        self.file.write(f"S\t{number}\t{WORK}\t{STAGE_NAMES['issue']}\n")
        self.under_way[sm, slot] = number, "issue"

    def _stage(self, sm: int, slot: int, stage: str) -> None:
        number, before = self.under_way.pop((sm, slot))
        self.file.write(f"E\t{number}\t{WORK}\t{STAGE_NAMES[before]}\n")
        if stage == "retire":
            self.file.write(f"R\t{number}\t{self.retired}\t0\n")
            self.retired += 1
        else:
            self.file.write(f"S\t{number}\t{WORK}\t{STAGE_NAMES[stage]}\n")
            self.under_way[sm, slot] = number, stage

    def _drop(self, sm: int, warp: int) -> None:
        self.next.pop((sm, warp), None)
