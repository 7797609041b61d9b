"""Which policies there are: ours, those of installed packages, and those of a user's files."""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.util
import pkgutil
import sys
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeVar

from warploom.errors import WarploomError
from warploom.policies.design import check_policy_class, checked_parameters
from warploom.policies.hooks import CHOICES

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
    _registry[known.CHOICE][known.NAME] = kind
    return kind


@cache
def _load_all() -> None:
    """Import every policy of this package and of the entry points of installed ones."""
    package = importlib.import_module("warploom.policies")
    for choice in CHOICES:
        folder = Path(package.__path__[0]) / choice
        for module in sorted(item.name for item in pkgutil.iter_modules([str(folder)])):
            importlib.import_module(f"warploom.policies.{choice}.{module}")
    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name):
        point.load()  # a policy class, or a module whose import registers some


def load_policy_file(path: str | Path) -> list[Any]:
    """Load the policies of a user's Python file; they work like ours. Returns the classes that it registered."""
    path = Path(path).resolve()
    if not path.is_file():
        raise WarploomError(f"{path}: there is no such policy file")
    _load_all()
    name = f"warploom_policy_{path.stem}_{hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise WarploomError(f"{path}: a policy file is a Python file; give it the ending .py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        before = {choice: set(known) for choice, known in _registry.items()}
        try:
            spec.loader.exec_module(module)
        except WarploomError as error:
            del sys.modules[name]
            raise WarploomError(f"{path}: {error}") from None
        except Exception as error:
            del sys.modules[name]
            raise WarploomError(f"{path}: it cannot be loaded: {type(error).__name__}: {error}") from None
        if all(set(known) == before[choice] for choice, known in _registry.items()):
            raise WarploomError(f"{path}: it registers no policy; put @policy in front of its class")
    return [kind for known in _registry.values() for kind in known.values() if kind.__module__ == name]


def policies_of(choice: str) -> dict[str, Any]:
    """The policy classes of a choice by name, in alphabetical order."""
    _load_all()
    if choice not in CHOICES:
        raise WarploomError(f"there is no choice {choice!r}; the choices are {', '.join(CHOICES)}")
    return dict(sorted(_registry[choice].items()))


def choices_of(name: str) -> list[str]:
    """The choices that have a policy of this name."""
    _load_all()
    return [choice for choice in CHOICES if name in _registry[choice]]


def make_policy(choice: str, name: str, /, **parameters: Any) -> Any:
    """A policy by name, its parameters checked."""
    known = policies_of(choice)
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
        raise WarploomError(f"{choice}={name}: there is no such policy; {hint}")
    kind = known[name]
    return kind(**checked_parameters(kind, parameters))
