"""Convolutional network for handwritten digits, 13 x 13 threads a map."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 10
SIZES = Sizes(tiny=1, small=14, paper=28, chip=264)  # 28 images make the paper's 168 CTAs of the first layer
TOLERANCE = {"maps1": (1e-5, 1e-5), "classes": (1e-4, 1e-4)}
PIXELS, MAPS1, SIDE1, MAPS2, SIDE2, UNITS3, UNITS4, KERNEL = 29, 6, 13, 50, 5, 100, 10, 5


def inputs(size: Size, seed: int = SEED) -> Arrays:
    random = np.random.default_rng(seed)

    def weights(*shape: int, fan_in: int) -> np.ndarray:
        return random.normal(0, fan_in**-0.5, shape).astype(np.float32)

    # Strokes: images that are dark but for a few bright lines.
    images = np.zeros((SIZES[size], PIXELS, PIXELS), np.float32)
    for image in images:
        for _ in range(4):
            (y0, x0), (y1, x1) = random.integers(3, PIXELS - 3, (2, 2))
            along = np.linspace(0, 1, 40)
            image[np.rint(y0 + (y1 - y0) * along).astype(int), np.rint(x0 + (x1 - x0) * along).astype(int)] = 1
    return {
        "images": images,
        "weights1": weights(MAPS1, KERNEL**2 + 1, fan_in=KERNEL**2),
        "weights2": weights(MAPS2, MAPS1 * KERNEL**2 + 1, fan_in=MAPS1 * KERNEL**2),
        "weights3": weights(MAPS2 * SIDE2**2 + 1, UNITS3, fan_in=MAPS2 * SIDE2**2),
        "weights4": weights(UNITS3 + 1, UNITS4, fan_in=UNITS3),
    }


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    count = len(arrays["images"])
    weights = [gpu.array(arrays[f"weights{layer}"]) for layer in (1, 2, 3, 4)]
    maps1 = gpu.array(np.zeros((count, MAPS1, SIDE1, SIDE1), np.float32))
    maps2 = gpu.array(np.zeros((count, MAPS2, SIDE2, SIDE2), np.float32))
    units3 = gpu.array(np.zeros((count, UNITS3), np.float32))
    classes = gpu.array(np.zeros((count, UNITS4), np.float32))
    gpu.launch("convolution1", (MAPS1, count), (SIDE1, SIDE1), gpu.array(arrays["images"]), weights[0], maps1)
    gpu.launch("convolution2", (MAPS2, count), (SIDE2, SIDE2), maps1, weights[1], maps2)
    gpu.launch("connected3", (count,), (UNITS3,), maps2, weights[2], units3)
    gpu.launch("connected4", (count,), (UNITS4,), units3, weights[3], classes)
    return {"maps1": maps1.get(), "classes": classes.get()}


def squash(x: np.ndarray) -> np.ndarray:
    return 1.7159 * np.tanh(0.66666667 * x)


def convolve(maps: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """All maps of a layer: 5 x 5 windows two pixels apart, over all maps of the layer before."""
    windows = np.lib.stride_tricks.sliding_window_view(maps, (KERNEL, KERNEL), axis=(2, 3))[:, :, ::2, ::2]
    kernels = weights[:, 1:].reshape(len(weights), -1, KERNEL, KERNEL)
    return squash(np.einsum("ncyxij,mcij->nmyx", windows, kernels) + weights[:, 0][:, None, None])


def reference(arrays: Arrays) -> Arrays:
    exact = {name: values.astype(np.float64) for name, values in arrays.items()}
    maps1 = convolve(exact["images"][:, None], exact["weights1"])
    maps2 = convolve(maps1, exact["weights2"])
    units3 = squash(maps2.reshape(len(maps2), -1) @ exact["weights3"][1:] + exact["weights3"][0])
    classes = squash(units3 @ exact["weights4"][1:] + exact["weights4"][0])
    return {"maps1": maps1.astype(np.float32), "classes": classes.astype(np.float32)}
