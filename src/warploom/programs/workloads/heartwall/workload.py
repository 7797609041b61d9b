"""Tracking of points on a heart wall by normalised correlation, one CTA a point."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

THREADS = 512
# Points, frames, window, template's side.
SIZES = Sizes(tiny=(4, 1, 11, 5), small=(51, 1, 17, 9), paper=(51, 2, 33, 17), chip=(204, 1, 33, 17))
TOLERANCE = {"scores": (1e-4, 1e-4), "templates": (1e-5, 1e-4)}
SHAPED = "some of the warps bring the search window, all loads of a thread at once; Rodinia convolves in device memory"
HEIGHT, WIDTH = 160, 200
FOLLOW = 0.05


def scene(frame: int) -> np.ndarray:
    """An image whose texture drifts by (1, -1) pixels a frame; grey levels are whole numbers around zero."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    y, x = y - frame, x + frame
    coarse = 45 * np.sin(x / 5.3 + np.sin(y / 9.1)) + 45 * np.cos(y / 4.7 - np.sin(x / 7.9))
    # Detail that moves with the texture: a hash of the moving coordinates.
    detail = ((x * 7919 + y * 104729 + x * y * 31) % 61) - 30
    return np.rint(np.clip(coarse + detail, -128, 127)).astype(np.float32)


def inputs(size: Size) -> Arrays:
    points, frames, window, side = SIZES[size]
    angle = np.linspace(0, 2 * np.pi, points, endpoint=False)
    rows = np.rint(HEIGHT / 2 + 50 * np.sin(angle)).astype(np.int32)
    columns = np.rint(WIDTH / 2 + 65 * np.cos(angle)).astype(np.int32)
    near = np.arange(side) - side // 2
    first = scene(0)
    templates = first[(rows[:, None] + near)[:, :, None], (columns[:, None] + near)[:, None, :]]
    return {
        "frames": np.stack([scene(frame) for frame in range(1, frames + 1)]),
        "templates": templates.astype(np.float32),
        "rows": rows,
        "columns": columns,
        "window": np.array(window, np.int32),
    }


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    points, side, _ = arrays["templates"].shape
    templates, rows, columns = (gpu.array(arrays[name]) for name in ("templates", "rows", "columns"))
    scores = gpu.array(np.zeros(points, np.float32))
    sizes = [np.int32(HEIGHT), np.int32(WIDTH), np.int32(arrays["window"]), np.int32(side)]
    for frame in arrays["frames"]:
        gpu.launch("heartwall", (points,), (THREADS,), gpu.array(frame), templates, rows, columns, scores, *sizes)
    return {"rows": rows.get(), "columns": columns.get(), "scores": scores.get(), "templates": templates.get()}


def patches(frame: np.ndarray, rows: np.ndarray, columns: np.ndarray, side: int) -> np.ndarray:
    """The squares around the points, edges repeated."""
    near = np.arange(side) - side // 2
    y = np.clip(rows[:, None] + near, 0, HEIGHT - 1)
    x = np.clip(columns[:, None] + near, 0, WIDTH - 1)
    return frame[y[:, :, None], x[:, None, :]].astype(np.float64)


def match(pixels: np.ndarray, templates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For every point the best normalised correlation and the index of its shift."""
    window, side = pixels.shape[1], templates.shape[1]
    across = window + side - 1
    scores = np.full((across * across, len(pixels)), -2.0)
    for i in range(across * across):
        dy, dx = i // across - side + 1, i % across - side + 1
        top, bottom, left, right = max(dy, 0), min(dy + side, window), max(dx, 0), min(dx + side, window)
        count = (bottom - top) * (right - left)
        if 2 * count < side * side:
            continue
        part = pixels[:, top:bottom, left:right]
        pattern = templates[:, top - dy : bottom - dy, left - dx : right - dx]
        sums, pattern_sums = part.sum((1, 2)), pattern.sum((1, 2))
        covariance = (part * pattern).sum((1, 2)) - sums * pattern_sums / count
        variances = ((part**2).sum((1, 2)) - sums**2 / count) * ((pattern**2).sum((1, 2)) - pattern_sums**2 / count)
        scores[i] = covariance / np.sqrt(variances)
    return scores.max(axis=0), scores.argmax(axis=0)


def reference(arrays: Arrays) -> Arrays:
    templates = arrays["templates"].astype(np.float64)
    rows, columns = arrays["rows"].copy(), arrays["columns"].copy()
    window, side = int(arrays["window"]), templates.shape[1]
    across = window + side - 1
    scores = np.zeros(len(rows))
    for frame in arrays["frames"]:
        scores, place = match(patches(frame, rows, columns, window), templates)
        offset = -(window // 2) - side + 1 + side // 2
        rows = (rows + place // across + offset).astype(np.int32)
        columns = (columns + place % across + offset).astype(np.int32)
        templates += FOLLOW * (patches(frame, rows, columns, side) - templates)
    return {"rows": rows, "columns": columns, "scores": scores.astype(np.float32), "templates": templates.astype(np.float32)}
