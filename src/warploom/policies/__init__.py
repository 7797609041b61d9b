"""The six choices of a register-file design, and the policies that answer them; see docs/policies.md."""

from warploom.policies.design import Design, at_run_time, check_design, compile_code
from warploom.policies.hooks import CHOICES, HOOKS
from warploom.policies.registry import choices_of, make_policy, policies_of, policy
from warploom.policies.user_files import load_policy_file

__all__ = [
    "CHOICES",
    "HOOKS",
    "Design",
    "at_run_time",
    "baseline_design",
    "check_design",
    "choices_of",
    "compile_code",
    "load_policy_file",
    "make_policy",
    "policies_of",
    "policy",
]


def baseline_design() -> Design:
    """GTO, static allocation, and nothing else: what the papers compare with."""
    names = ("gto", "static", "none", "none", "always-on", "none")
    return Design(*(make_policy(choice, name) for choice, name in zip(CHOICES, names, strict=True)))
