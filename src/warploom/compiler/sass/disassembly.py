"""The text that nvdisasm prints, taken apart: sections, labels, and instructions with their encodings and lines."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field

from warploom.errors import WarploomError
from warploom.sass.toolchain import disassemble
from warploom.storage.cache import cache_directory
from warploom.storage.files import replace_file

INSTRUCTION_BYTES = 16
_SECTION = re.compile(r"^\s*\.section\s+([^,\s]+)")
_LABEL = re.compile(r"^([^\s/][^\s]*):\s*$")
_FIRST = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;\s+/\* 0x([0-9a-f]{16}) \*/\s*$")
_SECOND = re.compile(r"^\s+/\* 0x([0-9a-f]{16}) \*/\s*$")
_SOURCE_LINE = re.compile(r'^\s*//## File "([^"]*)", line (\d+)', re.MULTILINE)
_REMARK = re.compile(r"\(\*.*?\*\)")


@dataclass(frozen=True)
class Line:
    """One instruction as text, with its 128 bits."""

    address: int  # in its section
    text: str  # guard, opcode, operands
    low: int
    high: int
    source_line: int = 0  # of the source, where that is known


@dataclass
class Section:
    """The code of one section: a kernel with the functions that the compiler put beside it, or a function."""

    name: str
    lines: list[Line] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)


def parse_listing(text: str, place: str) -> dict[str, Section]:
    """The code sections of a listing, by name.

    Lines are those of the place, or else of the file that is named first. Code of other files counts for the line that called it.
    """
    source = _source_file(text, place)
    named: list[re.Match[str]] = []  # lines of the source before an instruction: its own, then those of the calls that led there
    source_line = 0
    sections: dict[str, Section] = {}
    current: Section | None = None
    pending: list[str] = []  # labels before an instruction
    first: re.Match[str] | None = None
    for line in text.splitlines():
        if (found := _SECTION.match(line)) is not None:
            current = sections.setdefault(found.group(1), Section(found.group(1)))
            pending, source_line = [], 0
        elif current is None:
            continue
        elif (found := _SECOND.match(line)) is not None and first is not None:
            address = int(first.group(1), 16)
            current.labels.update(dict.fromkeys(pending, address))
            pending = []
            words = _REMARK.sub("", first.group(2)).strip()
            current.lines.append(Line(address, words, int(first.group(3), 16), int(found.group(1), 16), source_line))
            first = None
        elif (found := _FIRST.match(line)) is not None:
            first = found
            if named:
                source_line = next((int(each.group(2)) for each in named if each.group(1) == source), 0)
                named = []
        elif (found := _SOURCE_LINE.match(line)) is not None:
            named.append(found)
        elif (found := _LABEL.match(line)) is not None:
            pending.append(found.group(1))
    for section in sections.values():
        for number, instruction in enumerate(section.lines):
            if instruction.address != number * INSTRUCTION_BYTES:
                raise WarploomError(f"{place}: the disassembly of {section.name} has a gap before {instruction.address:#x}.")
    return {name: section for name, section in sections.items() if section.lines}


def _source_file(text: str, place: str) -> str:
    """The file whose lines are meant, as the listing spells it."""
    files = dict.fromkeys(found.group(1) for found in _SOURCE_LINE.finditer(text))
    return next((file for file in files if file == place or file.endswith(f"/{place}")), next(iter(files), ""))


def listing(cubin: bytes, place: str) -> dict[str, Section]:
    """Disassemble a cubin, once: the text is kept under a digest of the file."""
    kept = cache_directory("sass", f"{hashlib.sha256(cubin).hexdigest()[:32]}.lines.txt")
    try:
        text = kept.read_text(encoding="utf-8")
    except OSError:
        text = disassemble(cubin, place)
        kept.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(kept) as draft:
            draft.write_text(text, encoding="utf-8")
    return parse_listing(text, place)
