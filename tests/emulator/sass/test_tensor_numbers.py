"""Numbers rounded to TF32 (``F2FP.TF32.F32.PACK_B``), beside the same in whole numbers."""

from __future__ import annotations

import numpy as np
import pytest

from warploom.compiler.sass.module import SassModule, from_ptx
from warploom.programs.device import Device

FORMS = ("rn", "rz", "rn.relu", "rna")
SPECIAL = (0, 0x80000000, 1, 0x80000001, 0x3F801000, 0x3F803000, 0x3F801001, 0xBF800FFF, 0x7F7FFFFF, 0x7F800000, 0xFF800000)
NAN, CUT = 0x7FFFFFFF, 0xFFFFE000


SOURCE = """
.version 8.5
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out) {
    .reg .b64 p, q;
    .reg .b32 i, y;
    .reg .f32 x;
    ld.param.u64 p, [out];
    mov.u32 i, %tid.x;
    mul.wide.u32 q, i, 4;
    add.u64 p, p, q;
    ld.global.f32 x, [p];
"""


@pytest.fixture(scope="module")
def module() -> SassModule:
    steps = (f"cvt.{form}.tf32.f32 y, x;\nst.global.b32 [p+{128 * at + 128}], y;\n" for at, form in enumerate(FORMS))
    return from_ptx(SOURCE + "".join(steps) + "ret;\n}", "numbers", "sm_90a")


def _rounded(word: int, form: str) -> int:
    if word & 0x7FFFFFFF > 0x7F800000:
        return NAN if form != "rna" else word & CUT
    if form == "rna":
        return (word + 0x1000 if word & 0x7FFFFFFF < 0x7F800000 else word) & CUT
    up = 0xFFF + (word >> 13 & 1) if form != "rz" else 0
    cut = word + up & CUT
    return 0 if form.endswith("relu") and cut >> 31 else cut


def test_numbers_are_rounded_to_ten_bits(module: SassModule) -> None:
    assert sum("F2FP.TF32.F32.PACK_B" in str(i) or "F2FP.RELU.TF32" in str(i) for i in module.kernel("k").instructions()) == 3
    words = np.random.default_rng(3).integers(0, 1 << 32, 32, np.uint32)
    words[: len(SPECIAL)] = SPECIAL
    words[-1] = 0x7FC00001  # not a number
    device = Device(lambda name, _shape: module.kernel(name), record=None)
    place = device.array(np.concatenate([words, np.zeros(32 * len(FORMS), np.uint32)]))
    device.launch("k", (1,), (32,), place)
    got = place.get()[32:].reshape(len(FORMS), 32)
    for at, form in enumerate(FORMS):
        assert [hex(x) for x in got[at]] == [hex(_rounded(int(word), form)) for word in words], form
