"""Reads a fat binary: NVIDIA's container of cubins and PTX for several architectures.

A header of 16 bytes is followed by entries, each with a header of its own whose size it says: kind (1 PTX, 2 cubin), sizes,
architecture, and whether the contents are compressed (with LZ4 or zstd).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from warploom.errors import WarploomError

_MAGIC = 0xBA55ED50
_HEADER, _ENTRY = struct.Struct("<IHHQ"), struct.Struct("<HHIQIIHHIIIQQQ")
_PTX, _CUBIN = 1, 2
_LZ4, _ZSTD = 0x2000, 0x8000
_MOST_BYTES = 1 << 31  # of one entry: more is damage


@dataclass(frozen=True)
class FatEntry:
    """One file in the container."""

    cubin: bool  # else PTX
    architecture: int  # 90 for sm_90
    data: bytes

    @property
    def text(self) -> str:
        """PTX as text."""
        return self.data.rstrip(b"\0").decode("utf-8", "replace")


def read_fatbin(data: bytes, place: str) -> list[FatEntry]:
    """The entries of all containers that lie one after the other; what is not a fat binary is refused in one sentence."""
    found, at = [], 0
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
            if own_size < _ENTRY.size or start + padded > end or unpacked > _MOST_BYTES:
                raise WarploomError(f"{place}: the fat binary is damaged: an entry reaches beyond its end.")
            payload = data[start : start + (compressed or padded)]
            if kind in (_PTX, _CUBIN):
                contents = _unpacked(payload, flags, unpacked, place) if compressed else payload
                found.append(FatEntry(kind == _CUBIN, architecture, contents))
            at = start + padded
        at = end
    return found


def _unpacked(payload: bytes, flags: int, size: int, place: str) -> bytes:
    try:
        if flags & _ZSTD:
            import zstandard

            return bytes(zstandard.ZstdDecompressor().decompress(payload, max_output_size=size))
        if flags & _LZ4:
            import lz4.block

            return bytes(lz4.block.decompress(payload, uncompressed_size=size))
    except ImportError as missing:
        raise WarploomError(
            f"{place}: a compressed fat binary needs {missing.name}: install it with: pip install 'warploom[programs]'."
        ) from None
    except Exception as problem:  # each library has errors of its own
        raise WarploomError(f"{place}: the fat binary is damaged ({problem}).") from None
    raise WarploomError(f"{place}: the fat binary is compressed in an unknown way (flags {flags:#x}).")


def choose_entry(entries: list[FatEntry], architecture: str | None, known: tuple[str, ...], place: str) -> FatEntry:
    """The cubin for an architecture such as ``sm_90``; else PTX; without an architecture the newest cubin that is known."""
    cubins = {f"sm_{entry.architecture}": entry for entry in entries if entry.cubin}
    texts = [entry for entry in entries if not entry.cubin]
    usable = [name for name in known if name in cubins and architecture in (None, name)]
    if usable:
        return cubins[usable[-1]]
    if texts:
        return max(texts, key=lambda entry: entry.architecture)
    held = ", ".join(sorted(cubins)) or "nothing"
    raise WarploomError(f"{place}: there is no code for {architecture or 'a known architecture'} in it; it holds {held}.")
