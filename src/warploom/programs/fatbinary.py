"""Fat binaries: the container in which nvcc puts PTX and cubins for several architectures into a program."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from warploom.errors import WarploomError

_CONTAINER = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")  # the 64 bytes that every entry's header has; some have more
_MAGIC = 0xBA55ED50
_PTX, _CUBIN = 1, 2
_LZ4, _ZSTD = 0x2000, 0x8000


@dataclass(frozen=True)
class Entry:
    """The code of one source file for one architecture."""

    kind: str  # "ptx" or "cubin"
    architecture: int  # 90 for sm_90 and compute_90
    data: bytes

    @property
    def text(self) -> str:
        """PTX as text."""
        return self.data.rstrip(b"\0").decode("utf-8", "replace")


def read_fat_binary(data: bytes, place: str) -> list[Entry]:
    """The entries of all containers that lie one after the other in the data."""
    try:
        return list(_entries(data, place))
    except struct.error:
        raise WarploomError(f"{place}: the fat binary is cut off.") from None


def _entries(data: bytes, place: str) -> Iterator[Entry]:
    at = 0
    while at < len(data):
        magic, version, header, size = _CONTAINER.unpack_from(data, at)
        if magic != _MAGIC or version != 1:
            raise WarploomError(f"{place}: this is not a fat binary (it begins with {magic:#x}, version {version}).")
        at += header
        end = at + size
        while at < end:
            kind, _, own, padded, packed, _, _, _, architecture, _, _, flags, _, whole = _ENTRY.unpack_from(data, at)
            payload = data[at + own : at + own + padded]
            if len(payload) != padded or own < _ENTRY.size:
                raise WarploomError(f"{place}: the fat binary is cut off.")
            if kind in (_PTX, _CUBIN):
                contents = _unpacked(payload[:packed], flags, whole, place) if packed else payload
                yield Entry("ptx" if kind == _PTX else "cubin", architecture, contents)
            at += own + padded
        at = end


def _unpacked(data: bytes, flags: int, size: int, place: str) -> bytes:
    try:
        if flags & _ZSTD:
            import zstandard

            return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)
        if flags & _LZ4:
            import lz4.block

            return lz4.block.decompress(data, uncompressed_size=size)
    except ImportError as missing:
        raise WarploomError(
            f"{place}: its device code is compressed, and the package {missing.name} is not there: "
            "install it with: pip install 'warploom[programs]'."
        ) from None
    except Exception as problem:  # both packages raise errors of their own kinds
        raise WarploomError(f"{place}: the device code cannot be decompressed ({problem}).") from None
    raise WarploomError(f"{place}: the device code is compressed in an unknown way (flags {flags:#x}).")
