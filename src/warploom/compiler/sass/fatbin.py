"""Reads a fat binary: NVIDIA's container of cubins and PTX for several architectures.

A header of 16 bytes is followed by entries, each with a header of its own whose size it says: kind (1 PTX, 2 cubin), sizes,
architecture, and whether the contents are compressed (with LZ4 or zstd). Containers may lie one behind the other: of a program
whose device code was linked, the first holds the linked cubins, and each further one a part that they were linked from.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from warploom.base.errors import WarploomError
from warploom.compiler.sass.cubin import cubin_architecture

_MAGIC = 0xBA55ED50
_HEADER, _ENTRY = struct.Struct("<IHHQ"), struct.Struct("<HHIQIIHHIIIQQQ")
_PTX, _CUBIN = 1, 2
_LZ4, _ZSTD, _SPECIFIC = 0x2000, 0x8000, 0x100000
_ELF = b"\x7fELF"
_TARGET = re.compile(rb"^\s*\.target\s+sm_(\d+)", re.MULTILINE)
_USUAL_WINDOW = 27  # bits; zstd's own limit
_MOST_BYTES = 1 << 30  # of all entries together, unpacked
_TO_BE_LINKED = b"\x01\x00"  # what ELF says of the kind of file (ET_REL)


@dataclass(frozen=True)
class FatEntry:
    """One file in the container. It is unpacked when it is looked into: libraries bring dozens that nobody does."""

    cubin: bool  # else PTX
    architecture: int  # 90 for sm_90
    packed: bytes
    container: int = 0  # which of the containers it lies in
    specific: bool = False  # for that chip alone: sm_90a
    unpack: Callable[[bytes], bytes] | None = None  # None: it is not packed

    @cached_property
    def data(self) -> bytes:
        """The file."""
        return self.unpack(self.packed) if self.unpack is not None else self.packed

    @property
    def linked(self) -> bool:
        """Whether a cubin can be run; else it is a part that others are to be linked with."""
        return self.data[16:18] != _TO_BE_LINKED

    @property
    def name(self) -> str:
        """Its architecture as compilers call it."""
        return f"sm_{self.architecture}{'a' if self.specific else ''}"

    @property
    def text(self) -> str:
        """PTX as text."""
        return self.data.rstrip(b"\0").decode("utf-8", "replace")


@dataclass
class Room:
    """How much may still be unpacked, by all that share it."""

    left: int = _MOST_BYTES

    def take(self, size: int, place: str) -> None:
        """Use some of it; where it does not suffice, nothing is unpacked."""
        if size > self.left:
            raise WarploomError(f"{place}: code of more than {_MOST_BYTES >> 20} MiB is packed in it; that is the most.")
        self.left -= size


def read_fatbin(data: bytes, place: str, room: Room | None = None) -> list[FatEntry]:
    """The entries of all containers that lie one after the other; what is not a fat binary is refused in one sentence."""
    found, at, container, room = [], 0, 0, room or Room()
    if len(data) < _HEADER.size or _HEADER.unpack_from(data)[0] != _MAGIC:
        raise WarploomError(f"{place}: this is not a fat binary.")
    while at + _HEADER.size <= len(data):
        magic, version, header_size, size = _HEADER.unpack_from(data, at)
        if magic != _MAGIC:
            break  # padding after the last container
        if version != 1 or header_size < _HEADER.size:
            raise WarploomError(
                f"{place}: the fat binary is damaged: it has version {version} and a header of {header_size} bytes."
            )
        at += header_size
        end = at + size
        if end > len(data):
            raise WarploomError(f"{place}: the fat binary is cut off: {end - len(data)} bytes are missing.")
        while at + _ENTRY.size <= end:
            kind, _, own_size, padded, compressed, _, _, _, architecture, _, _, flags, _, unpacked = _ENTRY.unpack_from(data, at)
            start = at + own_size
            if own_size < _ENTRY.size or start + padded > end:
                raise WarploomError(f"{place}: the fat binary is damaged: an entry reaches beyond its end.")
            payload = data[start : start + (compressed or padded)]
            if kind in (_PTX, _CUBIN):
                room.take(unpacked if compressed else 0, place)
                if compressed and not flags & (_ZSTD | _LZ4):
                    raise WarploomError(f"{place}: the fat binary is compressed in an unknown way (flags {flags:#x}).")
                unpack = partial(_unpacked, flags=flags, size=unpacked, place=place) if compressed else None
                found.append(FatEntry(kind == _CUBIN, architecture, payload, container, bool(flags & _SPECIFIC), unpack))
            at = start + padded
        at, container = end, container + 1
    return found


def read_image(data: bytes, place: str, room: Room | None = None) -> list[FatEntry]:
    """The entries of what a program loads: a fat binary, a single cubin or the text of PTX."""
    if data.startswith(_ELF):
        return [FatEntry(True, cubin_architecture(data, place), data)]
    if len(data) >= 4 and int.from_bytes(data[:4], "little") == _MAGIC:
        return read_fatbin(data, place, room)
    if _TARGET.search(data) is None:
        raise WarploomError(f"{place}: it loads a module that is neither a fat binary nor a cubin nor PTX.")
    return [_ptx_entry(data)]


def ptx_entry(text: str) -> FatEntry:
    """PTX as an entry by itself; what does not name its target counts as older than all others."""
    return _ptx_entry(text.encode())


def _ptx_entry(data: bytes) -> FatEntry:
    target = _TARGET.search(data)
    return FatEntry(False, int(target[1]) if target is not None else 0, data)


def _unpacked(payload: bytes, flags: int, size: int, place: str) -> bytes:
    try:
        contents = _of_zstd(payload, size) if flags & _ZSTD else _of_lz4(payload, size)
    except ImportError as missing:
        raise WarploomError(
            f"{place}: a compressed fat binary needs {missing.name}: install it with: pip install 'warploom[programs]'."
        ) from None
    except Exception as problem:  # each library has errors of its own
        raise WarploomError(f"{place}: the fat binary is damaged ({problem}).") from None
    if len(contents) != size:
        raise WarploomError(f"{place}: the fat binary is damaged: an entry does not unpack to the {size} bytes that it says.")
    return contents


def _of_zstd(payload: bytes, size: int) -> bytes:
    """What is packed, up to one byte more than it should be: no room is made for what the packed bytes say of themselves."""
    import zstandard

    unpacking = zstandard.ZstdDecompressor(max_window_size=1 << max(_USUAL_WINDOW, size.bit_length()))
    with unpacking.stream_reader(payload) as reader:
        return bytes(reader.read(size + 1))


def _of_lz4(payload: bytes, size: int) -> bytes:
    import lz4.block

    return bytes(lz4.block.decompress(payload, uncompressed_size=size))


def best_cubin(entries: Sequence[FatEntry], code: str) -> FatEntry | None:
    """The cubin that a chip of an architecture would take: of its generation the newest that is not newer; its own before all."""
    own = int(code.removeprefix("sm_").rstrip("a"))
    fitting = [each for each in entries if each.cubin and each.architecture // 10 == own // 10 and each.architecture <= own]
    fitting = [each for each in fitting if not each.specific or each.architecture == own]
    return max((each for each in fitting if each.linked), key=lambda each: (each.architecture, each.specific), default=None)
