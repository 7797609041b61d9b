"""Electrostatic potential on a lattice from charges within a cutoff."""

from __future__ import annotations

import itertools

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 15
SIDE, DEPTH, MARGIN = 8, 8, 1
SPACING, CUTOFF = np.float32(0.5), np.float32(4.0)
BIN = float(SPACING) * SIDE
SIZES = Sizes(tiny=(2, 2, 1), small=(5, 6, 4), paper=(8, 8, 8))  # CTAs along z, y, x
TOLERANCE = {"lattice": (1e-4, 1e-4)}
SHAPED = "all loads of a thread for the bins in shared memory are in flight at once; Parboil brings them in a loop"
ATOMS_PER_BIN = 1.6


def inputs(size: Size, seed: int = SEED) -> Arrays:
    regions = np.array(SIZES[size])
    random = np.random.default_rng(seed)
    low, high = -MARGIN * BIN, (regions + MARGIN) * BIN
    count = int(ATOMS_PER_BIN * np.prod(regions + 2 * MARGIN))
    place = random.uniform(low, high, (count, 3)).astype(np.float32)  # z, y, x
    charge = (random.uniform(0.2, 1.0, count) * random.choice([-1, 1], count)).astype(np.float32)
    bins = np.zeros((*(regions + 2 * MARGIN), DEPTH, 4), np.float32)
    filled = np.zeros(bins.shape[:3], int)
    kept = []
    for i, (z, y, x) in enumerate(np.minimum(np.floor(place / BIN).astype(int) + MARGIN, regions + 2 * MARGIN - 1)):
        if filled[z, y, x] < DEPTH:
            bins[z, y, x, filled[z, y, x]] = (*place[i, ::-1], charge[i])
            filled[z, y, x] += 1
            kept.append(i)
    _, bins_y, bins_x = bins.shape[:3]
    near = [(dz * bins_y + dy) * bins_x + dx for dz, dy, dx in itertools.product((-1, 0, 1), repeat=3)]
    return {"bins": bins, "place": place[kept], "charge": charge[kept], "offsets": np.array(near, np.int32)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    bins = arrays["bins"]
    regions = [n - 2 * MARGIN for n in bins.shape[:3]]
    lattice = gpu.array(np.zeros([n * SIDE for n in regions], np.float32))
    gpu.launch(
        "cutcp",
        (regions[2], regions[1], regions[0]),
        (8, 2, 8),
        gpu.array(bins),
        np.int32(bins.shape[2]),
        np.int32(bins.shape[1]),
        gpu.array(arrays["offsets"]),
        np.int32(len(arrays["offsets"])),
        SPACING,
        CUTOFF * CUTOFF,
        lattice,
    )
    return {"lattice": lattice.get()}


def reference(arrays: Arrays) -> Arrays:
    shape = [(n - 2 * MARGIN) * SIDE for n in arrays["bins"].shape[:3]]
    axes = [np.arange(n) * float(SPACING) for n in shape]
    lattice = np.zeros(shape)
    square = float(CUTOFF) ** 2
    for place, charge in zip(arrays["place"].astype(np.float64), arrays["charge"].astype(np.float64), strict=True):
        # Only the lattice points in the cube around the atom can be within the cutoff.
        near = [
            slice(*np.searchsorted(axis, [p - float(CUTOFF), p + float(CUTOFF)])) for axis, p in zip(axes, place, strict=True)
        ]
        dz, dy, dx = (axis[part] - p for axis, part, p in zip(axes, near, place, strict=True))
        r2 = dz[:, None, None] ** 2 + dy[:, None] ** 2 + dx**2
        lattice[tuple(near)] += np.where(r2 < square, charge / np.sqrt(r2) * (1 - r2 / square) ** 2, 0)
    return {"lattice": lattice.astype(np.float32)}
