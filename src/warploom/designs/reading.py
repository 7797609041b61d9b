"""From text, TOML or names to a `Design`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.library import Paper, papers, with_papers
from warploom.base.spelling import did_you_mean
from warploom.base.toml import parse_toml
from warploom.chip.sm import CHOICES, choices_of, policies_of
from warploom.designs.design import LIMITS, OPTIONS, Design, from_dict
from warploom.designs.grammar import Item, Value, parse_items

BASELINE = "baseline"


@dataclass(frozen=True)
class Named:
    """A named design: where it is from, and what it chooses; the rest is the baseline's."""

    name: str
    title: str
    source: str
    choices: dict[str, dict[str, Value]]  # choice: {"policy": name, parameter: value}
    options: dict[str, Any]


def named_designs() -> dict[str, Named]:
    """All named designs: the baseline first, then those of no paper, then those of each paper."""
    return _named_by(papers())


@cache
def _named_by(known: tuple[Paper, ...]) -> dict[str, Named]:
    files = [resources.files("warploom.designs") / name for name in ("named.toml", "searched.toml")]
    own = {name: table for file in files for name, table in tomllib.loads(file.read_text(encoding="utf-8")).items()}
    tables = with_papers("design", own, lambda paper: paper.designs)
    return {name: _named(name, table) for name, table in tables.items()}


def _named(name: str, table: Any) -> Named:
    """A named design from its table."""
    place, known = f"named design {name!r}", ("title", "source", *CHOICES, *OPTIONS)
    if not isinstance(table, dict) or not all(isinstance(table.get(key), str) for key in ("title", "source")):
        raise WarploomError(f"{place}: it is a table with a title, a source, and choices")
    for key in table:
        if key not in known:
            raise WarploomError(f"{place}: {key!r} is not one of a design's choices{did_you_mean(key, known)}")
    choices: dict[str, dict[str, Value]] = {
        choice: {"policy": entry} if isinstance(entry, str) else dict(entry)
        for choice, entry in table.items()
        if choice in CHOICES
    }
    options = {key: table[key] for key in OPTIONS if key in table}
    return Named(name, table["title"], table["source"], choices, options)


def parse_design(text: str) -> Design:
    """A design from its text, or from a ``.toml`` file."""
    if text.strip().endswith(".toml"):
        return load_design(text.strip())
    return _Reader(text).design()


def design(name: str | Design = BASELINE, /, **parameters: Any) -> Design:
    """A design in Python: a name, a combination as text or a TOML file, with choices, options and parameters of its policies.

    ``design("rfv", shrink=0.5)``, ``design("rfv + encoding=bdi")``, ``design("baseline", scheduler="lrr")``.
    """
    made = name if isinstance(name, Design) else parse_design(name)
    for key, value in parameters.items():
        if key in OPTIONS:
            made = made.with_options(**{key: value})
        elif key in CHOICES:
            made = from_dict(made.to_dict() | {key: value})
        else:
            tables = made.to_dict()
            owner = _owner({choice: tables[choice]["policy"] for choice in CHOICES}, key, f"design {made.name!r}")
            made = from_dict(tables | {owner: tables[owner] | {key: value}})
    return made


def load_design(path: str | Path) -> Design:
    """A design from a TOML file."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise WarploomError(f"{path}: the design cannot be read ({error.strerror})") from None
    return from_dict({"name": Path(path).stem, **parse_toml(data, str(path))}, str(path))


@dataclass
class _Reader:
    """Collects what the items of a text choose. What the text says itself beats what a named design in it brings."""

    text: str
    own: dict[str, dict[str, Value]] = field(default_factory=dict)
    brought: dict[str, tuple[str, dict[str, Value]]] = field(default_factory=dict)  # choice: (named design, table)
    clashes: dict[str, str] = field(default_factory=dict)  # choice: what to say unless the text decides itself
    options: dict[str, Any] = field(default_factory=dict)
    own_options: dict[str, Any] = field(default_factory=dict)

    @property
    def where(self) -> str:
        return f"design {self.text!r}"

    def design(self) -> Design:
        for item in parse_items(self.text):
            if item.key in OPTIONS:
                self._option(item)
            elif item.key or item.name not in named_designs():
                self._policy(item)
            else:
                self._named(item)
        for choice, complaint in self.clashes.items():
            if choice not in self.own:
                raise WarploomError(complaint)
        tables = {choice: table for choice, (_, table) in self.brought.items()} | self.own
        name = " ".join(self.text.split())
        return from_dict({"name": name, **tables, **self.options, **self.own_options}, self.where)

    def _option(self, item: Item) -> None:
        value = item.name if item.value is None else item.value
        if item.value is None and (item.key != "max_registers" or value not in LIMITS or item.parameters):
            words = LIMITS if item.key == "max_registers" else ()
            raise WarploomError(f"{self.where}: {item.key} wants {' or '.join(('a number', *words))}")
        if item.key in self.own_options:
            raise WarploomError(f"{self.where}: {item.key} is given twice")
        self.own_options[item.key] = value

    def _policy(self, item: Item) -> None:
        if item.key and item.key not in CHOICES:
            raise WarploomError(f"{self.where}: {item.key!r} is not a choice{did_you_mean(item.key, (*CHOICES, *OPTIONS))}")
        if not item.name:
            raise WarploomError(f"{self.where}: {item.key} wants the name of a policy, not {item.value!r}")
        choice = item.key or self._only_choice(item.name)
        if choice in self.own:
            raise WarploomError(
                f"{self.where}: there are two policies for {choice}, {self.own[choice]['policy']} and {item.name}"
            )
        self.own[choice] = {"policy": item.name, **item.parameters}

    def _only_choice(self, name: str) -> str:
        choices = choices_of(name)
        if len(choices) == 1:
            return choices[0]
        if choices:
            raise WarploomError(f"{self.where}: {name!r} is a policy of {' and of '.join(choices)}; write {choices[0]}={name}")
        known = {policy for choice in CHOICES for policy in policies_of(choice)} | set(named_designs())
        raise WarploomError(f"{self.where}: {name!r} is not known{did_you_mean(name, known)}")

    def _named(self, item: Item) -> None:
        named = named_designs()[item.name]
        chosen = {choice: dict(table) for choice, table in named.choices.items()}
        for key, value in item.parameters.items():
            owner = _owner({choice: str(table["policy"]) for choice, table in chosen.items()}, key, self.where)
            chosen[owner][key] = value
        for choice, table in chosen.items():
            other, previous = self.brought.setdefault(choice, (item.name, table))
            if previous != table:
                policies = f"{previous['policy']} (of {other}) and {table['policy']} (of {item.name})"
                hint = f"add {choice}=... to say which"
                self.clashes[choice] = f"{self.where}: there are two policies for {choice}, {policies}; {hint}"
        self.options |= named.options


def _owner(policies: dict[str, str], parameter: str, where: str) -> str:
    """The choice whose policy has this parameter."""
    fields = {choice: policies_of(choice)[policy]._fields for choice, policy in policies.items()}
    owners = [choice for choice in policies if parameter in fields[choice]]
    if len(owners) == 1:
        return owners[0]
    if owners:
        example = f"{owners[0]}={policies[owners[0]]}({parameter}=...)"
        raise WarploomError(f"{where}: parameter {parameter!r} belongs to {' and '.join(owners)}; write {example}")
    known = {name for names in fields.values() for name in names}
    raise WarploomError(f"{where}: none of its policies has a parameter {parameter!r}{did_you_mean(parameter, known)}")
