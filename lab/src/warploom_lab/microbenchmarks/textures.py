"""The texture unit: latency, rate by pattern of lanes and filter, which texels come together; the kernels are in textures.cu."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from warploom.studies.validate.benchmark import Launch, Microbenchmark, Outputs, Reading
from warploom_lab.microbenchmarks.steps import STEPS, launch, per_step

PATTERNS = {"one": 0, "row": 32, "block": 8, "column": 1}  # lanes in a row before the next row begins
WARPS = (1, 4, 32)
SIDES = (16, 64, 128, 256, 512, 1024)
NEAR = 100  # cycles beyond the nearest texel within which another has come with it
TEXELS = {"f32": (2048, 2048), "f32x2": (2048, 2048, 2), "f32x4": (2048, 2048, 4)}


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    for linear in (False, True):
        how = "linear" if linear else "point"
        for texels, channels, which in (("f32", (), ""), ("f32x4", (4,), ""), ("f32x4.all", (4,), "_all")):
            image = _texture((128, 128, *channels), linear)
            for pattern, across in PATTERNS.items():
                about = f"a {how} fetch of {texels} texels, lanes of a warp in the pattern {pattern}"
                name = f"{how}.{texels}.{pattern}"
                yield _fetches(
                    f"texture.latency.{name}", f"chase_2d{which}", f"cycles of {about}, and the next that needs it", image, across
                )
                for warps in WARPS:
                    what = f"cycles of the SM for {about}, {warps} warps"
                    yield _fetches(f"texture.flood.{name}.{warps}w", f"flood_2d{which}", what, image, across, warps=warps)
        line, about = _texture((4096,), linear), f"a {how} fetch of a 1D texture, lanes in a row"
        yield _fetches(f"texture.latency.{how}.1d", "chase_1d", f"cycles of {about}, and the next that needs it", line, 32)
        yield _fetches(f"texture.flood.{how}.1d.32w", "flood_1d", f"cycles of the SM for {about}, 32 warps", line, 32, warps=32)
    for side in SIDES:
        what = f"cycles of a step with a point fetch that needs the one before, over {side} x {side} f32 texels, every fourth"
        yield _fetches(f"texture.over.{side}", "chase_over", what, _texture((side, side), False), 0, ("u32", side))
    for texels, shape in TEXELS.items():
        yield _together(texels, shape)


def _texture(shape: tuple[int, ...], linear: bool) -> tuple[str, Any]:
    return "texture", {"shape": shape, "linear": linear}


def _fetches(
    name: str, kernel: str, what: str, texture: tuple[str, Any], across: int, *more: tuple[str, Any], warps: int = 1
) -> Microbenchmark:
    given = texture, ("u32", across), STEPS, *more
    return per_step("textures.cu", name, kernel, what, *given, block=32 * warps, shared_out=warps)


def _together(texels: str, shape: tuple[int, ...]) -> Microbenchmark:
    """Which texels of a square come with the one at its corner."""
    name = f"texture.together.{texels}"

    def launches() -> list[Launch]:
        return [launch("textures.cu", name, "together", 1024, _texture(shape, False), block=1, repeats=1)]

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
