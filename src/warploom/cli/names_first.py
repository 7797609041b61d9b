"""Names that people type, looked up before anything is imported that takes seconds: a misspelt one is answered at once.

This only finds what is surely wrong, in the words of whoever would find it later; whatever is in doubt is left to them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from functools import wraps
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.library import papers
from warploom.base.spelling import did_you_mean
from warploom.cli.paper_option import load_papers

_PLAIN = re.compile(r"([A-Za-z][\w-]*)\s*(?:\(.*)?")  # an item of a design's text that is a name, with or without parameters
_ANNOUNCED = re.compile(r"^    NAME = \"([^\"]+)\"", re.MULTILINE)  # in a policy's file
_KERNEL_FILES = (".cu", ".ptx", ".cubin", ".fatbin", ".wlr")
_ROOT = Path(__file__).parents[1]  # files are read where they lie: to ask a package for them imports it
_WORDS = ("target", "workloads", "design", "designs", "machine")  # options and arguments that are names


def with_names_first(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that looks at the names it was given before it does anything."""

    @wraps(command)
    def checked(**given: Any) -> Any:
        if any(given.get(word) for word in _WORDS):
            check_names(given)
        return command(**given)

    return checked


def check_names(given: dict[str, Any]) -> None:
    """Refuse names of workloads, machines and designs that there are not."""
    folders = given.get("paper") or given.get("folders") or ()
    load_papers([] if isinstance(folders, str) else folders)
    _check_workloads(_listed(given.get("target")) + _listed(given.get("workloads")))
    if given.get("machine"):
        _check_machine(str(given["machine"]))
    if not given.get("policy") and not entry_points(group="warploom.policies"):
        chosen = given.get("design") or ()
        _check_designs([*([chosen] if isinstance(chosen, str) else chosen), *_listed(given.get("designs"))])


def known_designs() -> set[str]:
    """Named designs and policies, as their files announce them: none is imported for it."""
    package = _ROOT / "designs"
    named = [tomllib.loads((package / name).read_text("utf-8")) for name in ("named.toml", "searched.toml")]
    files = [*(package / "policies").rglob("*.py"), *(file for paper in papers() for file in paper.folder.glob("*.py"))]
    announced = {name for file in files for name in _ANNOUNCED.findall(file.read_text("utf-8"))}
    return announced.union(*named, *(paper.designs for paper in papers()))


def known_machines() -> set[str]:
    """Machines that come with Warploom, and those of papers."""
    ours = {path.stem for path in (_ROOT / "chip" / "machines").glob("*.toml")}
    return ours.union(*(paper.machines for paper in papers()))


def _listed(text: str | None) -> list[str]:
    return [word.strip() for word in text.split(",")] if text else []


def _check_workloads(words: Iterable[str]) -> None:
    from warploom.programs.workloads.registry import check_workload_name

    for word in words:
        if word and not word.endswith(_KERNEL_FILES):
            check_workload_name(word)


def _check_machine(word: str) -> None:
    if not word.endswith(".toml") and word not in known_machines():
        from warploom.chip.machines.loader import check_machine_name

        check_machine_name(word)


def _check_designs(texts: Iterable[str]) -> None:
    known: set[str] = set()
    for text in texts:
        for item in text.split("+"):
            plain = _PLAIN.fullmatch(item.strip())
            known = known or known_designs()
            if plain and plain[1] not in known and not text.strip().endswith(".toml"):
                raise WarploomError(f"design {text!r}: {plain[1]!r} is not known{did_you_mean(plain[1], known)}")
