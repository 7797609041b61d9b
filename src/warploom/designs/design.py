"""A design: one policy for each of the six choices, and what it asks of the compiler and of the register file's size."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.notebook import html_facts
from warploom.base.spelling import did_you_mean
from warploom.chip.sm import CHOICES, Policies, baseline_policies, check_policies, make_policy
from warploom.designs.grammar import format_value

FIT = "fit"  # as many registers as keep the CTAs of the machine's whole file resident
LEAST = "least"  # as few as need no spill
LIMITS = (FIT, LEAST)
OPTIONS = ("register_file", "max_registers")


@dataclass(frozen=True, eq=False)
class Design:
    """One point in the six-way choice. Equal designs have equal policies, parameters and options, whatever their name."""

    name: str
    policies: Policies  # one for each of the six choices, by attribute
    register_file: float = 1.0  # physical registers as a share of the machine's
    max_registers: int | str | None = None  # per thread: a number, or one of `LIMITS`

    def __post_init__(self) -> None:
        where = f"design {self.name!r}"
        share, limit = self.register_file, self.max_registers
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
            raise WarploomError(f"{where}: register_file must be a share above 0 and up to 1, not {share!r}")
        if limit not in (None, *LIMITS) and (not isinstance(limit, int) or isinstance(limit, bool) or not 4 <= limit <= 255):
            raise WarploomError(
                f"{where}: max_registers must be {', '.join(LIMITS)} or a whole number from 4 to 255, not {limit!r}"
            )
        try:
            object.__setattr__(self, "policies", check_policies(self.policies))
        except WarploomError as error:
            raise WarploomError(f"{where}: {error}") from None

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two designs the same."""
        chosen = tuple((type(policy), *policy) for policy in self.policies)  # a policy file loaded again makes other types
        return (*chosen, self.register_file, self.max_registers)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        facts: dict[str, object] = {}
        for choice, policy in zip(CHOICES, self.policies, strict=True):
            parameters = ", ".join(f"{name}={value}" for name, value in policy._asdict().items())
            facts[choice] = type(policy).NAME + (f" ({parameters})" if parameters else "")
        if self.register_file != 1.0:
            facts["register file"] = f"{self.register_file:.0%} of the machine's registers"
        if self.max_registers is not None:
            facts["registers per thread"] = f"at most {self.max_registers}"
        return html_facts(f"design {self.name}", facts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Design) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def with_options(self, **options: Any) -> Design:
        """The same design with another share of the register file (`register_file`) or register limit (`max_registers`)."""
        return replace(self, **options)

    def to_dict(self) -> dict[str, Any]:
        """The six choices with all parameters resolved, and the options that are not at their default."""
        out: dict[str, Any] = {"name": self.name}
        for choice, policy in zip(CHOICES, self.policies, strict=True):
            out[choice] = {"policy": policy.NAME, **policy._asdict()}
        if self.register_file != 1:
            out["register_file"] = self.register_file
        if self.max_registers is not None:
            out["max_registers"] = self.max_registers
        return out

    def to_toml(self) -> str:
        """The same as the text of a TOML file."""
        tables = self.to_dict()
        lines = [f"{key} = {_toml(value)}" for key, value in tables.items() if not isinstance(value, dict)]
        for choice in CHOICES:
            lines += ["", f"[{choice}]", *(f"{key} = {_toml(value)}" for key, value in tables[choice].items())]
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        """The choices that differ from the baseline, with the parameters that differ from their defaults."""
        parts = []
        for choice, policy, plain in zip(CHOICES, self.policies, baseline_policies(), strict=True):
            if policy == plain and type(policy) is type(plain):
                continue
            defaults = type(policy)._field_defaults
            changed = [f"{key}={format_value(value)}" for key, value in policy._asdict().items() if value != defaults[key]]
            parts.append(f"{choice}={policy.NAME}" + (f"({', '.join(changed)})" if changed else ""))
        if self.register_file != 1:
            parts.append(f"register_file={self.register_file!r}")
        if self.max_registers is not None:
            parts.append(f"max_registers={self.max_registers}")
        return " + ".join(parts) or "baseline"


def from_dict(data: Mapping[str, Any], place: str = "design") -> Design:
    """A design from plain data, as `Design.to_dict` writes it. Choices that are left out are the baseline's."""
    known = ("name", *CHOICES, *OPTIONS)
    for key in data:
        if key not in known:
            raise WarploomError(f"{place}: {key!r} is not one of a design's choices{did_you_mean(key, known)}")
    name = data.get("name", "unnamed")
    if not isinstance(name, str):
        raise WarploomError(f"{place}: the name must be text, not {name!r}")
    policies = _baseline()
    for choice in CHOICES:
        if choice not in data:
            continue
        table = {"policy": data[choice]} if isinstance(data[choice], str) else data[choice]
        if not isinstance(table, Mapping) or not isinstance(table.get("policy"), str):
            raise WarploomError(f"{place}: {choice} must be a policy's name, or a table with 'policy' and parameters")
        parameters = {key: value for key, value in table.items() if key != "policy"}
        try:
            policies = policies._replace(**{choice: make_policy(choice, table["policy"], **parameters)})
        except WarploomError as error:
            raise WarploomError(f"{place}: {error}") from None
    return Design(name, policies, **{key: data[key] for key in OPTIONS if key in data})


@functools.cache
def _baseline() -> Policies:
    return baseline_policies()


def _toml(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # the one sign that JSON leaves and TOML forbids
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)
