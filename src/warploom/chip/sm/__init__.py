"""What the core and the policies share: the record of an SM, hook points, services, and the registry of policies."""

from warploom.chip.sm.choices import CHOICES, Policies
from warploom.chip.sm.combination import at_run_time, check_policies, compile_code
from warploom.chip.sm.hooks import HOOKS
from warploom.chip.sm.registry import baseline_policies, choices_of, make_policy, policies_of, policy
from warploom.chip.sm.user_files import load_policy_file

__all__ = [
    "CHOICES",
    "HOOKS",
    "Policies",
    "at_run_time",
    "baseline_policies",
    "check_policies",
    "choices_of",
    "compile_code",
    "load_policy_file",
    "make_policy",
    "policies_of",
    "policy",
]
