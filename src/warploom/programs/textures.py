"""Texture and surface objects as a program describes them, made of memory that it has filled."""

from __future__ import annotations

import numpy as np

from warploom.programs.codes import CudaError, CudaStatus
from warploom.programs.device import Device

_KINDS = {0: "i", 1: "u", 2: "f"}  # cudaChannelFormatKind
_WRAP, _CLAMP, _MIRROR, _BORDER = 0, 1, 2, 3  # cudaTextureAddressMode
_ADDRESSING = {_WRAP: 1, _CLAMP: 0, _BORDER: 2}  # the emulator's


def make_texture(device: Device, *words: int) -> int:
    """The handle of a texture object; what the emulator does not have is refused."""
    address, width, height, depth, pitch, bits, kind, mode = words
    sizes = [bits >> 8 * channel & 0xFF for channel in range(4)]
    channels = sum(size > 0 for size in sizes)
    addressing, linear, as_float, normalized, layered = mode & 15, *(bool(mode >> bit & 1) for bit in (4, 5, 6, 7))
    plain = channels in (1, 2, 4) and len(set(sizes[:channels])) == 1 and sizes[0] in (8, 16, 32) and kind in _KINDS
    if not plain or (kind == 2 and sizes[0] != 32):
        raise CudaError(CudaStatus.NOT_SUPPORTED)
    dtype = np.dtype(f"{_KINDS[kind]}{sizes[0] // 8}")
    shape = tuple(extent for extent in (depth, height, width) if extent)
    if not shape or width == 0:
        raise CudaError(CudaStatus.INVALID_VALUE)
    if pitch != width * channels * dtype.itemsize and len(shape) > 1:
        raise CudaError(CudaStatus.NOT_SUPPORTED)
    if (as_float and kind != 2) or (linear and dtype != np.float32) or addressing not in _ADDRESSING:
        raise CudaError(CudaStatus.NOT_SUPPORTED)
    made = device.emulator.texture_over(address, shape, channels, dtype, linear, _ADDRESSING[addressing], normalized, layered)
    return made.handle
