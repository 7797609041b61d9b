"""What the core and the policies share: the record of an SM, hook points, services, and the registry of policies."""

from warploom.register_file.choices import CHOICES, Policies
from warploom.register_file.combination import at_run_time, check_policies, compile_code
from warploom.register_file.hooks import HOOKS
from warploom.register_file.registry import baseline_policies, choices_of, make_policy, policies_of, policy
from warploom.register_file.user_files import load_policy_file

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
