"""Reads a cubin: NVIDIA's ELF file with the machine code of one architecture.

Attributes (``.nv.info``) that are read, by number: 0x2f registers, 0x11 frame, 0x12 least stack, 0x17 a parameter (0x45 where all
together are large), 0x0a where parameters begin in constant bank 0, 0x10 the block size that the kernel demands, 0x23 the most
of stack, 0x34 where branches through registers may go, 0x3d the cluster that it demands.
"""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from warploom.base.errors import WarploomError

_REGISTERS, _FRAME, _LEAST_STACK, _MOST_STACK = 0x2F, 0x11, 0x12, 0x23
_UNKNOWN_STACK = 0xFFFFFFFF  # of a kernel with functions that call themselves
_INDIRECT_BRANCHES = 0x34
_PARAMETER, _WIDE_PARAMETER, _PARAMETER_BANK, _REQUIRED_BLOCK, _CLUSTER = 0x17, 0x45, 0x0A, 0x10, 0x3D
_WITH_SIZE = 4  # the format of an attribute whose value follows with its size; others have 16 bits of value
_CUDA = 190
_HEADER_BYTES = 64
_SYMBOL = struct.Struct("<IBBHQQ")  # name, kind, visibility, section, value, size
_SYMBOL_KINDS = {0: "STT_NOTYPE", 1: "STT_OBJECT", 2: "STT_FUNC", 3: "STT_SECTION", 4: "STT_FILE"}
_MOST_TIMES = 2  # that a byte of the file may be part of sections, on average


@dataclass(frozen=True)
class KernelFacts:
    """What the file says of one kernel."""

    name: str
    registers: int
    frame_bytes: int  # of the stack, per thread, with what it calls
    shared_bytes: int  # static, with what the architecture reserves
    parameters: tuple[tuple[int, int], ...]  # offset and size
    parameter_offset: int  # in bank 0
    required_block: tuple[int, int, int] | None
    cluster: tuple[int, int, int] | None  # blocks that must be resident together


@dataclass(frozen=True)
class CubinSymbol:
    """A name in the file: where it is, in its section."""

    name: str
    section: str
    value: int
    size: int
    kind: str  # "STT_FUNC", "STT_OBJECT", ...


@dataclass(frozen=True)
class Relocation:
    """A place in a section that holds an address of a symbol."""

    section: str
    offset: int
    kind: int
    symbol: CubinSymbol
    addend: int


@dataclass
class Cubin:
    """One file, read."""

    place: str
    architecture: int  # 90 for sm_90
    sections: dict[str, bytes]  # contents; of sections that are only a size, none
    empty: dict[str, int]  # the sizes of those
    symbols: list[CubinSymbol]  # as attributes count them
    relocations: list[Relocation]

    @cached_property
    def kernels(self) -> tuple[str, ...]:
        """The kernels, in the order of the file."""
        marked = {name.removeprefix(".nv.constant0.") for name in self.sections if name.startswith(".nv.constant0.")}
        return tuple(symbol.name for symbol in self.symbols if symbol.kind == "STT_FUNC" and symbol.name in marked)

    def size(self, section: str) -> int:
        """The bytes of a section; 0 if there is none."""
        return self.empty.get(section) or len(self.sections.get(section, b""))

    def facts(self, kernel: str) -> KernelFacts:
        """What is known of a kernel."""
        try:
            return self._facts(kernel)
        except struct.error:
            raise WarploomError(f"{self.place}: the cubin is damaged: a fact about kernel {kernel} is cut off.") from None

    def _facts(self, kernel: str) -> KernelFacts:
        registers = frame = 0
        for number, value in self._attributes(".nv.info"):
            if number in (_REGISTERS, _FRAME, _LEAST_STACK, _MOST_STACK) and len(value) == 8:
                symbol, amount = struct.unpack("<II", value)
                if symbol < len(self.symbols) and self.symbols[symbol].name == kernel:
                    registers = amount if number == _REGISTERS else registers
                    frame = max(frame, amount) if number != _REGISTERS and amount != _UNKNOWN_STACK else frame
        parameters, start, required, cluster = [], 0, None, None
        for number, value in self._attributes(f".nv.info.{kernel}"):
            if number == _PARAMETER:
                _, _, offset, flags = struct.unpack("<IHHI", value)
                parameters.append((offset, flags >> 18))
            elif number == _WIDE_PARAMETER:
                _, _, offset, size, _ = struct.unpack("<IHHHH", value)
                parameters.append((offset, size))
            elif number == _PARAMETER_BANK:
                start = struct.unpack("<IHH", value)[1]
            elif number == _REQUIRED_BLOCK:
                required = struct.unpack("<III", value)
            elif number == _CLUSTER and len(value) == 12 and all(extents := struct.unpack("<III", value)):
                cluster = extents
        shared = self.size(f".nv.shared.{kernel}")
        return KernelFacts(kernel, registers, frame, shared, tuple(sorted(parameters)), start, required, cluster)

    def indirect_branches(self, function: str) -> dict[int, tuple[int, ...]]:
        """Of each branch through a register, by address, where it may go."""
        found: dict[int, tuple[int, ...]] = {}
        for number, value in self._attributes(f".nv.info.{function}"):
            if number == _INDIRECT_BRANCHES:
                words = struct.unpack(f"<{len(value) // 4}I", value)
                at = 0
                while at + 3 <= len(words):
                    address, _, count = words[at : at + 3]
                    found[address] = words[at + 3 : at + 3 + count]
                    at += 3 + count
        return found

    def _attributes(self, section: str) -> list[tuple[int, bytes]]:
        data, at, found = self.sections.get(section, b""), 0, []
        while at + 4 <= len(data):
            if data[at] == _WITH_SIZE:
                size = int.from_bytes(data[at + 2 : at + 4], "little")
                found.append((data[at + 1], data[at + 4 : at + 4 + size]))
                at += 4 + size
            else:
                found.append((data[at + 1], data[at + 2 : at + 4]))
                at += 4
        return found


