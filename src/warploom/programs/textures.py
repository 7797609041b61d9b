"""Texture and surface objects as a program describes them, made of memory that it has filled."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from warploom.base.errors import WarploomError
from warploom.emulator.textures import BORDER, CLAMP, MIRROR, WRAP
from warploom.programs.codes import CudaError, CudaStatus
from warploom.programs.device import Device

_KINDS = {0: "i", 1: "u", 2: "f"}  # cudaChannelFormatKind
_ADDRESSING = {0: WRAP, 1: CLAMP, 2: MIRROR, 3: BORDER}  # cudaTextureAddressMode


class _Mode:
    """How a texture is read: the bits that the library tells."""

    def __init__(self, mode: int) -> None:
        first = mode & 15
        self.addressing = (first, first ^ mode >> 8 & 15, first ^ mode >> 12 & 15)  # of each dimension
        self.linear, self.as_float, self.normalized, self.layered = (bool(mode >> bit & 1) for bit in (4, 5, 6, 7))
        self.srgb, self.coloured_border = bool(mode >> 16 & 1), bool(mode >> 17 & 1)


def make_texture(device: Device, *words: int) -> int:
    """The handle of a texture object; what the emulator does not have is refused by name."""
    address, width, height, depth, pitch, bits, kind, mode = words
    how = _Mode(mode)
    sizes = [bits >> 8 * channel & 0xFF for channel in range(4)]
    channels = sum(size > 0 for size in sizes)
    shape = tuple(extent for extent in (depth, height, width) if extent)
    if not shape or width == 0:
        raise CudaError(CudaStatus.INVALID_VALUE)
    plain = channels in (1, 2, 4) and len(set(sizes[:channels])) == 1 and sizes[0] in (8, 16, 32) and kind in _KINDS
    if not plain or (kind == 2 and sizes[0] != 32):
        raise WarploomError(f"cudaCreateTextureObject: texels of {sizes} bits and kind {kind} are not supported.")
    dtype = np.dtype(f"{_KINDS[kind]}{sizes[0] // 8}")
    axes = how.addressing[: len(shape) - how.layered]
    if not axes:
        raise WarploomError("cudaCreateTextureObject: an array of layers that have no width is not supported.")
    if pitch != width * channels * dtype.itemsize and len(shape) > 1:
        raise WarploomError(f"cudaCreateTextureObject: rows that are {pitch} bytes apart and not full are not supported.")
    problem = next(_problems(how, axes, dtype), None)
    if problem is not None:
        raise WarploomError(f"cudaCreateTextureObject: {problem} not supported.")
    addressing = _ADDRESSING[axes[0]]
    if not how.normalized and addressing in (WRAP, MIRROR):
        addressing = CLAMP  # as CUDA's runtime documents it: both are only for normalised coordinates
    made = device.emulator.texture_over(address, shape, channels, dtype, how.linear, addressing, how.normalized, how.layered)
    return made.handle


def _problems(how: _Mode, axes: tuple[int, ...], dtype: np.dtype) -> Iterator[str]:
    """What of a texture's description the emulator does not have."""
    if len(set(axes)) > 1:
        yield f"addressMode that differs between dimensions ({', '.join(map(str, axes))}) is"
    if axes[0] not in _ADDRESSING:
        yield f"addressMode {axes[0]} is"
    if how.as_float and dtype.kind != "f":
        yield "cudaReadModeNormalizedFloat of integers is"
    if how.linear and dtype != np.float32:
        yield f"cudaFilterModeLinear of {dtype} is"
    if how.srgb:
        yield "sRGB is"
    if how.coloured_border and _ADDRESSING.get(axes[0]) == BORDER:
        yield "a borderColor other than zero is"
