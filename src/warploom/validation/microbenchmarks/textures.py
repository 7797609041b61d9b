"""The texture unit: latency, rate by pattern of lanes and filter, which texels come together; the kernels are in textures.cu."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from warploom.validation.microbenchmarks.benchmark import Launch, Microbenchmark, ModelRun, Outputs, Reading

PATTERNS = {"one": 0, "row": 32, "block": 8, "column": 1}  # lanes in a row before the next row begins
WARPS = (1, 4, 32)
SIDES = (16, 64, 128, 256, 512, 1024)
NEAR = 100  # cycles beyond the nearest texel within which another has come with it
TEXELS = {"f32": (2048, 2048), "f32x2": (2048, 2048, 2), "f32x4": (2048, 2048, 4)}


@functools.cache
def cubin() -> bytes:
    """The machine code of textures.cu."""
    from warploom.sass.module import from_cuda

    source = Path(__file__).parent / "textures.cu"
    return from_cuda(source.read_text(encoding="utf-8"), source.name, "sm_90").make(None)


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    for linear in (False, True):
        how = "linear" if linear else "point"
        for texels, channels in (("f32", ()), ("f32x4", (4,))):
            image = _texture((128, 128, *channels), linear)
            for pattern, across in PATTERNS.items():
                about = f"a {how} fetch of {texels} texels, lanes of a warp in the pattern {pattern}"
                name = f"{how}.{texels}.{pattern}"
                yield _per_step(
                    f"texture.latency.{name}", "chase_2d", f"cycles of {about}, and the next that needs it", image, across
                )
                for warps in WARPS:
                    what = f"cycles of the SM for {about}, {warps} warps"
                    yield _per_step(f"texture.flood.{name}.{warps}w", "flood_2d", what, image, across, warps=warps)
        line, about = _texture((4096,), linear), f"a {how} fetch of a 1D texture, lanes in a row"
        yield _per_step(f"texture.latency.{how}.1d", "chase_1d", f"cycles of {about}, and the next that needs it", line, 32)
        yield _per_step(f"texture.flood.{how}.1d.32w", "flood_1d", f"cycles of the SM for {about}, 32 warps", line, 32, warps=32)
    for side in SIDES:
        what = f"cycles of a step with a point fetch that needs the one before, over {side} x {side} f32 texels, every fourth"
        yield _per_step(f"texture.over.{side}", "chase_over", what, _texture((side, side), False), 0, ("u32", side))
    for texels, shape in TEXELS.items():
        yield _together(texels, shape)


def _texture(shape: tuple[int, ...], linear: bool) -> tuple[str, Any]:
    return "texture", {"shape": shape, "linear": linear}


def _per_step(
    name: str, kernel: str, what: str, texture: tuple[str, Any], across: int, *more: tuple[str, Any], warps: int = 1
) -> Microbenchmark:
    """Cycles for each step: the slowest warp's time with many steps less that with few, shared out among the warps."""
    lengths = 256, 1280
    names = [f"{name}.{steps}" for steps in lengths]
    work = (lengths[1] - lengths[0]) * warps

    def launches() -> list[Launch]:
        given = [(("out", 2 * max(2, warps)), texture, ("u32", across), ("u32", steps), *more) for steps in lengths]
        return [Launch(one, cubin(), 1, 32 * warps, some, kernel=kernel) for one, some in zip(names, given, strict=True)]

    def read(outputs: Outputs) -> list[Reading]:
        short, long = (outputs[one][:, : 2 * warps : 2].max(axis=1).min() for one in names)
        return [Reading(name, float(int(long) - int(short)) / work, "cycles", what)]

    return Microbenchmark(name, launches, read, ModelRun(name, ((1, names[1], None), (-1, names[0], None)), work))


def _together(texels: str, shape: tuple[int, ...]) -> Microbenchmark:
    """Which texels of a square come with the one at its corner."""
    name = f"texture.together.{texels}"

    def launches() -> list[Launch]:
        given = ("out", 1024), _texture(shape, False)
        return [Launch(name, cubin(), 1, 1, given, kernel="together", repeats=1)]

    def read(outputs: Outputs) -> list[Reading]:
        times = outputs[name][0].astype(np.int64).reshape(32, 32)
        near = times < times[1:].min() + NEAR  # the first row has the code's first coming in it
        where = f"{texels} texels that are in L1 once the corner of their square has been fetched"
        return [
            Reading(f"{name}.across", float(near[0].sum()), "texels", f"{where}: in the corner's row"),
            Reading(f"{name}.down", float(near[:, 0].sum()), "texels", f"{where}: in the corner's column"),
            Reading(f"{name}.all", float(near.sum()), "texels", f"{where}: in 32 x 32"),
        ]

    return Microbenchmark(name, launches, read)
