"""The text that nvdisasm prints, taken apart: sections, labels, and instructions with their encodings and lines."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from warploom.base.cache import Cache
from warploom.base.errors import WarploomError
from warploom.compiler.sass.cubin import Cubin, read_cubin
from warploom.compiler.sass.toolchain import disassemble

INSTRUCTION_BYTES = 16
_AT_ONCE = 1 << 19  # bytes of a file that takes less time as a whole than its parts one by one
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


class Listing(Mapping[str, Section]):
    """The code sections of a cubin, by name. Those of a large file are disassembled one by one, when they are asked for.

    Texts are kept under a digest of the file.
    """

    def __init__(self, data: bytes, cubin: Cubin) -> None:
        self._data, self._place = data, cubin.place
        self._digest = hashlib.sha256(data).hexdigest()[:32]
        self._read: dict[str, Section] = {}
        self._symbols: dict[str, int] = {}  # of the sections that were not disassembled yet
        if len(data) > _AT_ONCE:
            functions = (item for item in enumerate(cubin.symbols) if item[1].kind == "STT_FUNC")
            self._symbols = {symbol.section: number for number, symbol in functions if cubin.size(symbol.section)}
        else:
            self._read = self._disassembled(f"{self._digest}.listing", None)

    def __getitem__(self, name: str) -> Section:
        if name in self._symbols:
            number = self._symbols.pop(name)
            self._read |= self._disassembled(f"{self._digest}-{number}.listing", number)
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        yield from (*self._read, *self._symbols)

    def __len__(self) -> int:
        return len(self._read) + len(self._symbols)

    def __contains__(self, name: object) -> bool:
        return name in self._read or name in self._symbols

    def _disassembled(self, file: str, symbol: int | None) -> dict[str, Section]:
        cache = Cache("sass")
        kept = cache.read(file)
        text = disassemble(self._data, self._place, symbol) if kept is None else kept.decode()
        if kept is None:
            cache.write(file, text.encode())
        return parse_listing(text, self._place)


def listing(data: bytes, place: str, cubin: Cubin | None = None) -> Listing:
    """The code sections of the bytes of a cubin, which may have been read already."""
    return Listing(data, cubin or read_cubin(data, place))
