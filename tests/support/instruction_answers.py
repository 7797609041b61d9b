"""The cases of every instruction, and where an answer agrees with a real GPU's as far as PTX promises."""

from __future__ import annotations

import numpy as np

from warploom_lab.goldens import instruction_cases as script

# What differs, and why PTX allows it.
_HALF_BORDER = "hardware filters a 1D array as a row of a 2D one and mixes in half of the border"
DIFFERENT = {f"tex.1d.v4.f32.f32 linear border {coordinates} 37": _HALF_BORDER for coordinates in ("texels", "normalized")}
CASES = {case.name: case for case in script.cases()}


@np.errstate(invalid="ignore", over="ignore")
def ulps(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The distance in units of the last place of the wanted value."""
    difference = np.abs(got.astype("f8") - wanted.astype("f8"))
    return difference / np.spacing(np.maximum(np.abs(wanted), np.finfo(wanted.dtype).tiny)).astype("f8")


@np.errstate(invalid="ignore", over="ignore")
def allowed(case: script.Case, got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
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
    assert case.texture is not None and case.texels is not None
    if not case.texture.linear:
        return same
    largest = float(np.abs(case.texels).max())
    step = 2.0**-7 if "tex.3d" in case.name else 2.0**-22  # three weights are rounded in an order that we do not know
    return same | (np.abs(got.astype("f8") - wanted) <= step * largest)
