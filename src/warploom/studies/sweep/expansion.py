"""From a plan to its runs: every combination that makes sense, each once, and how many do not and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import product
from math import prod
from typing import Any

from warploom.base.checks import check_words
from warploom.base.errors import WarploomError
from warploom.base.spelling import did_you_mean
from warploom.chip.machines import Machine, load_machine
from warploom.chip.sm import CHOICES, make_policy, policies_of
from warploom.designs import Design, parse_design
from warploom.designs.design import OPTIONS, from_dict
from warploom.designs.energy import load_technology
from warploom.programs.program import check_code, check_size
from warploom.runs.caches import COLD, check_caches
from warploom.runs.spec import RunSpec, changed_design, policy_table
from warploom.studies.sweep.axes import MOST, values_of
from warploom.studies.sweep.conditions import read_condition
from warploom.studies.sweep.plan import Plan, refused_at
from warploom.studies.sweep.planned_programs import planned_programs, seeds_of, sizes_of

MOST_POINTS = 10_000_000  # combinations that are looked at
PROGRAM, SMS = "workload", "sms"  # coordinates that are not fields of runs


@dataclass(frozen=True)
class Point:
    """One run of a plan, and where it stands on the plan's axes."""

    coordinates: Mapping[str, Any]
    spec: RunSpec


@dataclass
class Expansion:
    """The runs of a plan, and how many combinations were left out for which reason."""

    points: list[Point] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    @property
    def specs(self) -> list[RunSpec]:
        """The runs of all points."""
        return [point.spec for point in self.points]


def expand(plan: Plan) -> Expansion:
    """Every run of a plan and of its further grids."""
    found = Expansion()
    seen: set[tuple[Any, ...]] = set()
    grids = [_Grid(grid, found.skipped) for grid in plan.grids or (plan,)]
    run = {name for grid in grids for name in grid.programs}
    idle = [name for grid in grids for name in grid.kernels if name not in run]
    if idle:
        raise WarploomError(f"{plan.place}, kernels: nothing runs {idle[0]!r}; name it among the workloads")
    for grid in grids:
        for point in grid.points():
            identity = tuple(sorted((name, repr(value)) for name, value in point.coordinates.items()))
            if identity in seen:
                continue  # two grids overlap
            seen.add(identity)
            found.points.append(point)
    return found


