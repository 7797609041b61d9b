"""The six policies of a design together: whether they make sense, their compile-time halves, and how compiled code sees them."""

from __future__ import annotations

from typing import Any

from warploom.base.errors import WarploomError
from warploom.chip.sm.choices import CHOICES, Policies
from warploom.chip.sm.policy import check_policy_class, checked_parameters
from warploom.compiler.code.instruction import Code


def check_policies(design: Policies) -> Policies:
    """Check every policy, its parameters, and what each says of the others; return the design with coerced parameters."""
    checked = []
    for choice, policy in zip(CHOICES, design, strict=True):
        kind = type(policy)
        check_policy_class(kind)
        if choice != kind.CHOICE:
            raise WarploomError(f"{kind.CHOICE}={kind.NAME} was given as the {choice} policy")
        checked.append(kind(**checked_parameters(kind, policy._asdict())))
    design = Policies(*checked)
    for policy in design:
        reason = policy.conflict(design) if hasattr(policy, "conflict") else None
        if reason:
            raise WarploomError(f"{policy.CHOICE}={policy.NAME} cannot be combined this way: {reason}")
    return design


def compile_code(design: Policies, code: Code, machine: Any) -> Code:
    """Let the compile-time halves of the design's policies transform the code, in the order of the choices."""
    for policy in design:
        if hasattr(policy, "compile"):
            code = policy.compile(code, machine)
    return code


def at_run_time(design: Policies) -> Policies:
    """The design as compiled code sees it: words become their numbers in LIMITS."""

    def lowered(policy: Any) -> Any:
        words = {key: policy.LIMITS[key].index(value) for key, value in policy._asdict().items() if isinstance(value, str)}
        return policy._replace(**words) if words else policy

    return Policies(*map(lowered, design))
