"""Longest matches of DNA reads in a reference by its suffix tree."""

from __future__ import annotations

import numpy as np

from warploom.programs.workloads.workload import Arrays, Gpu, Size, Sizes

SEED = 14
THREADS = 256
SIZES = Sizes(tiny=(400, 1500), small=(7680, 10_000), paper=(50_000, 60_000))  # reads, letters of the reference
READ_LENGTH, LEAST = 25, 20
TEXTURE_WIDTH = 256
ROOT = 1


def suffix_tree(letters: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Ukkonen's construction: for each node (first, end, suffix link, 0) and its four children. Node 0 is none, 1 the root."""
    end = len(letters)
    edges = [[0, 0, 0, 0], [0, 0, ROOT, 0]]
    children = [[0, 0, 0, 0], [0, 0, 0, 0]]

    def add(first: int, stop: int) -> int:
        edges.append([first, stop, ROOT, 0])
        children.append([0, 0, 0, 0])
        return len(edges) - 1

    node, edge, length, pending = ROOT, 0, 0, 0  # the active point, and how many suffixes are still implicit
    for position, letter in enumerate(letters):
        pending += 1
        without_link = 0
        while pending:
            if length == 0:
                edge = position
            child = children[node][letters[edge]]
            if not child:
                children[node][letters[edge]] = add(position, end)
                if without_link:
                    edges[without_link][2] = node
                    without_link = 0
            else:
                span = min(edges[child][1], position + 1) - edges[child][0]
                if length >= span:
                    edge, length, node = edge + span, length - span, child
                    continue
                if letters[edges[child][0] + length] == letter:
                    length += 1
                    if without_link:
                        edges[without_link][2] = node
                    break
                split = add(edges[child][0], edges[child][0] + length)
                children[node][letters[edge]] = split
                children[split][letter] = add(position, end)
                edges[child][0] += length
                children[split][letters[edges[child][0]]] = child
                if without_link:
                    edges[without_link][2] = split
                without_link = split
            pending -= 1
            if node == ROOT and length:
                length -= 1
                edge = position - pending + 1
            elif node != ROOT:
                node = edges[node][2]
    return np.array(edges, np.int32), np.array(children, np.int32)


def inputs(size: Size, seed: int = SEED) -> Arrays:
    reads, length = SIZES[size]
    random = np.random.default_rng(seed)
    sequence = random.integers(0, 4, length).astype(np.uint8)
    # Reads from the reference with errors, so that most match in part.
    starts = random.integers(0, length - READ_LENGTH, reads)
    letters = sequence[starts[:, None] + np.arange(READ_LENGTH)]
    wrong = random.uniform(size=letters.shape) < 0.04
    letters = np.where(wrong, random.integers(0, 4, letters.shape), letters).astype(np.uint8)
    ending = meets_the_end(letters, sequence)
    letters[ending] = letters[np.argmin(ending)]
    edges, children = suffix_tree(sequence.tolist())
    return {"sequence": sequence, "reads": letters, "edges": edges, "children": children}


def meets_the_end(reads: np.ndarray, sequence: np.ndarray) -> np.ndarray:
    """Which reads match the reference's last letters where nothing follows them: a leaf, from which no suffix link leads on."""
    found = np.zeros(len(reads), bool)
    for length in range(1, READ_LENGTH + 1):
        known = words(sequence.astype(np.int64), length)
        if np.count_nonzero(known == known[-1]) == 1:  # else it is inside of the tree
            found |= (words(reads.astype(np.int64), length)[:, : READ_LENGTH - LEAST] == known[-1]).any(axis=1)
    return found


def as_texels(table: np.ndarray) -> np.ndarray:
    """A table of four-word records as rows of a two-dimensional texture."""
    rows = -(-len(table) // TEXTURE_WIDTH)
    texels = np.zeros((rows * TEXTURE_WIDTH, 4), np.int32)
    texels[: len(table)] = table
    return texels.reshape(rows, TEXTURE_WIDTH, 4)


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    count = len(arrays["reads"])
    lengths = gpu.array(np.zeros((count, READ_LENGTH - LEAST + 1), np.uint8))
    edges, children = gpu.texture(as_texels(arrays["edges"])), gpu.texture(as_texels(arrays["children"]))
    sequence, reads = gpu.array(arrays["sequence"]), gpu.array(arrays["reads"])
    sizes = (np.int32(count), np.int32(READ_LENGTH), np.int32(LEAST))
    gpu.launch("mum", (-(-count // THREADS),), (THREADS,), edges, children, sequence, reads, lengths, *sizes)
    return {"lengths": lengths.get()}


def words(letters: np.ndarray, length: int) -> np.ndarray:
    """All words of a length along the last axis, as numbers to base 4."""
    windows = np.lib.stride_tricks.sliding_window_view(letters, length, axis=-1)
    return windows @ (4 ** np.arange(length, dtype=np.int64))


def reference(arrays: Arrays) -> Arrays:
    """Without a tree: a word matches if it is among the reference's words of its length, and the longest such word counts."""
    sequence, reads = arrays["sequence"].astype(np.int64), arrays["reads"].astype(np.int64)
    lengths = np.zeros((len(reads), READ_LENGTH - LEAST + 1), np.uint8)
    for length in range(1, READ_LENGTH + 1):
        found = np.isin(words(reads, length), words(sequence, length))[:, : lengths.shape[1]]
        lengths[:, : found.shape[1]] += found
    return {"lengths": lengths}
