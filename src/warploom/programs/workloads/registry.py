"""Finding workloads: every folder here with a ``workload.py`` is one, named as its folder with hyphens for underscores."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module, resources
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.library import find_paper, papers
from warploom.base.spelling import did_you_mean
from warploom.programs.workloads.workload import Workload, workload_of

ALL = "all"


@cache
def _folders() -> dict[str, str]:
    root = resources.files("warploom.programs.workloads")
    found = (entry.name for entry in root.iterdir() if entry.is_dir() and (entry / "workload.py").is_file())
    return {folder.replace("_", "-"): folder for folder in sorted(found)}


def workload_names() -> list[str]:
    """The names of all workloads."""
    return list(_folders())


def check_workload_name(name: str) -> None:
    """Refuse what is neither a workload nor a set of them."""
    if name not in (*_folders(), *set_names(), ALL):
        raise _unknown(name)


def _unknown(name: str) -> WarploomError:
    hint = did_you_mean(name, [*_folders(), *set_names()], otherwise="; `warploom workloads` lists them")
    return WarploomError(f"workload {name!r} is not known{hint}")


@cache
def load_workload(name: str) -> Workload:
    """The workload of this name."""
    if name not in _folders():
        raise _unknown(name)
    folder = _folders()[name]
    try:
        return workload_of(name, import_module(f"warploom.programs.workloads.{folder}.workload"))
    except ModuleNotFoundError as error:
        raise WarploomError(f"workload {name!r} needs {error.name}: pip install 'warploom[workloads]'") from None


@cache
def workload_ptx(name: str) -> str:
    """The PTX text of a workload."""
    return _file_of(name, "kernel.ptx")


def workload_source(name: str) -> str:
    """The CUDA C++ of a workload, whose lines its PTX names."""
    return _file_of(name, "kernel.cu")


def source_place(name: str) -> str:
    """Under which name the PTX of a workload speaks of that source."""
    return f"{_folders()[load_workload(name).name]}/kernel.cu"


def _file_of(name: str, file: str) -> str:
    load_workload(name)
    return (resources.files("warploom.programs.workloads") / _folders()[name] / file).read_text(encoding="utf-8")


def set_names() -> tuple[str, ...]:
    """The papers that bring a set of workloads, under their short names."""
    return tuple(paper.name for paper in papers() if paper.workloads)


def published_rows(name: str) -> list[dict[str, Any]]:
    """What the papers' tables say of a workload: a row for each paper that ran it, with the columns of that paper."""
    return [{"paper": paper.name, **paper.workloads[name]} for paper in papers() if name in paper.workloads]


def sets_of(name: str) -> list[str]:
    """The papers' sets that a workload belongs to."""
    return [row["paper"] for row in published_rows(name)]


def workload_set(name: str) -> tuple[str, ...]:
    """The names of the workloads of a set: a paper's short name, or ``all``."""
    if name == ALL:
        return tuple(workload_names())
    if name not in set_names():
        raise WarploomError(f"workload set {name!r} is not known{did_you_mean(name, [*set_names(), ALL])}")
    for each in find_paper(name).workloads:
        if each not in _folders():
            place = find_paper(name).folder / "workloads.toml"
            raise WarploomError(f"{place}: {each!r} is not a workload{did_you_mean(each, workload_names())}")
    return tuple(each for each in workload_names() if each in find_paper(name).workloads)


def select_workloads(names: Iterable[str]) -> list[str]:
    """Workloads and sets by name (each may be a list with commas), without repetition, in the order asked for."""
    chosen: dict[str, None] = {}
    for name in (part.strip() for text in names for part in text.split(",")):
        if not name:
            raise WarploomError("a workload name is empty; separate names by single commas")
        members: tuple[str, ...] = workload_set(name) if name in (*set_names(), ALL) else (load_workload(name).name,)
        chosen.update(dict.fromkeys(members))
    return list(chosen)
