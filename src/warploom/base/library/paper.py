"""A paper: one folder with all that is particular to it, and the record that stands in the folder's ``__init__.py``.

What a folder may hold, each part optional:

* modules with policies and their compile passes, as many as the paper needs; the record names those that register policies;
* ``machines/*.toml`` and ``technologies/*.toml``: its machines and energy tables, each under its file's name;
* ``designs.toml``: its named designs, a table each;
* ``drawings.toml``: what its policies are in the drawing of a design, a table each (``[power.trimodal]``);
* ``workloads.toml``: the workloads that it ran, a table each with the columns that it published about them;
* ``published.toml``: its numbers;
* ``figures.py``: its figures and tables as experiments, in ``FIGURES``.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.spelling import did_you_mean
from warploom.base.toml import parse_toml

DATA_FILES = ("designs.toml", "drawings.toml", "workloads.toml", "published.toml")
DATA_FOLDERS = ("machines", "technologies")


@dataclass(frozen=True)
class Paper:
    """What a paper's folder says of itself; the rest is read from its files when somebody asks for it."""

    name: str  # as people type it, such as "warped-rf"
    title: str
    citation: str
    year: int
    package: str  # of its folder: __name__
    policies: tuple[str, ...] = ()  # the modules of the folder that register policies
    address: str = ""  # where it can be read
    code: str = ""  # what its figures execute unless they are asked for another; empty: the machines' usual code

    @cached_property
    def folder(self) -> Path:
        """Where its files are."""
        file = import_module(self.package).__file__
        assert file is not None
        return Path(file).parent

    @cached_property
    def machines(self) -> dict[str, Path]:
        """Its machine files by name."""
        return self._tables("machines")

    @cached_property
    def technologies(self) -> dict[str, Path]:
        """Its energy tables by name."""
        return self._tables("technologies")

    @cached_property
    def designs(self) -> dict[str, dict[str, Any]]:
        """Its named designs as they stand in its file."""
        return self._rows("designs.toml")

    @cached_property
    def drawings(self) -> dict[str, dict[str, Any]]:
        """How its policies are drawn, by choice and policy."""
        return self._rows("drawings.toml")

    @cached_property
    def workloads(self) -> dict[str, dict[str, Any]]:
        """The workloads of its set, each with what the paper's tables say of it."""
        return self._rows("workloads.toml")

    @cached_property
    def published(self) -> list[dict[str, Any]]:
        """Its numbers, in the order of its file."""
        return self._data("published.toml").get("fact", [])

    @property
    def figures(self) -> tuple[Any, ...]:
        """Its figures and tables as experiments (`warploom.studies.reproduce.experiment.Figure`)."""
        if not (self.folder / "figures.py").is_file():
            return ()
        found = getattr(self.module("figures"), "FIGURES", None)
        if not isinstance(found, tuple):
            raise WarploomError(f"{self.folder / 'figures.py'}: it must define FIGURES, a tuple")
        return found

    def load_policies(self) -> None:
        """Import the modules that register its policies."""
        for name in self.policies:
            self.module(name)

    def module(self, name: str) -> ModuleType:
        """A module of its folder."""
        try:
            return import_module(f"{self.package}.{name}")
        except WarploomError as error:
            raise WarploomError(f"{self.folder / name}.py: {error}") from None
        except Exception as error:
            raise WarploomError(f"{self.folder / name}.py: it cannot be loaded: {type(error).__name__}: {error}") from None

    def digest(self) -> str:
        """A digest of all files of the folder."""
        digest = hashlib.sha256()
        for file in sorted(self.folder.rglob("*")):
            if file.suffix in (".py", ".toml"):
                digest.update(file.relative_to(self.folder).as_posix().encode() + b"\0" + file.read_bytes())
        return digest.hexdigest()

    def check_files(self) -> None:
        """Refuse a data file or folder whose name says nothing: it would be passed over without a word."""
        for path in sorted(self.folder.iterdir()):
            known = DATA_FOLDERS if path.is_dir() else DATA_FILES
            stray = any(path.glob("*.toml")) if path.is_dir() else path.suffix == ".toml"
            if stray and path.name not in known:
                raise WarploomError(f"{path}: a paper's folder has no place of this name{did_you_mean(path.name, known)}")
        for name in self.policies:
            if not (self.folder / f"{name}.py").is_file():
                raise WarploomError(f"{self.folder}: its policies are said to be in {name}.py, which is not there")

    def _tables(self, kind: str) -> dict[str, Path]:
        return {path.stem: path for path in sorted((self.folder / kind).glob("*.toml"))}

    def _rows(self, name: str) -> dict[str, dict[str, Any]]:
        rows = self._data(name)
        for key, row in rows.items():
            if not isinstance(row, dict):
                raise WarploomError(f"{self.folder / name}: {key!r} must be a table; write [{key}]")
        return rows

    def _data(self, name: str) -> dict[str, Any]:
        path = self.folder / name
        if not path.is_file():
            return {}
        return parse_toml(path.read_bytes(), str(path))
