"""Runs every case of `feature_cases.py` on a real GPU and stores its answers as ``features.npz``.

    warploom-lab feature-goldens --out FOLDER

Needs NumPy and CuPy. Of each case the file has the arrays and surfaces after the launch, in the order of the arguments, and the
text that was printed.
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import tempfile
from pathlib import Path

import cupy
import numpy as np
from cupy.cuda import runtime, texture

from warploom_lab.goldens.feature_cases import SOURCE, Case, Image, cases

_LAYERED, _SURFACE, _GATHER = 1, 2, 8  # cudaArray flags
_ADDRESSES = {
    "clamp": runtime.cudaAddressModeClamp,
    "wrap": runtime.cudaAddressModeWrap,
    "border": runtime.cudaAddressModeBorder,
}


class Made:
    """A CUDA array with the texture or surface over it."""

    def __init__(self, image: Image) -> None:
        values = image.values
        channels = values.shape[2] if values.ndim == 3 and not image.layered else 1
        descriptor = texture.ChannelFormatDescriptor(
            *(32 if n < channels else 0 for n in range(4)), runtime.cudaChannelFormatKindFloat
        )
        extents = values.shape[:2] if channels > 1 else values.shape
        flags = _LAYERED * image.layered | _SURFACE * image.surface | _GATHER * image.gather
        self.array = texture.CUDAarray(descriptor, *extents[::-1], flags=flags)
        self.shape = (*extents[:-1], extents[-1] * channels)
        self.array.copy_from(np.ascontiguousarray(values.reshape(self.shape)))
        resource = texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=self.array)
        if image.surface:
            self.object = texture.SurfaceObject(resource)
            return
        how = texture.TextureDescriptor(
            (_ADDRESSES[image.address],) * 3,
            runtime.cudaFilterModeLinear if image.linear else runtime.cudaFilterModePoint,
            runtime.cudaReadModeElementType,
            normalizedCoords=int(image.normalized),
        )
        self.object = texture.TextureObject(resource, how)

    def get(self) -> np.ndarray:
        """What the surface holds now."""
        out = np.empty(self.shape, np.float32)
        self.array.copy_to(out)
        return out


def run(case: Case, module: cupy.RawModule) -> tuple[list[np.ndarray], bytes]:
    """What is in memory after the launch, and what was printed."""
    given: list[object] = []
    for argument in case.arguments:
        if isinstance(argument, Image):
            given.append(Made(argument))
        else:
            given.append(cupy.asarray(argument) if isinstance(argument, np.ndarray) else argument)
    passed = tuple(np.uint64(each.object.ptr) if isinstance(each, Made) else each for each in given)
    with tempfile.TemporaryFile() as caught:
        kept = os.dup(1)
        sys.stdout.flush()
        os.dup2(caught.fileno(), 1)
        try:
            module.get_function(case.kernel)((case.grid,), (case.block,), passed)
            runtime.deviceSynchronize()
        finally:
            os.dup2(kept, 1)
            os.close(kept)
        caught.seek(0)
        text = caught.read()
    after = []
    for argument, each in zip(case.arguments, given, strict=True):
        if isinstance(each, Made):
            after += [each.get()] if isinstance(argument, Image) and argument.surface else []
        elif isinstance(each, cupy.ndarray):
            after.append(cupy.asnumpy(each))
    return after, text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to")
    asked = parser.parse_args()
    module = cupy.RawModule(code=SOURCE, options=("--std=c++17",))
    found: dict[str, np.ndarray] = {}
    for case in cases():
        try:
            after, text = run(case, module)
        except Exception as problem:
            print(f"refused: {case.name}: {problem}", flush=True)
            continue
        for number, array in enumerate(after):
            found[f"{case.name}/{number}"] = array
        if case.prints:
            found[f"{case.name}/text"] = np.frombuffer(text, np.uint8)
    device = runtime.getDeviceProperties(0)["name"].decode()
    found["about"] = np.array([device, datetime.date.today().isoformat()])
    np.savez_compressed(asked.out / "features.npz", **found)  # type: ignore[arg-type]
    print(f"{len(cases())} cases on {device}")


if __name__ == "__main__":
    main()
