"""A goal: what a search is to make small, what it must keep to, what it may choose from, and on which workloads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.spelling import did_you_mean
from warploom.chip.machines import Machine, load_machine
from warploom.designs.energy import Technology, load_technology
from warploom.programs.named import chosen_programs
from warploom.programs.program import check_code, check_size
from warploom.runs.spec import default_technology
from warploom.studies.search.measures import MEASURES
from warploom.studies.sweep.plan import dotted, read_toml, refused_at

_CONSTRAINT = re.compile(r"\s*(\w+)\s*(<=|>=)\s*([0-9]+(?:\.[0-9]+)?)\s*")


@dataclass(frozen=True)
class Constraint:
    """A bound of a measure."""

    measure: str
    relation: str  # "<=" or ">="
    bound: float

    def violation(self, measures: Mapping[str, float]) -> float:
        """By how much a design misses it; 0 or less if it does not."""
        distance = measures[self.measure] - self.bound
        return distance if self.relation == "<=" else -distance

    def __str__(self) -> str:
        return f"{self.measure} {self.relation} {self.bound:g}"


@dataclass(frozen=True)
class Goal:
    """What a search is after. Measures are relative; see `warploom.studies.search.measures`."""

    workloads: tuple[str, ...]  # in the order in which designs are tried on them
    test: tuple[str, ...] = ()  # workloads that the search never sees; what it found is run on them at the end
    objectives: tuple[str, ...] = ("energy", "time")
    constraints: tuple[Constraint, ...] = ()
    stages: tuple[int, ...] = ()  # a design is tried on so many workloads before it goes on to more
    keep: float = 0.5  # the share of designs that goes on; what keeps to the constraints and is beaten by none does in any case
    trials: int = 100
    seed: int = 0
    start: tuple[str, ...] = ("baseline",)  # designs that are tried first
    machine: str = "gtx480"
    overrides: Mapping[str, Any] = field(default_factory=dict)
    sms: int = 0
    size: str = "small"
    code: str = ""  # what is executed; empty: the machine's usual code
    technology: str = ""
    space: Mapping[str, Any] = field(default_factory=dict)
    place: str = "goal"

    @property
    def chip(self) -> Machine:
        """The machine of the search."""
        machine = load_machine(self.machine, **self.overrides)
        return machine.scaled(self.sms) if self.sms else machine

    @property
    def energy_table(self) -> Technology:
        """The technology of the search: what the goal names, or the machine's own."""
        return load_technology(self.technology or default_technology(self.chip))


def make_goal(goal: Goal | Mapping[str, Any] | str | Path) -> Goal:
    """A goal from whatever describes it: a TOML file, its tables, or a goal."""
    if isinstance(goal, Goal):
        return goal
    if isinstance(goal, Mapping):
        return goal_from_dict(goal)
    return goal_from_dict(read_toml(goal, "goal"), str(goal))


