"""Every instruction against the answers of a real GPU (`warploom-lab instruction-goldens`): bit for bit where PTX is exact."""

from __future__ import annotations

import numpy as np
import pytest

from support.instruction_answers import CASES, DIFFERENT, allowed
from warploom.compiler.backend import Options
from warploom.programs.device import Device
from warploom_lab.goldens import instruction_cases as script

pytestmark = pytest.mark.oracle


def execute(case: script.Case, options: Options) -> list[np.ndarray]:
    device = Device(case.ptx, options, record=None, budget=1_000_000)
    inputs = [device.array(values) for values in case.inputs]
    outputs = [device.array(np.zeros(length, dtype)) for dtype, length in case.outputs]
    arguments: list = [*inputs, *outputs]
    if case.texture is not None:
        wanted = case.texture
        assert case.texels is not None
        arguments.append(
            device.texture(
                case.texels,
                linear=wanted.linear,
                wrap=wanted.address == "wrap",
                border=wanted.address == "border",
                normalized=wanted.normalized,
            )
        )
    device.launch("k", (case.grid,), case.block, *arguments)
    return [buffer.get() for buffer in [*outputs, *(inputs[index] for index in case.in_place)]]


def disagreements(names: list[str], options: Options, goldens: dict[str, tuple[str, bytes]]) -> list[str]:
    found = []
    for name in names:
        case = CASES[name]
        digest, answer = goldens[name]
        assert digest == script.digest(case), f"{name}: the stored answer belongs to another kernel; run instruction_goldens.py"
        at = 0
        for got in execute(case, options):
            wanted = np.frombuffer(answer[at : at + got.nbytes], got.dtype)
            at += got.nbytes
            fine = allowed(case, got, wanted)
            if not fine.all():
                first = int(np.flatnonzero(~fine)[0])
                found.append(
                    f"{name}: {int((~fine).sum())} of {len(fine)} differ, first {first}: {got[first]!r} != {wanted[first]!r}"
                )
        assert at == len(answer), name
    return found


FAMILIES = sorted({name.split(".")[0].split(" ")[0] for name in CASES})


@pytest.mark.parametrize("family", FAMILIES)
def test_like_hardware(family: str, goldens: dict[str, tuple[str, bytes]]) -> None:
    names = [name for name in CASES if name.split(".")[0].split(" ")[0] == family and name in goldens and name not in DIFFERENT]
    assert not disagreements(names, Options(), goldens)


@pytest.mark.parametrize("options", [Options(literal=True), Options(narrow=False, schedule=False)], ids=["literal", "wide"])
def test_other_code_is_like_hardware(options: Options, goldens: dict[str, tuple[str, bytes]]) -> None:
    names = [name for name in CASES if name in goldens and name not in DIFFERENT]
    assert not disagreements(names[::7], options, goldens)


def test_goldens_cover_the_cases(goldens: dict[str, tuple[str, bytes]]) -> None:
    """What the driver refused is a saturating conversion that cannot saturate: PTX does not have it."""
    missing = [name for name in CASES if name not in goldens]
    unanswered = [name for name in missing if not name.startswith("cvt.sat.")]
    assert not unanswered, "run `warploom-lab instruction-goldens` --out tests/goldens on a GPU"
    assert len(missing) == 18


def test_known_differences_still_differ(goldens: dict[str, tuple[str, bytes]]) -> None:
    assert len(disagreements(list(DIFFERENT), Options(), goldens)) == len(DIFFERENT)
