"""Runs every kernel of `modern_cases.py` on a real GPU of compute capability 9.0 and stores what it wrote as ``modern.npz``.

    warploom-lab modern-goldens --out FOLDER

Needs NumPy, CuPy and nvcc with the headers of CUDA's toolkit. A kernel that fails is named and left out.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cupy
import numpy as np
from cupy.cuda import runtime

from warploom_lab.goldens.modern_cases import BLOCKS, NAMES, THREADS, given, source, start


def compiled(name: str, folder: Path) -> Path | None:
    """A cubin for sm_90, by nvcc."""
    file, cubin = folder / f"{name}.cu", folder / f"{name}.cubin"
    file.write_text(source(name), encoding="utf-8")
    command = ["nvcc", "-std=c++17", "-cubin", "-arch=sm_90", "-w", "-o", str(cubin), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"refused: {name}: {done.stderr.strip()[:300]}", flush=True)
    return None if done.returncode else cubin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to")
    asked = parser.parse_args()
    found: dict[str, np.ndarray] = {}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as pool:
        cubins = list(pool.map(lambda name: compiled(name, Path(folder)), NAMES))
        for name, cubin in zip(NAMES, cubins, strict=True):
            if cubin is None:
                continue
            try:
                words, out = cupy.asarray(given()), cupy.asarray(start())
                cupy.RawModule(path=str(cubin)).get_function(name)((BLOCKS,), (THREADS,), (words, out))
                runtime.deviceSynchronize()
                found[name] = cupy.asnumpy(out)
            except Exception as problem:
                print(f"refused: {name}: {problem}", flush=True)
    device = runtime.getDeviceProperties(0)["name"].decode()
    found["about"] = np.array([device, datetime.date.today().isoformat()])
    np.savez_compressed(asked.out / "modern.npz", **found)  # type: ignore[arg-type]
    print(f"{len(found) - 1} of {len(NAMES)} kernels on {device}")


if __name__ == "__main__":
    main()
