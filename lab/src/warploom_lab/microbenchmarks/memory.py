"""The memory system: latencies, sizes, conflicts, atomics, constants; the kernels are in memory.cu."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from warploom.studies.validate.benchmark import Microbenchmark
from warploom_lab.microbenchmarks.steps import KB, MB, NOTHING, STEPS, per_step

LARGEST_MODELLED = 4 * MB  # larger chases take the model too long
L1_KB = (4, 16, 64, 128, 160, 192, 208, 224, 240, 256, 320)
L2_MB = (1, 4, 8, 16, 20, 24, 28, 32, 40, 48, 56, 64, 96, 256, 1024)
ATOMICS = {  # name: kernel, words between lanes, threads of a CTA, CTAs, what one step is
    "global.chain": ("atom_global", 1, 32, 1, "an atom.global of a warp, 32 words in a row, that needs the one before"),
    "global.chain.one": ("atom_global", 0, 32, 1, "an atom.global of a warp, one word, that needs the one before"),
    "shared.chain": ("atom_shared", 1, 32, 1, "an atom.shared of a warp, 32 words in a row, that needs the one before"),
    "shared.chain.one": ("atom_shared", 0, 32, 1, "an atom.shared of a warp, one word, that needs the one before"),
    "red.row.1sm": ("red_global", 1, 1024, 1, "a red.global of each of 32 warps of one SM, words in a row"),
    "red.row.132sm": ("red_global", 1, 1024, 132, "a red.global of each of 32 warps on 132 SMs, words in a row"),
    "red.one.132sm": ("red_global", 0, 32, 132, "a red.global of one warp on 132 SMs, all on one word"),
    "red.one.1sm": ("red_global", 0, 1024, 1, "a red.global of each of 32 warps of one SM, all on one word"),
    "red.one.132sm.8w": ("red_global", 0, 256, 132, "a red.global of each of 8 warps on 132 SMs, all on one word"),
    "atom.one.132sm": ("atom_global", 0, 32, 132, "an atom.global of one warp on 132 SMs, all on one word"),
    "red.lines.132sm": (
        "red_global",
        32,
        256,
        132,
        "a red.global of each of 8 warps on 132 SMs, every lane in its own line",
    ),
    "red.wide.row.132sm": ("red_global_64", 2, 1024, 132, "a 64-bit red.global of each of 32 warps on 132 SMs, in a row"),
    "red.lines.1sm": ("red_global", 32, 256, 1, "a red.global of each of 8 warps of one SM, every lane in a line of its own"),
}
STORES = {  # name: words between lanes, threads of a CTA, CTAs, what one step is
    "row.1sm": (1, 1024, 1, "a store of each of 32 warps of one SM, words in a row"),
    "row.132sm": (1, 1024, 132, "a store of each of 32 warps on 132 SMs, words in a row"),
    "sectors.1sm": (8, 1024, 1, "a store of each of 32 warps of one SM, one word of a sector each"),
    "sectors.132sm": (8, 1024, 132, "a store of each of 32 warps on 132 SMs, one word of a sector each"),
    "one.1sm": (0, 1024, 1, "a store of each of 32 warps of one SM, all on one word"),
    "one.132sm": (0, 256, 132, "a store of each of 8 warps on 132 SMs, all on one word"),
}
GATHERS = {"64KB": 64 * KB, "8MB": 8 * MB, "16MB": 16 * MB, "1GB": 1024 * MB}
PAGES = (16, 64, 256, 512, 1024, 2048, 4096)  # of 2 MB

_per_step = functools.partial(per_step, "memory.cu")


def _chase(size: int, stride: int, random: bool = False) -> tuple[str, dict[str, Any]]:
    return "chase", {"bytes": size, "stride": stride, "random": random}


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    yield from _latencies()
    yield from _shared()
    yield from _global()
    for name, (kernel, stride, block, grid, what) in ATOMICS.items():
        given = ("zeros", 64 * MB), ("u32", stride), STEPS
        yield _per_step(f"atomic.{name}", kernel, f"cycles for each {what}", *given, block=block, grid=grid, lengths=(64, 320))
    for name, (stride, block, grid, what) in STORES.items():
        given = ("zeros", 64 * MB), ("u32", stride), STEPS
        yield _per_step(f"store.{name}", "store_global", f"cycles for {what}", *given, block=block, grid=grid, lengths=(64, 320))
    yield from _behind_l1()
    yield from _pages()
    yield from _constants()


def _latencies() -> Iterator[Microbenchmark]:
    for kernel, what in (("chase_ca", "ld.global"), ("chase_generic", "generic ld"), ("chase_volatile", "ld.volatile")):
        text = f"cycles from a 64-bit {what} to the next that needs its result, in 4 KB, lines in order"
        yield _per_step(f"lat.{kernel}.4KB", kernel, text, _chase(4 * KB, 128), ("u32", 64), STEPS)
    for size in L1_KB:
        text = f"cycles of a dependent load, {size} KB in lines of 128 bytes in order, again and again"
        yield _per_step(f"l1.{size}KB", "chase_ca", text, _chase(size * KB, 128), ("u32", size * KB // 128), STEPS)
    text = "cycles of a dependent load, 32 KB in sectors of 32 bytes in order"
    yield _per_step("l1.sector", "chase_ca", text, _chase(32 * KB, 32), ("u32", 1024), STEPS)
    for size in L2_MB:
        text = f"cycles of a dependent load past L1, {size} MB in lines of 128 bytes at random"
        given = _chase(size * MB, 128, random=True), ("u32", min(size * MB // 128, 600_000)), STEPS
        modelled = size * MB <= LARGEST_MODELLED
        yield _per_step(f"l2.{size}MB", "chase_cg", text, *given, lengths=(256, 4352), modelled=modelled)


def _behind_l1() -> Iterator[Microbenchmark]:
    """Loads of many warps that go to L2 and further."""
    for grid in (1, 132):
        for size, bytes_read in GATHERS.items():
            text = f"cycles of an SM for an LDG of 32 lanes at random places in {size}, 32 warps on {grid} SMs"
            given = ("memory", bytes_read), ("u32", bytes_read // 4 - 1), STEPS
            modelled = bytes_read <= 16 * MB
            yield _per_step(
                f"gather.{size}.{grid}sm",
                "gather",
                text,
                *given,
                block=1024,
                grid=grid,
                shared_out=32,
                lengths=(64, 192),
                modelled=modelled,
            )
        for width in (1, 4):
            for warps in (1, 8, 32):
                text = f"cycles of an SM for an LDG of {32 * width} bits past L1, lanes in a row, {warps} warps on {grid} SMs"
                name, given = f"l2.flood.{32 * width}bit.{warps}w.{grid}sm", (("memory", 16 * MB), ("u32", 16 * MB - 1), STEPS)
                yield _per_step(
                    name, f"flood_cg_{width}", text, *given, block=32 * warps, grid=grid, shared_out=warps, lengths=(64, 320)
                )


def _pages() -> Iterator[Microbenchmark]:
    """How far a load is whose line is in L2, by the number of pages."""
    for pages in PAGES:
        text = f"cycles of a dependent load past L1 that finds its line in L2, in {pages} pages of 2 MB at random"
        stride = 2 * MB + 128
        given = _chase(pages * stride, stride, random=True), ("u32", pages), STEPS
        yield _per_step(f"pages.{pages}", "chase_cg", text, *given, lengths=(256, 4352), modelled=False)


def _constants() -> Iterator[Microbenchmark]:
    """Constants by index: LDC, and ULDC, whose index is the same for all lanes."""
    sizes = {f"{size}KB": (size * KB, 64) for size in (1, 2, 3, 4, 8, 16, 32, 64)}
    ways = {f"by{apart}.{lines}": (lines * apart, apart) for apart in (256, 512, 1024, 2048) for lines in (2, 3, 4, 5, 6, 8)}
    steps = {f"32KB.by{apart}": (32 * KB, apart) for apart in (4, 16, 32, 128, 256)}
    for name, (span, apart) in (sizes | ways | steps).items():
        where = f"{span} bytes in steps of {apart}"
        places = ("u32", span // 4), ("u32", apart // 4), STEPS
        what = f"cycles of a step that loads a constant by index and computes the next, {where}"
        yield _per_step(f"constant.{name}", "constant_chase", what, NOTHING, *places, lengths=(2048, 4096))
        what = f"cycles of a step that has a constant by an index of all lanes as an operand, {where}"
        yield _per_step(f"uniform.{name}", "constant_walk", what, ("zeros", 128), *places, lengths=(2048, 4096))
    for warps in (4, 32):
        what = f"cycles of a step of {warps} warps that has a constant by an index of all lanes as an operand, 16 KB by 64 bytes"
        given = ("zeros", 4 * KB), ("u32", 4 * KB), ("u32", 16), STEPS
        yield _per_step(f"uniform.16KB.{warps}w", "constant_walk", what, *given, lengths=(2048, 4096), block=32 * warps)


def _shared() -> Iterator[Microbenchmark]:
    for stride in (1, 2, 3, 4, 8, 16, 32):
        ways = stride if stride != 3 else 1
        text = f"cycles of a dependent LDS of a warp, {ways} words in the worst bank"
        yield _per_step(f"shared.latency.stride{stride}", "shared_chase", text, NOTHING, ("u32", stride), STEPS)
        for warps in (1, 4, 32):
            text = f"cycles for each LDS of the SM, {ways} words in the worst bank, {warps} warps"
            name, given = f"shared.flood.stride{stride}.{warps}w", (NOTHING, ("u32", stride), STEPS)
            yield _per_step(name, "shared_flood_1", text, *given, block=32 * warps, shared_out=warps)
    text = "cycles of a dependent LDS, all lanes at one word"
    yield _per_step("shared.latency.uniform", "shared_chase", text, NOTHING, ("u32", 0), STEPS)
    for width in (2, 4):
        for warps in (1, 4, 32):
            text = f"cycles for each LDS.{32 * width} of the SM without conflicts, {warps} warps"
            name, given = f"shared.flood.{32 * width}bit.{warps}w", (NOTHING, ("u32", 1), STEPS)
            yield _per_step(name, f"shared_flood_{width}", text, *given, block=32 * warps, shared_out=warps)


def _global() -> Iterator[Microbenchmark]:
    for width, strides in ((1, (0, 1, 2, 4, 8, 32)), (2, (1,)), (4, (1,))):
        for stride in strides:
            for warps in (1, 4, 32):
                text = f"cycles for each LDG of {32 * width} bits of the SM that hits in L1, lanes {stride} apart, {warps} warps"
                name = f"global.flood.{32 * width}bit.stride{stride}.{warps}w"
                given = ("random", 128 * KB), ("u32", 16 * KB), ("u32", stride), STEPS, ("u32", 0)
                yield _per_step(name, f"flood_ca_{width}", text, *given, block=32 * warps, shared_out=warps)
