"""Products of matrices against the answers of a real GPU, where `warploom-lab matrix-goldens` has been run on one."""

from __future__ import annotations

import numpy as np
import pytest

from support.matrix_products import multiply
from support.places import GOLDENS

pytestmark = pytest.mark.oracle

FILE = GOLDENS / "matrices.npz"
PRODUCTS = 8  # of each kind of input that are compared


@pytest.mark.skipif(not FILE.exists(), reason="`warploom-lab matrix-goldens` has not been run on a GPU")
def test_sums_are_like_hardware() -> None:
    goldens = np.load(FILE)
    different = []
    for opcode in sorted({name.rpartition("/")[0] for name in goldens.files if "/" in name}):
        a, b, c, d = (goldens[f"{opcode}/{name}"] for name in "abcd")
        for number in (*range(PRODUCTS), *range(len(a) // 2, len(a) // 2 + PRODUCTS)):
            got = multiply(f"mma.sync.aligned.{opcode}", list(a[number]), list(b[number]), list(c[number]), "sm_90")
            if not np.array_equal(np.array(got), d[number]):
                different.append((opcode, number))
    assert not different
