"""The memory system: latencies, sizes, conflicts, bandwidth, atomics, constants; the kernels are in memory.cu."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from warploom.validation.microbenchmarks.benchmark import Launch, Microbenchmark, ModelRun, Outputs, Reading

KB, MB = 1 << 10, 1 << 20
STEPS = 2048
L1_SPANS = (4 * KB, 16 * KB, 64 * KB, 128 * KB, 160 * KB, 192 * KB, 208 * KB, 224 * KB, 240 * KB, 256 * KB, 320 * KB)
L2_SPANS = (1 * MB, 4 * MB, 8 * MB, 16 * MB, 20 * MB, 24 * MB, 28 * MB, 32 * MB, 40 * MB, 48 * MB, 56 * MB, 64 * MB, 96 * MB, 256 * MB, 1024 * MB)


@functools.cache
def cubin() -> bytes:
    """The machine code of memory.cu."""
    from warploom.sass.module import from_cuda

    source = Path(__file__).parent / "memory.cu"
    return from_cuda(source.read_text(encoding="utf-8"), source.name, "sm_90").make(None)


def _launch(name: str, kernel: str, out: int, *arguments: tuple[str, Any], grid: int = 1, block: int = 32, repeats: int = 3) -> Launch:
    return Launch(name, cubin(), grid, block, (("out", out), *arguments), kernel=kernel, repeats=repeats)


def _single(name: str, what: str, unit: str, launch: Callable[[], Launch], value: Callable[[np.ndarray], float],
            model: Sequence[ModelRun] = ()) -> Microbenchmark:  # fmt: skip
    return Microbenchmark(
        name, lambda: [launch()], lambda outputs: [Reading(name, value(outputs[launch().name]), unit, what)], model
    )


def _per_step(name: str, kernel: str, what: str, *arguments: tuple[str, Any], block: int = 32, grid: int = 1,
              lengths: tuple[int, int] = (256, 1280), words: int | None = None, scale: float = 1.0) -> Microbenchmark:  # fmt: skip
    """Cycles for each step: the slowest warp's time with many steps less that with few."""
    out = words or 2 * (grid * block + 31) // 32 * 2

    def launches() -> list[Launch]:
        return [
            _launch(f"{name}.{steps}", kernel, out, *(("u32", steps) if a == ("steps", 0) else a for a in arguments), grid=grid, block=block)
            for steps in lengths
        ]  # fmt: skip

    def read(outputs: Outputs) -> list[Reading]:
        warps = grid * max(1, block // 32)
        short, long = (outputs[f"{name}.{steps}"][:, : 2 * warps : 2].max(axis=1).min() for steps in lengths)
        return [Reading(name, float(long - short) / (lengths[1] - lengths[0]) * scale, "cycles", what)]

    run = ModelRun(name, f"{name}.{lengths[1]}", f"{name}.{lengths[0]}", (lengths[1] - lengths[0]) / scale)
    return Microbenchmark(name, launches, read, (run,))


STEP = ("steps", 0)


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    for kernel, what in (("chase_ca", "ld.global"), ("chase_generic", "generic ld"), ("chase_volatile", "ld.volatile")):
        yield _per_step(f"lat.{kernel}.4KB", kernel, f"cycles from a 64-bit {what} to the next that needs its result, in 4 KB, lines in order",
                        ("chase", {"bytes": 4 * KB, "stride": 128, "random": False}), ("u32", 64), STEP)  # fmt: skip
    for span in L1_SPANS:
        yield _per_step(f"l1.{span // KB}KB", "chase_ca", f"cycles of a dependent load, {span // KB} KB in lines of 128 bytes in order, again and again",
                        ("chase", {"bytes": span, "stride": 128, "random": False}), ("u32", span // 128), STEP)  # fmt: skip
    for span in L2_SPANS:
        lines = span // 128
        yield _per_step(f"l2.{span // MB}MB", "chase_cg", f"cycles of a dependent load past L1, {span // MB} MB in lines of 128 bytes at random",
                        ("chase", {"bytes": span, "stride": 128, "random": True}), ("u32", min(lines, 600_000)), STEP, lengths=(256, 4352))  # fmt: skip
    yield _per_step("l1.sector", "chase_ca", "cycles of a dependent load, 32 KB in sectors of 32 bytes in order",
                    ("chase", {"bytes": 32 * KB, "stride": 32, "random": False}), ("u32", 1024), STEP)  # fmt: skip
    for block in (0, 40, 97):
        yield _each(block)
    for stride in (1, 2, 3, 4, 8, 16, 32):
        ways = {1: 1, 2: 2, 3: 1, 4: 4, 8: 8, 16: 16, 32: 32}[stride]
        yield _per_step(f"shared.latency.stride{stride}", "shared_chase", f"cycles of a dependent LDS of a warp, {ways} words in the worst bank",
                        ("u64", 0), ("u32", stride), STEP)  # fmt: skip
        for warps in (1, 4, 32):
            yield _per_step(f"shared.flood.stride{stride}.{warps}w", "shared_flood_1",
                            f"cycles for each LDS of the SM, {ways} words in the worst bank, {warps} warps",
                            ("u64", 0), ("u32", stride), STEP, block=32 * warps, scale=1 / warps)  # fmt: skip
    yield _per_step("shared.latency.uniform", "shared_chase", "cycles of a dependent LDS, all lanes at one word", ("u64", 0), ("u32", 0), STEP)
    for width in (2, 4):
        for warps in (1, 4, 32):
            yield _per_step(f"shared.flood.{32 * width}bit.{warps}w", f"shared_flood_{width}",
                            f"cycles for each LDS.{32 * width} of the SM without conflicts, {warps} warps",
                            ("u64", 0), ("u32", 1), STEP, block=32 * warps, scale=1 / warps)  # fmt: skip
    for width in (1, 2, 4):
        for stride in (0, 1, 2, 4, 8, 32) if width == 1 else (1,):
            for warps in (1, 4, 32):
                yield _per_step(f"global.flood.{32 * width}bit.stride{stride}.{warps}w", f"flood_ca_{width}",
                                f"cycles for each LDG of {32 * width} bits of the SM that hits in L1, lanes {stride} apart, {warps} warps",
                                ("random", 128 * KB), ("u32", 16 * KB), ("u32", stride), STEP, ("u32", 0), block=32 * warps, scale=1 / warps)  # fmt: skip
    for name, kernel, stride, block, grid, what in (
        ("atomic.global.chain", "atom_global", 1, 32, 1, "an atom.global of a warp, 32 words in a row, that needs the one before"),
        ("atomic.global.chain.one", "atom_global", 0, 32, 1, "an atom.global of a warp, one word, that needs the one before"),
        ("atomic.shared.chain", "atom_shared", 1, 32, 1, "an atom.shared of a warp, 32 words in a row, that needs the one before"),
        ("atomic.shared.chain.one", "atom_shared", 0, 32, 1, "an atom.shared of a warp, one word, that needs the one before"),
        ("atomic.red.row.1sm", "red_global", 1, 1024, 1, "a red.global of each of 32 warps of one SM, words in a row"),
        ("atomic.red.row.132sm", "red_global", 1, 1024, 132, "a red.global of each of 32 warps on 132 SMs, words in a row"),
        ("atomic.red.one.132sm", "red_global", 0, 32, 132, "a red.global of one warp on 132 SMs, all on one word"),
        ("atomic.red.lines.1sm", "red_global", 32, 256, 1, "a red.global of each of 8 warps of one SM, every lane in a line of its own"),
    ):
        yield _per_step(name, kernel, f"cycles for each {what}", ("zeros", 64 * MB), ("u32", stride), STEP, block=block, grid=grid, lengths=(64, 320))  # fmt: skip
    for span in (1, 2, 3, 4, 8, 16, 32, 64):
        yield _per_step(f"constant.{span}KB", "constant_chase",
                        f"cycles of a step that loads a constant by index, {span} KB in steps of 64 bytes, with the sum and the comparison around it",
                        ("u64", 0), ("u32", span * 256), ("u32", 16), STEP, lengths=(2048, 4096))  # fmt: skip
    for name, kernel, size, rounds, counted in (
        ("stream.read.16MB", "stream_read", 16 * MB, 64, 1.0),
        ("stream.read.24MB", "stream_read", 24 * MB, 64, 1.0),
        ("stream.read.40MB", "stream_read", 40 * MB, 32, 1.0),
        ("stream.read.2GB", "stream_read", 2048 * MB, 1, 1.0),
        ("stream.write.16MB", "stream_write", 16 * MB, 64, 1.0),
        ("stream.write.2GB", "stream_write", 2048 * MB, 1, 1.0),
        ("stream.copy.2GB", "stream_copy", 2048 * MB, 1, 1.0),
    ):
        yield _stream(name, kernel, size, rounds, counted)
    yield _residency()


def _each(block: int) -> Microbenchmark:
    lines = 4096
    name = f"l2.each.{block}"

    def launches() -> list[Launch]:
        spread = ("random", 64 * MB)
        return [_launch(name, "each", 1 + lines, spread, ("u32", block), ("u32", lines), ("u32", 1024 // 8 * 5), grid=132, block=1)]

    def read(outputs: Outputs) -> list[Reading]:
        times = outputs[name][-1, 1:].astype(np.int64)
        low, middle, high = np.percentile(times, (5, 50, 95))
        where = f"single loads past L1 from SM {int(outputs[name][-1, 0])}, in 2.5 MB, overhead of the clock included"
        return [
            Reading(f"{name}.p{percent}", float(value), "cycles", f"{percent}% of {where} take no longer")
            for percent, value in ((5, low), (50, middle), (95, high))
        ]

    return Microbenchmark(name, launches, read)


def _stream(name: str, kernel: str, size: int, rounds: int, counted: float) -> Microbenchmark:
    def launches() -> list[Launch]:
        return [
            _launch(name, kernel, 4, ("memory", size), ("u64", size // 16), ("u32", rounds), grid=132 * 8, block=256, repeats=4),
        ]  # fmt: skip

    def read(outputs: Outputs) -> list[Reading]:
        seconds = float(outputs[f"{name}/seconds"].min())
        rate = size * rounds * counted / seconds / 1e9
        what = f"{kernel} over {size // MB} MB, {rounds} times, by all SMs; bytes read and written, events around the launch"
        return [Reading(name, rate, "GB/s", what)]

    return Microbenchmark(name, launches, read)


def _residency() -> Microbenchmark:
    shapes = {"residency.32": (132 * 33, 32), "residency.256": (132 * 9, 256), "residency.1024": (132 * 3, 1024)}

    def launches() -> list[Launch]:
        return [
            *(_launch(name, "residency", 8 * grid, ("u64", 0), ("u32", 20_000), grid=grid, block=block) for name, (grid, block) in shapes.items()),
            _launch("nothing", "nothing", 8, ("u64", 0), ("u32", 0), grid=132, block=32),
        ]  # fmt: skip

    def read(outputs: Outputs) -> list[Reading]:
        found = []
        for name, (grid, block) in shapes.items():
            rows = outputs[name][-1].reshape(grid, 8).astype(np.int64)
            sm, start = rows[:, 0], rows[:, 1] + (rows[:, 2] << 32)
            end = rows[:, 3] + (rows[:, 4] << 32)
            together, gaps, first = [], [], []
            for one in np.unique(sm):
                mine = np.sort(start[sm == one])
                together.append(int((mine < end[sm == one].min()).sum()))
                gaps.extend(np.diff(mine[: together[-1]]))
                first.append(int(np.flatnonzero(sm == one)[0]))
            found += [
                Reading(f"{name}.sms", len(together), "SMs", f"SMs that run CTAs of {block} threads"),
                Reading(f"{name}.together", float(np.median(together)), "CTAs", f"CTAs of {block} threads on an SM at a time"),
                Reading(f"{name}.gap", float(np.median(gaps)), "cycles", f"cycles between two CTAs of {block} threads that start on an SM, median"),
                Reading(f"{name}.first_round", float(max(first)), "CTA", "the largest number of a CTA that is the first of its SM: 131 if each SM gets one before any gets two"),
            ]  # fmt: skip
        return found

    return Microbenchmark("residency", launches, read)
