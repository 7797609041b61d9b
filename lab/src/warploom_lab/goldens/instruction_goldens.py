"""Runs every case of `instruction_cases.py` on a real GPU and stores its answers: ``instructions.npz`` and ``instructions.json``.

    warploom-lab instruction-goldens --out FOLDER

Needs NumPy and CuPy. A spelling that the driver refuses is named in the JSON file and left out. The cases run in a process of
their own: a launch that fails spoils a CUDA context for good, so after one the rest runs in a new process.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import cupy
import numpy as np
from cupy.cuda import runtime, texture

from warploom_lab.goldens.instruction_cases import Case, cases, digest


def _texture(case: Case) -> texture.TextureObject:
    """A CUDA texture object as the case describes it."""
    wanted, texels = case.texture, case.texels
    assert wanted is not None and texels is not None
    kind = {
        "f4": runtime.cudaChannelFormatKindFloat,
        "i4": runtime.cudaChannelFormatKindSigned,
        "u4": runtime.cudaChannelFormatKindUnsigned,
    }[wanted.dtype]
    dimensions = 1 if wanted.fetch else len(case.inputs)
    channels = texels.shape[dimensions] if texels.ndim > dimensions else 1
    channel = texture.ChannelFormatDescriptor(*(32 if n < channels else 0 for n in range(4)), kind)
    if wanted.fetch:
        data = cupy.asarray(texels)
        resource = texture.ResourceDescriptor(runtime.cudaResourceTypeLinear, arr=data, chDesc=channel, sizeInBytes=data.nbytes)
        return texture.TextureObject(resource, texture.TextureDescriptor((runtime.cudaAddressModeClamp,)))
    shape = texels.shape[:dimensions]
    array = texture.CUDAarray(channel, *shape[::-1])
    array.copy_from(np.ascontiguousarray(texels.reshape(*shape[:-1], shape[-1] * channels)))
    resource = texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=array)
    address = {
        "clamp": runtime.cudaAddressModeClamp,
        "wrap": runtime.cudaAddressModeWrap,
        "border": runtime.cudaAddressModeBorder,
    }[wanted.address]
    descriptor = texture.TextureDescriptor(
        (address,) * 3,
        runtime.cudaFilterModeLinear if wanted.linear else runtime.cudaFilterModePoint,
        runtime.cudaReadModeElementType,
        normalizedCoords=int(wanted.normalized),
    )
    return texture.TextureObject(resource, descriptor)


def run(case: Case, folder: Path) -> bytes:
    """The case's outputs, then the inputs that it changes, as one string of bytes."""
    path = folder / f"{digest(case)}.ptx"  # CuPy remembers modules by their path: each needs one of its own
    path.write_text(case.ptx)
    function = cupy.RawModule(path=str(path)).get_function("k")
    inputs = [cupy.asarray(array) for array in case.inputs]
    outputs = [cupy.zeros(length, dtype) for dtype, length in case.outputs]
    arguments: list[object] = [*inputs, *outputs]
    sampler = None
    if case.texture is not None:
        sampler = _texture(case)
        arguments.append(np.uint64(sampler.ptr))
    function((case.grid,), case.block, tuple(arguments))
    runtime.deviceSynchronize()
    del sampler
    changed = [inputs[index] for index in case.in_place]
    return b"".join(cupy.asnumpy(array).tobytes() for array in [*outputs, *changed])


def work(first: int, folder: Path) -> None:
    """Run the cases from a number on, one result file each, until a launch fails."""
    for number, case in enumerate(cases()[first:], first):
        try:
            result = run(case, folder)
        except Exception as error:
            (folder / f"{number}.error").write_text(" ".join(str(error).split())[:300])
            try:
                runtime.deviceSynchronize()
            except runtime.CUDARuntimeError:
                sys.exit(1)
            continue
        (folder / f"{number}.part").write_bytes(result)
        (folder / f"{number}.part").rename(folder / f"{number}.result")


def run_all(count: int, folder: Path) -> None:
    """Have every case answered or refused, whatever happens to the processes that run them."""
    while True:
        open_cases = [n for n in range(count) if not any((folder / f"{n}.{end}").exists() for end in ("result", "error"))]
        if not open_cases:
            return
        try:
            subprocess.run([sys.executable, __file__, "--work", str(open_cases[0]), "--out", str(folder)], timeout=100)
        except subprocess.TimeoutExpired:
            hung = next(n for n in open_cases if not any((folder / f"{n}.{end}").exists() for end in ("result", "error")))
            (folder / f"{hung}.error").write_text("did not end")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to")
    parser.add_argument("--work", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder: Path = options.out
    folder.mkdir(parents=True, exist_ok=True)
    if options.work is not None:
        work(options.work, folder)
        return
    names, chunks, digests, refused = [], [], [], {}
    with tempfile.TemporaryDirectory() as scratch:
        everything = cases()
        run_all(len(everything), Path(scratch))
        for number, case in enumerate(everything):
            problem = Path(scratch, f"{number}.error")
            if problem.exists():
                refused[case.name] = problem.read_text()
                print(f"refused: {case.name}: {refused[case.name]}", flush=True)
                continue
            names.append(case.name)
            chunks.append(np.frombuffer(Path(scratch, f"{number}.result").read_bytes(), "u1"))
            digests.append(digest(case))
    ends = np.cumsum([len(chunk) for chunk in chunks])
    np.savez_compressed(
        folder / "instructions.npz",
        names=np.array(names),
        digests=np.array(digests),
        ends=ends,
        data=np.concatenate(chunks),
    )
    properties = runtime.getDeviceProperties(0)
    about = {
        "device": properties["name"].decode(),
        "compute_capability": f"{properties['major']}.{properties['minor']}",
        "driver": runtime.driverGetVersion(),
        "runtime": runtime.runtimeGetVersion(),
        "cupy": cupy.__version__,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "cases": len(names),
        "refused": refused,
    }
    (folder / "instructions.json").write_text(json.dumps(about, indent=2) + "\n")
    print(f"{len(names)} cases stored, {len(refused)} refused")


if __name__ == "__main__":
    main()
