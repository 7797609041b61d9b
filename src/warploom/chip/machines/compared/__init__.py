"""How far a machine is off: what comparisons with kernels gave that it was not adjusted on, a file for each machine compared."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from warploom.base.toml import parse_toml

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Unseen:
    """Kernels that a machine was not adjusted on: the absolute error of their cycles, as a share."""

    caches: str
    launches: int
    kernels: int
    median: float
    mean: float | None = None


@dataclass(frozen=True)
class KindOfRun:
    """Runs of one kind among them, caches cold: the median of the error of cycles, and what nine of ten launches keep to."""

    name: str
    launches: int
    median: float
    nine_of_ten: float


@dataclass(frozen=True)
class Comparison:
    """What a machine was compared with."""

    beside: str
    date: str
    unseen: tuple[Unseen, ...]
    kinds: tuple[KindOfRun, ...] = ()

    def of_kind(self, kind: str, caches: str) -> KindOfRun | None:
        """The error of runs of one kind, where there were such runs."""
        return next((each for each in self.kinds if each.name == kind and caches == "cold"), None)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them."""
        return asdict(self)


@cache
def comparison(machine: str) -> Comparison | None:
    """The comparison of a machine of this name; None of one that was never compared."""
    file = _FOLDER / f"{machine}.toml"
    if not file.is_file():
        return None
    data = parse_toml(file.read_bytes(), str(file))
    kinds = tuple(KindOfRun(**each) for each in data.get("kind", ()))
    return Comparison(data["with"], data["date"], tuple(Unseen(**each) for each in data["unseen"]), kinds)


def error_sentence(label: str, caches: str, kind: str = "") -> str:
    """How far a result on a machine may be off, by its name with what was changed of it, the caches and the kind of the run."""
    name, changed, _ = label.partition("[")
    known = comparison(name)
    if known is None:
        return f"{name} was never compared with a chip: how far its cycles are off is not known."
    unseen = [each for each in known.unseen if caches in each.caches] or known.unseen
    errors = ", ".join(f"{each.median:.1%} in the median ({each.launches} launches, caches {each.caches})" for each in unseen)
    alike = known.of_kind(kind, caches)
    if alike is not None:
        errors += (
            f"; of runs of this kind ({kind}) by {alike.median:.1%}, nine of ten by {alike.nine_of_ten:.0%} at most "
            f"({alike.launches} launches)"
        )
    whole = " That is of the machine as it stands, not of one that was changed." if changed else ""
    return f"Compared with {known.beside}, cycles of kernels that {name} was not adjusted on are off by {errors}.{whole}"
