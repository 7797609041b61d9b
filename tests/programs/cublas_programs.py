"""Products of matrices through cuBLAS's and cuBLASLt's own interfaces, beside NumPy. cublas_programs.py PART...

Memory is managed, so that NumPy's arrays lie on the device.
"""

from __future__ import annotations

import ctypes
import itertools
import sys
from ctypes import byref, c_double, c_float, c_int, c_int64, c_longlong, c_size_t, c_uint64, c_void_p

import numpy as np

CUDART, BLAS, LT = (ctypes.CDLL(name) for name in ("libcudart.so.13", "libcublas.so.13", "libcublasLt.so.13"))
LT.cublasLtGetVersion.restype = c_size_t
F32, F64, F16, I8, BF16 = 0, 1, 2, 3, 14
COMPUTE_F32, COMPUTE_I32 = 68, 72
N, T = 0, 1
RANDOM = np.random.default_rng(3)
worst = 0.0


def device(shape: tuple[int, ...], dtype: type = np.float32) -> np.ndarray:
    """Random numbers on the device, stored by columns; those of a batch as they are."""
    address = c_void_p()
    values = RANDOM.standard_normal(shape).astype(dtype)
    assert CUDART.cudaMallocManaged(byref(address), c_size_t(values.nbytes), 1) == 0
    place = (ctypes.c_char * values.nbytes).from_address(address.value)
    batch = values.ndim > 2
    array = np.frombuffer(place, dtype).reshape(shape if batch else shape[::-1])
    array = array if batch else array.T
    array[...] = values
    return array


def at(array: np.ndarray) -> c_void_p:
    """Where it is."""
    return c_void_p(array.ctypes.data)


def agree(got: np.ndarray, wanted: np.ndarray, tolerance: float) -> None:
    """No element may differ by more than a part of the largest."""
    global worst
    assert CUDART.cudaDeviceSynchronize() == 0
    difference = float(np.abs(got.astype(np.float64) - wanted).max() / np.abs(wanted).max()) / tolerance
    assert difference <= 1, (difference, got.ravel()[:4], wanted.ravel()[:4])
    worst = max(worst, difference)


def turned(array: np.ndarray, how: int) -> np.ndarray:
    """What the library sees, in 64 bits."""
    return (array.T if how else array).astype(np.float64)


def brain(array: np.ndarray) -> np.ndarray:
    """Numbers of which NumPy holds the 16 upper bits as integers, once all kernels have ended."""
    assert CUDART.cudaDeviceSynchronize() == 0
    return (array.astype(np.uint32) << 16).view(np.float32)


