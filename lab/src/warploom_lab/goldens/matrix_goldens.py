"""Measures how tensor cores add: products of random and of awkward matrices on a real GPU, kept as ``matrices.npz``.

    warploom-lab matrix-goldens --out FOLDER

Needs NumPy and CuPy. For each instruction the file has the registers of A, B and the addend that every lane brings, and those of
the result; `tests/emulator/sass/test_matrix_goldens.py` compares them with the emulator's rule bit for bit. The awkward inputs
tell rules apart: large terms that cancel with small ones beside them (how many bits are kept, how many products at a time), sums
halfway between two numbers (cut off or rounded), subnormal numbers, infinities, zeros of both signs.
"""

from __future__ import annotations

import argparse
import datetime
from pathlib import Path

import cupy
import numpy as np
from cupy.cuda import runtime

WARPS = 512  # products of each instruction; the first half is random, the second awkward
OPCODES = {  # registers of A, B and the result; bits of an element; whether the result is f32
    "m16n8k8.row.col.f32.f16.f16.f32": (2, 1, 4, "f16", True),
    "m16n8k16.row.col.f32.f16.f16.f32": (4, 2, 4, "f16", True),
    "m16n8k16.row.col.f16.f16.f16.f16": (4, 2, 2, "f16", False),
    "m16n8k16.row.col.f32.bf16.bf16.f32": (4, 2, 4, "bf16", True),
    "m16n8k8.row.col.f32.tf32.tf32.f32": (4, 2, 4, "tf32", True),
}


def source(opcode: str, a: int, b: int, c: int, single: bool) -> str:
    """One warp for each product; register n of lane l of warp w lies at word (w * registers + n) * 32 + l."""
    letter, kind, cast = ("f", "float", "__uint_as_float") if single else ("r", "unsigned", "")
    back = "__float_as_uint" if single else ""
    names = [*(f"%{n}" for n in range(c)), *(f"%{c + n}" for n in range(a + b))]
    groups = [names[:c], names[c : c + a], names[c + a :], names[:c]]
    text = ", ".join("{" + ", ".join(group) + "}" for group in groups)
    outputs = ", ".join(f'"+{letter}"(c[{n}])' for n in range(c))
    inputs = ", ".join([*(f'"r"(a[{n}])' for n in range(a)), *(f'"r"(b[{n}])' for n in range(b))])
    return f"""
extern "C" __global__ void k(const unsigned* A, const unsigned* B, const unsigned* C, unsigned* D) {{
    unsigned lane = threadIdx.x, warp = blockIdx.x, a[{a}], b[{b}];
    {kind} c[{c}];
    for (int n = 0; n < {a}; n++) a[n] = A[(warp * {a} + n) * 32 + lane];
    for (int n = 0; n < {b}; n++) b[n] = B[(warp * {b} + n) * 32 + lane];
    for (int n = 0; n < {c}; n++) c[n] = {cast}(C[(warp * {c} + n) * 32 + lane]);
    asm volatile("mma.sync.aligned.{opcode} {text};" : {outputs} : {inputs});
    for (int n = 0; n < {c}; n++) D[(warp * {c} + n) * 32 + lane] = {back}(c[n]);
}}
"""


def numbers(rng: np.random.Generator, count: int, element: str) -> np.ndarray:
    """Words of elements: normal numbers in the first half, in the second powers of two, few bits, signs, specials."""
    each = 1 if element == "tf32" else 2
    half = count * each // 2
    plain = rng.normal(0, 1, half)
    awkward = (
        rng.choice([1.0, -1.0], half) * 2.0 ** rng.integers(-14, 12, half) * rng.choice([1.0, 1.5, 1 + 2**-7, 1 + 2**-10], half)
    )
    awkward[rng.random(half) < 0.3] = 0.0
    awkward[rng.random(half) < 0.02] = 2.0**-24
    awkward[rng.random(half) < 0.001] = np.inf
    values = np.concatenate([plain, awkward])
    if element == "f16":
        return values.astype(np.float16).view(np.uint32)
    bits = values.astype(np.float32).view(np.uint32)
    return bits if element == "tf32" else (bits >> 16).astype(np.uint16).view(np.uint32)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    found: dict[str, np.ndarray] = {}
    for seed, (opcode, (a, b, c, element, single)) in enumerate(OPCODES.items()):
        rng = np.random.default_rng(seed)
        operands = [numbers(rng, WARPS * n * 32, element) for n in (a, b)]
        operands.append(numbers(rng, WARPS * c * 32, "tf32" if single else "f16"))
        out = cupy.zeros(WARPS * c * 32, cupy.uint32)
        kernel = cupy.RawKernel(source(opcode, a, b, c, single), "k", options=("--std=c++17",))
        kernel((WARPS,), (32,), (*map(cupy.asarray, operands), out))
        runtime.deviceSynchronize()
        for name, words in zip("abcd", (*operands, cupy.asnumpy(out)), strict=True):
            found[f"{opcode}/{name}"] = words.reshape(WARPS, -1, 32)
    device = runtime.getDeviceProperties(0)["name"].decode()
    found["about"] = np.array([device, datetime.date.today().isoformat()])
    np.savez_compressed(asked.out / "matrices.npz", **found)  # type: ignore[arg-type]
    print(f"{len(OPCODES)} instructions, {WARPS} products each, on {device}")


if __name__ == "__main__":
    main()
