"""Designs for property tests: policies with any parameters that their limits allow."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from warploom.chip.sm import CHOICES, make_policy, policies_of

POLICIES = {choice: list(policies_of(choice).values()) for choice in CHOICES}  # loaded here: it takes time


@st.composite
def parameters_of(draw: st.DrawFn, kind: Any) -> dict[str, Any]:
    """Any parameters that the limits of a policy allow."""
    parameters: dict[str, Any] = {}
    for name, default in kind._field_defaults.items():
        limits: Any = getattr(kind, "LIMITS", {}).get(name)
        if isinstance(default, bool):
            parameters[name] = draw(st.booleans())
        elif isinstance(default, str):
            parameters[name] = draw(st.sampled_from(limits))
        elif isinstance(default, int):
            parameters[name] = draw(st.integers(*limits))
        else:
            parameters[name] = draw(st.floats(*limits))
    return parameters


@st.composite
def any_policy(draw: st.DrawFn, choice: str) -> Any:
    """Any registered policy with any parameters that its limits allow."""
    kind = draw(st.sampled_from(POLICIES[choice]))
    return make_policy(choice, kind.NAME, **draw(parameters_of(kind)))
