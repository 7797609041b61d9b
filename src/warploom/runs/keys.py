"""What tells results apart: a digest of the run, of what the run only names, and of the simulator that makes it."""

from __future__ import annotations

import hashlib
import inspect
import json
import uuid
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from warploom.base.library import load_paper, outside_folders
from warploom.base.sources import PACKAGE, class_digest, of_own_sources, source_files, surroundings, syntax_digest
from warploom.chip.machines import Machine
from warploom.chip.sm import CHOICES
from warploom.compiler.sass.toolchain import tool_versions
from warploom.designs import Design
from warploom.designs.energy import Technology, load_technology, technology_names
from warploom.programs.origin import Digests
from warploom.programs.source import PTX
from warploom.runs.spec import RunSpec

SHORT = 8  # characters of a digest where people read it
# Fields of a run that cannot change its result: a launch that exceeds the budget has none.
_BOUNDS = ("budget",)
# What names things for people, or says what is usual for a machine where a run says nothing itself.
_NAMES = ("name", "title", "code", "design")


def simulator_digest() -> str:
    """A digest of all that a run can execute of this package, but for policies and programs, which have their own.

    Comments, docstrings and files that no run reaches do not change it.
    """
    return str(of_own_sources("simulator", lambda: syntax_digest(_simulator_files())))


@cache
def _simulator_files() -> frozenset[Path]:
    return source_files(Path(__file__).with_name("run.py"))


class Keys:
    """Digests and keys of settled runs; what many of them have in common is looked up once."""

    def __init__(self) -> None:
        papers = [load_paper(folder).digest() for folder in outside_folders()]
        self._maker = [simulator_digest(), *surroundings(), *papers]
        self._program = cache(lambda origin, code: origin.digests(code))
        self._policies, self._technology = cache(policy_digests), cache(technology_digests)
        self._numbers, self._tools = cache(_numbers), cache(tool_versions)

    def digests(self, spec: RunSpec) -> Digests:
        """Of everything that a run names and does not hold: contents of files, code of policies, numbers of tables, compilers."""
        return {
            "program": self._program(spec.program, spec.code),
            "policies": self._policies(spec.design),
            "technology": self._technology(spec.technology) if spec.timed else {},
            "tools": self._tools() if spec.code != PTX else "",
        }

    def key(self, spec: RunSpec) -> str:
        """What a run's result is stored under."""
        asked: dict[str, Any] = {item.name: getattr(spec, item.name) for item in fields(spec) if item.name not in _BOUNDS}
        digests = self.digests(spec)
        asked |= {
            "program": [spec.program.identity, digests["program"]],
            "design": [_unnamed(spec.design.to_dict()), [entry["digest"] for entry in digests["policies"].values()]],
            "machine": self._numbers(spec.machine),
            "technology": digests["technology"].get("digest"),
        }
        text = json.dumps([self._maker, asked, digests["tools"]], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def keys_of(specs: Sequence[RunSpec]) -> list[str]:
    """The keys of many runs."""
    keys = Keys()
    return [keys.key(spec.settled) for spec in specs]


def policy_digests(design: Design) -> dict[str, dict[str, str]]:
    """For each choice a digest of its policy's code, and the file where that is the user's."""
    kinds: list[Any] = list(map(type, design.policies))
    return {choice: _code_of(kind) for choice, kind in zip(CHOICES, kinds, strict=True)}


@cache
def _code_of(kind: Any) -> dict[str, str]:
    digest = class_digest(kind)
    if digest is None:
        return {"digest": uuid.uuid4().hex, "file": ""}  # typed into a session: nothing else will ever have its digest
    file = Path(inspect.getfile(kind)).resolve()
    if file.is_relative_to(PACKAGE):
        name = f"policies of {file.relative_to(PACKAGE)}"
        return {"digest": str(of_own_sources(name, lambda: syntax_digest(source_files(file) - _simulator_files())))}
    return {"digest": digest, "file": str(file)}


def technology_digests(name: str) -> dict[str, str]:
    """The label and the digest of an energy table, and its file where that is the user's."""
    table = load_technology(name)
    about = {"name": table.name, "digest": _technology_digest(table)}
    if table.name not in technology_names() or _technology_digest(load_technology(table.name)) != about["digest"]:
        about["name"] += f"#{about['digest'][:SHORT]}"
    return about | ({"file": name} if name.endswith(".toml") else {})


def _technology_digest(table: Technology) -> str:
    return hashlib.sha256(repr(replace(table, name="", title="", sources={})).encode()).hexdigest()[:32]


def _numbers(machine: Machine) -> dict[str, Any]:
    return _unnamed(machine.to_dict())


def _unnamed(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in _NAMES}
