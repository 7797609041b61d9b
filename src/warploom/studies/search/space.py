"""What a search may choose: policies and their parameters as they declare them, narrowed by what the goal says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.spelling import did_you_mean
from warploom.chip.sm import CHOICES, make_policy, policies_of
from warploom.designs import Design
from warploom.designs.design import OPTIONS, from_dict
from warploom.studies.sweep.axes import limit_of, values_of
from warploom.studies.sweep.plan import refused_at

WIDE = 100  # a range of whole numbers whose ends have this ratio is searched by factors, not by steps


@dataclass(frozen=True)
class Dimension:
    """One thing to choose: among words or values, or a number between two ends."""

    name: str
    values: tuple[Any, ...] = ()  # empty for a range
    low: float = 0
    high: float = 0

    def suggest(self, trial: Any) -> Any:
        """A value that an Optuna trial chooses."""
        if self.values:
            return self.values[0] if len(self.values) == 1 else trial.suggest_categorical(self.name, list(self.values))
        if isinstance(self.low, int) and isinstance(self.high, int):
            return trial.suggest_int(self.name, self.low, self.high, log=self.low > 0 and self.high / self.low >= WIDE)
        return trial.suggest_float(self.name, self.low, self.high)

    def holds(self, value: Any) -> bool:
        """Whether a value is one of those to choose from."""
        return value in self.values if self.values else self.low <= value <= self.high


@dataclass(frozen=True)
class SearchSpace:
    """All that may be chosen. The parameters of a policy are chosen only where the policy is."""

    choices: tuple[Dimension, ...]  # the policy of each choice
    parameters: Mapping[tuple[str, str], tuple[Dimension, ...]]  # by choice and policy
    options: tuple[Dimension, ...]

    def design(self, trial: Any) -> Design:
        """The design that a trial chooses; refused like any other if its policies cannot be combined."""
        tables: dict[str, Any] = {"name": f"trial {trial.number}"}
        for dimension in self.choices:
            policy = dimension.suggest(trial)
            chosen = {each.name.rpartition(".")[2]: each.suggest(trial) for each in self.parameters[dimension.name, policy]}
            tables[dimension.name] = {"policy": policy, **chosen}
        for dimension in self.options:
            tables[dimension.name] = _option_value(dimension.name, dimension.suggest(trial))
        return from_dict(tables)

    def place_of(self, design: Design) -> dict[str, Any] | None:
        """What a trial would have to choose to make a design; None where the design lies outside."""
        chosen: dict[str, Any] = {}
        for dimension in self.choices:
            policy = getattr(design.policies, dimension.name)
            if not dimension.holds(policy.NAME):
                return None
            chosen[dimension.name] = policy.NAME
            values = policy._asdict()
            for each in self.parameters[dimension.name, policy.NAME]:
                chosen[each.name] = values.pop(each.name.rpartition(".")[2])
                if not each.holds(chosen[each.name]):
                    return None
            if any(value != type(policy)._field_defaults[name] for name, value in values.items()):
                return None
        options = {"register_file": design.register_file, "max_registers": design.max_registers or "none"}
        for dimension in self.options:
            chosen[dimension.name] = options.pop(dimension.name)
            if not dimension.holds(chosen[dimension.name]):
                return None
        if options.get("register_file", 1.0) != 1.0 or options.get("max_registers", "none") != "none":
            return None
        single = {each.name for each in self.dimensions if len(each.values) == 1}
        return {name: value for name, value in chosen.items() if name not in single}

    @property
    def dimensions(self) -> list[Dimension]:
        """Everything that there is to choose."""
        return [*self.choices, *(each for group in self.parameters.values() for each in group), *self.options]


def space_of(entries: Mapping[str, Any], place: str) -> SearchSpace:
    """The space of a goal: policies that cost what they cost, with the parameters that a designer decides.

    Entries narrow it: a choice to some policies (``power = ["trimodal"]``), a parameter (``power.trimodal.wakeup``) to a value,
    a list or a range; a parameter that is given by technology and an ideal policy come in only by such an entry. The options of
    designs, ``register_file`` and ``max_registers``, are chosen only where an entry says from what.
    """
    left = dict(entries)
    choices, parameters = [], {}
    for choice in CHOICES:
        names = _policies(choice, left.pop(choice, None), place)
        choices.append(Dimension(choice, tuple(names)))
        for name in names:
            parameters[choice, name] = tuple(_parameters(choice, name, left, place))
    options = [_option(name, left.pop(name), place) for name in OPTIONS if name in left]
    for name in left:
        known = [*CHOICES, *OPTIONS, *(f"{choice}.{policy}.{field}" for choice, policy, field in _all_parameters())]
        raise WarploomError(f"{place}, space: {name!r} is nothing to choose here{did_you_mean(name, known)}")
    return SearchSpace(tuple(choices), parameters, tuple(options))


def _policies(choice: str, given: Any, place: str) -> list[str]:
    known = policies_of(choice)
    if given is None:
        return [name for name, kind in known.items() if not getattr(kind, "IDEAL", False)]
    names = values_of(given, f"{place}, space, {choice}")
    for name in names:
        if name not in known:
            raise WarploomError(f"{place}, space: there is no {choice}={name}{did_you_mean(str(name), known)}")
    return names


def _parameters(choice: str, name: str, left: dict[str, Any], place: str) -> list[Dimension]:
    kind = policies_of(choice)[name]
    found = []
    for field, default in kind._field_defaults.items():
        label = f"{choice}.{name}.{field}"
        if label in left:
            narrowed = _narrowed(label, left.pop(label), f"{place}, space, {label}")
            with refused_at(f"{place}, space"):
                for value in narrowed.values or (narrowed.low, narrowed.high):
                    make_policy(choice, name, **{field: value})  # complains of what lies outside of the policy's own limits
            found.append(narrowed)
        elif field not in getattr(kind, "GIVEN", ()):
            limits = (False, True) if isinstance(default, bool) else kind.LIMITS[field]
            numeric = isinstance(default, int | float) and not isinstance(default, bool)
            low_high = tuple(type(default)(limit) for limit in limits) if numeric else ()
            found.append(Dimension(label, (), *low_high) if numeric else Dimension(label, tuple(limits)))
    return found


def _option(name: str, given: Any, place: str) -> Dimension:
    narrowed = _narrowed(name, given, f"{place}, space, {name}")
    for value in narrowed.values or (narrowed.low, narrowed.high):
        try:
            from_dict({name: _option_value(name, value)})
        except WarploomError as error:  # of a design that has no name yet
            raise WarploomError(f"{place}, space: {str(error).partition(': ')[2]}") from None
    return narrowed


def _option_value(name: str, value: Any) -> Any:
    return limit_of(value) if name == "max_registers" else value


def _narrowed(label: str, given: Any, place: str) -> Dimension:
    """A dimension from a goal's entry: a range without steps stays one, everything else becomes values."""
    if isinstance(given, Mapping) and given.keys() == {"from", "to"}:
        low, high = given["from"], given["to"]
        if any(isinstance(end, bool) or not isinstance(end, int | float) for end in (low, high)) or low > high:
            raise WarploomError(f"{place}: a range goes from a number to a larger one, not from {low!r} to {high!r}")
        return Dimension(label, (), low, high)
    return Dimension(label, tuple(values_of(given, place)))


def _all_parameters() -> list[tuple[str, str, str]]:
    return [(choice, name, field) for choice in CHOICES for name, kind in policies_of(choice).items() for field in kind._fields]
