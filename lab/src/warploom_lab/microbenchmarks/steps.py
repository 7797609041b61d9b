"""Microbenchmarks whose kernels are CUDA C++ beside these files: launches of them, and cycles for each step of a loop."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from warploom.studies.validate.benchmark import Launch, Microbenchmark, ModelRun, Outputs, Reading

KB, MB = 1 << 10, 1 << 20
SMS = 132
STEPS = ("steps", 0)  # stands for the argument that says how many steps are made
NOTHING = ("u64", 0)
SECTORS = "lts__t_sectors_srcunit_tex.sum"
COUNTED_WARPS, COUNTED_STEPS = 8, 64
ARCHITECTURES = {"bulk.cu": "sm_90a"}


@functools.cache
def code_of(source: str) -> bytes:
    """The machine code of a file of this folder."""
    from warploom.compiler.sass.module import from_cuda

    file = Path(__file__).parent / source
    return from_cuda(file.read_text(encoding="utf-8"), file.name, ARCHITECTURES.get(source, "sm_90")).make(None)


def launch(
    source: str,
    name: str,
    kernel: str,
    out: int,
    *arguments: tuple[str, Any],
    grid: int = 1,
    block: int = 32,
    shared_bytes: int = 0,
    repeats: int = 3,
    counted: str = "",
) -> Launch:
    """A launch of a kernel of a file, whose first argument is an array for so many words."""
    given = (("out", out), *arguments)
    return Launch(name, code_of(source), grid, block, given, kernel, shared_bytes, repeats, counted)


def per_step(
    source: str,
    name: str,
    kernel: str,
    what: str,
    *arguments: tuple[str, Any],
    block: int = 32,
    grid: int = 1,
    lengths: tuple[int, int] = (256, 1280),
    shared_out: int = 1,
    shared_bytes: int = 0,
    modelled: bool = True,
) -> Microbenchmark:
    """Cycles for each step: the slowest warp's time with many steps less that with few; ``shared_out`` among so many warps."""
    warps = grid * max(1, block // 32)
    work = (lengths[1] - lengths[0]) * shared_out
    names = [f"{name}.{steps}" for steps in lengths]

    def launches() -> list[Launch]:
        given = ([("u32", steps) if one == STEPS else one for one in arguments] for steps in lengths)
        shape: dict[str, Any] = {"grid": grid, "block": block, "shared_bytes": shared_bytes}
        out = 2 * max(2, warps)
        return [launch(source, one, kernel, out, *some, **shape) for one, some in zip(names, given, strict=True)]

    def read(outputs: Outputs) -> list[Reading]:
        short, long = (outputs[one][:, : 2 * warps : 2].max(axis=1).min() for one in names)
        return [Reading(name, float(int(long) - int(short)) / work, "cycles", what)]

    terms = ((1, names[1], None), (-1, names[0], None))
    return Microbenchmark(name, launches, read, ModelRun(name, terms, work) if modelled else None)


def sectors_per_step(
    source: str, name: str, kernel: str, what: str, *arguments: tuple[str, Any], counter: str, grid: int = SMS
) -> Microbenchmark:
    """Sectors that L2 sees for each step of a warp, 8 warps on so many SMs; what the warps store at their end is not in it."""
    warps = COUNTED_WARPS * grid

    def launches() -> list[Launch]:
        given = [("u32", COUNTED_STEPS) if one == STEPS else one for one in arguments]
        block = 32 * COUNTED_WARPS
        return [launch(source, name, kernel, 2 * warps, *given, block=block, grid=grid, repeats=1, counted="l2")]

    def read(outputs: Outputs) -> list[Reading]:
        sectors = float(outputs[f"{name}/{SECTORS}"].min()) - warps
        return [Reading(f"{name}.sectors", sectors / warps / COUNTED_STEPS, "sectors", f"sectors at L2 for {what}, {grid} SMs")]

    run = ModelRun(f"{name}.sectors", ((1, name, None),), warps * COUNTED_STEPS, counter=counter)
    return Microbenchmark(name, launches, read, run)
