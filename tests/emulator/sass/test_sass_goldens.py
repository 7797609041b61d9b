"""Every instruction once more, in machine code that ptxas makes of it, against the answers of a real GPU."""

from __future__ import annotations

import re

import numpy as np
import pytest

from support.instruction_answers import CASES, DIFFERENT, allowed
from warploom.compiler.sass.module import from_ptx
from warploom.programs.device import Device
from warploom_lab.goldens import instruction_cases as script

pytestmark = pytest.mark.oracle

VARIABLE = re.compile(r"^\s*\.(?:global|shared|const|extern)[^;]*?(\w+)(?:\[\d*\])?\s*(?:=|;)", re.MULTILINE)
TOGETHER = 60  # cases that are assembled as one file
NAMES = [name for name in CASES if not name.startswith("cvt.sat.") and name not in DIFFERENT]


def _together(names: list[str]) -> str:
    """One file with the kernels of several cases; kernels and variables get the number of their case."""
    texts = []
    for number, name in enumerate(names):
        text = CASES[name].ptx.replace(script.HEADER, "").replace(".entry k(", f".entry k{number}(")
        outside = text.split(".visible .entry")[0]
        for variable in VARIABLE.findall(outside):
            text = re.sub(rf"\b{variable}\b", f"{variable}_{number}", text)
        texts.append(text)
    return script.HEADER + "".join(texts)


def _differences(names: list[str], architecture: str, answers: dict[str, tuple[str, bytes]]) -> list[str]:
    found = []
    module = from_ptx(_together(names), "cases", architecture)
    for number, name in enumerate(names):
        case = CASES[name]
        device = Device(lambda kernel, _threads: module.kernel(kernel), record=None, budget=1_000_000)
        inputs = [device.array(values) for values in case.inputs]
        outputs = [device.array(np.zeros(length, dtype)) for dtype, length in case.outputs]
        arguments: list = [*inputs, *outputs]
        if case.texture is not None:
            edges = {"wrap": case.texture.address == "wrap", "border": case.texture.address == "border"}
            options = {"linear": case.texture.linear, "normalized": case.texture.normalized, **edges}
            assert case.texels is not None
            arguments.append(device.texture(case.texels, **options))
        device.launch(f"k{number}", (case.grid,), case.block, *arguments)
        at = 0
        for buffer in [*outputs, *(inputs[index] for index in case.in_place)]:
            got = buffer.get()
            wanted = np.frombuffer(answers[name][1][at : at + got.nbytes], got.dtype)
            at += got.nbytes
            fine = allowed(case, got, wanted)
            if not fine.all():
                first = int(np.flatnonzero(~fine)[0])
                found.append(f"{name}: {int((~fine).sum())} differ, first {first}: {got[first]!r} != {wanted[first]!r}")
    return found


@pytest.mark.parametrize("first", range(0, len(NAMES), TOGETHER))
def test_machine_code_is_like_hardware(first: int, goldens: dict[str, tuple[str, bytes]]) -> None:
    assert not _differences(NAMES[first : first + TOGETHER], "sm_90", goldens)


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["sm_75", "sm_80"])
@pytest.mark.parametrize("first", range(0, len(NAMES), TOGETHER))
def test_older_machine_code_is_like_hardware(first: int, architecture: str, goldens: dict[str, tuple[str, bytes]]) -> None:
    assert not _differences(NAMES[first : first + TOGETHER], architecture, goldens)
