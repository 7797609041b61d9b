"""Runs every case of `warpgroup_cases.py` on a real GPU of compute capability 9.0 and stores its answers as ``warpgroups.npz``.

    python3 scripts/warpgroup_goldens.py --out FOLDER

Needs NumPy, CuPy and nvcc. A case that the GPU refuses is named and left out. Of tensor maps the file also has the 128 bytes that
the driver makes of each (``NAME/map``).
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import subprocess
import sys
import tempfile
from pathlib import Path

import cupy
import numpy as np
from cupy.cuda import runtime

sys.path.insert(0, str(Path(__file__).parent))
from warpgroup_cases import (
    IMAGE_BYTES,
    REDUCTIONS,
    TENSOR_SOURCE,
    THREADS,
    TensorCase,
    WarpgroupCase,
    tensor_cases,
    warpgroup_cases,
)

ELEMENTS = {  # CUtensorMapDataType
    name: number
    for number, name in enumerate(
        ("uint8", "uint16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64", "bfloat16")
    )
}


def compiled(source: str) -> cupy.RawModule:
    """A module for sm_90a, by nvcc."""
    with tempfile.TemporaryDirectory() as folder:
        file, cubin = Path(folder) / "cases.cu", Path(folder) / "cases.cubin"
        file.write_text(source, encoding="utf-8")
        subprocess.run(["nvcc", "-cubin", "-arch=sm_90a", "-w", "-o", str(cubin), str(file)], check=True)
        module = cupy.RawModule(path=str(cubin))
        module.compile()
        return module


def run_warpgroup(case: WarpgroupCase, module: cupy.RawModule) -> np.ndarray:
    """The accumulators after the product."""
    image, registers, accumulators = map(cupy.asarray, case.inputs())
    out = cupy.zeros_like(accumulators)
    a = case.a.bits if case.a is not None else 0
    arguments = (image, registers, accumulators, out, np.uint64(a), np.uint64(case.b.bits), np.int32(case.adds))
    module.get_function(case.kernel)((case.blocks,), (THREADS,), arguments, shared_mem=IMAGE_BYTES + 1024)
    runtime.deviceSynchronize()
    return cupy.asnumpy(out)


def tensor_map(case: TensorCase, address: int) -> np.ndarray:
    """The 128 bytes that the driver makes of a description."""
    driver = ctypes.CDLL("libcuda.so.1")
    room = ctypes.create_string_buffer(192)
    start = -ctypes.addressof(room) % 64
    rank = len(case.sizes)
    sizes = (ctypes.c_uint64 * 5)(*case.sizes)
    strides = (ctypes.c_uint64 * 5)(*case.strides)
    box = (ctypes.c_uint32 * 5)(*case.box)
    steps = (ctypes.c_uint32 * 5)(*(case.steps or (1,) * rank))
    failed = driver.cuTensorMapEncodeTiled(
        ctypes.c_void_p(ctypes.addressof(room) + start),
        ctypes.c_int(ELEMENTS[case.element]),
        ctypes.c_uint32(rank),
        ctypes.c_void_p(address),
        sizes,
        strides,
        box,
        steps,
        ctypes.c_int(case.interleave),
        ctypes.c_int(case.swizzle),
        ctypes.c_int(0),
        ctypes.c_int(int(case.nan_outside)),
    )
    if failed:
        raise RuntimeError(f"cuTensorMapEncodeTiled answers {failed}")
    return np.frombuffer(room.raw[start : start + 128], np.uint8)


def run_tensor(case: TensorCase, module: cupy.RawModule) -> tuple[np.ndarray, np.ndarray]:
    """The tile that was loaded or the tensor after a store, and the map with the tensor at address 0."""
    words, tile = case.inputs()
    tensor = cupy.asarray(words)
    made = tensor_map(case, tensor.data.ptr)
    places = [np.int32(case.at[n] if n < len(case.at) else 0) for n in range(5)]
    rank, size = np.int32(len(case.sizes)), np.int32(case.box_bytes)
    shared = case.box_bytes + 2048
    given = made.view(np.dtype("V128"))[0]
    if case.kernel == "load":
        out = cupy.zeros(case.box_bytes // 4, cupy.uint32)
        module.get_function("load")((1,), (32,), (given, out, rank, size, *places), shared_mem=shared)
    else:
        out = tensor
        stored = cupy.asarray(tile)
        arguments = (given, stored, np.int32(REDUCTIONS[case.kernel]), rank, size, *places[:3])
        module.get_function("store")((1,), (32,), arguments, shared_mem=shared)
    runtime.deviceSynchronize()
    kept = made.copy()
    kept[:8] = 0  # the address
    return cupy.asnumpy(out), kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to")
    parser.add_argument("--only", choices=("products", "tensors"), help="one kind of case; an error spoils those after it")
    asked = parser.parse_args()
    found: dict[str, np.ndarray] = {}
    products, tensors = warpgroup_cases(), tensor_cases()
    if asked.only != "tensors":
        module = compiled("".join({case.kernel: case.source for case in products}.values()))
        for product in products:
            try:
                found[product.name] = run_warpgroup(product, module)
            except Exception as problem:
                print(f"refused: {product.name}: {problem}", flush=True)
    if asked.only != "products":
        module = compiled(TENSOR_SOURCE)
        for tensor in tensors:
            try:
                found[tensor.name], found[f"{tensor.name}/map"] = run_tensor(tensor, module)
            except Exception as problem:
                print(f"refused: {tensor.name}: {problem}", flush=True)
    device = runtime.getDeviceProperties(0)["name"].decode()
    found["about"] = np.array([device, datetime.date.today().isoformat()])
    name = {None: "warpgroups", "products": "warpgroups", "tensors": "tensors"}[asked.only]
    np.savez_compressed(asked.out / f"{name}.npz", **found)
    print(f"{len(found)} answers on {device}")


if __name__ == "__main__":
    main()
