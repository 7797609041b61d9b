"""Results of runs kept as files, so that an interrupted reproduction goes on where it was and figures share runs."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from warploom.designs import parse_design
from warploom.energy import load_technology
from warploom.library import load_paper, outside_folders
from warploom.machines import Machine, load_machine, machine_names
from warploom.papers.experiment import Run
from warploom.programs.named import content_digest
from warploom.simulation.batch import Task, run_tasks
from warploom.simulation.result import plain
from warploom.storage.kept import read_kept_json, write_kept_json
from warploom.storage.sources import PACKAGE, class_digest, surroundings

# What cannot change a run's result: the rooms that show results, and what papers say and measure.
ROOMS_AFTER_A_RUN = ("report", "cli")
AFTER_A_RUN = ("figures.py", "published.toml", "workloads.toml")


@cache
def simulator_digest() -> str:
    """A digest of everything in the package that a run's result depends on."""
    digest = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*")):
        room = file.relative_to(PACKAGE).parts[0]
        matters = room not in ROOMS_AFTER_A_RUN and not (room == "papers" and _only_measures(file))
        if file.suffix in (".py", ".toml", ".ptx") and matters:
            digest.update(file.relative_to(PACKAGE).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def _only_measures(file: Path) -> bool:
    """Whether a file of the papers is only read after runs: what all papers share, and what a paper says and measures."""
    return file.parent == PACKAGE / "papers" or file.name in AFTER_A_RUN


def content_key(run: Run) -> str:
    """What the result is stored under: everything that it depends on.

    The simulator and its surroundings, the design with every parameter and the sources of its policies, the numbers of the
    machine and of the technology, the program and its size.
    """
    machine, design = _machine(run), parse_design(run.design)
    technology = load_technology(run.technology) if run.technology else None  # else one of ours, by the machine's name
    asked = (run.workload, content_digest(run.workload), run.size, run.technology, run.check)
    sources = [_source(policy) for policy in design.policies]
    outside = [load_paper(folder).digest() for folder in outside_folders()]
    parts = (simulator_digest(), surroundings(), *outside, asked, design.to_dict(), sources, machine, technology)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


@cache
def _our_machines() -> frozenset[str]:
    return frozenset(machine_names())


@cache
def _our_machine(name: str) -> Machine:
    return load_machine(name)


def _source(policy: Any) -> str:
    kind: Any = type(policy)
    return class_digest(kind) or _nameless(kind)


@cache
def _nameless(kind: type) -> str:
    """Stands for the source of a class that is in no file: nothing else will ever have it."""
    return uuid.uuid4().hex


def _machine(run: Run) -> Machine:
    machine = _our_machine(run.machine) if run.machine in _our_machines() else load_machine(run.machine)
    return machine.scaled(run.sms) if run.sms else machine


class Store:
    """A folder with one JSON file per run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _path(self, run: Run) -> Path:
        return self.folder / f"{content_key(run)}.json"

    def load(self, run: Run) -> dict[str, Any] | None:
        """The stored result of a run; None if it has not been made, not by this simulator, or is damaged."""
        return read_kept_json(self._path(run))

    def save(self, run: Run, result: dict[str, Any]) -> None:
        """Keep a result."""
        write_kept_json(self._path(run), plain(result))

    def missing(self, runs: Iterable[Run]) -> list[Run]:
        """Those runs, each once, whose results are not stored."""
        return [run for run in dict.fromkeys(runs) if self.load(run) is None]


def perform(runs: Sequence[Run], store: Store, jobs: int, step: Callable[[Run], None]) -> None:
    """Make and store every run that is not stored yet, on several processes; ``step`` is told of each that is done."""
    missing = store.missing(runs)
    for place, result in run_tasks([_task(run) for run in missing], jobs):
        store.save(missing[place], result.to_dict(power=True))
        step(missing[place])


def _task(run: Run) -> Task:
    return Task(run.workload, parse_design(run.design).to_dict(), _machine(run), run.size, run.technology or None, run.check)
