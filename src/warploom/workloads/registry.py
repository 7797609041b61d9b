"""Finding workloads: every folder here with a ``workload.py`` is one, named as its folder with hyphens for underscores."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module, resources

from warploom.errors import WarploomError
from warploom.errors.names import did_you_mean
from warploom.workloads.workload import Workload

SETS = ("rfc", "warped-rf", "compression", "rfv", "regmutex")
ALL = "all"


@cache
def _folders() -> dict[str, str]:
    root = resources.files("warploom.workloads")
    found = (entry.name for entry in root.iterdir() if entry.is_dir() and (entry / "workload.py").is_file())
    return {folder.replace("_", "-"): folder for folder in sorted(found)}


def workload_names() -> list[str]:
    """The names of all workloads."""
    return list(_folders())


@cache
def load_workload(name: str) -> Workload:
    """The workload of this name."""
    if name not in _folders():
        known = [*_folders(), *SETS]
        raise WarploomError(f"workload {name!r} is not known{_hint(name, known)}")
    folder = _folders()[name]
    try:
        workload = import_module(f"warploom.workloads.{folder}.workload").WORKLOAD
    except ModuleNotFoundError as error:
        raise WarploomError(f"workload {name!r} needs {error.name}: pip install 'warploom[workloads]'") from None
    if workload.name != name:
        raise WarploomError(
            f"workloads/{folder}/workload.py: the workload is called {workload.name!r} but its folder says {name!r}"
        )
    return workload


@cache
def workload_ptx(name: str) -> str:
    """The PTX text of a workload."""
    load_workload(name)
    return (resources.files("warploom.workloads") / _folders()[name] / "kernel.ptx").read_text(encoding="utf-8")


def sets_of(workload: Workload) -> list[str]:
    """The papers' sets that a workload belongs to."""
    return sorted({row.paper for row in workload.published}, key=SETS.index)


@cache
def workload_set(name: str) -> tuple[str, ...]:
    """The names of the workloads of a set: a paper's short name, or ``all``."""
    if name == ALL:
        return tuple(workload_names())
    if name not in SETS:
        raise WarploomError(f"workload set {name!r} is not known{did_you_mean(name, [*SETS, ALL])}")
    return tuple(each for each in workload_names() if name in sets_of(load_workload(each)))


def select_workloads(names: Iterable[str]) -> list[str]:
    """Workloads and sets by name (each may be a list with commas), without repetition, in the order asked for."""
    chosen: dict[str, None] = {}
    for name in (part.strip() for text in names for part in text.split(",")):
        if not name:
            raise WarploomError("a workload name is empty; separate names by single commas")
        members: tuple[str, ...] = workload_set(name) if name in (*SETS, ALL) else (load_workload(name).name,)
        chosen.update(dict.fromkeys(members))
    return list(chosen)


def _hint(name: str, known: list[str]) -> str:
    hint = did_you_mean(name, known)
    return hint if "did you mean" in hint else "; `warploom workloads` lists them"