def cubin_architecture(data: bytes, place: str) -> int:
    """The architecture of a cubin from its header alone: 90 for sm_90."""
    if len(data) < _HEADER_BYTES or not data.startswith(b"\x7fELF") or int.from_bytes(data[18:20], "little") != _CUDA:
        raise WarploomError(f"{place}: this is not a cubin but an ELF file for another machine, or none.")
    return _architecture(data[8], int.from_bytes(data[48:52], "little"))


def _architecture(version: int, flags: int) -> int:
    return flags >> 8 & 0xFF if version >= 8 else flags & 0xFF


def _symbols(table: bytes, texts: bytes, sections: list[str]) -> list[CubinSymbol]:
    """The entries of a symbol table, read here: a library's module has tens of thousands of them."""
    found = []
    for name, info, _, index, value, size in _SYMBOL.iter_unpack(table):
        home = sections[index] if 0 < index < len(sections) else ""
        text = texts[name : texts.index(b"\0", name)].decode()
        found.append(CubinSymbol(text or home, home, value, size, _SYMBOL_KINDS.get(info & 0xF, str(info & 0xF))))
    return found


def read_cubin(data: bytes, place: str) -> Cubin:
    """Read the bytes of a cubin; what is not one is refused in one sentence."""
    try:
        from elftools.common.exceptions import ELFError
        from elftools.elf.elffile import ELFFile
    except ImportError:
        raise WarploomError("machine code needs pyelftools: install it with: pip install 'warploom[sass]'.") from None
    if not data.startswith(b"\x7fELF"):
        raise WarploomError(f"{place}: this is not a cubin (no ELF file).")
    try:
        elf = ELFFile(io.BytesIO(data))
        machine = elf["e_machine"]
        if machine not in ("EM_CUDA", _CUDA):
            raise WarploomError(f"{place}: this is an ELF file for another machine ({machine}), not a cubin.")
        if elf["e_type"] == "ET_REL":
            raise WarploomError(f"{place}: this cubin was never linked; compile without -rdc=true, or link it with: nvcc -dlink.")
        flags = elf["e_flags"]
        version = elf["e_ident"]["EI_ABIVERSION"]
        architecture = _architecture(version, flags)
        ordered: list[Any] = list(elf.iter_sections())
        sections, empty, taken = {}, {}, 0
        for section in ordered:
            if section["sh_type"] == "SHT_NOBITS":  # any size, which costs nothing before it is wanted
                sections[section.name], empty[section.name] = b"", section["sh_size"]
                continue
            start, end = section["sh_offset"], section["sh_offset"] + section["sh_size"]
            if end > len(data):
                raise WarploomError(f"{place}: the cubin is cut off: section {section.name} is not complete.")
            taken += section["sh_size"]
            if taken > _MOST_TIMES * len(data):
                raise WarploomError(f"{place}: the cubin is damaged: its sections lie over each other.")
            sections[section.name] = data[start:end]
        names = [section.name for section in ordered]
        numbers: list[CubinSymbol] = []
        for section in ordered:
            if section["sh_type"] == "SHT_SYMTAB":
                numbers += _symbols(sections[section.name], sections[names[section["sh_link"]]], names)
        relocations = []
        for section in ordered:
            if section["sh_type"] in ("SHT_REL", "SHT_RELA"):
                home = ordered[section["sh_info"]].name
                for entry in section.iter_relocations():
                    at = entry["r_offset"]
                    addend = entry["r_addend"] if entry.is_RELA() else 0
                    relocations.append(Relocation(home, at, entry["r_info_type"], numbers[entry["r_info_sym"]], addend))
    except (ELFError, IndexError, KeyError, ValueError, struct.error, UnicodeDecodeError, OverflowError) as problem:
        raise WarploomError(f"{place}: the cubin is damaged ({problem}).") from None
    return Cubin(place, architecture, sections, empty, numbers, relocations)
