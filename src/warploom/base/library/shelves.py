"""Finding papers: the folders of ``warploom.papers``, those of installed packages, and a user's own."""

from __future__ import annotations

import hashlib
import importlib.util
import pkgutil
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeVar

from warploom.base.errors import WarploomError
from warploom.base.library.paper import Paper
from warploom.base.spelling import did_you_mean

ENTRY_POINTS = "warploom.papers"
ALL = "all"  # what people type for every paper
_outside: dict[Path, Paper] = {}  # by folder: those that a user asked for
Thing = TypeVar("Thing")


def papers() -> tuple[Paper, ...]:
    """Every paper, in the order in which they appeared."""
    return tuple(sorted((*_shipped(), *_installed(), *_outside.values()), key=_age))


def paper_names() -> tuple[str, ...]:
    """Their short names."""
    return tuple(paper.name for paper in papers())


def expected_names() -> tuple[str, ...]:
    """The names of our papers and of those that installed packages announce, without loading the packages."""
    return (*(paper.name for paper in _shipped()), *sorted(point.name for point in entry_points(group=ENTRY_POINTS)))


def find_paper(name: str) -> Paper:
    """The paper of a short name."""
    found = {paper.name: paper for paper in papers()}
    if name not in found:
        raise WarploomError(f"there is no paper {name!r}{did_you_mean(name, list(found))}")
    return found[name]


def load_paper(folder: str | Path) -> Paper:
    """Take a paper's folder from anywhere on the disk; from then on it counts like ours."""
    folder = Path(folder).resolve()
    if folder in _outside:
        return _outside[folder]
    start = folder / "__init__.py"
    if not start.is_file():
        raise WarploomError(f"{folder}: there is no paper here; a paper's folder has an __init__.py that defines PAPER")
    package = f"warploom_paper_{folder.name}_{hashlib.sha256(str(folder).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(package, start, submodule_search_locations=[str(folder)])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[package] = module
    try:
        spec.loader.exec_module(module)
        paper = _checked(getattr(module, "PAPER", None), str(start))
    except WarploomError:
        del sys.modules[package]
        raise
    except Exception as error:
        del sys.modules[package]
        raise WarploomError(f"{start}: it cannot be loaded: {type(error).__name__}: {error}") from None
    _outside[folder] = paper
    return paper


def outside_folders() -> tuple[Path, ...]:
    """The folders that `load_paper` took, for a process that must know the same papers."""
    return tuple(_outside)


def with_papers(what: str, own: Mapping[str, Thing], of: Callable[[Paper], Mapping[str, Thing]]) -> dict[str, Thing]:
    """Things by name: our own, then what each paper brings of them. No name may be taken twice."""
    found = dict(own)
    for paper in papers():
        for name, thing in of(paper).items():
            if name in found:
                raise WarploomError(f"paper {paper.name!r}: its {what} {name!r} has a name that another {what} has")
            found[name] = thing
    return found


def _age(paper: Paper) -> tuple[int, str]:
    return paper.year, paper.name


@cache
def _shipped() -> tuple[Paper, ...]:
    """Ours: every package in ``warploom.papers``."""
    package = import_module("warploom.papers")
    names = sorted(item.name for item in pkgutil.iter_modules(package.__path__) if item.ispkg)
    return tuple(sorted((import_module(f"warploom.papers.{name}").PAPER for name in names), key=_age))


@cache
def _installed() -> tuple[Paper, ...]:
    """Those that installed packages name: an entry point is a paper's record, or the package that holds it."""
    found: list[Paper] = []
    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name):
        try:
            loaded: Any = point.load()
        except Exception as error:
            raise WarploomError(f"paper {point.name!r} of an installed package cannot be loaded: {error}") from None
        paper = _checked(getattr(loaded, "PAPER", loaded), point.value, found)
        if paper.name != point.name:
            raise WarploomError(f"{point.value}: its entry point calls the paper {point.name!r}, it calls itself {paper.name!r}")
        found.append(paper)
    return tuple(found)


def _checked(paper: Any, place: str, found: list[Paper] | None = None) -> Paper:
    """A record that makes sense, and whose name is free."""
    if not isinstance(paper, Paper):
        raise WarploomError(f"{place}: define PAPER = Paper(...), of warploom.base.library")
    if not re.fullmatch(r"[a-z][a-z0-9-]*", paper.name) or paper.name == ALL:
        raise WarploomError(f"{place}: a paper's name is of small letters, digits and hyphens, not {paper.name!r}")
    known = [*_shipped(), *(_installed() if found is None else found), *_outside.values()]
    if any(paper.name == other.name for other in known):
        raise WarploomError(f"{place}: there is another paper called {paper.name!r}; take another name")
    paper.check_files()
    return paper