class _Grid:
    """One plan without its further grids."""

    def __init__(self, plan: Plan, skipped: Counter[str]) -> None:
        self.place = plan.place
        self.skipped = skipped
        designs, sizes, codes = (self._words(name, getattr(plan, name)) for name in ("designs", "sizes", "codes"))
        with refused_at(self.place):
            self.designs = [(text, parse_design(text)) for text in designs]
            self.sizes = [check_size(size) for size in sizes]
            self.codes = [code and check_code(code) for code in codes]
            self.caches = [check_caches(word) for word in self._words("caches", plan.caches)]
        self.parameters = {name: self._axis(f"parameters, {name}", axis) for name, axis in plan.parameters.items()}
        self.machines = self._words("machines", plan.machines)
        self.overrides = {name: self._axis(f"overrides, {name}", axis) for name, axis in plan.overrides.items()}
        self.fields = {path: self._axis(f"fields, {path}", axis) for path, axis in plan.fields.items()}
        self.sms = [self._whole("sms", value) for value in self._axis("sms", plan.sms)]
        self.kernels = plan.kernels
        with refused_at(self.place):
            self.chips = {name: load_machine(name) for name in self.machines}
            executed = sorted({code or chip.code for chip in self.chips.values() for code in self.codes})
        self.programs = planned_programs(self._words("workloads", plan.workloads), plan.kernels, executed, self.place)
        self.technologies = self._words("technologies", plan.technologies)
        self.seeds = self._axis("seeds", plan.seeds) if plan.seeds not in ((), []) else []
        self.replicates = self._whole("replicates", plan.replicates)
        self.check = plan.check
        self.checks = check_words(bool(plan.check))
        self._check_entries()
        axes = {PROGRAM, SMS, *(item.name for item in fields(RunSpec)), *self.fields, *self.parameters, *self.overrides}
        known = {*axes, *CHOICES, *OPTIONS, *_parameters_of_all()}
        texts = [] if plan.where in ((), []) else self._axis("where", plan.where)
        self.conditions = [read_condition(text, f"{self.place}, where", known) for text in texts]

    def points(self) -> Iterator[Point]:
        """Every combination that makes sense."""
        machines = self._machines()
        asked = list(product(self.programs.items(), machines, self.codes, self.caches, self.technologies))
        for text, base in self.designs:
            for varied, design in self._varied(text, base):
                for (name, program), ((machine_name, sms, changed), chip), asked_code, caches, technology in asked:
                    code = asked_code or chip.code
                    sizes = sizes_of(program, name, self.sizes, self.skipped)
                    with refused_at(self.place):
                        seeds = seeds_of(program, name, self.seeds, self.replicates, self.skipped)
                    for size, seed in product(sizes, seeds):
                        where = {
                            PROGRAM: name,
                            "design": text,
                            **varied,
                            "machine": machine_name,
                            **({SMS: sms} if sms else {}),
                            **changed,
                            "size": size,
                            "code": code,
                            **({"caches": caches} if self.caches != [COLD] else {}),
                            **({"technology": technology} if technology else {}),
                            "seed": seed,
                        }
                        said = (size, seed, code, technology, caches, self.checks)
                        yield from self._further(Point(where, RunSpec(program, design, chip, *said)))

    def _further(self, point: Point) -> Iterator[Point]:
        """A point with every combination of the further fields, where it is wanted."""
        for values in _combinations(self.fields):
            where, spec = {**point.coordinates, **values}, point.spec
            if self._wanted(where, spec.design):
                with refused_at(f"{self.place}, fields"):
                    for path, value in values.items():
                        spec = spec.vary(path, value)
                yield Point(where, spec)

    def _wanted(self, where: Mapping[str, Any], design: Design) -> bool:
        if not self.conditions:
            return True
        values = {**_values_of_design(design), **where}
        for condition in self.conditions:
            if not condition.holds(values):
                self.skipped[f"it does not fulfil `{condition.text}`"] += 1
                return False
        return True

    def _varied(self, text: str, base: Design) -> Iterator[tuple[dict[str, Any], Design]]:
        """The base with every combination of the parameters that it has; those that are refused are counted."""
        choices = {name: values for name, values in self.parameters.items() if name in (*CHOICES, *OPTIONS)}
        inner = {name: values for name, values in self.parameters.items() if name not in choices}
        for chosen in _combinations(choices):
            try:
                outer = changed_design(base, chosen)
            except WarploomError as error:
                self.skipped[str(error)] += 1
                continue
            own = {name: values for name, values in inner.items() if _has(outer, name)}
            for values in _combinations(own):
                try:
                    design = changed_design(outer, values)
                except WarploomError as error:
                    self.skipped[str(error)] += 1
                    continue
                varied = chosen | values
                label = ", ".join([text, *(f"{name}={value}" for name, value in varied.items())])
                yield varied, from_dict(design.to_dict() | {"name": label})

    def _machines(self) -> list[tuple[tuple[str, int, dict[str, Any]], Machine]]:
        found = []
        for name, sms, changed in product(self.machines, self.sms, list(_combinations(self.overrides))):
            try:
                machine = load_machine(name, **changed) if changed else self.chips[name]
                found.append(((name, sms, changed), machine.scaled(sms) if sms else machine))
            except WarploomError as error:
                self.skipped[str(error)] += 1
        return found

    def _axis(self, name: str, axis: Any) -> list[Any]:
        return values_of(axis, f"{self.place}, {name}")

    def _words(self, name: str, axis: Any) -> list[str]:
        if axis in ((), []):
            raise WarploomError(f"{self.place}: it names no {name}; add {name} = [...]")
        found = self._axis(name, axis)
        for value in found:
            if not isinstance(value, str):
                raise WarploomError(f"{self.place}, {name}: {value!r} is not text")
        return found

    def _whole(self, name: str, value: Any) -> int:
        lowest = 1 if name == "replicates" else 0
        if name == "replicates" and isinstance(value, int) and value > MOST:
            raise WarploomError(f"{self.place}: replicates must be {MOST:,} at most, not {value:,}")
        if isinstance(value, bool) or not isinstance(value, int) or value < lowest:
            raise WarploomError(f"{self.place}: {name} must be a whole number from {lowest}, not {value!r}")
        return value

    def _check_entries(self) -> None:
        if not isinstance(self.check, bool):
            raise WarploomError(f"{self.place}: check must be true or false, not {self.check!r}")
        if self.seeds and self.replicates > 1:
            raise WarploomError(f"{self.place}: seeds and replicates exclude each other; give one of them")
        known = {*CHOICES, *OPTIONS, *_parameters_of_all()}
        for name in self.parameters:
            if name not in known:
                raise WarploomError(f"{self.place}, parameters: no policy has {name!r}{did_you_mean(name, known)}")
            own_choices = any(choice in self.parameters for choice in CHOICES)
            if name not in (*CHOICES, *OPTIONS) and not own_choices and not any(_has(base, name) for _, base in self.designs):
                designs = ", ".join(text for text, _ in self.designs)
                raise WarploomError(f"{self.place}, parameters: none of the designs ({designs}) has {name!r}")
        for choice, value in ((name, value) for name in CHOICES for value in self.parameters.get(name, ())):
            with refused_at(f"{self.place}, parameters"):  # misspelt, it is no combination without sense
                table = policy_table(choice, value)
                make_policy(choice, table.pop("policy"), **table)
        if "timed" in self.fields:
            raise WarploomError(f"{self.place}, fields: every run of a plan is timed; leave `timed` out")
        with refused_at(self.place):
            for technology in filter(None, self.technologies):
                load_technology(technology)
            keys = {key for chip in self.chips.values() for key in _keys_of(chip)}
        for name in self.overrides:
            if name not in keys:
                hint = did_you_mean(name, keys) if "." in name else "; write table.key, such as l1.latency"
                raise WarploomError(f"{self.place}, overrides: a machine has no {name!r}{hint}")
        lists: list[Any] = [self.programs, self.designs, self.machines, self.sms, self.sizes, self.codes, self.technologies]
        varied = (self.caches, *self.parameters.values(), *self.overrides.values(), *self.fields.values())
        number = (len(self.seeds) or self.replicates) * prod(len(axis) for axis in (*lists, *varied))
        if number > MOST_POINTS:
            raise WarploomError(f"{self.place}: it has {number:,} combinations; {MOST_POINTS:,} are the most")


def _combinations(axes: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    return (dict(zip(axes, values, strict=True)) for values in product(*axes.values()))


def _keys_of(machine: Machine) -> Iterator[str]:
    """What can be overridden, as ``table.key``."""
    for table, values in machine.to_dict().items():
        if isinstance(values, Mapping):
            yield from (f"{table}.{key}" for key in values)


def _has(design: Design, name: str) -> bool:
    choice, _, parameter = name.partition(".")
    return parameter in getattr(design.policies, choice)._fields


def _parameters_of_all() -> set[str]:
    return {f"{choice}.{name}" for choice in CHOICES for kind in policies_of(choice).values() for name in kind._fields}


def _values_of_design(design: Design) -> dict[str, Any]:
    """What conditions can ask of a design: its policies by choice, their parameters, its options."""
    values: dict[str, Any] = {"register_file": design.register_file, "max_registers": design.max_registers}
    for choice, policy in zip(CHOICES, design.policies, strict=True):
        values[choice] = policy.NAME
        values |= {f"{choice}.{name}": value for name, value in policy._asdict().items()}
    return values