def goal_from_dict(data: Mapping[str, Any], place: str = "goal") -> Goal:
    """A goal from the tables of a TOML file, checked."""
    if "designs" in data:
        raise WarploomError(f"{place}: it is a plan, not a goal; give it to `warploom sweep`")
    known = [item.name for item in fields(Goal) if item.name != "place"]
    for name in data:
        if name not in known:
            raise WarploomError(f"{place}: {name!r} is not an entry of a goal{did_you_mean(name, known)}")
    workloads, test = (_programs(_words(data, name, place), place) for name in ("workloads", "test"))
    if not workloads:
        raise WarploomError(f"{place}: it names no workloads; add workloads = [...]")
    both = sorted(set(test) & set(workloads))
    if both:
        raise WarploomError(f"{place}, test: the search itself runs {', '.join(both)}; name workloads that it never sees")
    made = Goal(
        workloads=workloads,
        test=test,
        objectives=_objectives(_words(data, "objectives", place, Goal.objectives), f"{place}, objectives"),
        constraints=tuple(read_constraint(text, f"{place}, constraints") for text in _words(data, "constraints", place, ())),
        stages=_stages(data.get("stages"), len(workloads), place),
        keep=_number(data, "keep", place, Goal.keep, 0.05, 1.0),
        trials=int(_number(data, "trials", place, Goal.trials, 1, 1_000_000, whole=True)),
        seed=int(_number(data, "seed", place, Goal.seed, 0, 2**31 - 1, whole=True)),
        start=tuple(_words(data, "start", place, Goal.start)),
        machine=_word(data, "machine", place, Goal.machine),
        overrides=dotted(_table(data, "overrides", place)),
        sms=int(_number(data, "sms", place, Goal.sms, 0, 1024, whole=True)),
        size=_word(data, "size", place, Goal.size),
        code=_word(data, "code", place, Goal.code),
        technology=_word(data, "technology", place, Goal.technology),
        space=dotted(_table(data, "space", place)),
        place=place,
    )
    with refused_at(place):  # what does not exist is found before anything is run
        check_size(made.size)
        check_code(made.code or made.chip.code)
        _ = made.energy_table
    return made


def _programs(names: list[str], place: str) -> tuple[str, ...]:
    with refused_at(place):
        return tuple(chosen_programs(names)) if names else ()


def read_constraint(text: str, place: str) -> Constraint:
    """A constraint such as ``time <= 1.01``."""
    found = _CONSTRAINT.fullmatch(text)
    if found is None:
        raise WarploomError(f"{place}: {text!r} is not a bound such as 'time <= 1.01'")
    return Constraint(_measure(found[1], place), found[2], float(found[3]))


def _objectives(names: list[str], place: str) -> tuple[str, ...]:
    if not names or len(set(names)) < len(names):
        raise WarploomError(f"{place}: name at least one measure, and each once")
    return tuple(_measure(name, place) for name in names)


def _measure(name: str, place: str) -> str:
    if name not in MEASURES:
        raise WarploomError(f"{place}: {name!r} is not measured{did_you_mean(name, MEASURES)}")
    return name


def _stages(given: Any, workloads: int, place: str) -> tuple[int, ...]:
    """The numbers of workloads of each stage: as given, or a quarter, a half, all."""
    if given is None:
        return tuple(dict.fromkeys(max(1, workloads // part) for part in (4, 2, 1)))
    whole = isinstance(given, list) and all(isinstance(number, int) and not isinstance(number, bool) for number in given)
    if not whole or not given or sorted(set(given)) != given or given[0] < 1 or given[-1] > workloads:
        raise WarploomError(f"{place}: stages are growing numbers of workloads from 1 to {workloads}, such as [2, 4]")
    return (*given, *([workloads] if given[-1] != workloads else []))


def _words(data: Mapping[str, Any], name: str, place: str, default: tuple[str, ...] = ()) -> list[str]:
    value = data.get(name, list(default))
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise WarploomError(f"{place}: {name} is a list of words, not {value!r}")
    return words


def _word(data: Mapping[str, Any], name: str, place: str, default: str) -> str:
    if not isinstance(data.get(name, default), str):
        raise WarploomError(f"{place}: {name} is a word, not {data[name]!r}")
    return data.get(name, default)


def _table(data: Mapping[str, Any], name: str, place: str) -> Mapping[str, Any]:
    if not isinstance(data.get(name, {}), Mapping):
        raise WarploomError(f"{place}: write {name} as a table, [{name}]")
    return data.get(name, {})


def _number(
    data: Mapping[str, Any], name: str, place: str, default: float, low: float, high: float, whole: bool = False
) -> float:
    value = data.get(name, default)
    fits = isinstance(value, int) or (isinstance(value, float) and not whole)
    if not fits or isinstance(value, bool) or not low <= value <= high:
        kind = "a whole number" if whole else "a number"
        raise WarploomError(f"{place}: {name} must be {kind} from {low:,} to {high:,}, not {value!r}")
    return value
