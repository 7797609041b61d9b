"""Records what the special-function unit (MUFU) of a real GPU answers over whole intervals of numbers: ``functions.npz``.

    warploom-lab function-goldens --out FOLDER [--every 16]

Needs NumPy and CuPy. The emulator rounds these functions correctly; hardware is a unit or two off for one input in ten (RCP) to
two in five (LG2), and TANH by a hundred units, which shows where a program compares what it made of them. Hardware interpolates
between the entries of a table, so a model of it needs answers to many neighbouring inputs in each of the table's intervals. The
cases of `instruction_cases.py` have some 200 different inputs of each function and are too few.

The file has for each function and interval (``RANGES``) the answers to every n-th number (``every``): the bits of the first
one, then by how much those of each next one differ, which packs well. `read_answers` gives inputs and answers back.
"""

from __future__ import annotations

import argparse
import datetime
from pathlib import Path

import numpy as np

# From each number up to the next one's place. Where only the exponent of the answer changes with that of the input, one interval
# is enough; others tell how bits of the input are cut off, or how small results are scaled.
RANGES = {
    "rcp.approx.ftz.f32": ((1.0, 2.0),),
    "rsqrt.approx.ftz.f32": ((1.0, 4.0),),
    "sqrt.approx.ftz.f32": ((1.0, 4.0),),
    "ex2.approx.ftz.f32": ((2.0**-10, 2.0), (-2.0, -(2.0**-10)), (16.0, 32.0), (-126.0, -64.0)),
    "lg2.approx.ftz.f32": ((0.25, 4.0), (1024.0, 2048.0)),
    "sin.approx.ftz.f32": ((2.0**-10, 8.0), (-8.0, -(2.0**-10))),  # two instructions: the input in turns (FMUL.RZ), then MUFU
    "cos.approx.ftz.f32": ((2.0**-10, 8.0),),
    "tanh.approx.f32": ((2.0**-14, 16.0),),
}


def inputs(first: float, end: float, every: int) -> np.ndarray:
    """Every n-th number from the first on, towards the end and without it."""
    low, high = np.array([first, end], np.float32).view(np.int32).tolist()
    step = every if high > low else -every  # the bits of negative numbers count the other way
    return np.arange(low, high, step, dtype=np.int32).view(np.float32)


def packed(answers: np.ndarray) -> np.ndarray:
    """The bits of the first answer, then the differences from one to the next."""
    return np.diff(answers.view(np.int32), prepend=np.int32(0))


def unpacked(stored: np.ndarray) -> np.ndarray:
    """The answers that `packed` was given."""
    return np.cumsum(stored, dtype=np.int32).view(np.float32)


def read_answers(file: Path) -> dict[str, list[tuple[np.ndarray, np.ndarray]]]:
    """Of each function, inputs and answers of its intervals."""
    with np.load(file) as stored:
        every = int(stored["every"])
        return {
            name: [(inputs(*one, every), unpacked(stored[f"{name}/{place}"])) for place, one in enumerate(intervals)]
            for name, intervals in RANGES.items()
        }


def record(every: int) -> dict[str, np.ndarray]:
    """Ask the GPU."""
    import cupy

    found: dict[str, np.ndarray] = {}
    for name, intervals in RANGES.items():
        source = f"""
extern "C" __global__ void k(const float* x, float* y, int count) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) asm volatile("{name} %0, %1;" : "=f"(y[i]) : "f"(x[i]));
}}
"""
        kernel = cupy.RawKernel(source, "k")
        for place, one in enumerate(intervals):
            given = cupy.asarray(inputs(*one, every))
            answers = cupy.empty_like(given)
            kernel((-(-len(given) // 256),), (256,), (given, answers, np.int32(len(given))))
            found[f"{name}/{place}"] = packed(cupy.asnumpy(answers))
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    found["about"] = np.array([properties["name"].decode(), datetime.datetime.now(datetime.UTC).date().isoformat()])
    return found


def main() -> None:
    """Record and store."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--every", type=int, default=16, help="1 has all numbers, some hundred megabytes before they are packed")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    found = record(given.every)
    np.savez_compressed(given.out / "functions.npz", every=np.int64(given.every), **found)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
