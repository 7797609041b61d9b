"""What stands for each policy in the drawing of a design: a small description, in the folder of the paper that it is from."""

from __future__ import annotations

import inspect
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.library import Paper, papers, with_papers
from warploom.base.spelling import did_you_mean
from warploom.chip.sm import CHOICES

STATES = ("on", "drowsy", "off")
_TEXTS = ("box", "says", "used", "idle", "free", "together")


@dataclass(frozen=True)
class Drawn:
    """A policy in a drawing."""

    box: str  # what its box is called
    says: str  # what it does, with its parameters in it
    held: float = 0.7  # of an allocation: the share of entries that hold a register, roughly
    used: str = "on"  # of a power policy: the state of an entry while it is accessed,
    idle: str = "on"  # while it holds a register,
    free: str = "on"  # and while it holds none
    together: str = ""  # of a power policy: entries that have one state, "row" or "column"; each its own if empty


def drawn(policy: Any) -> Drawn:
    """How a policy is drawn; one that nobody described has its name and the first line of its documentation."""
    about = _described(papers()).get(f"{policy.CHOICE}.{policy.NAME}")
    if about is None:
        first_line = (inspect.getdoc(type(policy)) or "").split("\n", 1)[0]
        return Drawn(policy.NAME, first_line)
    try:
        return Drawn(**about | {name: about[name].format(**policy._asdict()) for name in ("box", "says")})
    except (KeyError, ValueError, IndexError) as error:
        said = f"{about['box']!r} or {about['says']!r}"
        raise WarploomError(f"drawing of {policy.CHOICE}={policy.NAME}: {said} cannot be filled in: {error}") from None


@cache
def _described(known: tuple[Paper, ...]) -> dict[str, dict[str, Any]]:
    own = tomllib.loads((resources.files("warploom.designs") / "drawings.toml").read_text(encoding="utf-8"))
    return with_papers("drawing", _by_policy(own, "drawings.toml"), lambda paper: _by_policy(paper.drawings, paper.name))


def _by_policy(tables: dict[str, Any], place: str) -> dict[str, dict[str, Any]]:
    found = {}
    for choice, policies in tables.items():
        if choice not in CHOICES:
            raise WarploomError(f"{place}, drawings: {choice!r} is not one of the choices{did_you_mean(choice, CHOICES)}")
        for name, about in policies.items():
            found[f"{choice}.{name}"] = _checked(about, f"{place}, drawings, {choice}.{name}")
    return found


def _checked(about: Any, place: str) -> dict[str, Any]:
    if not isinstance(about, dict) or not {"box", "says"} <= about.keys() <= {*_TEXTS, "held"}:
        raise WarploomError(f"{place}: it is a table with box, says and perhaps held, used, idle, free, together")
    if not all(isinstance(about.get(name, ""), str) for name in _TEXTS):
        raise WarploomError(f"{place}: {', '.join(_TEXTS)} are texts")
    if not all(about.get(name, "on") in STATES for name in ("used", "idle", "free")):
        raise WarploomError(f"{place}: the state of an entry is {', '.join(STATES[:-1])} or {STATES[-1]}")
    if about.get("together", "") not in ("", "row", "column") or not 0 <= about.get("held", 0) <= 1:
        raise WarploomError(f"{place}: together is row or column, and held a share from 0 to 1")
    return about
