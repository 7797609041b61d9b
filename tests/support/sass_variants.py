"""Instructions as nvdisasm prints them when bits of their encodings are turned round: which modifiers each operand can have."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from warploom.compiler.code.instruction import Instruction
from warploom.compiler.sass.disassembly import Line
from warploom.compiler.sass.load import _instruction
from warploom.compiler.sass.operands import split_operands
from warploom_lab.generated.encodings import print_encodings

LIST = Path(__file__).parents[1] / "data" / "sass-instructions.txt"
_GUARD = re.compile(r"^@!?U?P[0-9T]\s+")
_PARTS = re.compile(r"\.(H\d_N?H\d|H\d|B\d|F32|SIGN)")
_BITS = 105  # of an encoding without its control bits

Word = int  # 128 bits


@dataclass(frozen=True)
class Printed:
    """An encoding and its text."""

    text: str
    bits: Word

    @property
    def plain(self) -> str:
        """The text without what is a hint for the collectors of operands."""
        return self.text.replace(".reuse", "")

    @property
    def opcode(self) -> str:
        """The opcode with its modifiers."""
        return _GUARD.sub("", self.text).partition(" ")[0]

    @property
    def name(self) -> str:
        """The opcode without its modifiers."""
        return self.opcode.partition(".")[0]

    @property
    def operands(self) -> list[str]:
        """The operands as they are printed."""
        return split_operands(_GUARD.sub("", self.plain).partition(" ")[2])

    def read(self) -> Instruction:
        """The instruction as Warploom reads it."""
        return _instruction(Line(0, self.text, self.bits & (1 << 64) - 1, self.bits >> 64), "a variant", None)[0]


def listed(architecture: str) -> list[Word]:
    """One encoding for every spelling and every kind of operands that the list has for an architecture."""
    lines = (line.split() for line in LIST.read_text(encoding="utf-8").splitlines() if line[0] != "#")
    return [int(bits, 16) for name, bits in lines if name == architecture]


def printed(architecture: str, encodings: list[Word]) -> dict[int, Printed]:
    """What nvdisasm prints for each of them, by its place in the list; without those that it refuses."""
    return {place: Printed(text, encodings[place]) for place, text in print_encodings(architecture, encodings).items()}


def turned(architecture: str, bases: list[Word]) -> Iterator[tuple[Printed, Printed]]:
    """Each encoding beside every one that differs from it in one bit, as far as both can be printed."""
    flipped = [(base, base ^ 1 << bit) for base in bases for bit in range(_BITS)]
    plain = {one.bits: one for one in printed(architecture, bases).values()}
    found = printed(architecture, [other for _, other in flipped])
    for place, (base, _) in enumerate(flipped):
        if base in plain and place in found:
            yield plain[base], found[place]


def bare(operand: str) -> str:
    """An operand without its modifiers."""
    return _PARTS.sub("", operand).lstrip("-~!").strip("|")


def changed_operand(one: Printed, other: Printed) -> int | None:
    """The place of the only operand that differs, if it differs in its modifiers alone."""
    if one.opcode != other.opcode or len(one.operands) != len(other.operands):
        return None
    places = [place for place, pair in enumerate(zip(one.operands, other.operands, strict=True)) if pair[0] != pair[1]]
    alike = len(places) == 1 and bare(one.operands[places[0]]) == bare(other.operands[places[0]])
    return places[0] if alike else None


def modified(architecture: str, pairs: list[tuple[Printed, Printed]]) -> list[Printed]:
    """All that differ from a listed one in the modifiers of one operand: one bit of them, or two."""
    singles: dict[tuple[Word, int], list[Printed]] = defaultdict(list)
    for base, other in pairs:
        place = changed_operand(base, other)
        if place is not None:
            singles[base.bits, place].append(other)
    found = {(other.text, other.bits) for others in singles.values() for other in others}
    both = [
        base ^ (one.bits ^ base) ^ (two.bits ^ base)
        for (base, _), others in singles.items()
        for one, two in combinations(others, 2)
    ]
    plain = {base.bits: base for base, _ in pairs}
    owners = [base for (base, _), others in singles.items() for _ in combinations(others, 2)]
    for place, other in printed(architecture, both).items():
        if changed_operand(plain[owners[place]], other) is not None:
            found.add((other.text, other.bits))
    return [Printed(text, bits) for text, bits in sorted(found)]
