"""Denoises, sharpens and brightens the frames of a video."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 8
_BLOCK = (32, 8)
SIZES = Sizes(tiny=(48, 96, 2), small=(240, 352, 3), paper=(480, 704, 4))  # height, width, frames
TOLERANCE = {"enhanced": (0.0, 1.0)}  # rounding to a byte may go either way
_SETTINGS = (np.float32(0.8), np.float32(1.2), np.float32(1.3), np.float32(1 / 150))
_LUMA = np.array([0.299, 0.587, 0.114])


def inputs(size: Size, seed: int = SEED) -> Arrays:
    """Noisy frames of a coloured pattern with a square that moves across it."""
    height, width, frames = SIZES[size]
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    video = []
    for frame in range(frames):
        channels = np.stack([110 + 60 * np.sin(x / 19), 120 + 50 * np.cos(y / 13), 100 + 50 * np.sin((x + y) / 29)], axis=-1)
        corner = 8 + 5 * frame
        channels[corner : corner + 16, corner : corner + 24] = (210, 90, 40)
        noisy = np.clip(np.round(channels + random.normal(0, 4, channels.shape)), 0, 255)
        video.append(np.concatenate((noisy, np.full((height, width, 1), 255)), axis=-1))
    return {"video": np.array(video).astype(np.uint8)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    """One launch per frame, each with the original of the frame before."""
    video = arrays["video"]
    height, width = video.shape[1:3]
    frames = [gpu.array(np.ascontiguousarray(frame).view(np.uint32)[..., 0]) for frame in video]
    extent = (np.int32(width), np.int32(height))
    grid = (-(-width // _BLOCK[0]), -(-height // _BLOCK[1]))
    enhanced = []
    for now, before in zip(frames[1:], frames[:-1], strict=True):
        out = gpu.array(np.zeros((height, width), np.uint32))
        gpu.launch("enhance", grid, _BLOCK, now, before, out, *extent, *_SETTINGS)
        enhanced.append(out.get()[..., None].view(np.uint8))
    return {"enhanced": np.array(enhanced).astype(np.int32)}


def reference(arrays: Arrays) -> Arrays:
    sharpness, contrast, saturation, motion_scale = (float(value) for value in _SETTINGS)
    video = arrays["video"].astype(np.float64)
    enhanced = video[1:].copy()
    for index, (now, before) in enumerate(zip(video[1:, ..., :3], video[:-1, ..., :3], strict=True)):
        bright = now @ _LUMA
        edge = np.pad(bright, 1, mode="edge")
        height, width = bright.shape
        around = sum(edge[dy : dy + height, dx : dx + width] for dy in range(3) for dx in range(3)) / 9
        keep = 0.5 * np.exp(-((before @ _LUMA - bright) ** 2) * motion_scale)
        blended = now + keep[..., None] * (before - now)
        base = blended @ _LUMA
        curved = (base + sharpness * (bright - around) - 128) / 128
        target = 128 + 128 * curved * (contrast - (contrast - 1) * curved**2)
        colour = target[..., None] + saturation * (blended - base[..., None])
        enhanced[index, ..., :3] = np.floor(np.clip(colour, 0, 255) + 0.5)
    return {"enhanced": enhanced.astype(np.int32)}