def as_brain(array: np.ndarray) -> None:
    """Random bf16 in place of what is there."""
    array[...] = (RANDOM.standard_normal(array.shape).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def handle() -> c_void_p:
    """A cuBLAS handle."""
    made = c_void_p()
    assert BLAS.cublasCreate_v2(byref(made)) == 0
    return made


def single() -> None:
    """Sgemm and Dgemm in all transpositions, with factors, in matrices wider than what is used, in tiles of both sizes."""
    blas, kinds = handle(), [(np.float32, c_float, "cublasSgemm_v2", 2e-6), (np.float64, c_double, "cublasDgemm_v2", 1e-14)]
    sizes = ((33, 70, 21), (130, 66, 5))
    for (dtype, factor, name, tolerance), ta, tb, (m, n, k) in itertools.product(kinds, (N, T), (N, T), sizes):
        a = device((k + 3, m) if ta else (m + 3, k), dtype)
        b = device((n + 4, k) if tb else (k + 4, n), dtype)
        c = device((m + 1, n), dtype)
        wanted = c.astype(np.float64)
        used_a, used_b = turned(a[: k if ta else m], ta), turned(b[: n if tb else k], tb)
        wanted[:m] = 1.5 * used_a @ used_b - 0.5 * wanted[:m]
        given = (at(a), len(a), at(b), len(b), byref(factor(-0.5)), at(c), len(c))
        assert getattr(BLAS, name)(blas, ta, tb, m, n, k, byref(factor(1.5)), *given) == 0
        agree(c, wanted, tolerance)


def wide() -> None:
    """Sizes that let 16 bytes be read at once, and a product without anything to add up."""
    blas, a, b, c = handle(), device((64, 48)), device((48, 64)), device((64, 64))
    wanted = turned(a, N) @ turned(b, N)
    c[...] = np.nan  # with a factor of zero it must not be read
    one, zero = c_float(1), c_float(0)
    assert BLAS.cublasSgemm_v2(blas, N, N, 64, 64, 48, byref(one), at(a), 64, at(b), 48, byref(zero), at(c), 64) == 0
    agree(c, wanted, 2e-6)
    assert BLAS.cublasSgemm_v2(blas, N, N, 64, 64, 0, byref(one), at(a), 64, at(b), 48, byref(one), at(c), 64) == 0
    agree(c, wanted, 2e-6)


def vectors() -> None:
    """Gemv in both directions with steps, and dot with its result here and there."""
    blas, a, x, y = handle(), device((20, 30)), device((60, 1)), device((90, 1))
    for how, rows, between in ((N, 20, 30), (T, 30, 20)):
        wanted = y.astype(np.float64)
        wanted[: 3 * rows : 3, 0] = 2 * turned(a, how) @ turned(x[: 2 * between : 2, 0], N) + wanted[: 3 * rows : 3, 0]
        given = (byref(c_float(2)), at(a), 20, at(x), 2, byref(c_float(1)), at(y), 3)
        assert BLAS.cublasSgemv_v2(blas, how, 20, 30, *given) == 0
        agree(y, wanted, 2e-6)
    result, there = c_float(), device((1, 1))
    wanted = np.array(turned(x[:40, 0], N) @ turned(y[:80:2, 0], N))
    assert BLAS.cublasSdot_v2(blas, 40, at(x), 1, at(y), 2, byref(result)) == 0
    agree(np.float32(result.value), wanted, 2e-6)
    assert BLAS.cublasSetPointerMode_v2(blas, 1) == 0
    assert BLAS.cublasSdot_v2(blas, 40, at(x), 1, at(y), 2, at(there)) == 0
    agree(there, wanted, 2e-6)


def tensors() -> None:
    """fp16 and bf16 on tensor cores, in all transpositions and both ways of reading, with results of both widths."""
    blas = handle()
    for kind, ta, tb, (m, n, k) in itertools.product((F16, BF16), (N, T), (N, T), ((64, 72, 40), (31, 37, 33), (72, 130, 70))):
        dtype = np.float16 if kind == F16 else np.uint16
        a, b = device((k, m) if ta else (m, k), dtype), device((n, k) if tb else (k, n), dtype)
        for out, tolerance in ((kind, 1e-3 if kind == F16 else 8e-3), (F32, 1e-6)):
            c = device((m, n), np.float32 if out == F32 else dtype)
            if kind == BF16:
                as_brain(a), as_brain(b)
            seen = (brain(a), brain(b)) if kind == BF16 else (a, b)
            wanted = turned(seen[0], ta) @ turned(seen[1], tb)
            given = (at(a), kind, len(a), at(b), kind, len(b), byref(c_float(0)), at(c), out, m)
            assert BLAS.cublasGemmEx(blas, ta, tb, m, n, k, byref(c_float(1)), *given, COMPUTE_F32, -1) == 0
            agree(brain(c) if out == BF16 else c, wanted, tolerance)


def batches() -> None:
    """Batches that lie apart by a step, and batches as lists of addresses."""
    blas, (count, m, n, k) = handle(), (5, 10, 12, 9)
    a, b, c = device((count, k, m)), device((count, n, k)), device((count, n, m))  # each matrix by columns
    wanted = np.einsum("bkm,bnk->bnm", a.astype(np.float64), b.astype(np.float64))
    steps = [c_longlong(rows * columns) for rows, columns in ((m, k), (k, n), (m, n))]
    given = (at(a), m, steps[0], at(b), k, steps[1], byref(c_float(0)), at(c), m, steps[2])
    assert BLAS.cublasSgemmStridedBatched(blas, N, N, m, n, k, byref(c_float(1)), *given, count) == 0
    agree(c, wanted, 2e-6)
    lists = []
    for array in (a[::-1], b[::-1], c):
        lists.append(device((count, 1), np.float64).view(np.uint64))
        lists[-1][:, 0] = [each.ctypes.data for each in array]
    given = (at(lists[0]), m, at(lists[1]), k, byref(c_float(0)), at(lists[2]), m)
    assert BLAS.cublasSgemmBatched(blas, N, N, m, n, k, byref(c_float(1)), *given, count) == 0
    agree(c, wanted[::-1], 2e-6)


def layout(kind: int, array: np.ndarray) -> c_void_p:
    """cuBLASLt's word for a matrix by columns."""
    made = c_void_p()
    rows, columns = array.shape
    assert LT.cublasLtMatrixLayoutCreate(byref(made), kind, c_uint64(rows), c_uint64(columns), c_int64(rows)) == 0
    return made


def described() -> None:
    """cublasLtMatmul with a bias and activations, adding one matrix and writing another, with factors on the device."""
    blas, m, n, k = c_void_p(), 64, 40, 24
    assert LT.cublasLtCreate(byref(blas)) == 0 and LT.cublasLtGetVersion() == 130000
    for kind, tolerance in ((F32, 2e-6), (BF16, 8e-3)):
        dtype = np.float32 if kind == F32 else np.uint16
        a, b, c, out, bias = (device(shape, dtype) for shape in ((k, m), (k, n), (m, n), (m, n), (m, 1)))
        if kind == BF16:
            for each in (a, b, c, bias):
                as_brain(each)
        seen_a, seen_b, seen_c, seen_bias = (turned(brain(each) if kind == BF16 else each, N) for each in (a, b, c, bias))
        for epilogue, (alpha, beta) in itertools.product((1, 4, 6, 36), ((1.0, 0.0), (0.5, 2.0))):
            factors = device((2, 1))
            factors[:, 0] = alpha, beta
            asked = c_void_p()
            assert LT.cublasLtMatmulDescCreate(byref(asked), COMPUTE_F32, F32) == 0
            for number, value in ((2, c_int(1)), (3, c_int(T)), (7, c_int(epilogue)), (8, at(bias))):
                assert LT.cublasLtMatmulDescSetAttribute(asked, number, byref(value), c_size_t(ctypes.sizeof(value))) == 0
            layouts = [layout(kind, each) for each in (a, b, c, out)]
            found, results = c_int(), (c_uint64 * 16)()
            assert (
                LT.cublasLtMatmulAlgoGetHeuristic(blas, asked, *layouts, None, 1, results, byref(found)) == 0 and found.value == 1
            )
            places = (
                at(factors[:1]),
                at(a),
                layouts[0],
                at(b),
                layouts[1],
                at(factors[1:]),
                at(c),
                layouts[2],
                at(out),
                layouts[3],
            )
            assert LT.cublasLtMatmul(blas, asked, *places, results, None, c_size_t(0), None) == 0
            wanted = alpha * seen_a.T @ seen_b + beta * seen_c + (seen_bias if epilogue & 4 else 0)
            wanted = np.maximum(wanted, 0) if epilogue & 2 else wanted
            if epilogue & 32:
                wanted = wanted / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (wanted + 0.044715 * wanted**3)))
            agree(brain(out) if kind == BF16 else out, wanted, tolerance)


def refused() -> None:
    """What is not there has a sentence and a code."""
    blas, a = handle(), device((16, 16))
    given = (at(a), I8, 16, at(a), I8, 16, byref(c_float(0)), at(a), F32, 16)
    print(BLAS.cublasGemmEx(blas, N, N, 16, 16, 16, byref(c_float(1)), *given, COMPUTE_I32, -1), end=" ")
    print(BLAS.cublasStrsm_v2(blas, 0, 0, 0, 0, 16, 16, byref(c_float(1)), at(a), 16, at(a), 16), end=" ")
    print(BLAS.cublasSgemm_v2(blas, N, N, -1, 1, 1, byref(c_float(1)), at(a), 1, at(a), 1, byref(c_float(0)), at(a), 1))


if __name__ == "__main__":
    parts = {each.__name__: each for each in (single, wide, vectors, tensors, batches, described, refused)}
    for word in sys.argv[1:]:
        parts[word]()
        print(f"{word}: agrees")
