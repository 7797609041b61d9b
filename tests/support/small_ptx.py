"""Kernels of a few lines of PTX, a device that has one of them, and the sentence that a fault ends in."""

from __future__ import annotations

from typing import Any

import pytest

from warploom.base.errors import SimulationError
from warploom.programs.device import Device

HEADER = ".version 9.0\n.target sm_75\n.address_size 64\n"
PREAMBLE = (
    ".reg .b32 i, t, u, v, w; .reg .b64 p, at; .reg .pred q, r; .reg .f32 f;\n"
    "ld.param.u64 p, [a]; cvta.to.global.u64 p, p; mov.u32 t, %tid.x; mov.u32 u, %ctaid.x; mov.u32 v, %ntid.x;\n"
    "mad.lo.s32 i, u, v, t; mul.wide.u32 at, i, 4; add.s64 at, p, at;\n"
)


def kernel(body: str, parameters: str = ".param .u64 a", declarations: str = "") -> str:
    return f"{HEADER}.visible .entry k({parameters})\n{{\n{declarations}{PREAMBLE}{body}\nret;\n}}\n"


def device(body: str, **keywords: Any) -> Device:
    options = {name: keywords.pop(name) for name in ("parameters", "declarations") if name in keywords}
    return Device(kernel(body, **options), record=None, file="test.ptx", **keywords)


def fault(gpu: Device, grid: int, block: tuple[int, ...], *arguments: Any, **keywords: Any) -> str:
    with pytest.raises(SimulationError) as caught:
        gpu.launch("k", (grid,), block, *arguments, **keywords)
    message = str(caught.value)
    assert message.endswith(".") and "\n" not in message
    return message
