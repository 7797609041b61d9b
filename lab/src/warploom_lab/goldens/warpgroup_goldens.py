"""Runs every case of `warpgroup_cases.py` on a real GPU of compute capability 9.0 and stores its answers as ``warpgroups.npz``.

    warploom-lab warpgroup-goldens --out FOLDER

Needs NumPy, CuPy and nvcc. A case that the GPU refuses is named and left out.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
import tempfile
from pathlib import Path

import cupy
import numpy as np
from cupy.cuda import runtime

from warploom_lab.goldens.warpgroup_cases import IMAGE_BYTES, THREADS, WarpgroupCase, warpgroup_cases


def compiled(source: str) -> cupy.RawModule:
    """A module for sm_90a, by nvcc."""
    with tempfile.TemporaryDirectory() as folder:
        file, cubin = Path(folder) / "cases.cu", Path(folder) / "cases.cubin"
        file.write_text(source, encoding="utf-8")
        subprocess.run(["nvcc", "-cubin", "-arch=sm_90a", "-w", "-o", str(cubin), str(file)], check=True)
        module = cupy.RawModule(path=str(cubin))
        module.compile()
        return module


def run(case: WarpgroupCase, module: cupy.RawModule) -> np.ndarray:
    """The accumulators after the product."""
    image, registers, accumulators = map(cupy.asarray, case.inputs())
    out = cupy.zeros_like(accumulators)
    a = case.a.bits if case.a is not None else 0
    arguments = (image, registers, accumulators, out, np.uint64(a), np.uint64(case.b.bits), np.int32(case.adds))
    module.get_function(case.kernel)((case.blocks,), (THREADS,), arguments, shared_mem=IMAGE_BYTES + 1024)
    runtime.deviceSynchronize()
    return cupy.asnumpy(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to")
    asked = parser.parse_args()
    found: dict[str, np.ndarray] = {}
    module = compiled("".join({case.kernel: case.source for case in warpgroup_cases()}.values()))
    for case in warpgroup_cases():
        try:
            found[case.name] = run(case, module)
        except Exception as problem:
            print(f"refused: {case.name}: {problem}", flush=True)
    device = runtime.getDeviceProperties(0)["name"].decode()
    found["about"] = np.array([device, datetime.date.today().isoformat()])
    np.savez_compressed(asked.out / "warpgroups.npz", **found)  # type: ignore[arg-type]
    print(f"{len(found) - 1} answers on {device}")


if __name__ == "__main__":
    main()
