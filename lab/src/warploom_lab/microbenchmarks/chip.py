"""The whole chip: how far L2 is from an SM, bandwidth of L2 and DRAM, where CTAs go; the kernels are in memory.cu."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from warploom.studies.validate.benchmark import Launch, Microbenchmark, Outputs, Reading
from warploom_lab.microbenchmarks.steps import MB, NOTHING, SMS, launch

LINES = 4096  # timed one by one
STREAMS = {  # name: kernel, megabytes, how often over them
    "read.16MB": ("stream_read", 16, 64),
    "read.24MB": ("stream_read", 24, 64),
    "read.40MB": ("stream_read", 40, 32),
    "read.2GB": ("stream_read", 2048, 1),
    "write.16MB": ("stream_write", 16, 64),
    "write.2GB": ("stream_write", 2048, 1),
    "copy.2GB": ("stream_copy", 2048, 1),
}
SHAPES = {"residency.32": (SMS * 33, 32), "residency.256": (SMS * 9, 256), "residency.1024": (SMS * 3, 1024)}  # CTAs, threads
WAIT = 20_000  # cycles that a CTA stays
FAR = ((0, 0), (0, 1), (0, 2), (0, 3), (0, 50), (0, 97), (0, 130))  # CTAs that read lines and those that time them after
STARTS = {32: 32, 128: 16, 256: 8, 512: 4, 1024: 2}  # CTAs of so many threads that are on an SM together
SHORT_ROUNDS = 12  # times as many CTAs, where they end at once

_launch = functools.partial(launch, "memory.cu")


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    for block in (0, 40, 97):
        yield _single_loads(block)
    for name, (kernel, size, rounds) in STREAMS.items():
        yield _stream(f"stream.{name}", kernel, size * MB, rounds)
    yield _residency()
    for first, second in FAR:
        yield _second_loads(f"l2.after.{first}.{second}", first, second, f"after CTA {first} has read them")
    yield _second_loads("dram.each", SMS, 0, "from DRAM")
    yield _starts()


def _single_loads(block: int) -> Microbenchmark:
    """Loads of single lines, each timed by itself, from the SM that runs a CTA: where a line lies decides how far it is."""
    name = f"l2.each.{block}"

    def launches() -> list[Launch]:
        given = ("random", 64 * MB), ("u32", block), ("u32", LINES), ("u32", 640)
        return [_launch(name, "each", 1 + LINES, *given, grid=SMS, block=1)]

    def read(outputs: Outputs) -> list[Reading]:
        times = outputs[name][-1, 1:].astype(np.int64)
        where = f"single loads past L1 from SM {int(outputs[name][-1, 0])}, over 20 MB, overhead of the clock included"
        return [
            Reading(f"{name}.p{percent}", float(np.percentile(times, percent)), "cycles", f"{percent}% of {where} take no longer")
            for percent in (5, 50, 95)
        ]

    return Microbenchmark(name, launches, read)


def _second_loads(name: str, first: int, second: int, what: str) -> Microbenchmark:
    """Loads of single lines that nobody or another SM has read before: two distances, of the two halves of L2."""

    def launches() -> list[Launch]:
        given = ("random", 1024 * MB), ("u32", first), ("u32", second), ("u32", LINES), ("u32", 8192)
        # a second launch would find the lines in L2
        return [_launch(name, "after", 2 + LINES, *given, grid=SMS, block=1, repeats=1)]

    def read(outputs: Outputs) -> list[Reading]:
        times = outputs[name][0, 2:].astype(np.int64)
        where = f"single loads past L1 from CTA {second} {what}, over 256 MB, overhead of the clock included"
        return [
            Reading(f"{name}.p{percent}", float(np.percentile(times, percent)), "cycles", f"{percent}% of {where} take no longer")
            for percent in (10, 25, 50, 75, 90)
        ]

    return Microbenchmark(name, launches, read)


def _starts() -> Microbenchmark:
    """When warps start: of one CTA after each other, of CTAs that fill an empty SM, of CTAs that follow others."""

    def names(threads: int) -> tuple[str, str]:
        return f"starts.{threads}", f"starts.{threads}.short"

    def launches() -> list[Launch]:
        made = []
        for threads, fitting in STARTS.items():
            for name, wait, rounds in zip(names(threads), (WAIT, 0), (2, SHORT_ROUNDS), strict=True):
                grid = SMS * fitting * rounds
                made.append(_launch(name, "starts", 4 * grid * (threads // 32), NOTHING, ("u32", wait), grid=grid, block=threads))
        return made

    def read(outputs: Outputs) -> list[Reading]:
        found = []
        for threads, fitting in STARTS.items():
            long, short = (outputs[name][-1].reshape(-1, threads // 32, 4).astype(np.int64) for name in names(threads))
            apart, gaps, follows, each = [], [], [], []
            for sm in range(SMS):
                mine = long[long[:, 0, 0] == sm]
                mine = mine[np.argsort(mine[:, :, 1].min(axis=1))]
                starts, ends = mine[:, :, 1].min(axis=1), np.sort(mine[:, :, 2].max(axis=1))
                apart += (mine[:, :, 1].max(axis=1) - starts)[:fitting].tolist()
                if len(starts) > fitting:
                    gaps += np.diff(starts[:fitting]).tolist()
                    follows.append(starts[fitting] - ends[0])
                some = np.sort(short[short[:, 0, 0] == sm][:, :, 1].min(axis=1))
                if len(some) > 1:
                    each.append((some[-1] - some[0]) / (len(some) - 1))
            ctas = f"CTAs of {threads} threads"
            found += [
                Reading(f"starts.{threads}.{what}", float(np.median(times)), "cycles", f"{meaning}, median")
                for what, times, meaning in (
                    ("warps", apart, f"from the first to the last warp of {ctas}"),
                    ("gap", gaps, f"between {ctas} that fill an empty SM"),
                    ("follows", follows, f"from the end of the first of {ctas} on an SM to the start of the next in its place"),
                    ("each", each, f"between {ctas} that end at once, on an SM"),
                )
            ]
        return found

    return Microbenchmark("starts", launches, read)


def _stream(name: str, kernel: str, size: int, rounds: int) -> Microbenchmark:
    def launches() -> list[Launch]:
        return [_launch(name, kernel, 4, ("memory", size), ("u64", size // 16), ("u32", rounds), grid=SMS * 8, block=256)]

    def read(outputs: Outputs) -> list[Reading]:
        rate = size * rounds / float(outputs[f"{name}/seconds"].min()) / 1e9
        what = f"{kernel} over {size // MB} MB, {rounds} times, by all SMs; bytes read and written, events around the launch"
        return [Reading(name, rate, "GB/s", what)]

    return Microbenchmark(name, launches, read)


def _residency() -> Microbenchmark:
    """Where CTAs go, and when: more of them than fit, each waits long enough for the others to come."""

    def launches() -> list[Launch]:
        return [
            _launch(name, "residency", 8 * grid, NOTHING, ("u32", WAIT), grid=grid, block=block)
            for name, (grid, block) in SHAPES.items()
        ]

    def read(outputs: Outputs) -> list[Reading]:
        found = []
        for name, (grid, block) in SHAPES.items():
            rows = outputs[name][-1].reshape(grid, 8).astype(np.int64)
            sm, start, end = rows[:, 0], rows[:, 1] + (rows[:, 2] << 32), rows[:, 3] + (rows[:, 4] << 32)
            together: list[int] = []
            gaps: list[int] = []
            first: list[int] = []
            for one in np.unique(sm):
                mine = np.sort(start[sm == one])
                together.append(int((mine < end[sm == one].min()).sum()))
                gaps += np.diff(mine[: together[-1]]).tolist()
                first.append(int(np.flatnonzero(sm == one)[0]))
            ctas = f"CTAs of {block} threads"
            fair = "the largest number of a CTA that is the first of its SM: 131 if each SM gets one before any gets two"
            found += [
                Reading(f"{name}.sms", len(together), "SMs", f"SMs that run {ctas}"),
                Reading(f"{name}.together", float(np.median(together)), "CTAs", f"{ctas} on an SM at a time"),
                Reading(
                    f"{name}.gap", float(np.median(gaps)), "cycles", f"cycles between two {ctas} that start on an SM, median"
                ),
                Reading(f"{name}.first_round", float(max(first)), "CTA", fair),
            ]
        return found

    return Microbenchmark("residency", launches, read)
