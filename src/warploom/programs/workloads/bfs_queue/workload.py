"""Breadth-first search that keeps its frontier in a work queue.

Like Parboil's BFS.
"""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 21
_THREADS = 512
_UNREACHED = np.iinfo(np.int32).max
SIZES = Sizes(tiny=3000, small=100000, paper=400000, chip=1_200_000)  # vertices


def inputs(size: Size, seed: int = SEED) -> Arrays:
    """A random graph: most vertices have 2 to 9 edges, one in a hundred has 24, so that lanes of a warp differ."""
    vertices = SIZES[size]
    random = np.random.default_rng(seed)
    degree = random.integers(2, 10, vertices)
    degree[random.random(vertices) < 0.01] = 24
    first_edge = np.concatenate(([0], np.cumsum(degree))).astype(np.int32)
    target = random.integers(0, vertices, first_edge[-1]).astype(np.int32)
    return {"first_edge": first_edge, "target": target, "source": np.array(0, np.int32)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    """One launch per level; the queue's length comes back to the host in between."""
    first_edge, target = arrays["first_edge"], arrays["target"]
    vertices = len(first_edge) - 1
    source = int(arrays["source"])
    start = np.full(vertices, _UNREACHED, np.int32)
    start[source] = 0
    node = gpu.array(np.stack((first_edge[:-1], np.diff(first_edge)), axis=1).astype(np.int32))
    edge = gpu.array(np.stack((target, np.ones_like(target)), axis=1))
    colour, level = gpu.array(np.zeros(vertices, np.int32)), gpu.array(start)
    queue = np.zeros(vertices, np.int32)
    queue[0] = source
    frontier, following = gpu.array(queue), gpu.array(np.zeros(vertices, np.int32))
    length = gpu.array(np.zeros(1, np.int32))
    frontier_size, shade = 1, 1
    while frontier_size:
        length.set(np.zeros(1, np.int32))
        ctas = -(-frontier_size // _THREADS)
        gpu.launch(
            "bfs_queue",
            (ctas,),
            (_THREADS,),
            node,
            edge,
            colour,
            level,
            frontier,
            np.int32(frontier_size),
            following,
            length,
            np.int32(shade),
        )
        frontier, following = following, frontier
        frontier_size = int(length.get()[0])
        shade = 3 - shade  # two shades in turn, as frontiers
    reached = level.get()
    return {"level": np.where(reached == _UNREACHED, np.int32(-1), reached)}


def reference(arrays: Arrays) -> Arrays:
    first_edge, target = arrays["first_edge"], arrays["target"]
    level = np.full(len(first_edge) - 1, -1, np.int32)
    frontier = np.array([int(arrays["source"])])
    level[frontier] = 0
    depth = 0
    while len(frontier):
        depth += 1
        counts = first_edge[frontier + 1] - first_edge[frontier]
        offset = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        reached = np.unique(target[np.repeat(first_edge[frontier], counts) + offset])
        frontier = reached[level[reached] < 0]
        level[frontier] = depth
    return {"level": level}
