"""Half precision in PTX: code of our backend gives what machine code gives, on numbers of all kinds."""

from __future__ import annotations

import numpy as np
import pytest

from warploom.compiler.sass.module import from_ptx
from warploom.programs.device import Device

PAIRS = ["add.f16x2", "sub.f16x2", "mul.f16x2", "add.ftz.f16x2", "mul.sat.f16x2", "min.f16x2", "max.NaN.f16x2"]
SINGLES = ["add.rn.f16", "sub.ftz.f16", "mul.rn.sat.f16", "min.NaN.f16", "max.f16"]
FUSED = ["fma.rn.f16x2", "fma.rn.ftz.f16x2", "fma.rn.sat.f16x2"]
SIGNS = ["neg.f16x2", "abs.f16x2"]
TO_HALF = [f"cvt.{mode}.f16.f32" for mode in ("rn", "rz", "rm", "rp", "rn.sat")]
FROM_HALF = ["cvt.f32.f16", "cvt.rzi.s32.f16", "cvt.rni.u32.f16", "cvt.rmi.s32.f16", "cvt.sat.f32.f16"]
COMPARED = ["eq", "ne", "lt", "le", "gt", "ge", "equ", "ltu", "num", "nan"]
BODIES = {
    **{name: f"{name} %r5, %r1, %r2;" for name in PAIRS},
    **{name: f"{{{name} %h3, %h1, %h2; mov.b32 %r5, {{%h3, %h4}};}}" for name in SINGLES},
    **{name: f"{name} %r5, %r1, %r2, %r3;" for name in FUSED},
    **{name: f"{name} %r5, %r1;" for name in SIGNS},
    **{name: f"{{{name} %h3, %r4; mov.b32 %r5, {{%h3, %h4}};}}" for name in TO_HALF},
    **{name: f"{name} %r5, %h1;" for name in FROM_HALF},
    **{f"setp.{name}.f16": f"{{setp.{name}.f16 %p1, %h1, %h2; selp.b32 %r5, 1, 0, %p1;}}" for name in COMPARED},
}
KERNEL = """
.visible .entry k{number}(.param .u64 words, .param .u64 out) {{
    .reg .pred %p<2>; .reg .b16 %h<6>; .reg .b32 %r<8>; .reg .b64 %d<8>;
    ld.param.u64 %d1, [words]; ld.param.u64 %d2, [out];
    mov.u32 %r6, %tid.x; mov.u32 %r7, %ctaid.x; mad.lo.u32 %r6, %r7, 256, %r6; mul.wide.u32 %d3, %r6, 16;
    add.u64 %d1, %d1, %d3; ld.global.v4.b32 {{%r1, %r2, %r3, %r4}}, [%d1]; mov.u16 %h4, 0;
    {{ .reg .b16 %t; mov.b32 {{%h1, %t}}, %r1; mov.b32 {{%h2, %t}}, %r2; }}
    {body}
    mul.wide.u32 %d3, %r6, 4; add.u64 %d2, %d2, %d3; st.global.b32 [%d2], %r5; ret;
}}
"""
TEXT = ".version 8.5\n.target sm_90\n.address_size 64\n" + "".join(
    KERNEL.format(number=number, body=body) for number, body in enumerate(BODIES.values())
)
COUNT = 1024


def _words() -> np.ndarray:
    """Pairs of halves of all kinds; last an f32 near the numbers that f16 has."""
    rng = np.random.default_rng(16)
    halves = rng.integers(0, 1 << 16, (COUNT, 6)).astype(np.uint16)
    special = np.array([0, 0x8000, 1, 0x3FF, 0x400, 0x7BFF, 0x7C00, 0xFC00, 0x7E01, 0x3C00, 0xBC00], np.uint16)
    halves[: COUNT // 2] = rng.choice(special, (COUNT // 2, 6))
    singles = halves[:, 0].view(np.float16).astype(np.float32) * rng.choice([1.0, 1.0 + 2**-11, 1.0 - 2**-12], COUNT)
    return np.concatenate([halves.view(np.uint32), singles.astype(np.float32).view(np.uint32)[:, None]], axis=1)


@pytest.fixture(scope="module")
def outputs() -> dict[str, list[np.ndarray]]:
    machine_code = from_ptx(TEXT, "halves.ptx", "sm_90")
    found: dict[str, list[np.ndarray]] = {}
    with np.errstate(over="ignore", invalid="ignore"):
        words = _words()
    for device in (Device(TEXT, record=None), Device(lambda name, _shape: machine_code.kernel(name), record=None)):
        given = device.array(words)
        for number, name in enumerate(BODIES):
            out = device.array(np.zeros(COUNT, np.uint32))
            device.launch(f"k{number}", (COUNT // 256,), (256,), given, out)
            found.setdefault(name, []).append(out.get())
    return found


@pytest.mark.parametrize("name", BODIES)
def test_both_codes_agree(name: str, outputs: dict[str, list[np.ndarray]]) -> None:
    ours, theirs = outputs[name]
    different = np.flatnonzero(ours != theirs)
    assert not len(different), [(hex(ours[n]), hex(theirs[n])) for n in different[:3]]
    assert len(np.unique(ours)) > 1
