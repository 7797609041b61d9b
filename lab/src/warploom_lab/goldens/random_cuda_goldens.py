"""Runs random CUDA kernels on a real GPU and keeps a digest of each one's output: ``random_cuda.json``.

    warploom-lab random-cuda-goldens --seeds 600 --include CUDA/include --out FOLDER

Needs NumPy and CuPy. The digest of a seed's source stands beside that of its output, so that a changed generator is noticed.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
from pathlib import Path

import cupy
from cupy.cuda import runtime

from warploom_lab.goldens.random_cuda import BLOCK, BLOCKS, RandomKernel, random_kernel


def run(kernel: RandomKernel, include: Path) -> bytes:
    """What the GPU stores."""
    words, empty = kernel.arguments()
    source, out = cupy.asarray(words), cupy.asarray(empty)
    options = ("--std=c++17", f"-I{include}")
    function = cupy.RawModule(code=kernel.source, options=options).get_function("k")
    function((BLOCKS,), (BLOCK,), (source, out))
    runtime.deviceSynchronize()
    return cupy.asnumpy(out).tobytes()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=600)
    parser.add_argument("--include", type=Path, required=True, help="the folder of cuda_fp16.h")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    rows = {}
    for seed in range(asked.seeds):
        kernel = random_kernel(seed)
        rows[seed] = {
            "source": hashlib.sha256(kernel.source.encode()).hexdigest()[:16],
            "output": hashlib.sha256(run(kernel, asked.include)).hexdigest()[:16],
            "features": sorted(kernel.features),
        }
    device = runtime.getDeviceProperties(0)["name"].decode()
    about = {"device": device, "date": datetime.date.today().isoformat(), "runtime": runtime.runtimeGetVersion(), "kernels": rows}
    (asked.out / "random_cuda.json").write_text(json.dumps(about) + "\n")
    print(f"{len(rows)} kernels on {device}")


if __name__ == "__main__":
    main()
