"""The matrix Q of magnetic resonance image reconstruction, one voxel a thread."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 16
THREADS = 256
# Voxels, samples of k-space.
SIZES = Sizes(tiny=(3 * 256, 24), small=(90 * 256, 40), paper=(128 * 256, 512), chip=(40**3, 448))
TOLERANCE = {"q_real": (1e-4, 2e-3), "q_imaginary": (1e-4, 2e-3)}


def inputs(size: Size, seed: int = SEED) -> Arrays:
    voxels, samples = SIZES[size]
    random = np.random.default_rng(seed)
    arrays = {name: random.uniform(-0.5, 0.5, voxels).astype(np.float32) for name in ("x", "y", "z")}
    # A spiral through k-space.
    turn = np.linspace(0, 12 * np.pi, samples)
    radius = np.linspace(0.1, 8, samples)
    arrays["trajectory"] = np.stack([radius * np.cos(turn), radius * np.sin(turn), np.linspace(-4, 4, samples)], 1).astype(
        np.float32
    )
    arrays["phi_real"] = random.normal(0, 1, samples).astype(np.float32)
    arrays["phi_imaginary"] = random.normal(0, 1, samples).astype(np.float32)
    return arrays


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    voxels, count = len(arrays["x"]), len(arrays["trajectory"])
    samples = gpu.array(np.concatenate([arrays["trajectory"], np.zeros((count, 1), np.float32)], axis=1))
    phi = [gpu.array(arrays[name]) for name in ("phi_real", "phi_imaginary")]
    place = [gpu.array(arrays[name]) for name in ("x", "y", "z")]
    q_real, q_imaginary = (gpu.array(np.zeros(voxels, np.float32)) for _ in range(2))
    gpu.launch("magnitudes", (-(-count // THREADS),), (THREADS,), *phi, samples, np.int32(count))
    gpu.launch("mri_q", (voxels // THREADS,), (THREADS,), *place, samples, np.int32(count), q_real, q_imaginary)
    return {"q_real": q_real.get(), "q_imaginary": q_imaginary.get()}


def reference(arrays: Arrays) -> Arrays:
    place = np.stack([arrays[name] for name in ("x", "y", "z")], 1).astype(np.float64)
    magnitude = arrays["phi_real"].astype(np.float64) ** 2 + arrays["phi_imaginary"].astype(np.float64) ** 2
    angle = 2 * np.pi * (place @ arrays["trajectory"].T.astype(np.float64))
    return {
        "q_real": (np.cos(angle) @ magnitude).astype(np.float32),
        "q_imaginary": (np.sin(angle) @ magnitude).astype(np.float32),
    }
