"""Which policies there are: ours, those of papers and of installed packages, and those of user files (`user_files.py`)."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeVar

from warploom.base.errors import WarploomError
from warploom.base.library import papers
from warploom.base.sources import remember_class
from warploom.base.spelling import did_you_mean
from warploom.chip.sm.choices import CHOICES, Policies
from warploom.chip.sm.policy import check_policy_class, checked_parameters

ENTRY_POINTS = "warploom.policies"
_registry: dict[str, dict[str, Any]] = {choice: {} for choice in CHOICES}
Kind = TypeVar("Kind", bound=type)


def policy(kind: Kind) -> Kind:
    """Class decorator: register a policy."""
    check_policy_class(kind)
    known: Any = kind
    previous = _registry[known.CHOICE].get(known.NAME)
    if previous is not None and (previous.__module__, previous.__qualname__) != (kind.__module__, kind.__qualname__):
        raise WarploomError(
            f"policy class {kind.__name__}: {known.CHOICE}={known.NAME} is already taken by {previous.__module__}"
        )
    remember_class(kind)
    _registry[known.CHOICE][known.NAME] = kind
    return kind


@contextmanager
def registering() -> Iterator[list[Any]]:
    """Yield a list for the classes that the block registers; if it fails, the policies are again those from before."""
    before = {choice: dict(known) for choice, known in _registry.items()}
    new: list[Any] = []
    try:
        yield new
        new += [kind for choice, known in _registry.items() for kind in known.values() if kind not in before[choice].values()]
        if not new:
            raise WarploomError("it registers no policy; put @policy in front of its class")
    except BaseException:
        _registry.update(before)
        raise


def forget(kinds: Iterable[Any]) -> None:
    """Take back the registration of classes, unless others have taken their names."""
    for kind in kinds:
        if kind in _registry[kind.CHOICE].values():
            del _registry[kind.CHOICE][kind.NAME]


def load_all() -> None:
    """Import every policy that there is; papers may have been added since the last time."""
    _load_installed()
    for paper in papers():
        paper.load_policies()


@cache
def _load_installed() -> None:
    """Import the policies that belong to no paper: of this package, and of the entry points of installed ones."""
    package = importlib.import_module("warploom.designs.policies")
    for choice in CHOICES:
        folder = Path(package.__path__[0]) / choice
        for module in sorted(item.name for item in pkgutil.iter_modules([str(folder)])):
            importlib.import_module(f"warploom.designs.policies.{choice}.{module}")
    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name):
        point.load()  # a policy class, or a module whose import registers some


def policies_of(choice: str) -> dict[str, Any]:
    """The policy classes of a choice by name, in alphabetical order."""
    load_all()
    if choice not in CHOICES:
        raise WarploomError(f"there is no choice {choice!r}; the choices are {', '.join(CHOICES)}")
    return dict(sorted(_registry[choice].items()))


def choices_of(name: str) -> list[str]:
    """The choices that have a policy of this name."""
    load_all()
    return [choice for choice in CHOICES if name in _registry[choice]]


def make_policy(choice: str, name: str, /, **parameters: Any) -> Any:
    """A policy by name, its parameters checked."""
    _load_installed()  # papers, only for names that are not known without them
    known = _registry.get(choice, {})
    if name not in known:
        known = policies_of(choice)
    if name not in known:
        raise WarploomError(f"{choice}={name}: there is no such policy{did_you_mean(name, known)}")
    kind = known[name]
    return kind(**checked_parameters(kind, parameters))


def baseline_policies() -> Policies:
    """GTO, static allocation, and nothing else: what the papers compare with."""
    names = ("gto", "static", "none", "none", "always-on", "none")
    return Policies(*(make_policy(choice, name) for choice, name in zip(CHOICES, names, strict=True)))
