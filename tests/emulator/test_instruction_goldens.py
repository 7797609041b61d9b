"""Every instruction against the answers of a real GPU (`scripts/instruction_goldens.py`): bit for bit where PTX is exact."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from warploom.backend import Options
from warploom.programs.device import Device

ROOT = Path(__file__).resolve().parents[2]

# What differs, and why PTX allows it.
_HALF_BORDER = "hardware filters a 1D array as a row of a 2D one and mixes in half of the border"
DIFFERENT = {f"tex.1d.v4.f32.f32 linear border {coordinates} 37": _HALF_BORDER for coordinates in ("texels", "normalized")}


def _load_cases() -> ModuleType:
    spec = importlib.util.spec_from_file_location("instruction_cases", ROOT / "scripts" / "instruction_cases.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["instruction_cases"] = module
    spec.loader.exec_module(module)
    return module


script = _load_cases()
CASES = {case.name: case for case in script.cases()}


@pytest.fixture(scope="module")
def goldens() -> dict[str, tuple[str, bytes]]:
    with np.load(ROOT / "tests" / "goldens" / "instructions.npz", allow_pickle=False) as stored:
        data, ends = stored["data"], stored["ends"]
        starts = np.concatenate([[0], ends[:-1]])
        return {
            str(name): (str(digest), data[start:end].tobytes())
            for name, digest, start, end in zip(stored["names"], stored["digests"], starts, ends, strict=True)
        }


def execute(case, options: Options) -> list[np.ndarray]:
    device = Device(case.ptx, options, record=None, budget=1_000_000)
    inputs = [device.array(values) for values in case.inputs]
    outputs = [device.array(np.zeros(length, dtype)) for dtype, length in case.outputs]
    arguments: list = [*inputs, *outputs]
    if case.texture is not None:
        wanted = case.texture
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


@np.errstate(invalid="ignore", over="ignore")
def ulps(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The distance in units of the last place of the wanted value."""
    difference = np.abs(got.astype("f8") - wanted.astype("f8"))
    return difference / np.spacing(np.maximum(np.abs(wanted), np.finfo(wanted.dtype).tiny)).astype("f8")


@np.errstate(invalid="ignore", over="ignore")
def allowed(case, got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where the answers agree as far as PTX promises. Our own error is at most half a unit of the last place."""
    bits = f"u{got.itemsize}"
    same = got.view(bits) == wanted.view(bits)
    if case.tolerance == "exact":
        if case.name == "fns.b32":  # an offset that has no magnitude
            same |= case.inputs[2] == -(2**31)
        if case.name.startswith("atom.") and case.name.endswith("add.f64"):
            same |= np.isnan(got) & np.isnan(wanted)  # which NaN it is, PTX leaves open
        return same
    if not case.tolerance.startswith("texture"):
        both_finite = np.isfinite(got) & np.isfinite(wanted)
        x = case.inputs[0].astype("f8")
    if case.tolerance in ("div.approx", "div.full", "rcp.approx", "sqrt.approx", "rsqrt.approx", "ex2.approx"):
        return same | (both_finite & (ulps(got, wanted) <= 2.5))
    if case.tolerance in ("sin.approx", "cos.approx"):  # outside of [-pi, pi] nothing is promised
        close = np.abs(got.astype("f8") - wanted) <= 2.0**-20.5
        return same | (both_finite & (close | (np.abs(x) > np.pi) & (np.abs(wanted) <= 1)))
    if case.tolerance == "lg2.approx":
        return same | (both_finite & (np.abs(got.astype("f8") - wanted) <= 2.0**-22 * np.maximum(1, np.abs(wanted))))
    if case.tolerance == "tanh.approx":
        return same | (both_finite & (np.abs(got.astype("f8") - wanted) <= 2.0**-10.9 * np.abs(wanted)))
    if case.tolerance == "approx.f64":
        same |= np.isnan(got) & np.isnan(wanted)
        return same | (both_finite & (np.abs(got - wanted) <= 2.0**-19 * np.abs(wanted)))
    assert case.tolerance.startswith("texture")
    if not case.texture.linear:
        return same
    largest = float(np.abs(case.texels).max())
    step = 2.0**-7 if "tex.3d" in case.name else 2.0**-22  # three weights are rounded in an order that we do not know
    return same | (np.abs(got.astype("f8") - wanted) <= step * largest)


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
    assert not unanswered, "run scripts/instruction_goldens.py --out tests/goldens on a GPU"
    assert len(missing) == 18


def test_known_differences_still_differ(goldens: dict[str, tuple[str, bytes]]) -> None:
    assert len(disagreements(list(DIFFERENT), Options(), goldens)) == len(DIFFERENT)
