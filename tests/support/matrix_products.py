"""One product of matrices in machine code."""

from __future__ import annotations

import numpy as np

from warploom.compiler.sass.module import from_ptx
from warploom.programs.device import Device


def multiply(opcode: str, a: list[np.ndarray], b: list[np.ndarray], c: list[np.ndarray], architecture: str) -> list[np.ndarray]:
    """Run one mma instruction of PTX."""
    inputs = [*a, *b, *c]
    letter = "f" if ".f32 " in f"{opcode} " and opcode.endswith("f32") else "r"
    names = {"a": [f"%r{n}" for n in range(len(a))], "b": [f"%r{len(a) + n}" for n in range(len(b))]}
    names["c"] = [f"%{letter}{len(a) + len(b) + n}" for n in range(len(c))]
    loads = "".join(
        f"ld.global.b32 {name}, [%rd1 + {128 * n}];\n"
        for n, name in enumerate(name for group in names.values() for name in group)
    )
    stores = "".join(f"st.global.b32 [%rd2 + {128 * n}], {name};\n" for n, name in enumerate(names["c"]))
    text = f""".version 8.6
.target {architecture}
.address_size 64
.visible .entry k(.param .u64 i, .param .u64 o) {{
    .reg .b64 %rd<5>; .reg .b32 %r<32>; .reg .f32 %f<32>;
    ld.param.u64 %rd1, [i]; ld.param.u64 %rd2, [o];
    mov.u32 %r31, %tid.x; mul.wide.u32 %rd3, %r31, 4; add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3;
    {loads}
    {opcode} {{{", ".join(names["c"])}}}, {{{", ".join(names["a"])}}}, {{{", ".join(names["b"])}}}, {{{", ".join(names["c"])}}};
    {stores}
    ret;
}}
"""
    module = from_ptx(text, "matrices.ptx", architecture)
    device = Device(lambda name, _threads: module.kernel(name), record=None, budget=100_000)
    out = device.array(np.zeros(32 * len(c), np.uint32))
    device.launch("k", (1,), (32,), device.array(np.concatenate(inputs).view(np.uint32)), out)
    return list(out.get().reshape(len(c), 32))
