"""Full-search motion estimation: sums of absolute differences of 4 x 4 to 16 x 16 blocks."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 23
RANGE, THREADS, LARGER_THREADS = 16, 61, 128
POSITIONS = (2 * RANGE + 1) ** 2
SIZES = Sizes(tiny=(16, 16), small=(48, 48), paper=(144, 176))  # rows, columns of pixels
SHAPED = "most of a thread's stores of sums are on their way at once"


def inputs(size: Size, seed: int = SEED) -> Arrays:
    rows, columns = SIZES[size]
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0 : rows + 8, 0 : columns + 8]
    scene = 128 + 80 * np.sin(x / 6 + y / 9) * np.cos(y / 5) + random.normal(0, 6, y.shape)
    scene = np.clip(np.rint(scene), 0, 255).astype(np.uint8)
    # The frame is the reference moved by (3, -2), as a camera would.
    return {"reference": scene[4:-4, 4:-4].copy(), "frame": scene[7 : 7 + rows, 2 : 2 + columns].copy()}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    rows, columns = arrays["frame"].shape
    frame, moved = gpu.array(arrays["frame"]), gpu.texture(arrays["reference"])
    sads = {side: gpu.array(np.zeros((rows // side, columns // side, POSITIONS), np.uint16)) for side in (4, 8, 16)}
    gpu.launch("sad4", (columns // 4, rows // 4), (THREADS,), frame, moved, sads[4], np.int32(columns), np.int32(RANGE))
    for side in (8, 16):
        gpu.launch("larger", (columns // side, rows // side), (LARGER_THREADS,), sads[side // 2], sads[side])
    return {f"sad{side}": buffer.get() for side, buffer in sads.items()}


def reference(arrays: Arrays) -> Arrays:
    frame = arrays["frame"].astype(np.int32)
    rows, columns = frame.shape
    padded = np.pad(arrays["reference"].astype(np.int32), RANGE, mode="edge")
    sads = {side: np.zeros((rows // side, columns // side, POSITIONS), np.uint16) for side in (4, 8, 16)}
    for position in range(POSITIONS):
        dy, dx = divmod(position, 2 * RANGE + 1)
        difference = np.abs(frame - padded[dy : dy + rows, dx : dx + columns])
        for side, table in sads.items():
            table[:, :, position] = difference.reshape(rows // side, side, columns // side, side).sum(axis=(1, 3))
    return {f"sad{side}": table for side, table in sads.items()}
