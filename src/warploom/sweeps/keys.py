"""What a result is stored under: everything that it depends on."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from warploom.energy import load_technology
from warploom.library import load_paper, outside_folders
from warploom.machines import Machine
from warploom.programs.named import content_digest, own_seed
from warploom.programs.replay import is_recording
from warploom.register_file import CHOICES, policies_of
from warploom.sass.toolchain import tool_versions
from warploom.simulation.task import Task
from warploom.storage.sources import PACKAGE, class_digest, surroundings
from warploom.workloads.own_kernel import OwnKernel
from warploom.workloads.program import PTX

# What cannot change a run's result: the rooms that ask for runs and show results, what papers say and measure, and the names of
# designs, for a task brings its design in full.
ROOMS_AFTER_A_RUN = ("sweeps", "validation", "report", "cli")
AFTER_A_RUN = ("figures.py", "published.toml", "workloads.toml", "drawings.toml", "designs.toml", "named.toml", "searched.toml")


@cache
def simulator_digest() -> str:
    """A digest of everything in the package that a run's result depends on."""
    digest = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*")):
        room = file.relative_to(PACKAGE).parts[0]
        matters = room not in ROOMS_AFTER_A_RUN and not _only_measures(file)
        if file.suffix in (".py", ".toml", ".ptx") and matters:
            digest.update(file.relative_to(PACKAGE).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def _only_measures(file: Path) -> bool:
    """Whether a file is read before or after runs only: what all papers share, what a paper says, draws and measures, names."""
    return file.parent == PACKAGE / "papers" or file.name in AFTER_A_RUN


def content_key(task: Task) -> str:
    """What a task's result is stored under.

    The simulator and its surroundings, the design's choices with every parameter and the sources of its policies, the numbers
    of the machine and of the technology, the program with its size, its code and its seed, the condition of caches; not the
    design's name.
    """
    return content_keys([task])[0]


def content_keys(tasks: Sequence[Task]) -> list[str]:
    """The keys of many tasks; what they have in common is looked up once."""
    simulator = (simulator_digest(), surroundings(), *(load_paper(folder).digest() for folder in outside_folders()))
    source, numbers, technology = cache(_source), cache(_numbers), cache(load_technology)
    contents, kernel = cache(content_digest), cache(OwnKernel.digest)

    def program(task: Task) -> tuple[Any, ...]:
        """What is run: a workload by name and seed, anything else by what is in its file."""
        if task.kernel is not None:
            return "kernel", kernel(task.kernel)
        if is_recording(task.workload):
            return "recording", contents(task.workload)
        return task.workload, own_seed(task.workload) if task.seed is None else task.seed

    keys = []
    for task in tasks:
        made_by = "" if task.code == PTX else tool_versions()
        asked = (*program(task), task.size, task.code, made_by, task.check, task.technology, task.caches, *task.launches)
        design = {name: value for name, value in task.design.items() if name != "name"}
        sources = [source(choice, task.design[choice]["policy"]) for choice in CHOICES]
        table = repr(technology(task.technology)) if task.technology else ""  # else one of ours, by the machine's name
        parts = (simulator, asked, json.dumps(design, sort_keys=True), sources, numbers(task.machine), table)
        keys.append(hashlib.sha256(repr(parts).encode()).hexdigest()[:32])
    return keys


def _numbers(machine: Machine) -> str:
    return json.dumps(machine.to_dict())


def _source(choice: str, name: str) -> str:
    kind: Any = policies_of(choice)[name]
    return class_digest(kind) or _nameless(kind)


@cache
def _nameless(kind: type) -> str:
    """Stands for the source of a class that is in no file: nothing else will ever have it."""
    return uuid.uuid4().hex
