"""Breadth-first search of a random graph, level by level."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 7
THREADS = 512
SIZES = Sizes(tiny=2000, small=61_440, paper=1_000_000)  # nodes
MEAN_DEGREE = 6


def inputs(size: Size, seed: int = SEED) -> Arrays:
    nodes = SIZES[size]
    random = np.random.default_rng(seed)
    degree = random.integers(1, 2 * MEAN_DEGREE, nodes)
    first_edge = np.concatenate([[0], np.cumsum(degree)]).astype(np.int32)
    return {"first_edge": first_edge, "edges": random.integers(0, nodes, first_edge[-1]).astype(np.int32)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    nodes = len(arrays["first_edge"]) - 1
    start = np.zeros(nodes, np.uint8)
    start[0] = 1
    costs = np.full(nodes, -1, np.int32)
    costs[0] = 0
    first_edge, edges = gpu.array(arrays["first_edge"]), gpu.array(arrays["edges"])
    level, visited, found = gpu.array(start), gpu.array(start), gpu.array(np.zeros(nodes, np.uint8))
    cost, changed = gpu.array(costs), gpu.array(np.zeros(1, np.int32))
    grid, block = (-(-nodes // THREADS),), (THREADS,)
    while True:
        changed.set(np.zeros(1, np.int32))
        gpu.launch("expand", grid, block, first_edge, edges, level, found, visited, cost, np.int32(nodes))
        gpu.launch("settle", grid, block, level, found, visited, changed, np.int32(nodes))
        if not changed.get()[0]:
            return {"cost": cost.get()}


def reference(arrays: Arrays) -> Arrays:
    first_edge, edges = arrays["first_edge"], arrays["edges"]
    cost = np.full(len(first_edge) - 1, -1, np.int32)
    cost[0] = 0
    level, frontier = 0, np.array([0])
    while frontier.size:
        level += 1
        counts = first_edge[frontier + 1] - first_edge[frontier]
        # The edges of the frontier: each node's first edge, repeated, plus the position within the node.
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        reached = np.unique(edges[np.repeat(first_edge[frontier], counts) + within])
        frontier = reached[cost[reached] < 0]
        cost[frontier] = level
    return {"cost": cost}
